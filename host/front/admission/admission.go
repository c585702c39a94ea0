// Package admission decides which clients are admitted, and as whom.
package admission

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/front/issuer"
	"github.com/alcove-memory/alcove/host/front/mcp"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

// Admission admits clients of one server.
type Admission struct {
	Keys      *keys.Keys
	Home      func(keys.Key) string // the default namespace of a key's holder
	Token     string                // of the data directory, which HTTP clients of its owner present; empty: there is none
	TokenPath string                // where the owner finds it
	Public    string                // the URL by which clients with tokens of OAuth reach the server; empty: nobody has such tokens
	// Issued returns the key of who holds a token of the authorization server elsewhere, until the token expires; nil: there is none.
	Issued   func(ctx context.Context, token string) (keys.Key, error)
	ReadOnly bool                         // nobody writes
	Why      string                       // what those are told who do; may be empty
	Refused  func(from string, err error) // records a client that was not admitted
}

// ownerAgent is the agent of the data directory's owner where they name none.
const ownerAgent = "operator"

// keyRequired is told to clients without a key of a server that requires one.
const keyRequired = "this server requires an API key: ask the memory's owner for one (alcove key create), "

// Hello returns the context of a client of the socket: with its session, until its key ends.
func (a *Admission) Hello(ctx context.Context, hello owner.Hello) (context.Context, func(), *owner.Refusal) {
	if err := errors.Join(mcp.CheckProfile(hello.Profile, hello.Families), mcp.CheckProject(hello.Project)); err != nil { // families may be missing: the rest of the memory serves
		return nil, nil, &owner.Refusal{Code: string(memory.InvalidArgument), Message: err.Error()}
	}
	session := SessionFor(hello)
	admitted, stop, err := a.client(ctx, hello.Key, session)
	if err != nil {
		a.Refused("socket", err)
		return nil, nil, &owner.Refusal{Code: string(memory.Denied), Message: err.Error()}
	}
	return admitted, stop, nil
}

// client returns the context of a client of the socket that presented a key, or none.
func (a *Admission) client(ctx context.Context, key string, session mcp.Session) (context.Context, func(), error) {
	switch {
	case key != "":
		return a.withKey(ctx, key, session)
	case a.Keys.Required():
		return nil, nil, notAdmitted("no API key", keyRequired+"and set ALCOVE_KEY to it")
	}
	return mcp.WithSession(ctx, session), func() {}, nil
}

// SessionFor returns the session of a client with the rights of the directory's owner.
func SessionFor(hello owner.Hello) mcp.Session {
	session := mcp.Session{Namespace: hello.Namespace, Project: hello.Project, Branch: hello.Branch, Agent: hello.Agent, Rights: memory.FullRights(),
		Profile: hello.Profile, Families: hello.Families}
	if hello.ReadOnly {
		session.Rights = session.Rights.ReadOnly()
	}
	return session
}

// Bearer returns the context of an HTTP client that presented the directory's token or a key in a request to a path.
func (a *Admission) Bearer(ctx context.Context, path, token string) (context.Context, func(), error) {
	if a.Token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(a.Token)) == 1 {
		if a.Keys.Required() {
			return nil, nil, notAdmitted("the owner's token, where API keys are required", keyRequired+"and send it as Authorization: Bearer KEY, not the token of the data directory")
		}
		return mcp.WithSession(ctx, mcp.Session{Rights: memory.FullRights()}), func() {}, nil
	}
	if keys.Is(token) {
		return a.withToken(ctx, path, token)
	}
	if a.Issued != nil && issuer.Is(token) {
		key, err := a.Issued(ctx, token)
		if err != nil {
			return nil, nil, err
		}
		return a.holding(ctx, key, mcp.Session{Rights: memory.FullRights()})
	}
	rule := "unknown token"
	if token == "" {
		rule = "no API key or token"
	}
	if a.Keys.Required() {
		return nil, nil, notAdmitted(rule, keyRequired+"and send it as Authorization: Bearer KEY")
	}
	return nil, nil, notAdmitted(rule, "send the header Authorization: Bearer TOKEN with an API key or the token from the file "+a.TokenPath)
}

// withKey returns the context of a client that presented a key.
func (a *Admission) withKey(ctx context.Context, secret string, session mcp.Session) (context.Context, func(), error) {
	key, err := a.admit(secret)
	if err != nil {
		return nil, nil, err
	}
	return a.holding(ctx, key, session)
}

// withToken returns the context of a client that presented a key or a token of OAuth in a request to a path.
func (a *Admission) withToken(ctx context.Context, path, secret string) (context.Context, func(), error) {
	key, err := a.Keys.Admit(secret)
	if err == nil && isClients(key) && !within(a.Public, path, key.By.Client.Resource) {
		err = notAdmitted("a token of OAuth at another resource", "the token is for "+key.By.Client.Resource+", and not for what this request is about")
	}
	if err != nil {
		return nil, nil, err
	}
	return a.holding(ctx, key, mcp.Session{Rights: memory.FullRights()})
}

// within reports whether a path of the server with a public URL is a resource, or below it.
func within(public, path, resource string) bool {
	at := public + path
	return public != "" && (at == resource || strings.HasPrefix(at, resource+"/"))
}

// isClients reports whether a key is that of a client of OAuth.
func isClients(key keys.Key) bool { return key.By != nil && key.By.Client != nil }

// admit returns the key with a secret where only its holder comes in, and no client of OAuth.
func (a *Admission) admit(secret string) (keys.Key, error) {
	key, err := a.Keys.Admit(secret)
	if err == nil && isClients(key) {
		err = notAdmitted("a token of OAuth at another resource", "a token of OAuth is for HTTP requests to "+key.By.Client.Resource+" alone: present an API key")
	}
	return key, err
}

// holding returns the context of a client that holds a key.
func (a *Admission) holding(ctx context.Context, key keys.Key, session mcp.Session) (context.Context, func(), error) {
	session = session.As(identity(key))
	if session.Namespace == "" {
		session.Namespace = a.Home(key)
	}
	held, stop := a.Keys.Hold(ctx, key)
	return mcp.WithSession(held, session), stop, nil
}

// Enter returns the id of the key with a secret, for a client that As admits from then on.
func (a *Admission) Enter(secret string) (id string, err error) {
	key, err := a.admit(secret)
	return key.ID, err
}

// As returns the context of a client that presented the key with an id before, or of the data directory's owner for an empty id.
func (a *Admission) As(ctx context.Context, id string) (context.Context, func(), error) {
	session := mcp.Session{Rights: memory.FullRights(), Agent: ownerAgent}
	if id == "" {
		return mcp.WithSession(ctx, session), func() {}, nil
	}
	key, err := a.Keys.Held(id)
	if err != nil {
		return nil, nil, err
	}
	return a.holding(ctx, key, session)
}

// Holder returns who holds the key with an id, or the data directory's owner for an empty id.
func (a *Admission) Holder(id string) (memory.Caller, error) {
	if id == "" {
		return memory.Caller{Agent: ownerAgent, Rights: memory.FullRights()}, nil
	}
	key, err := a.Keys.Held(id)
	return key.Caller(), err
}

// Identify returns the holder of a key.
func (a *Admission) Identify(secret string) (mcp.Identity, error) {
	key, err := a.admit(secret)
	if err != nil {
		a.Refused("_meta", err)
		return mcp.Identity{}, err
	}
	who := identity(key)
	who.Home = a.Home(key)
	return who, nil
}

func identity(key keys.Key) mcp.Identity {
	who := key.Caller()
	return mcp.Identity{Agent: who.Agent, Key: who.Key, Principal: who.Principal, Rights: who.Rights}
}

// notAdmitted returns the error for a client that is not admitted, by a rule.
func notAdmitted(rule, message string) error {
	return &memory.Error{Code: memory.Denied, Rule: rule, Message: message}
}

// AgentHeader names the agent of an HTTP client.
const AgentHeader = "Alcove-Agent"

// Client returns who sent a request that Bearer admitted. An agent's name is the key's, if there is one.
func (a *Admission) Client(r *http.Request) connection.Client {
	session := mcp.SessionOf(r.Context())
	return connection.Client{Caller: a.Caller(session, cmp.Or(session.Agent, r.Header.Get(AgentHeader))), Namespace: session.Namespace}
}

// Caller returns the author of a session's operations.
func (a *Admission) Caller(session mcp.Session, agent string) memory.Caller {
	who := memory.Caller{Agent: mcp.AgentName(agent), Key: session.Key, Principal: session.Principal, Rights: session.Rights}
	if a.ReadOnly {
		who.Rights = who.Rights.ReadOnlyBecause(a.Why)
	}
	return who
}
