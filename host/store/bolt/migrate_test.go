package bolt_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// ofFormat is a closed stage whose file says that it has another format, and what the file holds.
func ofFormat(t *testing.T, format uint64) (s *stage, file []byte) {
	t.Helper()
	s = newStage(t)
	db, err := bbolt.Open(filepath.Join(s.dir, "alcove.db"), 0o600, nil)
	s.ok(err)
	s.ok(db.Update(func(tx *bbolt.Tx) error {
		meta := tx.Bucket([]byte("meta"))
		return errors.Join(meta.Put([]byte("format"), binary.BigEndian.AppendUint64(nil, format)), meta.Delete([]byte("layout")))
	}))
	s.ok(db.Close())
	return s, s.file()
}

func (s *stage) file() []byte {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, "alcove.db"))
	s.ok(err)
	return data
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

func TestAnotherFormatIsRefusedAndLeftAsItIs(t *testing.T) {
	t.Parallel()
	for format, want := range map[uint64]string{
		1:  "open it once with a build of commit 50bcffc",
		2:  "open it once with a build of commit 50bcffc",
		99: "use a newer program",
	} {
		s, before := ofFormat(t, format)
		refused := func(what string, err error) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, store.ErrDamaged) {
				t.Errorf("format %d: %s: %v", format, what, err)
			}
		}
		for _, readOnly := range []bool{false, true} {
			_, err := bolt.Open(t.Context(), s.dir, bolt.Options{ReadOnly: readOnly})
			refused("it is opened", err)
		}
		_, err := driver.Repair(t.Context(), s.dir, store.Repair{Now: time.Now()})
		refused("it is repaired", err)
		if faults, err := driver.Examine(s.dir); err != nil || len(faults) > 0 {
			t.Errorf("format %d is called damaged: %v (%v)", format, faults, err)
		}
		if !bytes.Equal(s.file(), before) {
			t.Errorf("format %d: the file was changed", format)
		}
	}
}

// TestAMigrationThatIsInterruptedLeavesAFormatThatOpens stops a migration at each of its steps, by an error and as a crash
// would.
func TestAMigrationThatIsInterruptedLeavesAFormatThatOpens(t *testing.T) {
	t.Parallel()
	for _, step := range []bolt.Step{bolt.MigrationPart, bolt.MigrationCopied, bolt.MigrationSwapped} {
		whole := newStage(t)
		e := whole.open(whole.dir, bolt.Options{})
		_, want := pieces(t, e, 0)
		whole.ok(e.Close())
		s, _ := ofFormat(t, 2)
		crashed, o := t.TempDir(), bolt.WithMigration(bolt.Options{}, 2)
		interrupted := o
		interrupted.Steps = func(reached bolt.Step) error {
			if reached != step {
				return nil
			}
			_ = os.RemoveAll(crashed)
			s.ok(os.CopyFS(crashed, os.DirFS(s.dir)))
			return errInterrupted
		}
		e, err := bolt.Open(t.Context(), s.dir, interrupted)
		if late := step == bolt.MigrationSwapped; (err == nil) != late {
			t.Fatalf("interrupted at %q: %v", step, err)
		}
		if err == nil {
			s.ok(e.Close())
		}
		for name, dir := range map[string]string{"failed": s.dir, "crashed": crashed} {
			if got := formatOf(t, dir); got != 2 && got != layout.Format {
				t.Errorf("%s at %q: format %d", name, step, got)
			}
			e := s.open(dir, o)
			s.ok(e.Check(t.Context()))
			if _, list := pieces(t, e, 0); strings.Count(list, "entry") != strings.Count(want, "entry") || !strings.Contains(list, "entry") {
				t.Errorf("%s at %q: there are %d entries", name, step, strings.Count(list, "entry"))
			}
			s.ok(e.Close())
			if got := formatOf(t, dir); got != layout.Format {
				t.Errorf("%s at %q: afterwards it has format %d", name, step, got)
			}
			if _, err := os.Stat(filepath.Join(dir, "alcove.db.migrating")); err == nil {
				t.Errorf("%s at %q: the file in the making is still there", name, step)
			}
		}
	}
}
