package bridge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	message
	number     int // in the order they came
	sent       int // how often
	initialize bool
	listens    bool // a stream, answered only at its end
	moves      bool // may move the session to another branch or namespace
}

func newRequest(m message) *request {
	r := &request{message: m}
	switch m.Method {
	case "initialize":
		r.initialize = true
	case "subscriptions/listen":
		r.listens = true
	case "tools/call":
		r.moves = movesSession(m)
	}
	return r
}

// movesSession reports whether a tool call's answer carries the session's state: branch, namespace, families.
func movesSession(m message) bool {
	tool, arguments := called(m)
	switch tool {
	case "memory_load_family", "memory_smart_load":
		return true
	case "memory_branch":
		action := strings.ToLower(strings.TrimSpace(arguments.word("action")))
		return action == "switch" || action == "delete"
	}
	return false
}

// called is the tool that a call is for, in one spelling, and its arguments: memory_operation calls others.
func called(m message) (tool string, arguments object) {
	params := object{m.Params.Of(m.Line)}
	tool, arguments = params.word("name"), params.object("arguments")
	if flat(tool) == "memory_operation" {
		tool, arguments = arguments.word("method"), arguments.object("params")
	}
	return flat(tool), arguments
}

// flat returns a tool's name as most clients write it: memory.branch is memory_branch.
func flat(name string) string { return strings.ReplaceAll(name, ".", "_") }

// object is a JSON object; without bytes there is none.
type object struct{ json []byte }

func (o object) member(name string) (raw []byte) {
	jsonrpc.Members(o.json, 0, func(given string, value jsonrpc.Span) {
		if given == name {
			raw = value.Of(o.json)
		}
	})
	return raw
}

func (o object) word(name string) string { return jsonrpc.Text(o.member(name)) }

// object is a member that is an object, or the text of one, which the server takes for one.
func (o object) object(name string) object {
	raw := o.member(name)
	if text := jsonrpc.Text(raw); text != "" {
		raw = []byte(strings.TrimSpace(text))
	}
	return object{raw}
}

// SessionState is where a session is: what its calls mean when they do not say. Empty fields are as the session
// began.
type SessionState struct {
	Branch    string
	Namespace string
	Families  []string // that are loaded; nil: as the session began
}

// pending holds what must be known to go on with another owner as if nothing had happened.
type pending struct {
	mu          sync.Mutex
	requests    map[string]*request
	bytes       int
	count       int
	leaving     int           // requests that were taken and whose answer is on its way out
	initialize  *message      // that was answered well; nil before
	initialized []byte        // the notification that followed
	place       SessionState  // that the session was moved to
	left        chan struct{} // tells that a request is done
}

func newPending() *pending {
	return &pending{requests: map[string]*request{}, left: make(chan struct{}, 1)}
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

// answered updates the session after a successful answer.
func (p *pending) answered(r *request, m message) {
	if !r.initialize && !r.moves || m.Failed() || string(m.Field(m.Result, "isError").Of(m.Line)) == "true" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.initialize {
		p.initialize = &r.message
	}
	// Without an initialization there is no session to move: each call says where it goes.
	if r.moves && p.initialize != nil {
		p.move(m)
	}
}

// move notes where a call says that it left the session, and with which families.
func (p *pending) move(m message) {
	said := m.Field(m.Result, "structuredContent")
	if of := m.Field(said, "result"); of != (jsonrpc.Span{}) { // memory_operation's
		said = of
	}
	if loaded, ok := m.words(said, "loaded"); ok {
		p.place.Families = loaded
	}
	if branch := m.word(said, "current"); branch != "" {
		p.place.Branch = branch
	}
	if namespace := m.word(said, "namespace"); namespace != "" {
		p.place.Namespace = namespace
	}
}

// confirmed notes that the client acknowledged the initialization.
func (p *pending) confirmed(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.initialized = line
}

// session returns the state that a new owner needs.
func (p *pending) session() (initialize *message, initialized []byte, place SessionState) {
	p.mu.Lock()
	defer p.mu.Unlock()
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
