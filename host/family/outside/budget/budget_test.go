package budget

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/testclock"
)

var calls = Bound{"calls", 3, time.Minute}

func ledger(t *testing.T) (*Ledger, *testclock.Clock, string) {
	t.Helper()
	clock, dir := testclock.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), t.TempDir()
	return New(dir, clock.Now), clock, dir
}

// spend spends, and returns whether that was allowed.
func spend(t *testing.T, l *Ledger, family string, amount int64) bool {
	t.Helper()
	_, err := l.Spend(family, calls, amount)
	var over *Exceeded
	if err != nil && !errors.As(err, &over) {
		t.Fatal(err)
	}
	return err == nil
}

func TestABudgetEndsAndComesAgainWithItsPeriod(t *testing.T) {
	l, clock, _ := ledger(t)
	if !spend(t, l, "a", 2) || spend(t, l, "a", 2) || !spend(t, l, "a", 1) || spend(t, l, "a", 1) {
		t.Error("3 a minute were not 3")
	}
	clock.Add(time.Minute)
	if !spend(t, l, "a", 3) || spend(t, l, "a", -1) {
		t.Error("a minute later it was not 3 again")
	}
}

func TestARestartRefillsNothing(t *testing.T) {
	l, clock, dir := ledger(t)
	if correct, err := l.Spend("a", calls, 3); err != nil || correct == nil {
		t.Fatalf("Spend(a, 3): %v, want a correction", err)
	} // the process is killed before it knows what was used
	if again := New(dir, clock.Now); spend(t, again, "a", 1) {
		t.Error("a restart refilled the budget")
	}
	clock.Add(time.Minute)
	if !spend(t, New(dir, clock.Now), "a", 3) {
		t.Error("the period did not end")
	}
}

func TestAClockThatIsPutBackRefillsNothingAndBlocksForOnePeriod(t *testing.T) {
	l, clock, dir := ledger(t)
	spend(t, l, "a", 3)
	clock.Add(-100 * time.Hour)
	if spend(t, l, "a", 1) || spend(t, New(dir, clock.Now), "a", 1) {
		t.Error("a clock that was put back refilled the budget")
	}
	clock.Add(time.Minute)
	if spend(t, l, "a", 4) || !spend(t, New(dir, clock.Now), "b", 1) {
		t.Error("more than the budget")
	}
}

func TestFamiliesDoNotShare(t *testing.T) {
	l, _, _ := ledger(t)
	if !spend(t, l, "a", 3) || !spend(t, l, "b", 3) || spend(t, l, "a", 1) {
		t.Error("two families spent together")
	}
}

func TestConcurrentSpendingNeverExceedsTheBudget(t *testing.T) {
	l, _, _ := ledger(t)
	var allowed atomic.Int32
	var done sync.WaitGroup
	for range 20 {
		done.Go(func() {
			if spend(t, l, "a", 1) {
				allowed.Add(1)
			}
		})
	}
	if done.Wait(); allowed.Load() != 3 {
		t.Errorf("%d of 3 were allowed", allowed.Load())
	}
}

func TestWhatWasUsedReplacesWhatWasAskedFor(t *testing.T) {
	l, clock, dir := ledger(t)
	correct, err := l.Spend("a", calls, 3)
	if err != nil {
		t.Fatal(err)
	}
	correct(1)
	if s, err := New(dir, clock.Now).Of("a", calls); err != nil || s.Amount != 1 {
		t.Errorf("Of(a) = %+v, %v, want 1", s, err)
	}
	if correct, err = l.Spend("a", calls, 2); err != nil {
		t.Fatal(err)
	}
	correct(1 << 62) // an endpoint's word for it
	if spend(t, l, "a", 1) {
		t.Error("what an endpoint took beyond the budget was not counted")
	}
	clock.Add(time.Minute)
	late, err := l.Spend("a", calls, 3)
	if err != nil {
		t.Fatal(err)
	}
	clock.Add(time.Minute)
	spend(t, l, "a", 3)
	if late(0); spend(t, l, "a", 1) {
		t.Error("a correction of an earlier period refilled the budget")
	}
}

func TestAFileThatCannotBeReadAllowsNothingAndIsNamed(t *testing.T) {
	for name, text := range map[string]string{"damaged": `{"calls":`, "negative": `{"calls":{"amount":-9,"since":"2026-01-01T00:00:00Z"}}`, "huge": strings.Repeat(" ", fileLimit+1)} {
		l, _, dir := ledger(t)
		if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Spend("a", calls, 1); err == nil || !strings.Contains(err.Error(), "a.json") {
			t.Errorf("%s: Spend: %v, want an error that names a.json", name, err)
		}
	}
}
