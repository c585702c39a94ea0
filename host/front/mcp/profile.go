package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/tool"
)

const (
	mostFamilies  = 100 // initially loaded in a session
	longestFamily = 128 // characters of a family's name
)

const longestProject = 128 // characters of a namespace

// CheckProject refuses a project that cannot be a namespace below another name, such as project/acme/app. The empty one is none.
func CheckProject(name string) error {
	isForeign := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/-", r))
	}
	first, rest, _ := strings.Cut(name, "/")
	if name != "" && (len(name) > longestProject || strings.ContainsFunc(name, isForeign) || first == "" || rest == "") {
		return fmt.Errorf("%q cannot be a project: give a namespace such as project/acme/app, of at most %d characters", tool.Clip(name, gotLength), longestProject)
	}
	return nil
}

// CheckProfile refuses an unknown profile and invalid families. The empty profile is profile.Auto.
func CheckProfile(name string, families []string) error {
	if name != "" && !slices.Contains(profile.All(), name) {
		return fmt.Errorf("there is no profile %q: the profiles are %s", tool.Clip(name, gotLength), strings.Join(profile.All(), ", "))
	}
	if len(families) > mostFamilies {
		return fmt.Errorf("%d families are asked for: at most %d can be; the profile %s has all", len(families), mostFamilies, profile.Full)
	}
	for _, name := range families {
		if name == "" || len(name) > longestFamily {
			return fmt.Errorf("%q cannot be the name of a family: it has 1 to %d bytes", tool.Clip(name, gotLength), longestFamily)
		}
	}
	return nil
}

// Query parameters of the HTTP endpoint, as in /mcp?profile=full or /mcp?families=auto-tag,ranking. They say what the hello says on the
// socket.
const (
	profileParameter   = "profile"
	familiesParameter  = "families"
	namespaceParameter = "namespace"
	projectParameter   = "project"
	branchParameter    = "branch"
	agentParameter     = "agent" // of clients whose key does not name it
	readOnlyParameter  = "read_only"
)

// choose returns the session with what a request's URL says of it.
func (s Session) choose(address *url.URL) (Session, error) {
	if address.RawQuery == "" {
		return s, nil
	}
	query, err := url.ParseQuery(address.RawQuery)
	if err != nil {
		return s, errors.New("the query of the address cannot be read: write it as in /mcp?profile=full")
	}
	if query.Has(profileParameter) {
		s.Profile = query.Get(profileParameter)
	}
	if query.Has(familiesParameter) {
		s.Families = splitFamilies(query.Get(familiesParameter))
	}
	s.Namespace = cmp.Or(query.Get(namespaceParameter), s.Namespace)
	s.Project = cmp.Or(query.Get(projectParameter), s.Project)
	s.Branch = cmp.Or(query.Get(branchParameter), s.Branch)
	s.Agent = cmp.Or(s.Agent, AgentName(query.Get(agentParameter)))
	switch said := query.Get(readOnlyParameter); said {
	case "", "false":
	case "true":
		s.Rights = s.Rights.ReadOnly()
	default:
		return s, fmt.Errorf("read_only in the address must be true or false, not %q", tool.Clip(said, gotLength))
	}
	return s, errors.Join(CheckProfile(s.Profile, s.Families), CheckProject(s.Project))
}

// splitFamilies splits a list of families such as "auto-tag, ranking".
func splitFamilies(list string) []string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// lists reports whether a client's list has the tools of a family.
func lists(family *tool.Set, state *tool.Session) bool {
	return state.Profile() != profile.Operation && (state.ListsAll() && !family.Deprecated || state.Has(family.Name))
}

// listsCore reports whether a client's list has a core tool.
func listsCore(t *tool.Tool, state *tool.Session) bool {
	if state.Profile() == profile.Operation {
		return t.Name == operationName
	}
	return !t.Unlisted || state.ListsAll()
}

// operationName is the tool that calls all others, and the only one in the profile operation.
const operationName = "memory_operation"

// offer returns a client's list of tools, with the views of their answers if the client shows views.
func (s *Server) offer(session Session, state *tool.Session, views bool) []protocol.Tool {
	readOnly := s.readOnly(session)
	list := []protocol.Tool{}
	add := func(t *tool.Tool) {
		list = append(list, shown(t, state.Profile()))
		if views {
			s.views.mark(&list[len(list)-1], t)
		}
	}
	for _, t := range s.registry.Core() {
		if t.Annotations.Permitted(readOnly) && listsCore(t, state) {
			add(t)
		}
	}
	for _, f := range s.registry.Snapshot().For(s.rights(session)).Sets {
		if !lists(f, state) {
			continue
		}
		for _, t := range f.Offered(readOnly) {
			if !t.IsCore() && !t.Unlisted || t.IsCore() && !listsCore(t, state) {
				add(t)
			}
		}
	}
	return list
}

// shown returns a tool as a profile shows it in lists.
func shown(t *tool.Tool, name string) protocol.Tool {
	w := wire(t)
	switch name {
	case profile.Full:
		w.RawInputSchema = t.Brief
	case profile.Code:
		w.RawInputSchema, w.RawOutputSchema = t.Whole(), t.Structured()
	}
	return w
}

// outline returns a fingerprint of the families' tools in a client's list. The core tools do not change.
func (s *Server) outline(session Session, state *tool.Session) string {
	var b strings.Builder
	readOnly := s.readOnly(session)
	for _, f := range s.registry.Snapshot().For(s.rights(session)).Sets {
		if !lists(f, state) {
			continue
		}
		for _, t := range f.Offered(readOnly) {
			b.WriteString(t.Spelling)
			b.WriteString(t.Fingerprint())
		}
	}
	return b.String()
}
