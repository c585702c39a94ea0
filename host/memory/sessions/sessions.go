// Package sessions keeps the open sessions of clients, from their first call to their end.
package sessions

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// Session is what one caller does over one connection or HTTP session.
type Session struct {
	ID     string
	Caller memory.Caller // without rights
	memory.Location
	Began time.Time
	Last  time.Time // its last call
	Ended time.Time // zero: it is open
	Calls int
}

// Options configures New. Clock is required.
type Options struct {
	Clock func() time.Time
	// Began is called at the first call of a session, which waits for it. Nil: it is not.
	Began func(Session)
	// Ended is called after the last call. It must not block. Nil: it is not called.
	Ended func(Session)
}

// Sessions are the open sessions of a server. Its methods may be called concurrently.
type Sessions struct {
	o Options

	mu     sync.Mutex
	open   map[string][]*Session // by id: one for each key that calls over it present
	recent map[visitor]*Session  // the last calls of agents, without sessions' ids
}

// visitor is an agent in a namespace.
type visitor struct{ agent, key, namespace string }

const (
	recentKept = time.Hour
	mostRecent = 10_000 // agents in namespaces
)

// New returns no sessions.
func New(o Options) *Sessions {
	return &Sessions{o: o, open: map[string][]*Session{}, recent: map[visitor]*Session{}}
}

// Called tells of a call, with the location that the session is at. Callers without a session are ignored.
func (s *Sessions) Called(c memory.Caller, at memory.Location) {
	if c.Session == "" {
		return
	}
	if began, is := s.count(c, at); is && s.o.Began != nil {
		s.o.Began(began)
	}
}

func (s *Sessions) count(c memory.Caller, at memory.Location) (began Session, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.open[c.Session] {
		if known.Caller.Key == c.Key && known.Caller.Agent == c.Agent {
			known.Calls++
			known.Last = s.o.Clock().UTC()
			known.Location = at
			return Session{}, false
		}
	}
	c.Rights = memory.Rights{}
	now := s.o.Clock().UTC()
	opened := &Session{ID: c.Session, Caller: c, Location: at, Began: now, Last: now, Calls: 1}
	s.open[c.Session] = append(s.open[c.Session], opened)
	return *opened, true
}

// Visited tells that an agent called in a namespace, with a session or without one.
func (s *Sessions) Visited(c memory.Caller, at memory.Location) {
	if c.Agent == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, v := s.o.Clock().UTC(), visitor{c.Agent, c.Key, at.Namespace}
	known := s.recent[v]
	if known == nil || now.Sub(known.Last) > recentKept {
		if known == nil && len(s.recent) >= mostRecent {
			s.forget(now)
		}
		c.Rights, c.Session = memory.Rights{}, ""
		known = &Session{Caller: c, Began: now}
		s.recent[v] = known
	}
	known.Calls++
	known.Last, known.Location = now, at
}

// forget makes room among the recent calls: of those that are over, or else of half. The caller holds mu.
func (s *Sessions) forget(now time.Time) {
	for v, known := range s.recent {
		if now.Sub(known.Last) > recentKept {
			delete(s.recent, v)
		}
	}
	for v := range s.recent {
		if len(s.recent) <= mostRecent/2 {
			return
		}
		delete(s.recent, v)
	}
}

// Recent returns the agents that called within some time, by namespace, the latest first. They have no session's id.
func (s *Sessions) Recent(within time.Duration) []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, list := s.o.Clock().UTC(), []Session{}
	for _, known := range s.recent {
		if now.Sub(known.Last) <= within {
			list = append(list, *known)
		}
	}
	slices.SortFunc(list, func(a, b Session) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Caller.Agent, b.Caller.Agent), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Caller.Key, b.Caller.Key))
	})
	return list
}

// End ends a session. Sessions that made no call are not known.
func (s *Sessions) End(id string) {
	s.mu.Lock()
	ended := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	for _, each := range ended {
		if each.Ended = s.o.Clock().UTC(); s.o.Ended != nil {
			s.o.Ended(*each)
		}
	}
}

// List returns the open sessions, the newest first.
func (s *Sessions) List() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Session
	for _, of := range s.open {
		for _, each := range of {
			list = append(list, *each)
		}
	}
	slices.SortFunc(list, func(a, b Session) int {
		return cmp.Or(b.Began.Compare(a.Began), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Caller.Key, b.Caller.Key), cmp.Compare(a.Caller.Agent, b.Caller.Agent))
	})
	return list
}
