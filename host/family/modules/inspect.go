package modules

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry/signature"
)

// inspectedFile is a file with what its last reading showed.
type inspectedFile struct {
	mu    sync.Mutex // held while it is read, so that concurrent loads hash it once
	state os.FileInfo
	seen  Info
}

// Info is what a module is known by.
type Info struct {
	Digest  string             // SHA-256 of its bytes, hexadecimal
	Section []byte             // the manifest's bytes
	content *signature.Content // nil: it has no signature
	Fault   error              // why it is no module of a family
}

// Inspect returns what the module in a file is known by. detached is a signature of it that is kept apart.
func (s *Store) Inspect(path string, detached []byte) (Info, error) {
	file := s.file(path)
	file.mu.Lock()
	defer file.mu.Unlock()
	now, err := os.Stat(path)
	if err != nil {
		s.forget(path)
		return Info{}, readError(err)
	}
	if file.state != nil && same(file.state, now, s.o.ChangedAt) && (file.seen.content != nil || len(detached) == 0) {
		return file.seen, nil
	}
	file.state, file.seen = nil, Info{}
	data, state, err := readState(path)
	if err != nil {
		return Info{}, err
	}
	file.seen = Examine(data, detached, s.o.Hash)
	file.state = state
	return file.seen, nil
}

// Read returns the bytes of the module in a file.
func (s *Store) Read(path string) (sandbox.Binary, error) {
	file := s.file(path)
	file.mu.Lock()
	defer file.mu.Unlock()
	data, state, err := readState(path)
	if err != nil {
		return sandbox.Binary{}, err
	}
	b := s.o.Hash(data)
	if file.state = nil; b.Digest() == file.seen.Digest {
		file.state = state
	}
	return b, nil
}

// Examine returns what a module is known by. A signature covers only the bytes behind it, so its hash differs from the digest; both are
// computed at once.
func Examine(data, detached []byte, hash func([]byte) sandbox.Binary) Info {
	var content signature.Content
	var unread error
	var hashing sync.WaitGroup
	signed := len(detached) > 0 || signature.In(data)
	if signed {
		hashing.Go(func() { content, unread = signature.Read(data) })
	}
	b := hash(data)
	section, err := sandbox.ManifestBytes(data)
	hashing.Wait()
	seen := Info{Digest: b.Digest(), Section: bytes.Clone(section), Fault: cmp.Or(err, unread)}
	if signed {
		seen.content = &content
	}
	return seen
}

// Signed returns the signatures of a module that was inspected with a detached one.
func (seen Info) Signed(detached []byte) (signature.Signed, error) {
	if seen.content == nil {
		return signature.Signed{}, nil
	}
	return seen.content.Signed(detached, seen.Digest)
}

// file returns what is known of a file.
func (s *Store) file(path string) *inspectedFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := s.files[path]
	if file == nil {
		file = &inspectedFile{}
		s.files[path] = file
	}
	return file
}

// forget drops what is known of a file that is gone.
func (s *Store) forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, path)
}

// ReadFile reads a module's file, up to a size limit.
func ReadFile(path string) ([]byte, error) {
	data, _, err := readState(path)
	return data, err
}

// readState reads a module's file, up to a size limit. state is the file's, and nil if it was changed meanwhile.
func readState(path string) (data []byte, state os.FileInfo, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, nil, readError(err)
	}
	defer f.Close()
	state, err = f.Stat()
	if err != nil {
		return nil, nil, readError(err)
	}
	if data, err = regular.ReadAll(f, abi.DefaultModuleLimits().ModuleBytes); err != nil {
		return nil, nil, readError(err)
	}
	if now, err := f.Stat(); err != nil || !SameState(state, now) {
		return data, nil, nil
	}
	return data, state, nil
}

func readError(err error) error { return fmt.Errorf("read the module: %w", err) }

// SameState reports whether a file is the one that it was, and nobody changed it. Where the system keeps no time of change, a file that
// was rewritten with the size and the time that it had counts as the same.
func SameState(was, now os.FileInfo) bool { return same(was, now, ChangedAt) }

func same(was, now os.FileInfo, changedAt func(os.FileInfo) time.Time) bool {
	return os.SameFile(was, now) && was.Size() == now.Size() && was.ModTime().Equal(now.ModTime()) && changedAt(was).Equal(changedAt(now))
}
