package bolt_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// older is a directory as an earlier program left it. Format 1: three versions of a memory on two branches, a large value
// that was forgotten, an event, and a merge. Format 2: four versions, events, counters and requests, a deep lineage with an
// overlay, a blob, a trim, and a purge; format-2.jsonl is what that program dumped of it.
func older(t *testing.T, format int) string {
	t.Helper()
	in, err := os.Open(fmt.Sprintf("testdata/format-%d.db.gz", format))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	unzipped, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "blobs"), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(dir, "alcove.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, unzipped); err != nil {
		t.Fatal(err)
	}
	blob := []byte("blob")
	if err := os.WriteFile(filepath.Join(dir, "blobs", fmt.Sprintf("%x", sha256.Sum256(blob))), blob, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func formatOf(t *testing.T, dir string) (format uint64) {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(dir, "alcove.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		format = binary.BigEndian.Uint64(tx.Bucket([]byte("meta")).Get([]byte("format")))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return format
}

func TestAnOlderDirectoryIsMigratedAndSaysTheSame(t *testing.T) {
	dir := older(t, 1)
	if got := formatOf(t, dir); got != 1 {
		t.Fatalf("the older directory has format %d", got)
	}
	if faults, err := bolt.Examine(dir); err != nil || len(faults) > 0 {
		t.Errorf("before: %v (%v)", faults, err)
	}
	e, err := bolt.Open(t.Context(), dir, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	city := store.Key{Namespace: "default", Collection: "memory", Name: "city"}
	for at, want := range map[uint64]string{2: "Lisbon", 3: "Porto", store.Latest: "Faro"} {
		found, err := e.GetAt(t.Context(), store.Lineage{{Branch: 1, At: at}}, []store.Key{city})
		if err != nil || !strings.Contains(string(found[0].Value), want) {
			t.Errorf("at %d: %s (%v)", at, found[0].Value, err)
		}
	}
	if err := e.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := e.Purge(t.Context(), city, func(store.Entry) ([]byte, bool) { return []byte("gone"), true }); err != nil {
		t.Errorf("what the new format can do: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if got := formatOf(t, dir); got != 3 {
		t.Errorf("afterwards the format is %d", got)
	}
}

func TestANewerFormatIsRefusedAndLeftAsItIs(t *testing.T) {
	dir := older(t, 2)
	path := filepath.Join(dir, "alcove.db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte("format"), binary.BigEndian.AppendUint64(nil, 99))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bolt.Open(t.Context(), dir, bolt.Options{}); err == nil || !strings.Contains(err.Error(), "use a newer program") {
		t.Errorf("it is opened: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed (%v)", err)
	}
}

func TestADirectoryOfFormatTwoIsMigratedWithAllThatItHolds(t *testing.T) {
	dir := older(t, 2)
	before, err := os.ReadFile("testdata/format-2.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, dir: dir}
	now := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC) // its requests are not old yet
	e := s.open(dir, bolt.Options{Now: func() time.Time { return now }})
	defer e.Close()
	s.ok(e.Check(t.Context()))
	var after bytes.Buffer
	s.ok(e.Dump(t.Context(), 0, s.head(e), func(p store.Piece) error { return json.NewEncoder(&after).Encode(p) }))
	if after.String() != string(before) {
		t.Error("it dumps something else than before")
	}
	for i := range byte(4) {
		done, found, err := e.Requested(t.Context(), store.Request{Caller: "caller", ID: fmt.Sprint("r", i), Digest: [32]byte{i}})
		if err != nil || !found || done.Version != uint64(i)+1 || len(done.Sequences) != 1 {
			t.Errorf("request %d: %+v, %t (%v)", i, done, found, err)
		}
	}
	first := store.Lineage{{Branch: 1, At: 2}}
	if _, err := e.GetAt(t.Context(), first, []store.Key{{Namespace: "default", Collection: "memory", Name: "city"}}); !errors.Is(err, store.ErrTrimmed) {
		t.Errorf("what was trimmed: %v", err)
	}
	increment, _ := pieces(t, e, s.head(e))
	if !slices.ContainsFunc(increment, func(p store.Piece) bool { return p.Entry != nil && string(p.Entry.Value) == "purged" }) {
		t.Error("the next increment does not carry what was purged")
	}
}

// TestAMigrationThatIsInterruptedLeavesAFormatThatOpens stops a migration at each of its steps, by an error and as a crash
// would.
func TestAMigrationThatIsInterruptedLeavesAFormatThatOpens(t *testing.T) {
	for _, step := range []bolt.Step{bolt.MigrationPart, bolt.MigrationCopied, bolt.MigrationSwapped} {
		dir, crashed := older(t, 2), t.TempDir()
		s := &stage{t: t, dir: dir}
		e, err := bolt.Open(t.Context(), dir, bolt.Options{Steps: func(reached bolt.Step) error {
			if reached != step {
				return nil
			}
			_ = os.RemoveAll(crashed)
			s.ok(os.CopyFS(crashed, os.DirFS(dir)))
			return errInterrupted
		}})
		if late := step == bolt.MigrationSwapped; (err == nil) != late {
			t.Fatalf("interrupted at %q: %v", step, err)
		}
		if err == nil {
			s.ok(e.Close())
		}
		for name, dir := range map[string]string{"failed": dir, "crashed": crashed} {
			if got := formatOf(t, dir); got != 2 && got != 3 {
				t.Errorf("%s at %q: format %d", name, step, got)
			}
			e := s.open(dir, bolt.Options{})
			s.ok(e.Check(t.Context()))
			if _, list := pieces(t, e, 0); strings.Count(list, "entry") != 34 {
				t.Errorf("%s at %q: there are %d entries", name, step, strings.Count(list, "entry"))
			}
			s.ok(e.Close())
			if _, err := os.Stat(filepath.Join(dir, "alcove.db.migrating")); err == nil {
				t.Errorf("%s at %q: the file in the making is still there", name, step)
			}
		}
	}
}

func TestADamagedOlderFileIsNotMigratedButRepaired(t *testing.T) {
	dir := older(t, 2)
	s := &stage{t: t, dir: dir}
	path := filepath.Join(dir, "alcove.db")
	data, err := os.ReadFile(path)
	s.ok(err)
	data = bytes.ReplaceAll(data, []byte("Braga"), []byte("Brega"))
	s.ok(os.WriteFile(path, data, 0o600))
	if _, err := bolt.Open(t.Context(), dir, bolt.Options{}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("it is opened: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, data) {
		t.Errorf("the file was changed (%v)", err)
	}
	r, err := bolt.Repair(t.Context(), dir, time.Now(), nil)
	if err != nil || len(r.Aside) != 1 {
		t.Errorf("repair: %+v (%v)", r, err)
	}
	e := s.open(dir, bolt.Options{})
	defer e.Close()
	s.ok(e.Check(t.Context()))
}
