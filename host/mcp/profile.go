package mcp

import (
	"slices"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

// The profiles say which tools a client's list has. Every tool can be called whatever the profile.
const (
	ProfileAgent     = "agent"     // the core tools and the families that were loaded
	ProfileOperation = "operation" // memory_operation alone
	ProfileFull      = "full"      // the tools of all families
	ProfileDeferred  = "deferred"  // the same, each marked for clients that show models a tool when they search for it
)

// Profiles lists the profiles.
func Profiles() []string {
	return []string{ProfileAgent, ProfileOperation, ProfileFull, ProfileDeferred}
}

// KnownProfile reports whether there is a profile; the empty one is ProfileAgent.
func KnownProfile(name string) bool { return name == "" || slices.Contains(Profiles(), name) }

// deferMark is the member of _meta that marks a tool of ProfileDeferred, beside the field of the tool itself, which some
// clients drop.
const deferMark = "defer_loading"

// all reports whether the session's list has the tools of all families.
func (s Session) all() bool { return s.Profile == ProfileFull || s.Profile == ProfileDeferred }

// lists reports whether a client's list has the tools of a family.
func (s Session) lists(f *family, at *seat) bool {
	return s.Profile != ProfileOperation && (s.all() || at.has(f.Name))
}

// offer is the list of tools of a client, given the core tools as they are advertised.
func (s *Server) offer(session Session, at *seat, core map[string]protocol.Tool) []protocol.Tool {
	readOnly := s.readOnly(session)
	list := []protocol.Tool{}
	for _, t := range s.tools {
		if t.offered(readOnly) && (session.Profile != ProfileOperation || t.name == operationName) {
			list = append(list, core[t.name])
		}
	}
	for _, f := range s.shelf.catalogue().families {
		if !session.lists(f, at) {
			continue
		}
		for _, t := range f.offered(readOnly) {
			list = append(list, t.wire)
		}
	}
	if session.Profile == ProfileDeferred {
		for i := range list {
			list[i].DeferLoading = true
			list[i].Meta = protocol.NewMetaFromMap(map[string]any{deferMark: true})
		}
	}
	return list
}

// outline tells lists apart: it changes when a client's list does, but for the core tools, which do not.
func (s *Server) outline(session Session, at *seat) string {
	var b strings.Builder
	readOnly := s.readOnly(session)
	for _, f := range s.shelf.catalogue().families {
		if session.lists(f, at) && len(f.offered(readOnly)) > 0 {
			b.WriteString(f.Name + "\x00" + f.Version + "\x00" + f.Digest + "\n")
		}
	}
	return b.String()
}
