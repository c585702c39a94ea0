package bolt_test

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// older is a directory as the first program left it: three versions of a memory on two branches, a large value that was
// forgotten, an event, and a merge.
func older(t *testing.T) string {
	t.Helper()
	in, err := os.Open("testdata/format-1.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	unzipped, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "alcove.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, unzipped); err != nil {
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
	dir := older(t)
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
	if got := formatOf(t, dir); got != 2 {
		t.Errorf("afterwards the format is %d", got)
	}
}

func TestANewerFormatIsRefusedAndLeftAsItIs(t *testing.T) {
	dir := older(t)
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

func TestAMigrationThatIsInterruptedLeavesAFormatThatOpens(t *testing.T) {
	dir := older(t)
	stopped := false
	_, err := bolt.Open(t.Context(), dir, bolt.Options{Steps: func(s bolt.Step) error {
		if s == bolt.Migrated {
			stopped = true
			return errInterrupted
		}
		return nil
	}})
	if err == nil || !stopped {
		t.Fatalf("nothing was interrupted: %v", err)
	}
	if got := formatOf(t, dir); got != 1 {
		t.Errorf("half a migration is there: format %d", got)
	}
	e, err := bolt.Open(t.Context(), dir, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
