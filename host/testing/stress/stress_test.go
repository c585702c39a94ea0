package stress_test

import (
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/stress"
)

func count(l stress.Load, short int) (n int) {
	for range l.Rounds(short) {
		n++
	}
	return n
}

func TestTheShortFormHasItsRoundsAndTheLongFormItsTime(t *testing.T) {
	t.Setenv(stress.LastingVariable, "")
	short := stress.FromEnvironment(t)
	if n := count(short, 100); n != 100 && n != 25 { // -short has a quarter
		t.Errorf("the short form has %d rounds", n)
	}
	if n := count(short, 1); n != 1 {
		t.Errorf("one round became %d", n)
	}
	t.Setenv(stress.LastingVariable, "20ms")
	long, began := stress.FromEnvironment(t), time.Now()
	if n := count(long, 1); n < 2 || time.Since(began) < 20*time.Millisecond {
		t.Errorf("the long form had %d rounds in %s", n, time.Since(began))
	}
}

func TestASeedRepeatsItsStreams(t *testing.T) {
	t.Setenv(stress.SeedVariable, "7")
	a, b := stress.FromEnvironment(t), stress.FromEnvironment(t)
	if a.Random(3).Uint64() != b.Random(3).Uint64() || a.Random(3).Uint64() == a.Random(4).Uint64() {
		t.Error("streams do not depend on seed and number alone")
	}
}
