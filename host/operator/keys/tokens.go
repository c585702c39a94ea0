package keys

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// Bounds of the tokens of a client.
const (
	AccessLife  = time.Hour
	IdleLife    = 60 * 24 * time.Hour // of an authorization after its client refreshed its tokens last
	mostAccess  = 8                   // access tokens of one authorization that hold at once
	longestPart = 32                  // characters of a client's name in the name of its agent
)

const refreshPrefix = "alcove_refresh_"

// Client is a client of OAuth that a person allowed to act for them. Its key is the authorization.
type Client struct {
	ID       string `json:"id"` // the URL of its metadata, or what it was registered with
	Name     string `json:"name"`
	Resource string `json:"resource"` // the URL that its tokens are for, with what is below
}

// Tokens are what a client presents.
type Tokens struct {
	Access  string
	Expires time.Time // of the access token
	Refresh string    // to be presented once
}

// tokens are the digests of a client's tokens.
type tokens struct {
	Access []access `json:"access"`
	Root   string   `json:"root"`    // of the part that all refresh tokens of the authorization have
	Newest string   `json:"refresh"` // of the one that holds
}

type access struct {
	Digest  string    `json:"sha256"`
	Expires time.Time `json:"expires"`
}

// ErrReused means that a refresh token was presented again, and its authorization was revoked: somebody else has a copy.
var ErrReused = errors.New("the refresh token was used before, so somebody may have a copy: the authorization was revoked, ask the person again")

// errRefresh is told of tokens that never held or do not hold any more.
func errRefresh() error {
	return denied("the refresh token is not known here, or has expired")
}

// Authorize makes the key of a client to which a caller gives a part of their rights, and its first tokens. The key does not outlive the
// caller's. g.Agent is what the client calls itself; the agent has the caller's name before that.
func (k *Keys) Authorize(caller memory.Caller, c Client, g Grant) (Key, Tokens, error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	key, err := k.authorization(caller, c, g)
	if err != nil {
		return key, Tokens{}, err
	}
	id, root := make([]byte, idBytes), make([]byte, secretBytes)
	rand.Read(id)
	rand.Read(root)
	key.ID = hex.EncodeToString(id)
	s, issued := (&storedKey{Key: key, Tokens: &tokens{}}).refreshed(base64.RawURLEncoding.EncodeToString(root), key.Created)
	file := k.snapshot()
	file.Keys = append(k.withoutPast(file.Keys), s)
	if err := k.replace(file); err != nil {
		return Key{}, Tokens{}, fmt.Errorf("authorize a client: %w", err)
	}
	return s.Key, issued, nil
}

// MayAuthorize returns why Authorize would refuse a client.
func (k *Keys) MayAuthorize(caller memory.Caller, c Client, g Grant) error {
	_, err := k.authorization(caller, c, g)
	return err
}

func (k *Keys) authorization(caller memory.Caller, c Client, g Grant) (key Key, err error) {
	g.Expires = k.o.Clock().UTC().Add(IdleLife)
	if g.Agent, err = k.freeName(caller.Agent, g.Agent); err != nil {
		return key, err
	}
	return k.delegated(caller, &Delegation{Client: &c, Parent: caller.Key, Depth: 1}, g)
}

// freeName returns the name of a client's agent that no other has.
func (k *Keys) freeName(agent, client string) (string, error) {
	client = strings.Trim(strings.ReplaceAll(notOfName().ReplaceAllString(client, "-"), "/", "-"), "-")
	if client == "" {
		client = "client"
	}
	base := nameUnder(agent, client[:min(len(client), longestPart)])
	now, taken := k.o.Clock(), map[string]bool{}
	k.mu.RLock()
	for _, s := range k.file.Keys {
		if s.Holds(now) == nil {
			taken[s.Agent] = true
		}
	}
	k.mu.RUnlock()
	name := base
	for n := 2; taken[name]; n++ {
		if n > MaxDelegated {
			return "", exhausted(MaxDelegated, "%d clients are called %s: revoke one", MaxDelegated, base)
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name, nil
}

// refreshed returns a copy of a client's key with a new refresh token in place of the former and one more access token.
func (s *storedKey) refreshed(root string, now time.Time) (*storedKey, Tokens) {
	secrets := make([]byte, 2*secretBytes)
	rand.Read(secrets)
	text := base64.RawURLEncoding.EncodeToString
	issued := Tokens{Access: prefix + "_" + s.ID + "_" + text(secrets[:secretBytes]), Expires: now.Add(AccessLife),
		Refresh: refreshPrefix + s.ID + "_" + root + "_" + text(secrets[secretBytes:])}
	if !s.Expires.IsZero() && issued.Expires.After(s.Expires) {
		issued.Expires = s.Expires
	}
	renewed := *s
	held := slices.DeleteFunc(slices.Clone(s.Tokens.Access), func(a access) bool { return !now.Before(a.Expires) })
	held = append(held, access{digestText(issued.Access), issued.Expires})
	renewed.Tokens = &tokens{Access: held[max(0, len(held)-mostAccess):], Root: digestText(root), Newest: digestText(issued.Refresh)}
	return &renewed, issued
}

func digestText(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func sameDigest(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// isRefresh reports whether a text has the form of a refresh token.
func isRefresh(text string) bool { return strings.HasPrefix(text, refreshPrefix) }

// refreshParts returns the id of the key that a refresh token names, and the part that all tokens of the key have.
func refreshParts(token string) (id, root string, ok bool) {
	id, rest, ok := strings.Cut(strings.TrimPrefix(token, refreshPrefix), "_")
	size := base64.RawURLEncoding.EncodedLen(secretBytes)
	if !ok || !isRefresh(token) || len(token) > longestText || len(rest) != 2*size+1 || rest[size] != '_' {
		return "", "", false
	}
	return id, rest[:size], true
}

// ofRefresh returns the key that a refresh token belongs to; newest is false for a token that was used. Nil: it never belonged to one.
func (k *Keys) ofRefresh(token, client string) (s *storedKey, root string, newest bool) {
	id, root, ok := refreshParts(token)
	if !ok {
		return nil, "", false
	}
	k.mu.RLock()
	s = k.byID[id]
	k.mu.RUnlock()
	if s == nil || s.Tokens == nil || s.By.Client.ID != client || !sameDigest(digestText(root), s.Tokens.Root) {
		return nil, "", false
	}
	return s, root, sameDigest(digestText(token), s.Tokens.Newest)
}

// Refresh gives a client new tokens for its refresh token, and lengthens its authorization. A refresh token that was used before revokes
// the authorization: the error is ErrReused.
func (k *Keys) Refresh(token, client, resource string) (Key, Tokens, error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	s, root, newest := k.ofRefresh(token, client)
	switch {
	case s == nil:
		return Key{}, Tokens{}, errRefresh()
	case k.check(s) != nil:
		return s.Key, Tokens{}, errRefresh()
	case !newest:
		_, err := k.revoke(s.ID)
		return s.Key, Tokens{}, errors.Join(ErrReused, err)
	case resource != "" && resource != s.By.Client.Resource:
		return s.Key, Tokens{}, denied("the authorization is for %s and not for another resource", s.By.Client.Resource)
	}
	now := k.o.Clock().UTC()
	longer := *s
	longer.Expires = now.Add(IdleLife)
	if parent := k.byIDHeld(s.parent()); parent != nil && !parent.Expires.IsZero() && parent.Expires.Before(longer.Expires) {
		longer.Expires = parent.Expires
	}
	renewed, issued := longer.refreshed(root, now)
	file := k.snapshot()
	file.Keys[slices.Index(file.Keys, s)] = renewed
	if err := k.replace(file); err != nil {
		return s.Key, Tokens{}, fmt.Errorf("refresh the tokens of the key %s: %w", s.ID, err)
	}
	return renewed.Key, issued, nil
}

func (k *Keys) byIDHeld(id string) *storedKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.byID[id]
}

// OfToken returns the key that a token of a client belongs to, whether the token still holds or not.
func (k *Keys) OfToken(token, client string) (Key, bool) {
	if s, _, _ := k.ofRefresh(token, client); s != nil {
		return s.Key, true
	}
	if key, err := k.Verify(token); err == nil && key.By != nil && key.By.Client != nil && key.By.Client.ID == client {
		return key, true
	}
	return Key{}, false
}

// admits returns the key for an access token with a digest, until the token expires; nil: there is no such token.
func (s *storedKey) admits(digest string) *Key {
	for _, a := range s.Tokens.Access {
		if sameDigest(digest, a.Digest) {
			key := s.Key
			key.Expires = a.Expires // which is not after the key's
			return &key
		}
	}
	return nil
}
