package mcp

import (
	"context"
	"strings"
	"unicode"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// Session is what a client's calls mean when they do not say, and what it may do. The zero Session is a client of the default
// branch and namespace that may read and write nothing.
type Session struct {
	Namespace string // empty: default
	Branch    string // empty: default
	Agent     string // empty: the name that the client gives itself
	Rights    memory.Rights
	Profile   string   // which tools are listed; empty: ProfileAgent
	Families  []string // whose tools are listed from the start
}

type sessionKey struct{}

// WithSession says what the requests of a context mean, to Handler: whoever checks who a client is knows.
func WithSession(ctx context.Context, s Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

func sessionOf(ctx context.Context) Session {
	session, _ := ctx.Value(sessionKey{}).(Session)
	return session
}

// begin begins what lasts between the calls of a client.
func (s Session) begin(lasting lasting) *tool.Session {
	o := tool.SessionOptions{Branch: s.Branch, Namespace: s.Namespace, Families: s.Families, Stateless: lasting == oneCall, Profile: s.Profile}
	switch s.Profile {
	case ProfileFull, ProfileDeferred:
		o.Listing = tool.ListAll
	case ProfileOperation:
		o.Listing = tool.ListNoFamily
	}
	return tool.NewSession(o)
}

// lasting says how long a client's session lasts.
type lasting int

const (
	manyCalls lasting = iota
	oneCall           // each request stands alone
)

const longestAgent = 128 // characters of an agent's name

// agentName is what a client calls itself, as it is kept: one line, not too long.
func agentName(name string) string {
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
