package family

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"sync"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry/signature"
)

// inspector reads the files of modules. It hashes each state of a file once and keeps the result without the bytes. A load that needs
// the bytes reads and hashes them again, so that the hashed bytes are those that run.
type inspector struct {
	hash func([]byte) sandbox.Binary

	mu    sync.Mutex
	files map[string]*inspectedFile // by path
}

// inspectedFile is a file with what its last reading showed.
type inspectedFile struct {
	mu    sync.Mutex // held while it is read, so that concurrent loads hash it once
	state os.FileInfo
	seen  moduleInfo
}

// moduleInfo is what a module is known by.
type moduleInfo struct {
	digest  string             // SHA-256 of its bytes, hexadecimal
	section []byte             // the manifest's bytes
	content *signature.Content // nil: it has no signature
	fault   error              // why it is no module of a family
}

func newInspector(hash func([]byte) sandbox.Binary) *inspector {
	if hash == nil {
		hash = sandbox.Hash
	}
	return &inspector{hash: hash, files: map[string]*inspectedFile{}}
}

// inspect returns what the module in a file is known by. detached is a signature of it that is kept apart.
func (i *inspector) inspect(path string, detached []byte) (moduleInfo, error) {
	file := i.file(path)
	file.mu.Lock()
	defer file.mu.Unlock()
	now, err := os.Stat(path)
	if err != nil {
		i.forget(path)
		return moduleInfo{}, readError(err)
	}
	if file.state != nil && sameState(file.state, now) && (file.seen.content != nil || len(detached) == 0) {
		return file.seen, nil
	}
	file.state, file.seen = nil, moduleInfo{}
	data, state, err := readState(path)
	if err != nil {
		return moduleInfo{}, err
	}
	file.seen = examine(data, detached, i.hash)
	file.state = state
	return file.seen, nil
}

// read returns the bytes of the module in a file.
func (i *inspector) read(path string) (sandbox.Binary, error) {
	file := i.file(path)
	file.mu.Lock()
	defer file.mu.Unlock()
	data, state, err := readState(path)
	if err != nil {
		return sandbox.Binary{}, err
	}
	b := i.hash(data)
	if file.state = nil; b.Digest() == file.seen.digest {
		file.state = state
	}
	return b, nil
}

// examine returns what a module is known by. A signature covers only the bytes behind it, so its hash differs from the digest; both are
// computed at once.
func examine(data, detached []byte, hash func([]byte) sandbox.Binary) moduleInfo {
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
	seen := moduleInfo{digest: b.Digest(), section: bytes.Clone(section), fault: cmp.Or(err, unread)}
	if signed {
		seen.content = &content
	}
	return seen
}

// signed returns the signatures of a module that was inspected with a detached one.
func (seen moduleInfo) signed(detached []byte) (signature.Signed, error) {
	if seen.content == nil {
		return signature.Signed{}, nil
	}
	return seen.content.Signed(detached)
}

// file returns what is known of a file.
func (i *inspector) file(path string) *inspectedFile {
	i.mu.Lock()
	defer i.mu.Unlock()
	file := i.files[path]
	if file == nil {
		file = &inspectedFile{}
		i.files[path] = file
	}
	return file
}

// forget drops what is known of a file that is gone.
func (i *inspector) forget(path string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.files, path)
}

// readModule reads a module's file, up to a size limit.
func readModule(path string) ([]byte, error) {
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
	if now, err := f.Stat(); err != nil || !sameState(state, now) {
		return data, nil, nil
	}
	return data, state, nil
}

func readError(err error) error { return fmt.Errorf("read the module: %w", err) }

// sameState reports whether a file is the one that it was, and nobody changed it. Where the system keeps no time of change, a file that
// was rewritten with the size and the time that it had counts as the same.
func sameState(was, now os.FileInfo) bool {
	return os.SameFile(was, now) && was.Size() == now.Size() && was.ModTime().Equal(now.ModTime()) && changedAt(was).Equal(changedAt(now))
}
