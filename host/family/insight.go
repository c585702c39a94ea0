package family

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/internal/trace"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// Event is something that a family did: it printed a line, called an operation of the host, or ended a request.
type Event struct {
	At      time.Time `json:"at"`
	Family  string    `json:"family"`
	Kind    EventKind `json:"kind"`
	Request int64     `json:"request,omitempty"` // a number for each request since the server began
	What    string    `json:"what,omitempty"`    // as in tool notes_add, hook store or job tidy
	Text    string    `json:"text,omitempty"`    // the line, the error, or what else is to be said
	Trace   string    `json:"trace,omitempty"`   // of a trap

	Op     string  `json:"op,omitempty"`     // of a call of the host, with the next two, which are cut to 8 KiB
	Sent   string  `json:"sent,omitempty"`   // the request
	Answer string  `json:"answer,omitempty"` // empty: Text has the error
	TookMS float64 `json:"took_ms,omitempty"`

	Class     abi.Class `json:"class,omitempty"` // of the end of a request, with the next three
	Fuel      int64     `json:"fuel,omitempty"`
	Memory    int64     `json:"memory_bytes,omitempty"` // the peak
	HostCalls int64     `json:"host_calls,omitempty"`
	// Interpreted means that the time of the request is not that of compiled code.
	Interpreted bool `json:"interpreted,omitempty"`
}

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	EventLine  EventKind = "line"
	EventCall  EventKind = "call"  // an operation of the host
	EventEnded EventKind = "ended" // a request
	EventNote  EventKind = "note"  // of the server: events were dropped, or another version is served
)

// Cost counts the requests to a family since the server began.
type Cost struct {
	Requests  int64               `json:"requests"`
	Classes   map[abi.Class]int64 `json:"classes"` // how they ended
	Fuel      int64               `json:"fuel"`
	TimeMS    float64             `json:"time_ms"`
	CPUMS     float64             `json:"cpu_ms"`
	SlowestMS float64             `json:"slowest_ms"`
	Memory    int64               `json:"peak_memory_bytes"`
	HostCalls int64               `json:"host_calls"`
	// Interpreted is how many of the requests were interpreted: their time is not that of compiled code.
	Interpreted int64 `json:"interpreted,omitempty"`
}

// Stats is the cost of a family: in total, and of each tool, hook and job.
type Stats struct {
	Family string `json:"family"`
	Cost
	By    map[string]Cost `json:"by"`
	Spent []Spending      `json:"spent,omitempty"` // of budgets for a period, earlier runs of the server included
}

// Bounds of what is kept of each family, and of what waits for a follower.
const (
	keptLines    = 1000
	keptBytes    = 256 << 10
	keptKinds    = 200     // of requests; the rest is counted as "others"
	longestEvent = 8 << 10 // bytes of a line, a request or an answer
	waiting      = 4096    // events
)

// insight counts and keeps what families do, for their operator. The zero value is ready. Its methods may be called concurrently.
type insight struct {
	mu        sync.Mutex
	requests  int64
	families  map[string]*seen
	followers map[*follower]struct{}
}

type seen struct {
	by    map[string]Cost
	lines []Event // the newest, lines and failures
	bytes int
}

// follower receives events of a family. It never delays the family: what it is too slow for is dropped and counted.
type follower struct {
	family  string
	calls   bool // operations of the host, too
	events  chan Event
	dropped int64 // guarded by the insight's mu
}

// begin numbers a request, and reports whether somebody follows its operations.
func (s *insight) begin(family string) (request int64, traced bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	for f := range s.followers {
		traced = traced || f.calls && f.family == family
	}
	return s.requests, traced
}

// of returns what is kept of a family. The caller holds mu.
func (s *insight) of(family string) *seen {
	if s.families == nil {
		s.families = map[string]*seen{}
	}
	if s.families[family] == nil {
		s.families[family] = &seen{by: map[string]Cost{}}
	}
	return s.families[family]
}

// publish keeps an event, unless it is one of many, and hands it to followers.
func (s *insight) publish(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Kind == EventLine || e.Kind == EventEnded && e.Class != abi.ClassOK {
		s.of(e.Family).keep(e)
	}
	for f := range s.followers {
		if f.family != e.Family || e.Kind == EventCall && !f.calls {
			continue
		}
		select {
		case f.events <- e:
		default:
			f.dropped++
		}
	}
}

func (k *seen) keep(e Event) {
	k.lines = append(k.lines, e)
	k.bytes += len(e.Text) + len(e.Trace)
	drop := max(0, len(k.lines)-keptLines)
	for i := 0; i < len(k.lines) && (i < drop || k.bytes > keptBytes); i++ {
		k.bytes -= len(k.lines[i].Text) + len(k.lines[i].Trace)
		drop = i + 1
	}
	k.lines = slices.Delete(k.lines, 0, drop)
}

// ended counts a request.
func (s *insight) ended(e Event, r *sandbox.Result) {
	s.mu.Lock()
	k := s.of(e.Family)
	what := e.What
	if _, known := k.by[what]; !known && len(k.by) >= keptKinds {
		what = "others"
	}
	cost := Cost{1, map[abi.Class]int64{r.Class: 1}, r.Fuel, ms(r.Time), ms(r.CPU), ms(r.Time), r.Memory, r.HostCalls, 0}
	if r.Interpreted {
		cost.Interpreted = 1
	}
	k.by[what] = k.by[what].plus(cost)
	s.mu.Unlock()
	s.publish(e)
}

func (c Cost) plus(d Cost) Cost {
	classes := maps.Clone(c.Classes)
	if classes == nil {
		classes = map[abi.Class]int64{}
	}
	for class, n := range d.Classes {
		classes[class] += n
	}
	return Cost{c.Requests + d.Requests, classes, c.Fuel + d.Fuel, c.TimeMS + d.TimeMS, c.CPUMS + d.CPUMS, max(c.SlowestMS, d.SlowestMS), max(c.Memory, d.Memory), c.HostCalls + d.HostCalls, c.Interpreted + d.Interpreted}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// call sends a request to a guest, and notes what becomes of it.
func (w *request) call(ctx context.Context, m catalogue.Guest, r sandbox.Request) (*sandbox.Result, error) {
	s, now := &w.families.insight, w.families.o.Clock
	id, traced := s.begin(w.family.Name)
	event := func(kind EventKind) Event {
		return Event{At: now(), Family: w.family.Name, Kind: kind, Request: id, What: w.work}
	}
	r.Lines = func(_, line string) {
		e := event(EventLine)
		e.Text = cut(line)
		s.publish(e)
		if w.log != nil {
			w.log(e.Text)
		}
	}
	if r.Host = w.Call; traced {
		r.Host = tracedHost{w.Call, s, func() Event { return event(EventCall) }, now}
	}
	ctx, ended := trace.Begin(ctx, trace.Span{Name: "guest " + w.family.Name, Family: w.family.Name})
	result, err := w.run(ctx, m, r)
	if err != nil {
		ended(string(memory.Unavailable))
		return nil, err
	}
	ended(failureOf(result))
	e := event(EventEnded)
	e.Class, e.Fuel, e.Memory, e.HostCalls, e.TookMS = result.Class, result.Fuel, result.Memory, result.HostCalls, ms(result.Time)
	e.Interpreted = result.Interpreted
	if result.Error != nil {
		e.Text = cut(result.Error.Error())
		e.Trace = w.family.NameTrace(result.Trace)
	}
	s.ended(e, result)
	return result, nil
}

// failureOf is how a span names a guest's failure; empty: it answered.
func failureOf(r *sandbox.Result) string {
	if r.Class == abi.ClassOK {
		return ""
	}
	return string(r.Class)
}

// tracedHost tells of each operation.
type tracedHost struct {
	call    *ops.Call
	insight *insight
	event   func() Event
	now     func() time.Time
}

// Call implements sandbox.Host.
func (h tracedHost) Call(ctx context.Context, op abi.Op, request []byte) ([]byte, error) {
	began := h.now()
	answer, err := h.call.Call(ctx, op, request)
	e := h.event()
	e.Op, e.Sent, e.TookMS = cut(string(op)), cut(string(request)), ms(h.now().Sub(began))
	if err != nil {
		e.Text = cut(err.Error())
	} else {
		e.Answer = cut(string(answer))
	}
	h.insight.publish(e)
	return answer, err
}

func cut(text string) string {
	if len(text) > longestEvent {
		text = text[:longestEvent] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Stats returns what families cost since the server began; an empty name means all.
func (f *Families) Stats(name string) ([]Stats, error) {
	if name != "" {
		if err := f.catalogue.Exists(name); err != nil {
			return nil, err
		}
	}
	spent := f.allSpending()
	f.insight.mu.Lock()
	defer f.insight.mu.Unlock()
	list := []Stats{}
	for _, family := range slices.Sorted(maps.Keys(f.insight.families)) {
		if name == "" || name == family {
			list = append(list, f.insight.families[family].stats(family))
		}
	}
	if len(list) == 0 && name != "" {
		list = append(list, Stats{Family: name, Cost: Cost{}.plus(Cost{}), By: map[string]Cost{}})
	}
	for i := range list {
		list[i].Spent = spent[list[i].Family]
	}
	slices.SortFunc(list, func(a, b Stats) int { return cmp.Or(cmp.Compare(b.TimeMS, a.TimeMS), cmp.Compare(a.Family, b.Family)) })
	return list, nil
}

func (k *seen) stats(family string) Stats {
	s := Stats{Family: family, Cost: Cost{}.plus(Cost{}), By: maps.Clone(k.by)}
	for _, c := range k.by {
		s.Cost = s.plus(c)
	}
	return s
}

// FollowRequest says which events are wanted.
type FollowRequest struct {
	Family string `json:"family"`
	Lines  int    `json:"lines,omitempty"`  // how many of the newest lines and failures come first
	Calls  bool   `json:"calls,omitempty"`  // operations of the host, too
	Follow bool   `json:"follow,omitempty"` // those to come, until the client leaves
}

// Follow hands on the events of a family. With Follow it ends with ctx or with the family, without an error.
func (f *Families) Follow(ctx context.Context, r FollowRequest, each func(Event) error) error {
	if err := f.catalogue.Exists(r.Family); err != nil {
		return err
	}
	if r.Lines < 0 || r.Lines > keptLines {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("lines is %d: from 0 to %d are kept", r.Lines, keptLines)}
	}
	past, events, leave := f.insight.follow(r)
	defer leave()
	for _, e := range past {
		if err := each(e); err != nil {
			return err
		}
	}
	if r.Follow {
		if err := each(Event{At: f.o.Clock(), Family: r.Family, Kind: EventNote, Text: "family " + r.Family + " is followed from here on"}); err != nil {
			return err
		}
	}
	for r.Follow {
		changed := f.Changed()
		gone := f.catalogue.Exists(r.Family) != nil
		if gone && len(events.events) == 0 {
			return each(Event{At: f.o.Clock(), Family: r.Family, Kind: EventNote, Text: "family " + r.Family + " was removed"})
		}
		select {
		case e := <-events.events:
			if err := errors.Join(f.insight.missed(events, each), each(e)); err != nil {
				return err
			}
		case <-changed:
		case <-ctx.Done():
			return nil
		case <-f.catalogue.Closed():
			return nil
		}
	}
	return nil
}

// follow begins to follow a family, without a gap between the past and what is to come.
func (s *insight) follow(r FollowRequest) (past []Event, f *follower, leave func()) {
	f = &follower{family: r.Family, calls: r.Calls, events: make(chan Event, waiting)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.families[r.Family]; k != nil {
		past = slices.Clone(k.lines[max(0, len(k.lines)-r.Lines):])
	}
	if !r.Follow {
		return past, f, func() {}
	}
	if s.followers == nil {
		s.followers = map[*follower]struct{}{}
	}
	s.followers[f] = struct{}{}
	return past, f, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.followers, f)
	}
}

// missed tells a follower how many events it was too slow for.
func (s *insight) missed(f *follower, each func(Event) error) error {
	s.mu.Lock()
	n := f.dropped
	f.dropped = 0
	s.mu.Unlock()
	if n == 0 {
		return nil
	}
	return each(Event{Family: f.family, Kind: EventNote, Text: fmt.Sprintf("%d events were dropped: they came faster than they were read", n)})
}

// DropLines forgets what families printed: it may contain what was purged.
func (f *Families) DropLines() {
	f.insight.mu.Lock()
	defer f.insight.mu.Unlock()
	for _, k := range f.insight.families {
		k.lines, k.bytes = nil, 0
	}
}

// refused records that an operation of a family was refused for want of a capability.
func (f *Families) refused(family string, err error) {
	var e *abi.Error
	if errors.As(err, &e) && e.Code == abi.CodeDenied && e.Details["capability"] != nil {
		f.troubles.add(family, Ungranted, err, f.o.Clock())
	}
}

// hooksSuspended reports whether a family's hooks are suspended.
func (f *Families) hooksSuspended(name string) bool {
	x := f.catalogue.Known(name)
	return x != nil && x.Breaker.Open(f.o.Clock())
}
