package sandbox

import (
	"context"
	"sync"
)

// slots bounds how many guests run at once and schedules waiting families round-robin, so that a flood of calls to one
// family delays the others by at most one turn.
type slots struct {
	mu   sync.Mutex
	free int
	// queues holds the waiters of each family, and turns the families in order. A family is in turns if and only if
	// its queue is not empty.
	queues map[string][]*waiter
	turns  []string
}

// waiter waits for a slot. Its channel is closed once it has one.
type waiter struct{ ready chan struct{} }

func newSlots(n int) *slots {
	return &slots{free: n, queues: map[string][]*waiter{}}
}

// acquire waits for a slot, or until the context ends.
func (s *slots) acquire(ctx context.Context, family string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	w := &waiter{ready: make(chan struct{})}
	s.enqueue(family, w)
	s.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		s.abandon(family, w)
		return ctx.Err()
	}
}

// release passes the slot to the next waiter, or frees it.
func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passOn()
}

// waited reports whether any guest waits for a slot.
func (s *slots) waited() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns) > 0
}

func (s *slots) enqueue(family string, w *waiter) {
	if len(s.queues[family]) == 0 {
		s.turns = append(s.turns, family)
	}
	s.queues[family] = append(s.queues[family], w)
}

// passOn hands a slot to the first waiter of the next family, or frees it.
func (s *slots) passOn() {
	if len(s.turns) == 0 {
		s.free++
		return
	}
	family := s.turns[0]
	s.turns = s.turns[1:]
	queue := s.queues[family]
	next := queue[0]
	queue[0] = nil
	if queue = queue[1:]; len(queue) > 0 {
		s.queues[family] = queue
		s.turns = append(s.turns, family)
	} else {
		delete(s.queues, family)
	}
	close(next.ready)
}

// abandon removes a waiter from its queue. If it got a slot in the meantime, abandon passes it on.
func (s *slots) abandon(family string, w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := s.queues[family]
	for i := range queue {
		if queue[i] != w {
			continue
		}
		queue = append(queue[:i:i], queue[i+1:]...)
		if len(queue) > 0 {
			s.queues[family] = queue
			return
		}
		delete(s.queues, family)
		s.dropTurn(family)
		return
	}
	s.passOn()
}

func (s *slots) dropTurn(family string) {
	for i := range s.turns {
		if s.turns[i] == family {
			s.turns = append(s.turns[:i:i], s.turns[i+1:]...)
			return
		}
	}
}
