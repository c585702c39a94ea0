package bolt_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// mapped stores a blob, maps it, and returns its file too.
func mapped(t *testing.T, s *stage, e *bolt.Engine, content []byte, a store.Access) (*store.Mapping, string) {
	t.Helper()
	blob, err := e.PutBlob(t.Context(), "b", bytes.NewReader(content))
	s.ok(err)
	r, err := e.GetBlob(t.Context(), "b")
	s.ok(err)
	m, err := store.Map(r, a)
	s.ok(err)
	s.ok(r.Close())
	t.Cleanup(func() { s.ok(m.Close()) })
	return m, filepath.Join(layout.Blobs(s.dir), blob.Digest)
}

func TestAMappedBlobStaysValidAfterItIsDropped(t *testing.T) {
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<12)
	m, file := mapped(t, s, e, content, store.ReadOnly)
	s.ok(e.DropBlob(t.Context(), "b"))
	if _, err := os.Stat(file); runtime.GOOS != "windows" && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	if !bytes.Equal(m.Bytes(), content) {
		t.Error("the mapping has other bytes")
	}
	s.ok(m.Close())
	if _, err := e.PutBlob(t.Context(), "other", strings.NewReader("x")); err != nil { // which sweeps
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there after the mapping's end: %v", err)
	}
}

func TestWritesToAPrivateMappingStayInTheProcess(t *testing.T) {
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	m, file := mapped(t, s, e, make([]byte, 10_000), store.Private)
	m.Bytes()[5000] = 1
	if data, err := os.ReadFile(file); err != nil || data[5000] != 0 {
		t.Errorf("the file has the written byte: %v", err)
	}
}

func TestAnEmptyBlobIsMapped(t *testing.T) {
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	if m, _ := mapped(t, s, e, nil, store.ReadOnly); len(m.Bytes()) != 0 {
		t.Errorf("it has %d bytes", len(m.Bytes()))
	}
}

func TestABlobWhoseFileWasCutOffIsNotMapped(t *testing.T) {
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	_, file := mapped(t, s, e, make([]byte, 10_000), store.ReadOnly)
	s.ok(os.Truncate(file, 9_999))
	r, err := e.GetBlob(t.Context(), "b")
	s.ok(err)
	defer r.Close()
	if _, err := store.Map(r, store.ReadOnly); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("the error does not name the file: %v", err)
	}
}

func TestAFileThatIsCutOffWhileItIsMappedIsAnError(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not cut off a mapped file")
	}
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	m, file := mapped(t, s, e, make([]byte, 1<<20), store.ReadOnly)
	s.ok(os.Truncate(file, 0))
	sum, err := byte(0), error(nil)
	err = store.Guard(func() {
		for _, b := range m.Bytes() {
			sum += b
		}
	})
	var fault *store.FaultError
	if !errors.As(err, &fault) || !fault.In(m) || m.File() != file {
		t.Errorf("the error is %v", err)
	}
	if fault.In(store.NewMapping("another", make([]byte, 10), nil)) {
		t.Error("the fault is said to be in another mapping")
	}
}
