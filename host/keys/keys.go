package keys

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/sdk/go/order"
)

const (
	prefix      = "alcove_key" // lets scanners of repositories recognise a leaked key
	idBytes     = 6
	secretBytes = 32
	longestText = 256      // bytes of a key as clients send it
	longestFile = 32 << 20 // bytes
)

// Options configures Open. Path and Clock are required.
type Options struct {
	Path  string
	Clock func() time.Time
	// Changeable returns why the file must not be written; nil: it may always be.
	Changeable func() error
}

// Keys are the keys of a data directory. Its methods may be called concurrently.
type Keys struct {
	o Options

	changing sync.Mutex // held while the file is replaced
	mu       sync.RWMutex
	file     contents
	byID     map[string]*stored
	holds    map[string]map[*hold]bool // by key id
	drafts   []*stored                 // delegated keys that are not issued, oldest first

	uses uses
}

// hold is what a client has open, which ends with its key.
type hold struct{ end context.CancelCauseFunc }

// contents is the file of the keys.
type contents struct {
	Required bool      `json:"required,omitempty"`
	Limits   Limits    `json:"limits,omitzero"` // of keys without their own
	Keys     []*stored `json:"keys"`
}

// stored is a key with the digest of its secret. The secret is random, so a plain digest resists guessing.
type stored struct {
	Key
	Digest string `json:"sha256"`
}

// Open reads the keys of a data directory; a missing file has none.
func Open(o Options) (*Keys, error) {
	k := &Keys{o: o, byID: map[string]*stored{}, holds: map[string]map[*hold]bool{}}
	f, err := os.Open(o.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	} else if info.Size() > longestFile {
		return nil, fmt.Errorf("read the keys: %s is larger than %d bytes: restore it, or delete it, which revokes every key", o.Path, longestFile)
	}
	if err := json.NewDecoder(f).Decode(&k.file); err != nil {
		return nil, fmt.Errorf("read the keys: %s is damaged: %w: restore it, or delete it, which revokes every key", o.Path, err)
	}
	for _, s := range k.file.Keys {
		k.byID[s.ID] = s
	}
	return k, nil
}

// Create issues a key. The secret is what its holder presents; it is not kept.
func (k *Keys) Create(g Grant) (key Key, secret string, err error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	now := k.o.Clock().UTC()
	if g, err = g.normal(now); err != nil {
		return key, "", fmt.Errorf("create a key: %w", err)
	}
	file := k.snapshot()
	file.Keys = k.withoutPast(file.Keys)
	if len(file.Keys) >= MaxKeys {
		return key, "", fmt.Errorf("create a key: there are %d keys, which is the limit: delete some with alcove key delete", MaxKeys)
	}
	s, secret := newKey(Key{Grant: g, Created: now})
	file.Keys = append(file.Keys, s)
	if err := k.replace(file); err != nil {
		return Key{}, "", fmt.Errorf("create a key: %w", err)
	}
	return s.Key, secret, nil
}

// newKey gives a key its id and secret.
func newKey(key Key) (s *stored, secret string) {
	id, random := make([]byte, idBytes), make([]byte, secretBytes)
	rand.Read(id)
	rand.Read(random)
	key.ID = hex.EncodeToString(id)
	secret = prefix + "_" + key.ID + "_" + base64.RawURLEncoding.EncodeToString(random)
	digest := sha256.Sum256([]byte(secret))
	return &stored{key, hex.EncodeToString(digest[:])}, secret
}

// List returns all keys, oldest first, revoked and expired ones included.
func (k *Keys) List() []Key {
	k.mu.RLock()
	defer k.mu.RUnlock()
	list := make([]Key, len(k.file.Keys))
	for i, s := range k.file.Keys {
		list[i] = s.Key
	}
	order.By(list, byAge)
	return list
}

// Revoke ends a key, and what its holders have open, at once.
func (k *Keys) Revoke(id string) (Key, error) {
	return k.change("revoke", id, func(file *contents, at int) Key {
		s := *file.Keys[at]
		if s.Revoked.IsZero() {
			s.Revoked = k.o.Clock().UTC()
		}
		file.Keys[at] = &s
		return s.Key
	})
}

// Delete revokes a key and forgets it.
func (k *Keys) Delete(id string) (Key, error) {
	return k.change("delete", id, func(file *contents, at int) Key {
		key := file.Keys[at].Key
		file.Keys = slices.Delete(file.Keys, at, at+1)
		return key
	})
}

// change replaces the file after a change to one key, and ends what depends on it.
func (k *Keys) change(verb, id string, do func(file *contents, at int) Key) (Key, error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	file := k.snapshot()
	at := slices.IndexFunc(file.Keys, func(s *stored) bool { return s.ID == id })
	if at < 0 {
		return Key{}, fmt.Errorf("%s a key: there is no key %.64q: alcove key list shows all", verb, id)
	}
	key := do(&file, at)
	ended := withDelegated(file.Keys, id)
	k.revokeAll(file.Keys, ended[1:])
	if err := k.replace(file); err != nil {
		return Key{}, fmt.Errorf("%s key %s: %w", verb, id, err)
	}
	for _, each := range ended {
		k.end(each, denied("the key %s was revoked", id))
	}
	return key, nil
}

// revokeAll marks keys of a copy of the contents as revoked.
func (k *Keys) revokeAll(all []*stored, ids []string) {
	for i, s := range all {
		if slices.Contains(ids, s.ID) && s.Revoked.IsZero() {
			revoked := *s
			revoked.Revoked = k.o.Clock().UTC()
			all[i] = &revoked
		}
	}
}

// Required reports whether clients without a key are refused.
func (k *Keys) Required() bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.file.Required
}

// Require decides whether clients without a key are refused, from now on and by later servers of the data directory.
func (k *Keys) Require(required bool) error {
	k.changing.Lock()
	defer k.changing.Unlock()
	file := k.snapshot()
	if file.Required == required {
		return nil
	}
	file.Required = required
	if err := k.replace(file); err != nil {
		return fmt.Errorf("keep whether keys are required: %w", err)
	}
	return nil
}

// Is reports whether a text has the form of a key, valid or not.
func Is(text string) bool { return strings.HasPrefix(text, prefix+"_") }

// Verify returns the key that a secret belongs to, if it holds. Unknown and malformed secrets get the same error.
func (k *Keys) Verify(secret string) (Key, error) {
	unknown := denied("the key is not known here: look at its spelling, or ask the memory's owner for one")
	if len(secret) > longestText {
		return Key{}, unknown
	}
	digest := sha256.Sum256([]byte(secret))
	parts := strings.SplitN(strings.TrimPrefix(secret, prefix+"_"), "_", 2)
	k.mu.RLock()
	s := k.byID[parts[0]]
	k.mu.RUnlock()
	want := make([]byte, sha256.Size) // compared in any case, so that the time reveals nothing of ids
	if s != nil {
		want, _ = hex.DecodeString(s.Digest)
	}
	if subtle.ConstantTimeCompare(digest[:], want) != 1 || s == nil {
		return Key{}, unknown
	}
	return s.Key, k.check(s)
}

// Check returns why the key with an id does not hold; nil: it does.
func (k *Keys) Check(id string) error {
	k.mu.RLock()
	s := k.byID[id]
	k.mu.RUnlock()
	if s == nil {
		return denied("the key %.64q was deleted: ask the memory's owner for another", id)
	}
	return k.check(s)
}

// check returns why a key, or one that it was delegated from, does not hold.
func (k *Keys) check(s *stored) error {
	now := k.o.Clock()
	k.mu.RLock()
	defer k.mu.RUnlock()
	for range MaxDepth + 1 {
		if err := s.Holds(now); err != nil || s.By == nil || s.By.Parent == "" {
			return err
		}
		parent := k.byID[s.By.Parent]
		if parent == nil {
			return denied("the key %s, from which the key %s was delegated, was deleted: ask the memory's owner for another", s.By.Parent, s.ID)
		}
		s = parent
	}
	return denied("the key %s was delegated too often", s.ID)
}

// While returns a context that ends with the key with an id: when it is revoked or expires. The caller calls stop when done. An empty id
// is the owner of the data directory, who has no key to lose.
func (k *Keys) While(ctx context.Context, id string) (held context.Context, stop func()) {
	if id == "" {
		return ctx, func() {}
	}
	ctx, end := context.WithCancelCause(ctx)
	h := &hold{end}
	k.mu.Lock()
	if k.holds[id] == nil {
		k.holds[id] = map[*hold]bool{}
	}
	k.holds[id][h] = true
	s := k.byID[id]
	k.mu.Unlock()
	expiry := func() bool { return false }
	if s != nil && !s.Expires.IsZero() {
		expiry = time.AfterFunc(s.Expires.Sub(k.o.Clock()), func() { end(s.Holds(s.Expires)) }).Stop
	}
	if err := k.Check(id); err != nil { // revoked meanwhile
		end(err)
	}
	return ctx, func() {
		expiry()
		k.release(id, h)
		end(nil)
	}
}

func (k *Keys) release(id string, h *hold) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if delete(k.holds[id], h); len(k.holds[id]) == 0 {
		delete(k.holds, id)
	}
}

// end ends what depends on a key.
func (k *Keys) end(id string, why error) {
	k.mu.Lock()
	holds := k.holds[id]
	delete(k.holds, id)
	k.mu.Unlock()
	for h := range holds {
		h.end(why)
	}
}

// snapshot returns a copy of the contents, whose keys are shared and never changed.
func (k *Keys) snapshot() contents {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return contents{k.file.Required, k.file.Limits, slices.Clone(k.file.Keys)}
}

// replace writes the file, then uses its contents. The caller holds changing.
func (k *Keys) replace(file contents) error {
	if k.o.Changeable != nil {
		if err := k.o.Changeable(); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", "\t")
	if err := e.Encode(file); err != nil {
		return err
	}
	if err := durable.WriteFile(k.o.Path, text.Bytes(), 0o600); err != nil {
		return err
	}
	byID := make(map[string]*stored, len(file.Keys))
	for _, s := range file.Keys {
		byID[s.ID] = s
	}
	k.uses.keep(func(id string) bool { return byID[id] != nil })
	k.mu.Lock()
	defer k.mu.Unlock()
	k.file = file
	clear(k.byID)
	maps.Copy(k.byID, byID)
	return nil
}
