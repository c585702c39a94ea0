package bolt_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// atOnce examines a database that is in use without delay.
func atOnce() bolt.Options { return bolt.ExamineAfter(bolt.Options{MapSize: 1 << 20}, time.Nanosecond) }

func TestADatabaseThatIsAsItWasLeftIsServedWhileItIsExamined(t *testing.T) {
	t.Parallel()
	s := small(t)
	s.ok(s.open(s.dir, bolt.Options{}).Close())
	e := s.open(s.dir, atOnce())
	defer e.Close()
	s.commit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey("new"), Value: []byte("v")}}})
	if !bolt.Examined(e) {
		t.Error("it was examined before it was served, and want after")
	}
	s.ok(e.Writable())
	s.ok(e.Check(t.Context()))
	if _, err := os.Stat(bolt.Left(s.dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the record of how it was left is there while it is in use: %v", err)
	}
}

// TestADatabaseIsExaminedOnceADay has servers that end before they have examined it.
func TestADatabaseIsExaminedOnceADay(t *testing.T) {
	t.Parallel()
	s := small(t)
	s.ok(s.open(s.dir, bolt.Options{}).Close())
	for _, after := range []time.Duration{0, 23 * time.Hour, 25 * time.Hour, 26 * time.Hour, -time.Hour} {
		o := bolt.ExamineAfter(bolt.Options{Now: func() time.Time { return time.Now().Add(after) }}, time.Hour)
		e := s.open(s.dir, o)
		if got, want := bolt.InUse(e), after == 0 || after == 23*time.Hour || after == 26*time.Hour; got != want {
			t.Errorf("%s later, that it is examined in use is %t, want %t", after, got, want)
		}
		s.ok(e.Close())
	}
}

func TestADatabaseThatIsNotAsItWasLeftIsExaminedFirst(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *stage, e *bolt.Engine) error{
		"it was touched": func(s *stage, e *bolt.Engine) error {
			path := filepath.Join(s.dir, "alcove.db")
			s.ok(e.Close())
			info, err := os.Stat(path)
			s.ok(err)
			return os.Chtimes(path, time.Now(), info.ModTime()) // which is put back, as a program can
		},
		"it was copied": func(s *stage, e *bolt.Engine) error {
			s.ok(e.Close())
			path := filepath.Join(s.dir, "alcove.db")
			data, err := os.ReadFile(path)
			s.ok(err)
			s.ok(os.Remove(path))
			return os.WriteFile(path, data, 0o600)
		},
		"the record is cut": func(s *stage, e *bolt.Engine) error {
			s.ok(e.Close())
			return os.Truncate(bolt.Left(s.dir), 20)
		},
		"the record is too long": func(s *stage, e *bolt.Engine) error {
			s.ok(e.Close())
			data, err := os.ReadFile(bolt.Left(s.dir))
			s.ok(err)
			return os.WriteFile(bolt.Left(s.dir), append(data, bytes.Repeat([]byte(" "), 4<<10)...), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := small(t)
			s.ok(change(s, s.open(s.dir, bolt.Options{})))
			e := s.open(s.dir, atOnce())
			defer e.Close()
			if bolt.Examined(e) {
				t.Error("it was served before it was examined")
			}
		})
	}
}

// TestDamageBeneathTheFileSystemIsFoundInUse flips bytes without a trace in the file's times. What bbolt trips over is an error, what the
// examination finds ends all calls, and what it does not find is as it was.
func TestDamageBeneathTheFileSystemIsFoundInUse(t *testing.T) {
	t.Parallel()
	f := newFlips(t)
	f.flipBeneath(bolt.PretendLeft)
}

// TestDamageAfterAKillIsFoundInUse does so where a server was killed.
func TestDamageAfterAKillIsFoundInUse(t *testing.T) {
	t.Parallel()
	f := newFlips(t)
	f.flipBeneath(bolt.PretendKilled)
}

func (f *flips) flipBeneath(pretend func(dir string) error) {
	t := f.t.(*testing.T)
	if testing.Short() {
		t.Skip("it examines on one goroutine: the tests without -short run it")
	}
	step, err := strconv.Atoi(os.Getenv("ALCOVE_FLIP_STEP"))
	if err != nil {
		step = 787
	}
	refused, found, harmless := 0, 0, 0
	for at := 0; at < len(f.whole); at += step {
		s := f.copyOf(f.dir)
		damaged := bytes.Clone(f.whole)
		damaged[at] ^= byte(1 << (at % 8))
		s.ok(os.WriteFile(filepath.Join(s.dir, "alcove.db"), damaged, 0o600))
		s.ok(pretend(s.dir))
		e, err := bolt.Open(t.Context(), s.dir, atOnce())
		if err != nil {
			if refused++; !errors.Is(err, store.ErrDamaged) {
				t.Errorf("byte %d: Open: %v, want damage", at, err)
			}
			continue
		}
		bolt.Examined(e)
		if err := e.Writable(); err == nil {
			harmless++
			if missing, untrue := lacks(f.says, s.contents(e)); len(missing)+len(untrue) > 0 {
				t.Errorf("byte %d: nothing is found, and it says %.200q, and not %.200q", at, untrue, missing)
			}
			s.ok(e.Close())
			continue
		}
		found++
		if _, err := e.Head(t.Context()); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "alcove repair") {
			t.Errorf("byte %d: Head of a damaged database: %v, want the damage", at, err)
		}
		if err := e.Check(t.Context()); err == nil {
			t.Errorf("byte %d: the check of a damaged database lists nothing", at)
		}
		s.ok(e.Close())
		if _, err := bolt.Open(t.Context(), s.dir, bolt.Options{}); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("byte %d: the next start: %v, want the damage", at, err)
		}
	}
	t.Logf("of %d bytes, %d apart: %d refused when it was opened, %d found in use, %d harmless", len(f.whole), step, refused, found, harmless)
	if found < harmless/2 {
		t.Error("too few are found for the test to mean anything")
	}
}

// TestAListOfFreePagesThatHasOneInUseIsRefused writes it as bbolt would, which would give the page away.
func TestAListOfFreePagesThatHasOneInUseIsRefused(t *testing.T) {
	t.Parallel()
	s := small(t)
	s.ok(s.open(s.dir, bolt.Options{}).Close())
	s.damage(func(data []byte) {
		m, err := layout.ReadMeta(data[newestHead(data)+layout.PageHeader:], 4096)
		s.ok(err)
		page := data[m.Freelist*4096:][:4096]
		count := int(binary.LittleEndian.Uint16(page[10:]))
		if count == 0 {
			t.Fatal("no page is free, and the test needs one")
		}
		last := page[layout.PageHeader+8*(count-1):][:8]
		inUse := binary.LittleEndian.Uint64(last) + 1 // no other free page is behind it
		if inUse >= m.High {
			inUse -= 2
		}
		binary.LittleEndian.PutUint64(last, inUse)
	})
	_, err := bolt.Open(t.Context(), s.dir, bolt.Options{})
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "listed as free") {
		t.Errorf("Open: %v, want the page that is in use and listed as free", err)
	}
	r, err := driver.Repair(t.Context(), s.dir, store.Repair{Now: time.Now()})
	if err != nil || len(r.Aside) != 0 {
		t.Errorf("the repair: %+v, %v, want nothing lost", r, err)
	}
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	s.ok(e.Check(t.Context()))
}
