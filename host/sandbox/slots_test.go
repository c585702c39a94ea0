package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
)

func TestAFloodOfOneFamilyDelaysAnotherByOneCall(t *testing.T) {
	s := newSlots(1)
	must.Do(t, s.acquire(t.Context(), "first"))
	order := make(chan string, 32)
	var all sync.WaitGroup
	for i := range 20 {
		waitInLine(t, s, &all, order, "flood", i+1)
	}
	waitInLine(t, s, &all, order, "quiet", 21)
	s.release()
	all.Wait()
	close(order)
	var got []string
	for f := range order {
		got = append(got, f)
	}
	if len(got) != 21 || got[1] != "quiet" {
		t.Errorf("the quiet family was not second in turn: %v", got)
	}
}

// waitInLine starts a goroutine that waits for a slot, and returns when it is the n-th in the queue.
func waitInLine(t *testing.T, s *slots, all *sync.WaitGroup, order chan<- string, family string, n int) {
	t.Helper()
	all.Go(func() {
		if err := s.acquire(context.Background(), family); err != nil {
			t.Error(err)
			return
		}
		order <- family
		s.release()
	})
	await.That(t, fmt.Sprintf("%d wait", n), func() bool { return s.waiting() == n })
}

// waiting returns the number of waiters.
func (s *slots) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, q := range s.queues {
		n += len(q)
	}
	return n
}

func TestACancelledWaiterHoldsNoSlot(t *testing.T) {
	s := newSlots(1)
	must.Do(t, s.acquire(t.Context(), "a"))
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- s.acquire(ctx, "b") }()
	await.That(t, "b waits", func() bool { return s.waiting() == 1 })
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the one who left was told %v", err)
	}
	s.release()
	must.Do(t, s.acquire(t.Context(), "c"))
	if len(s.queues) != 0 || len(s.turns) != 0 {
		t.Errorf("queues %v and turns %v are left", s.queues, s.turns)
	}
}

func TestTheNumberOfSlotsIsNeverExceeded(t *testing.T) {
	const n = 3
	s := newSlots(n)
	var mu sync.Mutex
	running, most := 0, 0
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+i%7)*time.Millisecond)
			defer cancel()
			for range 50 {
				if s.acquire(ctx, fmt.Sprint(i%5)) != nil {
					return
				}
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				mu.Lock()
				running--
				mu.Unlock()
				s.release()
			}
		})
	}
	all.Wait()
	if most > n || s.free != n || s.waited() {
		t.Errorf("%d ran at once of %d; %d are free at the end; waited: %v", most, n, s.free, s.waited())
	}
}
