// Package await lets tests wait for what other goroutines and processes do.
package await

import (
	"testing"
	"time"
)

// Limit is how long a test waits before it counts as hung. It ends tests that would never end, and measures nothing.
const Limit = 5 * time.Minute

// pause is the time between two looks at a condition. A look may read a file or make a request.
const pause = 2 * time.Millisecond

// Deadline is when something that begins now counts as hung.
func Deadline() time.Time { return time.Now().Add(Limit) }

// That waits until a condition holds; what names the condition in the failure.
func That(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if !poll(Limit, holds) {
		t.Fatalf("waited %s in vain: %s", Limit, what)
	}
}

func poll(limit time.Duration, holds func() bool) bool {
	for began := time.Now(); !holds(); time.Sleep(pause) {
		if time.Since(began) > limit {
			return false
		}
	}
	return true
}

// Value is what a channel delivers next; the zero value when it is closed; what names the value in the failure.
func Value[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	timer := time.NewTimer(Limit)
	defer timer.Stop()
	select {
	case value := <-from:
		return value
	case <-timer.C:
		t.Fatalf("waited %s in vain: %s", Limit, what)
		panic("unreachable")
	}
}
