package mcp

import (
	"context"
	"strings"
	"unicode"

	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// Session is a client's identity, rights and defaults for its calls. The zero Session has the default branch and namespace
// and may neither read nor write.
type Session struct {
	Namespace string // empty: default
	Project   string // of the client's folder: see tool.SessionOptions
	Branch    string // empty: default
	Agent     string // empty: the client's name for itself
	Key       string // the id of the client's API key; empty: it has none
	Principal string // of a delegated key: see memory.Caller
	Rights    memory.Rights
	Home      string   // of a call's own key: the namespace of the call, if it may not read the session's and that is the usual one
	Profile   string   // which tools are listed; empty: that of the client
	Families  []string // listed from the start
}

type sessionKey struct{}

// WithSession returns a context with the session for Handler's requests. The authenticator of clients calls it.
func WithSession(ctx context.Context, s Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// SessionOf returns the session that WithSession put in a context, or the zero Session.
func SessionOf(ctx context.Context) Session {
	session, _ := ctx.Value(sessionKey{}).(Session)
	return session
}

// As returns the session for a call by the holder of another key. A session that may only read stays so.
func (s Session) As(holder Identity) Session {
	if s.Rights.WritesNothing() {
		holder.Rights = holder.Rights.ReadOnly()
	}
	s.Agent, s.Key, s.Principal, s.Rights, s.Home = holder.Agent, holder.Key, holder.Principal, holder.Rights, holder.Home
	return s
}

// Identity is who presents an API key.
type Identity struct {
	Agent     string // not empty
	Key       string // its id
	Principal string // of a delegated key: see memory.Caller
	Rights    memory.Rights
	Home      string // the namespace in which it works if it names none
}

// of returns the session with the profile of a client, unless it has one.
func (s Session) of(client string) Session {
	if s.Profile == "" || s.Profile == profile.Auto {
		s.Profile = profile.Of(client)
	}
	return s
}

// begin returns the initial state between a client's calls.
func (s Session) begin(lasting sessionLife) *tool.Session {
	return tool.NewSession(tool.SessionOptions{Branch: s.Branch, Namespace: s.Namespace, Project: s.Project, Families: s.Families,
		Stateless: lasting == oneCall, Profile: s.Profile, Listing: s.listing()})
}

// listing is which families' tools the profile lists.
func (s Session) listing() (l tool.Listing) {
	switch {
	case profile.ListsAll(s.Profile):
		l = tool.ListAll
	case s.Profile == profile.Operation:
		l = tool.ListNoFamily
	}
	return l
}

// sessionLife is the lifetime of a client's session.
type sessionLife int

const (
	manyCalls sessionLife = iota
	oneCall               // stateless requests
)

const longestAgent = 128 // characters of an agent's name

// AgentName normalizes a client's name for itself: one line of bounded length.
func AgentName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if runes := []rune(strings.TrimSpace(name)); len(runes) > longestAgent {
		return string(runes[:longestAgent])
	}
	return strings.TrimSpace(name)
}
