// Package modules keeps the modules of families in a data directory: each by its digest, with its detached signature.
//
// The life of a module here:
//
//  1. Receive notes where it comes from, and keeps its signature; Keep writes it, durably.
//  2. Inspect hashes each state of its file once. Whoever runs it reads and hashes it again (Origin).
//  3. KeepApproved keeps it apart while it serves a required store hook, whatever happens to its file.
//  4. NotePrevious keeps what it was granted when another version takes its place, for a rollback.
//  5. Release and RemoveVersions remove it when no decision needs it any more.
package modules

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/registry/signature"
)

// Folder holds the installed modules in a data directory, each named by its digest.
const Folder = "families"

// ApprovedFolder, in Folder, holds modules that serve a required store hook and are not installed.
const ApprovedFolder = "approved"

// Extension is that of a module's file.
const Extension = ".wasm"

// signatureExtension is that of a file beside a module that has its detached signature.
const signatureExtension = ".sig"

// Options configures a Store. Dir is required.
type Options struct {
	Dir       string                      // the data directory
	Hash      func([]byte) sandbox.Binary // nil: sandbox.Hash
	ChangedAt func(os.FileInfo) time.Time // nil: the function of that name
	ReadOnly  bool                        // keep no approved modules
	Documents Documents                   // keeps the files; nil: they are files alone
	Logger    *slog.Logger                // nil: discards
}

// Documents keeps files, wherever else the next server of their directory looks for them.
type Documents interface {
	Write(path string, data []byte) error
	Remove(path string) error
}

// Files keeps them in their directory alone.
type Files struct{}

// Write replaces a file, durably.
func (Files) Write(path string, data []byte) error { return durable.WriteFile(path, data, 0o600) }

// Remove removes a file, if there is one.
func (Files) Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Edited does nothing.
func (Files) Edited(string) error { return nil }

// Store is the modules of a data directory. Its methods may be called concurrently, with one change at a time.
type Store struct {
	o        Options
	mu       sync.Mutex
	files    map[string]*inspectedFile // by path
	arriving map[string]string         // where modules that are being installed come from, by digest
}

// New returns the modules of a data directory.
func New(o Options) *Store {
	if o.Hash == nil {
		o.Hash = sandbox.Hash
	}
	if o.ChangedAt == nil {
		o.ChangedAt = ChangedAt
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Documents == nil {
		o.Documents = Files{}
	}
	return &Store{o: o, files: map[string]*inspectedFile{}, arriving: map[string]string{}}
}

// Digest returns the SHA-256 of bytes, hexadecimal.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Hash returns a module in memory.
func (s *Store) Hash(module []byte) sandbox.Binary { return s.o.Hash(module) }

// Path returns the path of the module that is installed with a digest.
func (s *Store) Path(digest string) string {
	return filepath.Join(s.o.Dir, Folder, digest+Extension)
}

func (s *Store) approvedPath(digest string) string {
	return filepath.Join(s.o.Dir, Folder, ApprovedFolder, digest+Extension)
}

// Has reports whether a module is installed with a digest; its file may have been changed.
func (s *Store) Has(digest string) bool { return exists(s.Path(digest)) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// Origin is where the module of a family is.
type Origin struct {
	Digest func() (string, error)         // SHA-256 of its bytes at present, hexadecimal, as this process computed it
	Read   func() (sandbox.Binary, error) // its bytes at present
}

// InMemory is the origin of a module in memory.
func InMemory(b sandbox.Binary) Origin {
	return Origin{func() (string, error) { return b.Digest(), nil }, func() (sandbox.Binary, error) { return b, nil }}
}

// Origin is the origin of the module that is installed with a digest.
func (s *Store) Origin(digest string) Origin {
	path := s.Path(digest)
	return Origin{
		Digest: func() (string, error) {
			seen, err := s.Inspect(path, nil)
			return seen.Digest, err
		},
		Read: func() (sandbox.Binary, error) { return s.Read(path) },
	}
}

// ApprovedOrigin is the origin of the module with a digest among the kept and the installed ones.
func (s *Store) ApprovedOrigin(digest string) Origin {
	return Origin{
		Digest: func() (string, error) {
			_, seen, err := s.Approved(digest, nil)
			return seen.Digest, err
		},
		Read: func() (sandbox.Binary, error) {
			path, _, err := s.Approved(digest, nil)
			if err != nil {
				return sandbox.Binary{}, err
			}
			return s.Read(path)
		},
	}
}

// Approved finds the module with a digest among the kept and the installed ones. detached is a signature of it that is kept apart.
func (s *Store) Approved(digest string, detached []byte) (path string, seen Info, err error) {
	changed := false
	for _, path := range []string{s.approvedPath(digest), s.Path(digest)} {
		seen, err := s.Inspect(path, detached)
		switch {
		case err == nil && seen.Digest == digest:
			return path, seen, nil
		case err == nil:
			changed = true
		case !errors.Is(err, os.ErrNotExist):
			return "", Info{}, err
		}
	}
	if changed {
		return "", Info{}, errors.New("its module was changed since it was approved")
	}
	return "", Info{}, errors.New("its module no longer exists")
}

// KeepApproved keeps a module for as long as it serves a required store hook, whatever happens to its file.
func (s *Store) KeepApproved(digest string, from Origin) error {
	if s.o.ReadOnly {
		return nil
	}
	if _, _, err := s.Approved(digest, nil); err == nil {
		return nil
	}
	b, err := from.Read()
	if err != nil {
		return err
	}
	if b.Digest() != digest {
		return errors.New("keep the module: it was changed meanwhile: review it with alcove family list")
	}
	return s.keep(s.approvedPath(digest), b)
}

// Release removes the modules that served a hook by the previous decisions and are not needed by the present ones.
func (s *Store) Release(before, now registry.Lock) {
	serve, installed := map[string]bool{}, map[string]bool{}
	for _, g := range now.Families {
		installed[g.Digest] = true
		if a, ok := g.Approved(); ok {
			serve[a.Digest], installed[a.Digest] = true, true
		}
	}
	for _, g := range before.Families {
		a, ok := g.Approved()
		if ok && !serve[a.Digest] {
			s.remove(s.approvedPath(a.Digest))
		}
		if g.Guard != nil && !installed[g.Guard.Digest] && !s.keptForRollback(now, g.Guard.Digest) {
			s.remove(s.Path(g.Guard.Digest))
		}
	}
}

// keptForRollback reports whether a module is that of a family's previous version.
func (s *Store) keptForRollback(now registry.Lock, digest string) bool {
	for name, present := range now.Families {
		if g, ok := s.Previous(name, present.Digest); ok && g.Digest == digest {
			return true
		}
	}
	return false
}

func (s *Store) remove(path string) {
	s.forget(path)
	if err := s.o.Documents.Remove(path); err != nil {
		s.o.Logger.Warn("an unneeded module could not be removed", "file", path, "error", err)
	}
}

// RemoveVersions removes the installed modules of a family that are neither in a lock nor its previous version.
func (s *Store) RemoveVersions(name string, now registry.Lock) {
	needed := map[string]bool{}
	if g, ok := s.Previous(name, now.Families[name].Digest); ok {
		needed[g.Digest] = true
	}
	for _, g := range now.Families {
		needed[g.Digest] = true
		if g.Guard != nil {
			needed[g.Guard.Digest] = true
		}
	}
	entries, err := os.ReadDir(filepath.Join(s.o.Dir, Folder))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.o.Logger.Warn("older modules of a family could not be looked for", "family", name, "error", err)
	}
	for _, e := range entries {
		digest, ok := strings.CutSuffix(e.Name(), Extension)
		if !ok || needed[digest] || !e.Type().IsRegular() {
			continue
		}
		path := s.Path(digest)
		data, err := ReadFile(path)
		if err != nil {
			continue
		}
		if m, err := sandbox.ReadManifest(data); err == nil && m.Name == name {
			s.remove(path)
		}
	}
}

// Keep durably writes a module under its digest, unless its file has it.
func (s *Store) Keep(b sandbox.Binary) error { return s.keep(s.Path(b.Digest()), b) }

func (s *Store) keep(path string, b sandbox.Binary) error {
	if have, err := s.Inspect(path, nil); err == nil && have.Digest == b.Digest() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep the module: %w", err)
	}
	if err := s.o.Documents.Write(path, b.Bytes()); err != nil {
		return fmt.Errorf("keep the module: %w", err)
	}
	return nil
}

// KeepSignature durably writes a detached signature beside the module that it is for.
func (s *Store) KeepSignature(digest string, data []byte) error {
	if err := os.MkdirAll(filepath.Join(s.o.Dir, Folder), 0o700); err != nil {
		return fmt.Errorf("keep the signature: %w", err)
	}
	if err := s.o.Documents.Write(s.Path(digest)+signatureExtension, data); err != nil {
		return fmt.Errorf("keep the signature: %w", err)
	}
	return nil
}

// SignatureBeside reads the detached signature of the module in a file.
func SignatureBeside(path string) ([]byte, error) { return readSignature(path + signatureExtension) }

func readSignature(path string) ([]byte, error) {
	data, err := regular.Read(path, signature.DataLimit)
	if err != nil {
		return nil, fmt.Errorf("read the signature: %w", err)
	}
	return data, nil
}

// Detached reads the signatures of a module from the file beside it; none without one.
func (s *Store) Detached(digest string) ([]byte, error) {
	path := s.Path(digest) + signatureExtension
	if !exists(path) {
		return nil, nil
	}
	return readSignature(path)
}

// Installed returns what the installed module with a digest is known by, and its signatures; nothing if it is not there, or was
// changed.
func (s *Store) Installed(digest string) (Info, signature.Signed, error) {
	detached, err := s.Detached(digest)
	if err != nil {
		return Info{}, signature.Signed{}, err
	}
	seen, err := s.Inspect(s.Path(digest), detached)
	if err != nil || seen.Digest != digest {
		return Info{}, signature.Signed{}, nil
	}
	if seen.Fault != nil {
		return Info{}, signature.Signed{}, seen.Fault
	}
	signed, err := seen.Signed(detached)
	return seen, signed, err
}

// Receive notes where a module comes from, until done is called, and keeps its detached signature for good.
func (s *Store) Receive(b sandbox.Binary, detached []byte, source string) (done func(), err error) {
	digest := b.Digest()
	if len(detached) > 0 {
		if err := s.KeepSignature(digest, detached); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arriving[digest] = source
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.arriving, digest)
	}, nil
}

// Arriving returns where a module comes from that is being installed; ok is false if it is not.
func (s *Store) Arriving(digest string) (source string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	source, ok = s.arriving[digest]
	return source, ok
}
