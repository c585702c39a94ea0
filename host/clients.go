package host

import (
	"context"
	"crypto/subtle"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/front/mcp"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

// keyRequired is told to clients without a key of a server that requires one.
const keyRequired = "this server requires an API key: ask the memory's owner for one (alcove key create), "

// admitHello returns the context of a client of the socket: with its session, until its key ends.
func (h *Host) admitHello(ctx context.Context, hello owner.Hello) (context.Context, func(), *owner.Refusal) {
	if err := mcp.CheckProfile(hello.Profile, hello.Families); err != nil { // families may be missing: the rest of the memory serves
		return nil, nil, &owner.Refusal{Code: string(memory.InvalidArgument), Message: err.Error()}
	}
	session := sessionFor(hello)
	admitted, stop, err := h.admitClient(ctx, hello.Key, session)
	if err != nil {
		h.notAdmitted("socket", err)
		return nil, nil, &owner.Refusal{Code: string(memory.Denied), Message: err.Error()}
	}
	return admitted, stop, nil
}

// admitClient returns the context of a client of the socket that presented a key, or none.
func (h *Host) admitClient(ctx context.Context, key string, session mcp.Session) (context.Context, func(), error) {
	switch {
	case key != "":
		return h.admitKey(ctx, key, session)
	case h.keys.Required():
		return nil, nil, notAdmitted("no API key", keyRequired+"and set ALCOVE_KEY to it")
	}
	return mcp.WithSession(ctx, session), func() {}, nil
}

// sessionFor returns the session of a client with the rights of the directory's owner.
func sessionFor(hello owner.Hello) mcp.Session {
	session := mcp.Session{Namespace: hello.Namespace, Branch: hello.Branch, Agent: hello.Agent, Rights: memory.FullRights(),
		Profile: hello.Profile, Families: hello.Families}
	if hello.ReadOnly {
		session.Rights = session.Rights.ReadOnly()
	}
	return session
}

// admitBearer returns the context of an HTTP client that presented the directory's token or a key.
func (h *Host) admitBearer(ctx context.Context, token string) (context.Context, func(), error) {
	if h.token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(h.token)) == 1 {
		if h.keys.Required() {
			return nil, nil, notAdmitted("the owner's token, where API keys are required", keyRequired+"and send it as Authorization: Bearer KEY, not the token of the data directory")
		}
		return mcp.WithSession(ctx, mcp.Session{Rights: memory.FullRights()}), func() {}, nil
	}
	if keys.Is(token) {
		return h.admitKey(ctx, token, mcp.Session{Rights: memory.FullRights()})
	}
	rule := "unknown token"
	if token == "" {
		rule = "no API key or token"
	}
	if h.keys.Required() {
		return nil, nil, notAdmitted(rule, keyRequired+"and send it as Authorization: Bearer KEY")
	}
	return nil, nil, notAdmitted(rule, "send the header Authorization: Bearer TOKEN with an API key or the token from the file "+owner.TokenPath(h.options.Dir))
}

// admitKey returns the context of a client that presented a key.
func (h *Host) admitKey(ctx context.Context, secret string, session mcp.Session) (context.Context, func(), error) {
	key, err := h.keys.Verify(secret)
	if err != nil {
		return nil, nil, keyError{err, key}
	}
	session = session.As(identity(key))
	if session.Namespace == "" {
		session.Namespace = h.home(key)
	}
	held, stop := h.keys.While(ctx, key.ID)
	return mcp.WithSession(held, session), stop, nil
}

// identify returns the holder of a key.
func (h *Host) identify(secret string) (mcp.Identity, error) {
	key, err := h.keys.Verify(secret)
	if err != nil {
		err = keyError{err, key}
		h.notAdmitted("_meta", err)
		return mcp.Identity{}, err
	}
	who := identity(key)
	who.Home = h.home(key)
	return who, nil
}

func identity(key keys.Key) mcp.Identity {
	who := key.Caller()
	return mcp.Identity{Agent: who.Agent, Key: who.Key, Principal: who.Principal, Rights: who.Rights}
}

// home returns the default namespace of a key's holder.
func (h *Host) home(key keys.Key) string { return h.space.As(key.Caller()).Home(key.Namespaces) }

// KeysRequired reports whether the server of a data directory refuses clients without an API key.
func KeysRequired(dir string) (bool, error) {
	list, err := keys.Open(keys.Options{Path: owner.KeysPath(dir), Clock: time.Now})
	if err != nil {
		return false, err
	}
	return list.Required(), nil
}

// RequireKeys decides whether clients without an API key are refused, by this server and later ones. Operators need none.
func (h *Host) RequireKeys(required bool) error {
	before := h.keys.Required()
	if before == required {
		return nil
	}
	return acts{h}.changeKeys("require", change[bool]{before, required}, func() error { return h.keys.Require(required) })
}
