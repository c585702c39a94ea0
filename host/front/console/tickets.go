package console

import (
	"sync"
	"time"
)

const (
	ticketHolds = 60 * time.Second
	mostTickets = 100
)

// tickets are the tickets that wait for their use, by digest, with what ends them.
type tickets struct {
	mu      sync.Mutex
	waiting map[digest]*time.Timer
}

func newTickets() *tickets { return &tickets{waiting: map[digest]*time.Timer{}} }

// issue returns a new ticket. Beyond the limit it is void from the start: only a script asks for so many.
func (t *tickets) issue() string {
	ticket := newSecret()
	by := digestOf(ticket)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) < mostTickets {
		t.waiting[by] = time.AfterFunc(ticketHolds, func() { t.take(by) })
	}
	return ticket
}

// use reports whether a ticket holds. It does so once.
func (t *tickets) use(ticket string) bool { return t.take(digestOf(ticket)) }

func (t *tickets) take(by digest) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	timer, ok := t.waiting[by]
	if ok {
		timer.Stop()
		delete(t.waiting, by)
	}
	return ok
}
