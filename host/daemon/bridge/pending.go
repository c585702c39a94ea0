package bridge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

const (
	pendingLimit = 1024     // unanswered requests
	pendingBytes = 64 << 20 // and the bytes in them
	sendLimit    = 4        // sends of a request before it is blamed for its owners' deaths
)

// request is an unanswered request of the client.
type request struct {
	jsonrpc.Message
	number     int // in the order they came
	sent       int // how often
	initialize bool
	listens    bool // a stream, answered only at its end
	calls      bool // a tool, whose answer may carry the session's state
}

func newRequest(m jsonrpc.Message) *request {
	r := &request{Message: m}
	switch m.Method {
	case "initialize":
		r.initialize = true
	case "subscriptions/listen":
		r.listens = true
	case "tools/call":
		r.calls = true
	}
	return r
}

// pending holds what must be known to go on with another owner as if nothing had happened.
type pending struct {
	mu          sync.Mutex
	requests    map[string]*request
	bytes       int
	count       int
	leaving     int              // requests that were taken and whose answer is on its way out
	initialize  *jsonrpc.Message // that was answered well; nil before
	initialized []byte           // the notification that followed
	place       SessionState     // where the session is, as its last owner said
	project     string           // in which it is
	changes     int              // of the session at its last owner
	left        chan struct{}    // tells that a request is done
}

func newPending(project string) *pending {
	return &pending{requests: map[string]*request{}, project: project, left: make(chan struct{}, 1)}
}

// add remembers a request until it is answered.
func (p *pending) add(r *request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.requests[r.Key()] != nil {
		return fmt.Errorf("a request with the id %s is still waiting for its answer: use each id once", r.RawID())
	}
	if len(p.requests) >= pendingLimit || p.bytes+len(r.Line) > pendingBytes && len(p.requests) > 0 {
		return errTooMany
	}
	p.count++
	r.number = p.count
	p.requests[r.Key()] = r
	p.bytes += len(r.Line)
	return nil
}

var errTooMany = fmt.Errorf("more than %d requests (or %d MiB of them) are unanswered: wait for answers before sending more",
	pendingLimit, pendingBytes>>20)

// remove removes a request that was answered or cancelled and returns it; nil: it is not pending. The caller
// calls done once the answer is written.
func (p *pending) remove(key string) *request {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.requests[key]
	if r == nil {
		return nil
	}
	delete(p.requests, key)
	p.bytes -= len(r.Line)
	p.leaving++
	return r
}

// done records that the answer to a removed request is written.
func (p *pending) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaving--
	select {
	case p.left <- struct{}{}:
	default:
	}
}

// has reports whether a request is pending.
func (p *pending) has(r *request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests[r.Key()] == r
}

// answered updates the session after an answer, and returns the answer as the client is to have it.
func (p *pending) answered(r *request, m jsonrpc.Message) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.initialize && !m.Failed():
		p.initialize = &r.Message
	case r.calls:
		line, place := takeState(m)
		if place != nil && p.initialize != nil && place.Changes >= p.changes { // without an initialization there is no session to move
			place.Project = p.place.Project // which the bridge tells the owner
			p.place, p.changes = place.SessionState, place.Changes
		}
		return line
	}
	return m.Line
}

// confirmed notes that the client acknowledged the initialization.
func (p *pending) confirmed(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.initialized = line
}

// enter moves the session to another project, and reports whether it was in none or another one. A session whose namespace is the project's
// leaves that, too.
func (p *pending) enter(project string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if project == p.project {
		return false
	}
	if p.place.Namespace == p.project {
		p.place.Namespace = ""
	}
	p.project, p.place.Project = project, &project
	return true
}

// session returns the state that a new owner needs, which counts changes from then on.
func (p *pending) session() (initialize *jsonrpc.Message, initialized []byte, place SessionState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes = 0
	return p.initialize, p.initialized, p.place
}

// all lists the requests in order of arrival.
func (p *pending) all() []*request {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]*request, 0, len(p.requests))
	for _, r := range p.requests {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *request) int { return cmp.Compare(a.number, b.number) })
	return list
}

// resend lists the requests for a new owner, counting the attempt, and separately those
// that reached the send limit.
func (p *pending) resend() (again, hopeless []*request) {
	for _, r := range p.all() {
		if r.sent++; r.sent > sendLimit {
			hopeless = append(hopeless, r)
			continue
		}
		again = append(again, r)
	}
	return again, hopeless
}

var errHopeless = errors.New("the alcove server stopped each time this request was sent, so it is not sent again; whether it was carried out is not known")

// waiting counts the requests that will be answered by themselves and whose answer is not out.
func (p *pending) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.leaving
	for _, r := range p.requests {
		if !r.listens {
			n++
		}
	}
	return n
}
