// Package stress gives load tests their duration and seed, and long tests the part that runs today.
package stress

import (
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// Environment variables that make a stress test long, or repeat one.
const (
	LastingVariable = "ALCOVE_STRESS"      // how long each test lasts, such as 45s
	SeedVariable    = "ALCOVE_STRESS_SEED" // a number; when not set that of the day, or the one of PartsVariable
)

// Load is how much load a test puts on the server.
type Load struct {
	Seed    uint64
	Lasting time.Duration // 0: the short form
	few     int           // rounds of the short form are divided by it
}

// FromEnvironment is the load that the environment asks for, and the short form without one.
func FromEnvironment(t testing.TB) Load {
	t.Helper()
	l := Load{Seed: day(t), few: 1}
	if testing.Short() {
		l.few = 4
	}
	if text := os.Getenv(SeedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("read %s: %v", SeedVariable, err)
		}
		l.Seed = seed
	}
	if text := os.Getenv(LastingVariable); text != "" {
		lasting, err := time.ParseDuration(text)
		if err != nil || lasting <= 0 {
			t.Fatalf("%s=%s is no duration such as 45s: %v", LastingVariable, text, err)
		}
		l.Lasting = lasting
	}
	t.Logf("seed %d: %s=%d repeats it", l.Seed, SeedVariable, l.Seed)
	return l
}

// mostRounds ends even the longest form.
const mostRounds = 10_000_000

// Rounds counts the rounds of a load: so many in the short form, fewer with -short, and those that fit into the time of the
// long form. Each call of Rounds has the whole time.
func (l Load) Rounds(short int) iter.Seq[int] {
	until := time.Now().Add(l.Lasting)
	return func(yield func(int) bool) {
		for n := 0; n < mostRounds; n++ {
			if l.Lasting == 0 && n >= max(1, short/max(1, l.few)) || l.Lasting > 0 && n > 0 && time.Now().After(until) {
				return
			}
			if !yield(n) {
				return
			}
		}
	}
}

// Random is a source of its own for each stream of a load, the same in each run with the same seed.
func (l Load) Random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(l.Seed, stream)) }
