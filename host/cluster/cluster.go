// Package cluster shares the spaces of a database among servers: one of them leads a space, and the others forward requests to it.
//
// A running server renews its entry in a table of the database. It leads a space from the moment it writes its lease there until it releases
// the space, or until another server finds that it has not renewed in time. By its own clock, which starts before each renewal, it stops
// answering as a leader earlier than that. Its later writes fail, because the next leader has raised the epoch of the space.
package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	defaultTerm = 2 * time.Second
	renewals    = 5               // per term
	patience    = 5               // terms before a renewal is given up
	settledFor  = 5 * time.Second // before a new server gets spaces of others

	expiryMargin = 20 * time.Millisecond // added to another server's term, for differences of clocks
)

// Options configure New. Table and Address are required.
type Options struct {
	Table   store.Servers
	Address string        // the address of this server for the others
	Version string        // of the program
	Term    time.Duration // this server must renew within it; 0: 2 s
	Logger  *slog.Logger  // nil: discards
}

// Member is a server among those that share a database. Its methods may be called concurrently.
type Member struct {
	o Options

	leasing sync.Mutex // held while a lease is taken or given up
	looking sync.Mutex // held while the table is read between renewals: many requests wait for the same

	mu       sync.Mutex
	self     store.Server
	until    time.Time        // until when the others count this server as running
	leads    map[string]*Lead // by space
	view     view
	watching map[*watch]bool
	failure  error // of the last renewal
}

// view is the last read state of the table.
type view struct {
	at      time.Time // before it was read
	servers []store.Server
	leases  map[string]store.Lease // by space
}

// New returns a member. Join makes it known to the others.
func New(o Options) *Member {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Term = cmp.Or(o.Term, defaultTerm)
	self := store.Server{ID: rand.Text(), Address: o.Address, Version: o.Version, Started: time.Now().UTC()}
	return &Member{o: o, self: self, leads: map[string]*Lead{}, watching: map[*watch]bool{}}
}

// ID returns the id of this server.
func (m *Member) ID() string { return m.self.ID }

// Join adds this server to the table.
func (m *Member) Join(ctx context.Context) error { return m.renew(ctx) }

// Run renews and reads the table until ctx ends. It calls looked after each read.
func (m *Member) Run(ctx context.Context, looked func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(m.pause()):
		}
		within, cancel := context.WithTimeout(ctx, patience*m.o.Term) // a late renewal still counts
		err := m.renew(within)
		cancel()
		if ctx.Err() != nil {
			return
		}
		m.report(err)
		if err == nil {
			looked()
		}
	}
}

// pause returns how long to wait before the next renewal: a part of the term, or until another server counts as gone, since its spaces wait.
func (m *Member) pause() time.Duration {
	pause := m.o.Term / renewals
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.view.servers {
		if left := s.Left - time.Since(m.view.at); left > 0 && s.ID != m.self.ID {
			pause = min(pause, left+expiryMargin)
		}
	}
	return pause
}

// report logs a failure when it begins, and when it ends.
func (m *Member) report(err error) {
	m.mu.Lock()
	before := m.failure
	m.failure = err
	m.mu.Unlock()
	switch {
	case err != nil && before == nil:
		m.o.Logger.Error("this server cannot renew its leases: it answers nothing once they are over", "error", err)
	case err == nil && before != nil:
		m.o.Logger.Info("this server renews its leases again")
	}
}

// renew extends this server's entry by a term, and ends the leads that it lost.
func (m *Member) renew(ctx context.Context) error {
	m.mu.Lock()
	self := m.self
	m.mu.Unlock()
	began := time.Now()
	table, err := m.o.Table.Renew(ctx, self, m.o.Term)
	if err != nil {
		return err
	}
	m.record(began, table)
	var led []string
	for _, l := range table.Leases {
		if l.Server == self.ID {
			led = append(led, l.Space)
		}
	}
	m.mu.Lock()
	m.until = began.Add(m.o.Term - m.o.Term/10)
	for space, l := range m.leads {
		if l.since.Before(began) && !slices.Contains(led, space) {
			l.end()
		}
	}
	m.mu.Unlock()
	return m.releaseUnled(ctx, led)
}

// releaseUnled releases leases whose release failed before. The next renewal waits for it, so it has a short limit, and skips its work while
// a lease is being taken, which may be one of them: a later renewal does it.
func (m *Member) releaseUnled(ctx context.Context, led []string) error {
	led = slices.DeleteFunc(led, func(space string) bool { return m.leading(space) != nil })
	if len(led) == 0 || !m.leasing.TryLock() {
		return nil
	}
	defer m.leasing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, m.o.Term/renewals)
	defer cancel()
	for _, space := range led {
		if m.leading(space) != nil {
			continue
		}
		if err := m.o.Table.Release(ctx, space, m.self.ID); err != nil {
			return err
		}
	}
	return nil
}

func (m *Member) leading(space string) *Lead {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.leads[space]
}

// record stores the state of the table, read after an instant.
func (m *Member) record(at time.Time, t store.Table) {
	v := view{at: at, servers: t.Servers, leases: map[string]store.Lease{}}
	for _, l := range t.Leases {
		v.leases[l.Space] = l
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at.Before(m.view.at) { // a later read was faster
		return
	}
	m.view = v
	for w := range m.watching {
		if !v.runs(w.server) {
			w.end(errGone)
			delete(m.watching, w)
		}
	}
}

// refresh reads the table, unless it was read after an instant.
func (m *Member) refresh(ctx context.Context, after time.Time) error {
	m.looking.Lock()
	defer m.looking.Unlock()
	m.mu.Lock()
	fresh := m.view.at.After(after)
	m.mu.Unlock()
	if fresh || ctx.Err() != nil {
		return nil
	}
	began := time.Now()
	t, err := m.o.Table.List(ctx)
	if err != nil {
		return err
	}
	m.record(began, t)
	return nil
}

// runs reports whether a server counts as running.
func (v view) runs(id string) bool {
	return slices.ContainsFunc(v.servers, func(s store.Server) bool { return s.ID == id && s.Left > 0 })
}

// pick returns the server for a space among those that run and take spaces, by rendezvous hashing: when a server comes or goes, the spaces of
// the others stay. ok is false if there is none.
func (v view) pick(space string) (best store.Server, ok bool) {
	var most uint64
	for _, s := range v.servers {
		if s.Left <= 0 || s.Draining {
			continue
		}
		if score := scoreOf(s.Address, space); !ok || score > most {
			best, most, ok = s, score, true
		}
	}
	return best, ok
}

func scoreOf(server, space string) uint64 {
	sum := sha256.Sum256([]byte(server + "\x00" + space))
	return binary.BigEndian.Uint64(sum[:])
}

// Lead is a space that this server leads.
type Lead struct {
	Space    string
	Identity string // of the space in the database
	m        *Member
	since    time.Time // when it was taken
	lost     chan struct{}
}

// Lead takes the lease of a space. The error is a MovedError if another server leads it.
func (m *Member) Lead(ctx context.Context, space string) (*Lead, error) {
	m.leasing.Lock()
	defer m.leasing.Unlock()
	if l := m.leading(space); l != nil {
		return l, nil
	}
	if err := m.mayLead(); err != nil {
		return nil, err
	}
	lease, err := m.o.Table.Lead(ctx, space, m.self.ID)
	if err != nil {
		return nil, err
	}
	if lease.Server != m.self.ID {
		return nil, &MovedError{Space: space, Address: lease.Address}
	}
	l := &Lead{Space: space, Identity: lease.Identity, m: m, since: time.Now(), lost: make(chan struct{})}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leads[space] = l
	return l, nil
}

// mayLead returns why this server takes no spaces.
func (m *Member) mayLead() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.self.Draining:
		return errDraining
	case !time.Now().Before(m.until):
		return errSuspended
	}
	return nil
}

// MovedError means that another server leads a space.
type MovedError struct{ Space, Address string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("the server at %s leads the space %s", e.Address, e.Space)
}

// Check returns an error if this server may not answer as the leader.
func (l *Lead) Check() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	select {
	case <-l.lost:
		return errSuspended
	default:
	}
	if !time.Now().Before(l.m.until) {
		return errSuspended
	}
	return nil
}

// Server returns the id of this server.
func (l *Lead) Server() string { return l.m.self.ID }

// Term returns the time within which this server must renew its leases.
func (l *Lead) Term() time.Duration { return l.m.o.Term }

// Left returns for how long this server leads the space without a renewal.
func (l *Lead) Left() time.Duration {
	if l.Check() != nil {
		return 0
	}
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	return time.Until(l.m.until)
}

// Lost is closed when another server leads the space.
func (l *Lead) Lost() <-chan struct{} { return l.lost }

// end marks a lead as lost. The caller holds the member's mu.
func (l *Lead) end() {
	delete(l.m.leads, l.Space)
	close(l.lost)
}

// Release gives up the lease, so that another server can lead the space.
func (l *Lead) Release(ctx context.Context) error {
	l.m.leasing.Lock()
	defer l.m.leasing.Unlock()
	l.m.mu.Lock()
	mine := l.m.leads[l.Space] == l
	if mine {
		l.end()
	}
	l.m.mu.Unlock()
	if !mine {
		return nil
	}
	return l.m.o.Table.Release(ctx, l.Space, l.m.self.ID)
}

// Drain stops this server from taking spaces, and publishes that.
func (m *Member) Drain(ctx context.Context) error {
	m.mu.Lock()
	m.self.Draining = true
	m.mu.Unlock()
	return m.renew(ctx)
}

// Leave removes this server from the table, after it has released its spaces.
func (m *Member) Leave(ctx context.Context) error { return m.o.Table.Leave(ctx, m.self.ID) }

// Orphans returns the spaces that this server should lead, because their leader is gone, and those of always that nobody leads.
func (m *Member) Orphans(always ...string) (spaces []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := slices.Collect(maps.Keys(m.view.leases))
	for _, space := range append(names, always...) {
		lease, there := m.view.leases[space]
		if s, ok := m.view.pick(space); ok && s.ID == m.self.ID && (!there || lease.Gone) && m.leads[space] == nil {
			spaces = append(spaces, space)
		}
	}
	return spaces
}

// Misplaced returns the spaces that this server leads but another should.
func (m *Member) Misplaced() (spaces []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for space := range m.leads {
		if s, ok := m.view.pick(space); ok && s.ID != m.self.ID && time.Since(s.Started) > settledFor {
			spaces = append(spaces, space)
		}
	}
	slices.Sort(spaces)
	return spaces
}

// State is a server's view of the cluster.
type State struct {
	Self    string         `json:"self"` // the id of the server that was asked
	Servers []store.Server `json:"servers"`
	Leases  []store.Lease  `json:"leases"`
	Term    time.Duration  `json:"term_ns"`
	Left    time.Duration  `json:"left_ns"` // for which this server may answer as a leader, by its own clock
	Failure string         `json:"failure,omitempty"`
}

// State returns this server's view of the cluster.
func (m *Member) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := State{Self: m.self.ID, Servers: m.view.servers, Leases: []store.Lease{}, Term: m.o.Term, Left: time.Until(m.until)}
	for _, space := range slices.Sorted(maps.Keys(m.view.leases)) {
		s.Leases = append(s.Leases, m.view.leases[space])
	}
	if m.failure != nil {
		s.Failure = m.failure.Error()
	}
	return s
}

// Describe describes the lease and the view of this server, a line each.
func (s State) Describe() string {
	leads := 0
	for _, l := range s.Leases {
		if l.Server == s.Self {
			leads++
		}
	}
	lag := max(0, s.Term-s.Term/10-s.Left)
	return fmt.Sprintf("lease: %.1f s left of %.1f\nlag: %.1f s since the database was reached\nleads: %d of %d spaces\n", s.Left.Seconds(), s.Term.Seconds(), lag.Seconds(), leads, len(s.Leases))
}

// Ready returns why this server cannot serve clients; nil: it can.
func (m *Member) Ready() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !time.Now().Before(m.until) {
		return errSuspended
	}
	return nil
}

// errDraining is the answer of a drained server while no other server takes its spaces.
var errDraining = unavailable("this server is being drained and accepts no spaces: ask another server")

// errSuspended is the answer of a server that may have been replaced.
var errSuspended = unavailable("this server could not renew its lease in the database, and another one may lead by now: try again, or ask another server")

// unavailable returns a retryable error.
func unavailable(format string, args ...any) error {
	return &memory.Error{Code: memory.Unavailable, Retryable: true, Message: fmt.Sprintf(format, args...)}
}
