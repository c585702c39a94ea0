package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/testing/powerloss"
)

// ofFormatThree is a closed stage of format 3, and its contents.
func ofFormatThree(t *testing.T) (s *stage, says map[string]bool) {
	t.Helper()
	s = small(t)
	e := s.open(s.dir, bolt.Options{})
	says = s.contents(e)
	s.ok(bolt.Lower(e))
	s.ok(e.Close())
	return s, says
}

func (s *stage) mustSay(e *bolt.Engine, says map[string]bool) {
	s.t.Helper()
	if missing, untrue := lacks(says, s.contents(e)); len(missing)+len(untrue) > 0 {
		s.t.Errorf("it lacks %.200q and says %.200q", missing, untrue)
	}
	s.ok(e.Check(s.t.Context()))
}

func TestAFileOfFormatThreeIsReadUnchanged(t *testing.T) {
	t.Parallel()
	s, says := ofFormatThree(t)
	before := s.file()
	if faults, err := driver.Examine(s.dir); err != nil || len(faults) > 0 {
		t.Errorf("examined: %v (%v)", faults, err)
	}
	e := s.open(s.dir, bolt.Options{ReadOnly: true})
	s.mustSay(e, says)
	s.ok(e.Close())
	if !bytes.Equal(s.file(), before) {
		t.Error("the file was changed")
	}
}

// TestAFileOfFormatThreeIsRaisedInPlace also shows that a raise copies nothing, whatever the size of the file.
func TestAFileOfFormatThreeIsRaisedInPlace(t *testing.T) {
	t.Parallel()
	s, says := ofFormatThree(t)
	was, err := os.Stat(s.dir + "/alcove.db")
	s.ok(err)
	if got := formatOf(t, s.dir); got != 3 {
		t.Fatalf("the test begins with format %d", got)
	}
	var steps []bolt.Step
	e := s.open(s.dir, bolt.Options{Steps: func(step bolt.Step) error { steps = append(steps, step); return nil }})
	s.mustSay(e, says)
	s.ok(e.Close())
	if got := formatOf(t, s.dir); got != layout.Format {
		t.Errorf("an engine that may write leaves format %d", got)
	}
	if is, err := os.Stat(s.dir + "/alcove.db"); err != nil || !os.SameFile(was, is) || slices.Contains(steps, bolt.MigrationPart) {
		t.Errorf("the file was copied: %v (%v)", steps, err)
	}
	if faults, err := driver.Examine(s.dir); err != nil || len(faults) > 0 {
		t.Errorf("examined: %v (%v)", faults, err)
	}
}

// raiseWorkload opens a file of format 3 in a process whose power fails.
func raiseWorkload(dir string) error {
	e, err := bolt.Open(context.Background(), dir, bolt.Options{MapSize: 1 << 16})
	if err != nil {
		return err
	}
	for _, name := range []string{"one", "two"} {
		if err := putSaid(e, name); err != nil {
			return err
		}
	}
	if err := errors.Join(bolt.Lower(e), e.Close()); err != nil {
		return err
	}
	said("lowered")
	e, err = bolt.Open(context.Background(), dir, bolt.Options{MapSize: 1 << 16})
	if err != nil {
		return err
	}
	return errors.Join(putSaid(e, "three"), e.Close())
}

func putSaid(e *bolt.Engine, name string) error {
	done, err := e.Commit(context.Background(), powerBatch(name))
	if err == nil {
		said("put %s %d", name, done.Version)
	}
	return err
}

// TestAPowerFailureWhileTheFormatIsRaisedLosesNothing lets the power fail before and after every call of a process that opens a file of
// format 3: once, or in every way if ALCOVE_POWER_ROUNDS is set.
func TestAPowerFailureWhileTheFormatIsRaisedLosesNothing(t *testing.T) {
	t.Parallel()
	trace, n := recordPower(t, nil, powerRaise+"=yes"), 0
	ways, seed := 1, rand.Uint64()
	if rounds(t) > powerRounds {
		ways = 6
	}
	err := trace.Every(rand.New(rand.NewPCG(seed, 1)), "lowered", ways, func(f *powerloss.Failure) error {
		n++
		dir := t.TempDir()
		defer os.RemoveAll(dir)
		if err := f.Leave(dir); err != nil {
			return err
		}
		return checkPower(dir, strings.NewReader(strings.Replace(string(f.Said), "lowered\n", "", 1)))
	})
	if err != nil || n == 0 {
		t.Fatalf("seed %d, after %d power failures: %v", seed, n, err)
	}
	t.Logf("%d power failures", n)
}
