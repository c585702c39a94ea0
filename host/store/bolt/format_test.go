package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
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

// setFormat changes what a closed stage's file says of its format: the plain value, and the record; 0: no record.
func (s *stage) setFormat(format, record uint64) {
	s.t.Helper()
	db, err := bbolt.Open(filepath.Join(s.dir, "alcove.db"), 0o600, nil)
	s.ok(err)
	s.ok(db.Update(func(tx *bbolt.Tx) error {
		meta := layout.InSpace(tx, layout.KindMeta)
		if record == 0 {
			return errors.Join(meta.Put(layout.KeyFormat, layout.U64(format)), meta.Remove(layout.KeyLayout))
		}
		return errors.Join(meta.Put(layout.KeyFormat, layout.U64(format)), meta.Write(layout.KeyLayout, layout.U64(record)))
	}))
	s.ok(db.Close())
}

func (s *stage) file() []byte {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, "alcove.db"))
	s.ok(err)
	return data
}

func TestAFileOfAnotherFormatIsRefusedAndLeftAsItIs(t *testing.T) {
	t.Parallel()
	for _, stated := range []struct{ format, record uint64 }{{1, 0}, {2, 0}, {3, 3}, {4, 4}, {5, 5}, {layout.Format + 1, layout.Format + 1}, {layout.Format + 1, 0}} {
		s, format := newStage(t), stated.format
		s.setFormat(format, stated.record)
		before := s.file()
		want := fmt.Sprintf("alcove export alcove.jsonl --data %q), and import the export", s.dir)
		if format > layout.Format {
			want = "the file has format 2 and this program knows 1: use a newer program"
		}
		refused := func(what string, err error) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, store.ErrDamaged) {
				t.Errorf("format %x: %s: got %v, want %q", format, what, err, want)
			}
		}
		for _, readOnly := range []bool{false, true} {
			_, err := bolt.Open(t.Context(), s.dir, bolt.Options{ReadOnly: readOnly})
			refused("it is opened", err)
		}
		_, err := driver.Repair(t.Context(), s.dir, store.Repair{Now: time.Now()})
		refused("it is repaired", err)
		if faults, err := driver.Examine(s.dir); err != nil || len(faults) > 0 {
			t.Errorf("format %x is called damaged: %v (%v)", format, faults, err)
		}
		if !bytes.Equal(s.file(), before) {
			t.Errorf("format %x: the file was changed", format)
		}
	}
}

// TestADamagedFormatIsDamage also has files without the record of their format.
func TestADamagedFormatIsDamage(t *testing.T) {
	t.Parallel()
	for _, change := range []struct{ format, record uint64 }{
		{3, layout.Format}, {6, layout.Format}, {layout.Format + 1, layout.Format}, {layout.Format ^ 1<<40, layout.Format}, {layout.Format, 5},
		{layout.Format, 0}, {6, 0}, {layout.Format ^ 1<<40, 0},
	} {
		s := newStage(t)
		s.setFormat(change.format, change.record)
		if faults, err := driver.Examine(s.dir); change.record != 5 && (err != nil || len(faults) == 0) {
			t.Errorf("%x: got faults %v (%v), want some", change, faults, err)
		}
		if _, err := bolt.Open(t.Context(), s.dir, bolt.Options{}); err == nil || change.record != 5 && !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%x: got %v, want %v", change, err, store.ErrDamaged)
		}
	}
}
