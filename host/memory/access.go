package memory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/memory/lineage"
)

// Access is one caller's access to a space: the only way to its contents. Namespaces outside its Rights appear
// never written; naming one is Denied. Branches, versions and instants are common to all callers.
// Its methods may be called concurrently.
type Access struct {
	space  *Space
	caller Caller
	only   func(collection string) bool // selects the records that are shown; nil: all
}

// As returns the space for a caller. The rights records of namespaces narrow the rights of the holder of a key.
func (s *Space) As(c Caller) *Access {
	c.Agent = strings.ToValidUTF8(c.Agent, "\uFFFD") // as records keep it, so that the index has the same
	if !c.IsOwner() {
		c.Rights = c.Rights.narrowedBy(&s.scopes, c.AsMember())
	}
	return &Access{space: s, caller: c}
}

// Caller returns the caller of the access, with its present rights.
func (a *Access) Caller() Caller { return a.caller }

// Showing returns the access with comparisons and merges limited to records of the collections for which only returns true. Its argument is
// a Collection.Name.
func (a *Access) Showing(only func(collection string) bool) *Access {
	return &Access{space: a.space, caller: a.caller, only: only}
}

// shows reports whether the caller sees differences in a collection: in memories, in records of its own family, and in records of families
// that it may use, unless they are private.
func (a *Access) shows(collection string) bool {
	owner := ownerOf(collection)
	switch {
	case owner == "":
		return !isExchange(collection)
	case !a.uses(owner), a.only != nil && !a.only(collection):
		return false
	}
	return owner == a.caller.Family || a.space.isPrivate != nil && !a.space.isPrivate(collection)
}

// uses reports whether the caller may use a family, and so decide about its records.
func (a *Access) uses(family string) bool {
	return family == "" || family == a.caller.Family || a.caller.Rights.May(ToUse(family))
}

// sign sets the caller as a write's author.
func (a *Access) sign(w Write) Write {
	w.by, w.Agent = a.caller, a.caller.Agent
	return w
}

func denied(verb, namespace string) *Error {
	return &Error{Code: Denied, Message: "this caller may not " + verb + " namespace \"" + namespace + "\": use one that it may, or ask the memory's owner for that right",
		Rule: verb + " namespace", Details: map[string]any{"namespace": namespace}}
}

// mostPermitted bounds the namespaces that a denial names.
const mostPermitted = 8

// denied returns the error of a request outside the caller's rights. It names the namespaces that the caller may use.
func (a *Access) denied(verb, name string) *Error {
	e := denied(verb, name)
	list := a.caller.Rights.Readable
	if verb == string(ToWrite) {
		list = a.caller.Rights.Writable
		if why := a.caller.Rights.WhyReadOnly(); why != "" {
			e.Message = why
			return e
		}
	}
	permitted, _ := list()
	permitted = namespace.Names(permitted)
	if len(permitted) == 0 {
		e.Message = fmt.Sprintf("this caller may not %s namespace %q, nor any other: ask the memory's owner for the right to one", verb, name)
		return e
	}
	e.Details["permitted"] = permitted[:min(len(permitted), mostPermitted)]
	text := strings.Join(permitted[:min(len(permitted), mostPermitted)], ", ")
	if more := len(permitted) - mostPermitted; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	e.Message = fmt.Sprintf("this caller may not %s namespace %q, but %s: name one of these, or ask the memory's owner for that right", verb, name, text)
	return e
}

// Home returns the namespace of calls that name none: Default if the caller may read it, else the first namespace of its key, or, if the key
// has only patterns, the default name within the first. It does not depend on stored data, so an agent always finds what it stored.
func (a *Access) Home(named []string) string {
	rights := a.caller.Rights
	if rights.MayRead(Default) {
		return Default
	}
	for _, patterns := range []bool{false, true} {
		for _, may := range []func(string) bool{rights.MayWrite, rights.MayRead} {
			for _, name := range named {
				if namespace.IsPattern(name) != patterns {
					continue
				}
				if name = strings.TrimSuffix(name, AllNamespaces); patterns {
					name += Default
				}
				if may(name) {
					return name
				}
			}
		}
	}
	return Default
}

// reading completes a location, and checks the right to read it.
func (a *Access) reading(p Location) (Location, error) {
	p, err := a.space.limits.checkPlace(p)
	if err == nil && !a.caller.Rights.MayRead(p.Namespace) {
		return p, a.denied("read", p.Namespace)
	}
	return p, err
}

func (a *Access) readingKey(p Location, key string) (Location, error) {
	p, err := a.reading(p)
	if err != nil {
		return p, err
	}
	return p, a.space.limits.checkKey(key)
}

// writing completes a location, and checks the right to write it.
func (a *Access) writing(p Location) (Location, error) {
	p, err := a.space.limits.checkPlace(p)
	if err == nil && !a.caller.Rights.MayWrite(p.Namespace) {
		return p, a.denied("write", p.Namespace)
	}
	if err == nil {
		err = a.guardBranch(p.Branch, asTarget)
	}
	return p, err
}

// CheckAsked returns an error if a client's list of namespaces has an exception. Only the server adds exceptions, from rights. Every front
// end checks its lists with it.
func CheckAsked(namespaces []string) error {
	if i := slices.IndexFunc(namespaces, namespace.IsException); i >= 0 {
		return invalid("namespace %q excludes one: list the namespaces, or patterns such as team/*, that are meant", clip(namespaces[i], 64))
	}
	return nil
}

// readable returns the namespaces to read; asked nil: all readable ones. A nil result means every one.
func (a *Access) readable(asked []string) ([]string, error) {
	rights := a.caller.Rights
	return a.within(asked, "read", rights.MayRead, rights.Ceiling().MayRead, rights.Readable)
}

// writable returns the namespaces to write; asked nil: all writable ones. A nil result means every one.
func (a *Access) writable(asked []string) ([]string, error) {
	rights := a.caller.Rights
	return a.within(asked, "write", rights.MayWrite, rights.Ceiling().MayWrite, rights.Writable)
}

// within returns the namespaces that a caller has a right to, of those asked for. A pattern stands for those it covers, and is denied
// only if the caller's ceiling does not cover it.
func (a *Access) within(asked []string, verb string, may, ceiling func(string) bool, list func() ([]string, bool)) ([]string, error) {
	if slices.Contains(asked, AllNamespaces) {
		asked = nil
	}
	patterns := false
	for _, name := range asked {
		if namespace.IsException(name) { // from the caller's own rights
			patterns = true
			continue
		}
		if err := a.space.limits.checkName("namespace", strings.TrimSuffix(name, "/"+AllNamespaces)); err != nil {
			return nil, err
		}
		if isPattern := namespace.IsPattern(name); isPattern && ceiling(name) {
			patterns = true
		} else if !may(name) {
			return nil, a.denied(verb, name)
		}
	}
	if asked != nil && !patterns {
		return asked, nil
	}
	permitted, all := list()
	switch {
	case all:
		return asked, nil
	case asked != nil:
		permitted = namespace.Common(asked, permitted)
	}
	if len(permitted) == 0 {
		return nil, &Error{Code: Denied, Message: "this caller may " + verb + " nothing here: ask the memory's owner for the right to a namespace"}
	}
	return permitted, nil
}

// branch returns a branch, if the caller may read any namespace.
func (a *Access) branch(name string) (*lineage.Branch, error) {
	if _, err := a.readable(nil); err != nil {
		return nil, err
	}
	return a.space.branch(name)
}

// mayBranch returns an error for callers that may not create, merge and delete branches, because they may write nothing or lack
// the right.
func (a *Access) mayBranch() error {
	if _, err := a.writable(nil); err != nil {
		return err
	}
	return a.hasRight(ToBranch, "create, merge or delete branches")
}

// hasRight returns an error if the caller lacks a right.
func (a *Access) hasRight(right Right, what string) error {
	if a.caller.Rights.May(right) {
		return nil
	}
	return &Error{Code: Denied, Message: fmt.Sprintf("this caller may not %s: ask the memory's owner for the right %s", what, right)}
}

// embedders returns the space's embedders. Their progress covers every namespace, and is for callers that may read all.
func (a *Access) embedders() []Embedder {
	list := slices.Clone(a.space.vectors.Embedders())
	if a.caller.Rights.readsAll() {
		return list
	}
	for i := range list {
		list[i].Vectors, list[i].Waiting, list[i].Refused = 0, 0, 0
	}
	return list
}

// branchUse is a use of a whole branch.
type branchUse int

const (
	asName   branchUse = iota // it is given to a new branch
	asTarget                  // it is written
	asSource                  // it is merged, forked or deleted
)

// guardBranch returns why the caller may not use a branch. Every operation that makes, writes, merges, forks or deletes a branch calls it.
func (a *Access) guardBranch(name string, use branchUse) error {
	switch {
	case !IsProposal(name):
		return nil
	case use == asName:
		return &Error{Code: Denied, Message: fmt.Sprintf("branch names that begin with %s are the server's own: choose another name", Proposals)}
	case use == asTarget:
		return unchanging(name)
	}
	if b, err := a.space.branch(name); err == nil && b.Calls > 0 {
		return nil // no hook decides about proposals of a family's tools
	}
	if g, guards := a.space.currentHooks().(BranchGuard); guards {
		return g.GuardBranch(name, a.caller)
	}
	return nil
}
