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
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
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
	// Documents keeps the files; nil: they are files alone.
	Documents Documents
	// Changeable returns why the file must not be written; nil: it may always be.
	Changeable func() error
	// Ended is called when a key was revoked or deleted; nil: it is not.
	Ended func(id string)
	// Exceeded is called when a call by the holder of a key was refused for a limit; nil: it is not.
	Exceeded func(key Key, limit string)
}

// Documents keeps files, wherever else the next server of their directory looks for them.
type Documents interface {
	Write(path string, data []byte) error
	Remove(path string) error
}

// files keeps them in their directory alone.
type files struct{}

func (files) Write(path string, data []byte) error { return durable.WriteFile(path, data, 0o600) }

func (files) Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Keys are the keys of a data directory. Its methods may be called concurrently.
type Keys struct {
	o Options

	changing sync.Mutex // held while the file is replaced
	mu       sync.RWMutex
	file     contents
	required bool // whether the mark of required keys is there
	byID     map[string]*storedKey
	// bySubject has the keys of those whom authorization servers elsewhere know.
	bySubject map[Subject]*storedKey
	holds     map[string]map[*hold]bool // by key id
	drafts    []*storedKey              // delegated keys that are not issued, oldest first

	uses uses
}

// hold is what a client has open, which ends with its key.
type hold struct{ end context.CancelCauseFunc }

// contents is the file of the keys.
type contents struct {
	Sum      string       `json:"sha256,omitempty"` // of the file without it
	Required bool         `json:"required,omitempty"`
	Limits   Limits       `json:"limits,omitzero"` // of keys without their own
	Keys     []*storedKey `json:"keys"`
	// Invitations are those that nobody accepted yet.
	Invitations []storedInvitation `json:"invitations,omitempty"`
}

// storedKey is a key with the digest of its secret. The secret is random, so a plain digest resists guessing.
type storedKey struct {
	Key
	Digest string  `json:"sha256,omitempty"`
	Tokens *tokens `json:"tokens,omitempty"` // of a client, in place of the secret
}

// Open reads the keys of a data directory; a missing file has none.
func Open(o Options) (*Keys, error) {
	if o.Documents == nil {
		o.Documents = files{}
	}
	k := &Keys{o: o, byID: map[string]*storedKey{}, bySubject: map[Subject]*storedKey{}, holds: map[string]map[*hold]bool{}}
	data, err := read(o.Path)
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	if data != nil {
		k.file, err = parse(data)
	}
	if err != nil {
		return nil, fmt.Errorf("read the keys: %s is damaged: %w: restore it, or delete it, which revokes every key: where keys were required, "+
			"clients without one are still refused then, until: alcove serve --require-keys=false", o.Path, err)
	}
	for _, s := range k.file.Keys {
		k.byID[s.ID] = s
		if s.Subject != nil {
			k.bySubject[*s.Subject] = s
		}
	}
	if k.required, err = exists(o.mark()); err == nil && k.file.Required && !k.required && k.changeable() == nil {
		err = k.markRequired(true)
	}
	if err != nil {
		return nil, fmt.Errorf("read whether keys are required: %w", err)
	}
	return k, nil
}

// read returns the content of a file; nil: there is no file.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, longestFile+1))
	return data, err
}

// parse reads contents. It refuses whatever format did not write: a file of which a bit flipped must not make a key hold.
func parse(data []byte) (file contents, err error) {
	if len(data) > longestFile {
		return file, fmt.Errorf("it is larger than %d bytes", longestFile)
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(&file); err != nil {
		return file, err
	}
	if slices.Contains(file.Keys, nil) {
		return file, errors.New("it has a null among the keys")
	}
	written, err := file.format()
	if err == nil && !bytes.Equal(written, data) {
		err = errors.New("its content is not what was written: it has another checksum")
	}
	return file, err
}

// format returns the text of the file, with its checksum.
func (c contents) format() ([]byte, error) {
	c.Sum = ""
	text, err := c.indented()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	c.Sum = hex.EncodeToString(sum[:])
	return c.indented()
}

func (c contents) indented() ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", "\t")
	err := e.Encode(c)
	return text.Bytes(), err
}

// mark returns the path of the file whose existence says that keys are required. It is apart from the keys, so that deleting those opens
// nothing.
func (o Options) mark() string { return filepath.Join(filepath.Dir(o.Path), "keys.required") }

func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// markRequired keeps whether keys are required apart from the keys.
func (k *Keys) markRequired(required bool) (err error) {
	if required {
		err = k.o.Documents.Write(k.o.mark(), []byte("Clients need a key here, whatever keys.json says. To end that: alcove serve --require-keys=false\n"))
	} else {
		err = k.o.Documents.Remove(k.o.mark())
	}
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.required = required
	return nil
}

// changeable returns why the files must not be written.
func (k *Keys) changeable() error {
	if k.o.Changeable == nil {
		return nil
	}
	return k.o.Changeable()
}

// Create issues a key. The secret is what its holder presents; it is not kept.
func (k *Keys) Create(g Grant) (key Key, secret string, err error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	now := k.o.Clock().UTC()
	if g, err = g.normal(now); err != nil {
		return key, "", invalid("create a key: %v", err)
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
func newKey(key Key) (s *storedKey, secret string) {
	id, random := make([]byte, idBytes), make([]byte, secretBytes)
	rand.Read(id)
	rand.Read(random)
	key.ID = hex.EncodeToString(id)
	secret = prefix + "_" + key.ID + "_" + base64.RawURLEncoding.EncodeToString(random)
	digest := sha256.Sum256([]byte(secret))
	return &storedKey{Key: key, Digest: hex.EncodeToString(digest[:])}, secret
}

// List returns all keys, oldest first, revoked and expired ones included.
func (k *Keys) List() []Key {
	k.mu.RLock()
	defer k.mu.RUnlock()
	list := make([]Key, len(k.file.Keys))
	for i, s := range k.file.Keys {
		list[i] = s.Key
	}
	slices.SortFunc(list, byAge)
	return list
}

// Revoke ends a key, and what its holders have open, at once.
func (k *Keys) Revoke(id string) (Key, error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	return k.revoke(id)
}

// revoke is Revoke for a caller that holds changing.
func (k *Keys) revoke(id string) (Key, error) {
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
	k.changing.Lock()
	defer k.changing.Unlock()
	return k.change("delete", id, func(file *contents, at int) Key {
		key := file.Keys[at].Key
		file.Keys = slices.Delete(file.Keys, at, at+1)
		return key
	})
}

// change replaces the file after a change to one key, and ends what depends on it. The caller holds changing.
func (k *Keys) change(verb, id string, do func(file *contents, at int) Key) (Key, error) {
	file := k.snapshot()
	at := slices.IndexFunc(file.Keys, func(s *storedKey) bool { return s.ID == id })
	if at < 0 {
		return Key{}, notFound("%s a key: there is no key %.64q: alcove key list shows all", verb, id)
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
func (k *Keys) revokeAll(all []*storedKey, ids []string) {
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
	return k.file.Required || k.required
}

// Require decides whether clients without a key are refused, from now on and by later servers of the data directory.
func (k *Keys) Require(required bool) error {
	k.changing.Lock()
	defer k.changing.Unlock()
	if k.Required() == required {
		return nil
	}
	if err := k.require(required); err != nil {
		return fmt.Errorf("keep whether keys are required: %w", err)
	}
	return nil
}

// require writes the mark first and removes it last, so that whatever fails leaves keys required.
func (k *Keys) require(required bool) error {
	file := k.snapshot()
	file.Required = required
	if err := k.changeable(); err != nil {
		return err
	}
	if required {
		if err := k.markRequired(true); err != nil {
			return err
		}
	}
	if err := k.replace(file); err != nil || required {
		return err
	}
	return k.markRequired(false)
}

// Is reports whether a text has the form of a key, valid or not.
func Is(text string) bool { return strings.HasPrefix(text, prefix+"_") }

// Verify returns the key that a secret belongs to, if it holds. Unknown and malformed secrets get the same error.
func (k *Keys) Verify(secret string) (Key, error) {
	unknown := denied("the key is not known here: check its spelling. If it is correct, the key was deleted, perhaps with all of its space: ask the memory's owner")
	if len(secret) > longestText {
		return Key{}, unknown
	}
	digest := sha256.Sum256([]byte(secret))
	parts := strings.SplitN(strings.TrimPrefix(secret, prefix+"_"), "_", 2)
	k.mu.RLock()
	s := k.byID[parts[0]]
	k.mu.RUnlock()
	want := make([]byte, sha256.Size) // compared in any case, so that the time reveals nothing of ids
	if s != nil && s.Tokens != nil {
		return k.verifyAccess(s, hex.EncodeToString(digest[:]), unknown)
	}
	if s != nil {
		want, _ = hex.DecodeString(s.Digest)
	}
	if subtle.ConstantTimeCompare(digest[:], want) != 1 || s == nil {
		return Key{}, unknown
	}
	return s.Key, k.check(s)
}

// verifyAccess returns the key of a client for an access token, until the token expires.
func (k *Keys) verifyAccess(s *storedKey, digest string, unknown error) (Key, error) {
	key := s.admits(digest)
	if key == nil {
		return Key{}, unknown
	}
	if now := k.o.Clock(); !now.Before(key.Expires) {
		return *key, denied("the access token expired at %s: refresh it", key.Expires.UTC().Format(time.RFC3339))
	}
	return *key, k.check(s)
}

// Check returns why the key with an id does not hold; nil: it does.
func (k *Keys) Check(id string) error {
	_, err := k.Held(id)
	return err
}

// Held returns the key with an id, if it holds.
func (k *Keys) Held(id string) (Key, error) {
	k.mu.RLock()
	s := k.byID[id]
	k.mu.RUnlock()
	if s == nil {
		return Key{}, denied("the key %.64q was deleted: ask the memory's owner for another", id)
	}
	return s.Key, k.check(s)
}

// check returns why a key, or one that it was delegated from, does not hold.
func (k *Keys) check(s *storedKey) error {
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
	key := Key{ID: id}
	if s := k.byIDHeld(id); s != nil {
		key = s.Key
	}
	return k.Hold(ctx, key)
}

// Hold is While for a key that Verify returned, which may expire earlier: with the token that was presented.
func (k *Keys) Hold(ctx context.Context, key Key) (held context.Context, stop func()) {
	ctx, end := context.WithCancelCause(ctx)
	h := &hold{end}
	k.mu.Lock()
	if k.holds[key.ID] == nil {
		k.holds[key.ID] = map[*hold]bool{}
	}
	k.holds[key.ID][h] = true
	k.mu.Unlock()
	expiry := func() bool { return false }
	if !key.Expires.IsZero() {
		expiry = time.AfterFunc(key.Expires.Sub(k.o.Clock()), func() { end(key.Holds(key.Expires)) }).Stop
	}
	if err := k.Check(key.ID); err != nil { // revoked meanwhile
		end(err)
	}
	return ctx, func() {
		expiry()
		k.release(key.ID, h)
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
	if k.o.Ended != nil {
		k.o.Ended(id)
	}
}

// snapshot returns a copy of the contents, whose keys are shared and never changed.
func (k *Keys) snapshot() contents {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return contents{Required: k.file.Required, Limits: k.file.Limits, Keys: slices.Clone(k.file.Keys), Invitations: slices.Clone(k.file.Invitations)}
}

// replace writes the file, then uses its contents. The caller holds changing.
func (k *Keys) replace(file contents) error {
	if err := k.changeable(); err != nil {
		return err
	}
	text, err := file.format()
	if err != nil {
		return err
	}
	if err := k.o.Documents.Write(k.o.Path, text); err != nil {
		return err
	}
	byID, bySubject := make(map[string]*storedKey, len(file.Keys)), map[Subject]*storedKey{}
	for _, s := range file.Keys {
		byID[s.ID] = s
		if s.Subject != nil {
			bySubject[*s.Subject] = s
		}
	}
	k.uses.keep(func(id string) bool { return byID[id] != nil })
	k.mu.Lock()
	defer k.mu.Unlock()
	k.file, k.bySubject = file, bySubject
	clear(k.byID)
	maps.Copy(k.byID, byID)
	return nil
}

// HolderError says why a key does not admit its holder.
type HolderError struct {
	error
	Key Key // zero: it was never issued
}

// Unwrap returns the error that the holder is told.
func (e HolderError) Unwrap() error { return e.error }

// Admit returns the key with a secret, or a HolderError.
func (k *Keys) Admit(secret string) (Key, error) {
	key, err := k.Verify(secret)
	if err != nil {
		return key, HolderError{err, key}
	}
	return key, nil
}

// Required reports whether the server of a data directory refuses clients without an API key.
func Required(path string) (bool, error) {
	list, err := Open(Options{Path: path, Clock: time.Now})
	if err != nil {
		return false, err
	}
	return list.Required(), nil
}
