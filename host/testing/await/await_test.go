package await

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// failing is a test whose failure is expected.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure is what a failing test says.
func failure(t *testing.T, do func(testing.TB)) string {
	f := &failing{TB: t}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		do(f)
	}()
	<-ended
	return f.said
}

func TestAConditionIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		That(t, "half of it is over", func() bool { return time.Since(began) >= Limit/2 })
		if waited := time.Since(began); waited < Limit/2 || waited > Limit/2+pause {
			t.Errorf("waited %s", waited)
		}
	})
}

func TestAConditionThatNeverHoldsFailsAndIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := failure(t, func(t testing.TB) { That(t, "the moon is here", func() bool { return false }) })
		if !strings.Contains(said, "the moon is here") {
			t.Errorf("said %q", said)
		}
	})
}

func TestAValueIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		values := make(chan int)
		go func() { time.Sleep(Limit / 2); values <- 7; close(values) }()
		if got := Value(t, "seven", values); got != 7 {
			t.Errorf("got %d", got)
		}
		if got := Value(t, "the end", values); got != 0 {
			t.Errorf("got %d of a closed channel", got)
		}
		said := failure(t, func(t testing.TB) { Value(t, "the moon", make(chan int)) })
		if !strings.Contains(said, "the moon") {
			t.Errorf("said %q", said)
		}
	})
}
