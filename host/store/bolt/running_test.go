package bolt_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// killed is a store whose server was killed.
func killed(t *testing.T) *stage {
	t.Helper()
	s := small(t)
	s.ok(bolt.Abandon(s.open(s.dir, bolt.Options{})))
	if _, err := os.Stat(bolt.Running(s.dir)); err != nil {
		t.Skipf("this system does not tell one kernel from the next, or %s is on a file system of several machines: %v", s.dir, err)
	}
	return s
}

// allListed makes sure that the pages that are listed as free are those that the tree does not have.
func (s *stage) allListed() {
	s.t.Helper()
	listed, unused, err := bolt.Free(s.dir)
	s.ok(err)
	if !slices.Equal(listed, unused) {
		s.t.Errorf("%d pages are listed as free, and %d are: %v, %v", len(listed), len(unused), listed, unused)
	}
}

func TestADatabaseWhoseServerWasKilledIsServedWhileItIsExamined(t *testing.T) {
	t.Parallel()
	s := killed(t)
	e := s.open(s.dir, atOnce())
	s.note(e)
	if !bolt.Examined(e) {
		t.Error("it was examined before it was served, and want after")
	}
	if bolt.Unlisted(e) {
		t.Error("its free pages are not listed after it was examined")
	}
	s.note(e)
	s.ok(e.Writable())
	s.ok(e.Check(t.Context()))
	s.checkNotes(e)
	s.ok(e.Close())
	s.allListed()
	if _, err := os.Stat(bolt.Running(s.dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the record of a running server is there after it was stopped: %v", err)
	}
}

func TestADatabaseThatWasKilledBeforeItWasExaminedIsExaminedFirst(t *testing.T) {
	t.Parallel()
	s := killed(t)
	e := s.open(s.dir, bolt.ExamineAfter(bolt.Options{}, time.Hour))
	if _, err := os.Stat(bolt.Running(s.dir)); !bolt.InUse(e) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in use before it was examined: %t, want true; its record: %v, want none", bolt.InUse(e), err)
	}
	s.ok(bolt.Abandon(e))
	e = s.open(s.dir, bolt.Options{})
	if bolt.InUse(e) {
		t.Error("it was served, though the server that was to examine it ended before")
	}
	s.ok(e.Close())
	s.allListed()
}

func TestAServerThatStopsBeforeItHasExaminedTheDatabaseIsFollowedByOneThatServes(t *testing.T) {
	t.Parallel()
	s := killed(t)
	for range 3 {
		e := s.open(s.dir, bolt.ExamineAfter(bolt.Options{}, time.Hour))
		if !bolt.InUse(e) {
			t.Error("it was examined before it was served")
		}
		s.note(e)
		s.ok(e.Close())
	}
	e := s.open(s.dir, atOnce())
	bolt.Examined(e)
	s.checkNotes(e)
	s.ok(e.Close())
	s.allListed()
}

func TestADatabaseThatIsNotAsItsKilledServerWroteItIsExaminedFirst(t *testing.T) {
	t.Parallel()
	in := func(place string) bolt.Options { return bolt.In(bolt.Options{}, place) }
	database := func(s *stage) string { return filepath.Join(s.dir, "alcove.db") }
	for name, c := range map[string]struct {
		change func(s *stage)
		then   bolt.Options
	}{
		"the machine was started again":   {then: in("kernel 2")},
		"the file system is of a network": {then: in("")},
		"a day passed":                    {then: bolt.In(bolt.Options{Now: func() time.Time { return time.Now().Add(25 * time.Hour) }}, "kernel 1")},
		"the clock was put back":          {then: bolt.In(bolt.Options{Now: func() time.Time { return time.Now().Add(-time.Hour) }}, "kernel 1")},
		"an older copy was written over it": {then: in("kernel 1"), change: func(s *stage) {
			before := s.file()
			e := s.open(s.dir, in("kernel 1"))
			for range 3 {
				s.note(e)
			}
			s.ok(bolt.Abandon(e))
			s.ok(os.WriteFile(database(s), before, 0o600))
		}},
		"another server wrote to it, which keeps no record": {then: in("kernel 1"), change: func(s *stage) {
			record, err := os.ReadFile(bolt.Running(s.dir))
			s.ok(err)
			e := s.open(s.dir, in(""))
			s.note(e)
			s.note(e)
			s.ok(bolt.Abandon(e))
			s.ok(os.WriteFile(bolt.Running(s.dir), record, 0o600))
		}},
		"the record is of another store": {then: in("kernel 1"), change: func(s *stage) {
			other := small(s.t.(*testing.T))
			e := other.open(other.dir, in("kernel 1"))
			other.note(e)
			other.ok(bolt.Abandon(e))
			s.ok(os.Rename(bolt.Running(other.dir), bolt.Running(s.dir)))
		}},
		"it was touched after its server was killed": {then: bolt.WroteWithin(in("kernel 1"), time.Millisecond), change: func(s *stage) {
			time.Sleep(50 * time.Millisecond) // the clock of the file system ticks
			s.ok(os.Chtimes(database(s), time.Now(), time.Now()))
		}},
		"a meta page is damaged": {then: in("kernel 1"), change: func(s *stage) {
			s.damage(func(data []byte) { data[newestHead(data)+40] ^= 1 })
		}},
		"the record is cut":      {then: in("kernel 1"), change: func(s *stage) { s.ok(os.Truncate(bolt.Running(s.dir), 100)) }},
		"the record is empty":    {then: in("kernel 1"), change: func(s *stage) { s.ok(os.Truncate(bolt.Running(s.dir), 0)) }},
		"the record is too long": {then: in("kernel 1"), change: func(s *stage) { s.ok(os.Truncate(bolt.Running(s.dir), 513)) }},
		"the record says nothing": {then: in("kernel 1"), change: func(s *stage) {
			s.ok(os.WriteFile(bolt.Running(s.dir), []byte("{}"), 0o600))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := small(t)
			s.ok(bolt.Abandon(s.open(s.dir, in("kernel 1"))))
			if c.change != nil {
				c.change(s)
			}
			e := s.open(s.dir, c.then)
			defer e.Close()
			if bolt.InUse(e) {
				t.Error("it was served before it was examined")
			}
			s.ok(e.Check(t.Context()))
		})
	}
}

// TestADatabaseMayBeKilledDuringACommit has the meta page of a commit be written, and not yet the record of it.
func TestADatabaseMayBeKilledDuringACommit(t *testing.T) {
	t.Parallel()
	s := killed(t)
	e := s.open(s.dir, atOnce())
	bolt.Examined(e)
	bolt.Unlisted(e) // waits for the writer
	record, err := os.ReadFile(bolt.Running(s.dir))
	s.ok(err)
	s.note(e)
	s.ok(bolt.Abandon(e))
	s.ok(os.WriteFile(bolt.Running(s.dir), record, 0o600))
	e = s.open(s.dir, atOnce())
	defer e.Close()
	if !bolt.Examined(e) {
		t.Error("it was examined before it was served")
	}
	s.checkNotes(e)
}

func TestFreePagesAreNotListedTwiceWhereACommitFails(t *testing.T) {
	t.Parallel()
	for _, commits := range []int{0, 3} {
		s := killed(t)
		e := s.open(s.dir, bolt.ExamineAfter(bolt.Options{}, time.Hour))
		for range commits {
			s.note(e)
		}
		_, err := bolt.FailCommit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey("refused"), Value: []byte("v")}}})
		s.ok(err)
		for range 5 {
			s.note(e)
		}
		bolt.ExamineNow(e)
		for range 5 {
			s.note(e)
		}
		s.checkNotes(e)
		s.ok(e.Check(t.Context()))
		s.ok(e.Close())
		s.allListed()
	}
}

func TestATreeIsLetGoWhereTheFileGrows(t *testing.T) {
	t.Parallel()
	s := killed(t)
	e := s.open(s.dir, bolt.HoldFor(bolt.ExamineAfter(bolt.Options{}, time.Hour), 100<<10))
	for i := range 30 {
		s.commit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey(fmt.Sprint("long", i)), Value: bytes.Repeat([]byte{1}, 20<<10)}}})
	}
	bolt.ExamineNow(e)
	if !bolt.Unlisted(e) {
		t.Error("free pages are listed that nobody knows")
	}
	s.ok(e.Writable())
	s.ok(e.Close())
	e = s.open(s.dir, atOnce())
	if !bolt.Examined(e) || bolt.Unlisted(e) {
		t.Error("the next server does not serve at once, or does not list the free pages")
	}
	s.ok(e.Close())
	s.allListed()
}

// TestADatabaseIsCompactedWhileItsTreeIsHeld has the file replaced that is examined.
func TestADatabaseIsCompactedWhileItsTreeIsHeld(t *testing.T) {
	t.Parallel()
	s := killed(t)
	e := s.open(s.dir, bolt.ExamineAfter(bolt.Options{}, time.Hour))
	_, err := e.Compact(t.Context())
	s.ok(err)
	s.note(e)
	bolt.Examined(e) // the new file
	s.ok(bolt.Abandon(e))
	e = s.open(s.dir, atOnce())
	if !bolt.Examined(e) {
		t.Error("the new file was examined before it was served")
	}
	s.checkNotes(e)
	s.ok(e.Close())
	s.allListed()
}

// TestWorkGoesOnWhileATreeIsExamined kills a server again and again among trims, overlays, purges and commits.
func TestWorkGoesOnWhileATreeIsExamined(t *testing.T) {
	t.Parallel()
	s := killed(t)
	for round := range 12 {
		_, noRecord := os.Stat(bolt.Running(s.dir)) // where the file was replaced and not examined yet
		e := s.open(s.dir, bolt.ExamineAfter(bolt.Options{}, time.Duration(rand.IntN(30)+1)*time.Millisecond))
		if !bolt.InUse(e) && noRecord == nil {
			t.Fatalf("round %d: it was examined before it was served", round)
		}
		s.workOn(e, round)
		bolt.Examined(e)
		bolt.Unlisted(e)
		s.workOn(e, round+1)
		s.checkNotes(e)
		s.ok(e.Check(t.Context()))
		if round%4 == 3 {
			s.ok(e.Close())
			s.allListed()
			s.ok(bolt.PretendKilled(s.dir))
			continue
		}
		s.ok(bolt.Abandon(e))
	}
}

func (s *stage) workOn(e *bolt.Engine, round int) {
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for i := range 10 {
				key := stageKey(fmt.Sprint("w", w, "-", i))
				_, err := e.Commit(context.Background(), store.Batch{Writes: []store.Write{{Branch: store.BranchID(1 + w), Key: key, Value: bytes.Repeat([]byte("x"), rand.IntN(9000))}}})
				if err != nil {
					s.t.Error(err)
				}
			}
		})
	}
	s.note(e)
	switch round % 3 {
	case 0:
		s.ok(e.Trim(s.t.Context(), 2, s.head(e), nil))
	case 1:
		_, err := e.Purge(s.t.Context(), stageKey("w0-1"), func(store.Entry) ([]byte, bool) { return []byte("gone"), true })
		s.ok(err)
	}
	writers.Wait()
}

const (
	killedWork   = "ALCOVE_TEST_KILLED_WORK" // the directory to work in
	killedRounds = 6
)

// workUntilKilled commits, and says so, until its process is killed.
func workUntilKilled(dir string) error {
	e, err := bolt.Open(context.Background(), dir, bolt.ExamineAfter(bolt.Options{}, time.Millisecond))
	if err != nil {
		return err
	}
	said("opened %t", bolt.InUse(e))
	bolt.Examined(e)
	bolt.Unlisted(e) // the record of it is written
	said("examined")
	var writers sync.WaitGroup
	for w := range powerWriters {
		writers.Go(func() {
			for i := 0; err == nil; i++ {
				name := fmt.Sprintf("%d/%d/%d", os.Getpid(), w, i)
				done, commitErr := e.Commit(context.Background(), powerBatch(name))
				if err = commitErr; err == nil {
					said("put %s %d", name, done.Version)
				}
			}
		})
	}
	writers.Wait()
	return err
}

// TestAServerThatIsKilledUnderLoadIsFollowedByOneThatServesAtOnce kills real processes.
func TestAServerThatIsKilledUnderLoadIsFollowedByOneThatServesAtOnce(t *testing.T) {
	t.Parallel()
	killed(t) // or skips
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for round := range killedRounds {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), killedWork+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		for puts, wait := 0, rand.IntN(120); puts <= wait; {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case strings.HasPrefix(line, "opened"):
				if line != "opened true\n" && round > 0 {
					t.Errorf("round %d: the database was examined before it was served", round)
				}
			case strings.HasPrefix(line, "put"):
				puts++
				all.WriteString(line)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(lines)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(rest[:bytes.LastIndexByte(rest, '\n')+1])
		_ = cmd.Wait() // it was killed
	}
	heard, err := hear(&all)
	if err != nil {
		t.Fatal(err)
	}
	e, err := bolt.Open(t.Context(), dir, atOnce())
	if err != nil {
		t.Fatal(err)
	}
	if !bolt.Examined(e) {
		t.Error("the database was examined before it was served")
	}
	if err := errors.Join(heard.check(e), e.Check(t.Context()), e.Close()); err != nil {
		t.Fatal(err)
	}
	(&stage{t: t, dir: dir}).allListed()
	t.Logf("%d servers were killed; all of %d commits are there", killedRounds, len(heard.puts))
}
