//go:build unix

package bolt_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// loss is a way in which the files of a store go away under the engine that has them open.
type loss struct {
	what string
	do   func(dir, older string) error
	back func(dir string) error // nil: they do not come back
}

// losses are done to a directory; older is a copy of its database from before.
func losses() []loss {
	db := func(dir string) string { return filepath.Join(dir, "alcove.db") }
	blobs := func(dir string) string { return filepath.Join(dir, "blobs") }
	copyOf := func(older string) []byte { data, _ := os.ReadFile(older); return data }
	return []loss{
		{"the database is moved away", func(dir, _ string) error { return os.Rename(db(dir), dir+".db") },
			func(dir string) error { return os.Rename(dir+".db", db(dir)) }},
		{"the database is deleted", func(dir, _ string) error { return os.Remove(db(dir)) }, nil},
		{"an older database is moved over it", func(dir, older string) error { return os.Rename(older, db(dir)) }, nil},
		{"an older database is copied over it", func(dir, older string) error { return os.WriteFile(db(dir), copyOf(older), 0o600) }, nil},
		{"the directory is moved away", func(dir, _ string) error { return os.Rename(dir, dir+".moved") },
			func(dir string) error { return os.Rename(dir+".moved", dir) }},
		{"the directory is deleted", func(dir, _ string) error { return os.RemoveAll(dir) }, nil},
		{"another directory takes its place", func(dir, older string) error {
			return errors.Join(os.Rename(dir, dir+".moved"), os.MkdirAll(blobs(dir), 0o700), os.Rename(older, db(dir)))
		}, func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Rename(dir+".moved", dir)) }},
		{"the folder of blobs is deleted", func(dir, _ string) error { return os.RemoveAll(blobs(dir)) }, nil},
		{"the folder of blobs is made anew", func(dir, _ string) error {
			return errors.Join(os.Rename(blobs(dir), dir+".blobs"), os.Mkdir(blobs(dir), 0o700))
		}, func(dir string) error { return errors.Join(os.Remove(blobs(dir)), os.Rename(dir+".blobs", blobs(dir))) }},
	}
}

// lossy is an open engine with two commits, and a copy of the database from after the first.
type lossy struct {
	*bolt.Engine
	t          *testing.T
	dir, older string
}

func newLossy(t *testing.T, steps func(bolt.Step) error) *lossy {
	t.Helper()
	above := t.TempDir()
	l := &lossy{t: t, dir: filepath.Join(above, "data"), older: filepath.Join(above, "older.db")}
	e, err := bolt.Open(t.Context(), l.dir, bolt.Options{Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	l.Engine = e
	t.Cleanup(func() { e.Close() })
	l.mustPut("first")
	data, err := os.ReadFile(filepath.Join(l.dir, "alcove.db"))
	if err == nil {
		err = os.WriteFile(l.older, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	l.mustPut("second")
	return l
}

func (l *lossy) put(name string) error {
	_, err := l.Commit(context.Background(), store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey(name), Value: []byte(name)}}})
	return err
}

func (l *lossy) mustPut(name string) {
	l.t.Helper()
	if err := l.put(name); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lossy) mustRead(name string) {
	l.t.Helper()
	found, err := l.GetAt(context.Background(), store.Lineage{{Branch: 1, At: store.Latest}}, []store.Key{stageKey(name)})
	if err != nil || string(found[0].Value) != name {
		l.t.Errorf("%s is %q (%v)", name, found, err)
	}
}

func TestNothingIsWrittenToFilesThatWereReplaced(t *testing.T) {
	for _, loss := range losses() {
		t.Run(loss.what, func(t *testing.T) {
			l := newLossy(t, nil)
			if err := l.Writable(); err != nil {
				t.Fatal(err)
			}
			if err := loss.do(l.dir, l.older); err != nil {
				t.Fatal(err)
			}
			err := l.put("lost")
			if !errors.Is(err, store.ErrReplaced) || !strings.Contains(err.Error(), l.dir) {
				t.Fatalf("a commit ended with %v", err)
			}
			if _, err := l.PutBlob(t.Context(), "b", strings.NewReader("b")); !errors.Is(err, store.ErrReplaced) {
				t.Errorf("a blob was put: %v", err)
			}
			if _, err := l.Compact(t.Context()); !errors.Is(err, store.ErrReplaced) {
				t.Errorf("a compaction ended with %v", err)
			}
			if err := l.Writable(); !errors.Is(err, store.ErrReplaced) {
				t.Errorf("it may write: %v", err)
			}
			if strings.Contains(loss.what, "copied over") {
				return // nothing else can be read any more
			}
			l.mustRead("second")
			if err := l.Check(t.Context()); !errors.Is(err, store.ErrReplaced) || errors.Is(err, store.ErrDamaged) {
				t.Errorf("the check says %v", err)
			}
			if loss.back == nil {
				return
			}
			if err := loss.back(l.dir); err != nil {
				t.Fatal(err)
			}
			l.mustPut("third")
			if err := errors.Join(l.Writable(), l.Check(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestACommitIsNotAcknowledgedWhenItsFileIsReplacedMeanwhile(t *testing.T) {
	for _, loss := range losses() {
		if strings.Contains(loss.what, "copied over") {
			continue // what bbolt reads of it meanwhile may be anything
		}
		t.Run(loss.what, func(t *testing.T) {
			var l *lossy
			armed := false
			l = newLossy(t, func(s bolt.Step) error {
				if armed && s == bolt.BatchApplied {
					armed = false
					return loss.do(l.dir, l.older)
				}
				return nil
			})
			armed = true
			if err := l.put("lost"); !errors.Is(err, store.ErrReplaced) {
				t.Fatalf("a commit ended with %v", err)
			}
			if loss.back != nil {
				if err := loss.back(l.dir); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.put("after"); !errors.Is(err, store.ErrReplaced) {
				t.Errorf("a commit after one that nobody knows of ended with %v", err)
			}
			if err := l.Writable(); !errors.Is(err, store.ErrReplaced) {
				t.Errorf("it may write: %v", err)
			}
			l.mustRead("second")
			if loss.back == nil {
				return
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			again, err := bolt.Open(t.Context(), l.dir, bolt.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			l.Engine = again
			l.mustPut("after a restart")
			if err := again.Check(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestACompactionDoesNotTakeThePlaceOfAnotherFile moves an older database over the one that is being compacted.
func TestACompactionDoesNotTakeThePlaceOfAnotherFile(t *testing.T) {
	var l *lossy
	l = newLossy(t, func(s bolt.Step) error {
		if s == bolt.CompactCopied {
			return os.Rename(l.older, filepath.Join(l.dir, "alcove.db"))
		}
		return nil
	})
	older, err := os.ReadFile(l.older)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Compact(t.Context()); !errors.Is(err, store.ErrReplaced) {
		t.Fatalf("a compaction ended with %v", err)
	}
	if now, err := os.ReadFile(filepath.Join(l.dir, "alcove.db")); err != nil || !bytes.Equal(now, older) {
		t.Errorf("the other file was changed (%v)", err)
	}
	l.mustRead("second")
}

// TestABlobIsNotSweptFromAnotherStore replaces the directory by one with a blob that the engine does not know.
func TestABlobIsNotSweptFromAnotherStore(t *testing.T) {
	l := newLossy(t, nil)
	if err := os.Rename(l.dir, l.dir+".moved"); err != nil {
		t.Fatal(err)
	}
	other, err := bolt.Open(t.Context(), l.dir, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.PutBlob(t.Context(), "b", strings.NewReader("theirs")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.PutBlob(t.Context(), "b", strings.NewReader("ours")); !errors.Is(err, store.ErrReplaced) {
		t.Errorf("a blob was put: %v", err)
	}
	if err := l.DropBlob(t.Context(), "b"); !errors.Is(err, store.ErrReplaced) {
		t.Errorf("a blob was dropped: %v", err)
	}
	if err := other.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheProgramsOwnSwapsAreNoReplacement(t *testing.T) {
	l := newLossy(t, nil)
	for range 3 {
		if _, err := l.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.mustPut("after a compaction")
	}
	if err := errors.Join(l.Writable(), l.Check(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestAStoreIsReadWithoutWritingToItsDirectory(t *testing.T) {
	l := newLossy(t, nil)
	if _, err := l.PutBlob(t.Context(), "b", strings.NewReader("content")); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	before := filesIn(t, l.dir)
	e, err := bolt.Open(t.Context(), l.dir, bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	l.Engine = e
	l.mustRead("second")
	if b, err := e.GetBlob(t.Context(), "b"); err != nil {
		t.Error(err)
	} else {
		b.Close()
	}
	_, compactErr := e.Compact(t.Context())
	_, blobErr := e.PutBlob(t.Context(), "c", strings.NewReader("c"))
	for _, err := range []error{l.put("refused"), compactErr, blobErr, e.Trim(t.Context(), 1, 2, nil), e.DropBlob(t.Context(), "b")} {
		if !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("a write ended with %v", err)
		}
	}
	if err := errors.Join(e.Check(t.Context()), e.Close()); err != nil {
		t.Error(err)
	}
	if after := filesIn(t, l.dir); after != before {
		t.Errorf("the directory was changed:\n%s\nand is now:\n%s", before, after)
	}
	if _, err := bolt.Open(t.Context(), t.TempDir(), bolt.Options{ReadOnly: true}); err == nil {
		t.Error("a store was opened that is not there")
	}
}

// filesIn lists a directory with the digests of its files.
func filesIn(t *testing.T, dir string) string {
	t.Helper()
	var list strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			list.WriteString(path + "\n")
			return err
		}
		data, err := os.ReadFile(path)
		list.WriteString(path + " " + fmt.Sprintf("%x", sha256.Sum256(data)) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list.String()
}

// TestAPurgeThatWasCutShortIsFinishedAtTheNextStart copies the directory where a crash would leave it: finishing it writes
// before the engine does.
func TestAPurgeThatWasCutShortIsFinishedAtTheNextStart(t *testing.T) {
	left := filepath.Join(t.TempDir(), "left")
	var l *lossy
	l = newLossy(t, func(s bolt.Step) error {
		if s == bolt.PurgeRewritten {
			return os.CopyFS(left, os.DirFS(l.dir))
		}
		return nil
	})
	if _, err := l.Purge(t.Context(), stageKey("second"), func(store.Entry) ([]byte, bool) { return []byte("gone"), true }); err != nil {
		t.Fatal(err)
	}
	e, err := bolt.Open(t.Context(), left, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l.Engine = e
	l.mustPut("third")
	if err := errors.Join(e.Check(t.Context()), e.Close()); err != nil {
		t.Error(err)
	}
}
