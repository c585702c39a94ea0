package cluster

import (
	"context"
	"errors"
	"time"
)

// Route is the destination of requests to a space.
type Route struct {
	Here    bool
	Server  string // the id of another server
	Address string // and where it is
}

// ErrMoving means that a space is between two leaders.
var ErrMoving = errors.New("the space is being handed over")

// errGone ends requests that were forwarded to a server that is gone.
var errGone = errors.New("the server that leads the space is gone")

// Route returns the destination of requests to a space: its leader, or, if it has none, the server that should lead it.
func (m *Member) Route(space string) (Route, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leads[space] != nil {
		return Route{Here: true}, nil
	}
	if lease, there := m.view.leases[space]; there && !lease.Gone {
		if lease.Server == m.self.ID {
			return Route{}, ErrMoving
		}
		return Route{Server: lease.Server, Address: lease.Address}, nil
	}
	s, ok := m.view.pick(space)
	if !ok {
		return Route{}, unavailable("no server leads the space %s: try again", space)
	}
	return Route{Here: s.ID == m.self.ID, Server: s.ID, Address: s.Address}, nil
}

// Leads reports whether this server leads a space.
func (m *Member) Leads(space string) bool { return m.leading(space) != nil }

// Led reports whether a server that is running leads a space.
func (m *Member) Led(space string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	lease, there := m.view.leases[space]
	return m.leads[space] != nil || there && !lease.Gone
}

// watch is a context that ends with a server.
type watch struct {
	server string
	end    context.CancelCauseFunc
}

// while returns a context that ends when a server is gone. The caller calls stop when done.
func (m *Member) while(ctx context.Context, server string) (during context.Context, stop func()) {
	ctx, end := context.WithCancelCause(ctx)
	w := &watch{server, end}
	m.mu.Lock()
	m.watching[w] = true
	m.mu.Unlock()
	return ctx, func() {
		m.mu.Lock()
		delete(m.watching, w)
		m.mu.Unlock()
		end(nil)
	}
}

const (
	findWithin = 4 * time.Second // for a space to have a leader that answers
	findPause  = 25 * time.Millisecond
)

// Try calls do with the route of a space, until it succeeds or fails for good. While its error satisfies Again, it reads the table and
// retries.
func (m *Member) Try(ctx context.Context, space string, do func(Route) error) error {
	for began := time.Now(); ; {
		asked := time.Now()
		to, err := m.Route(space)
		if err == nil {
			err = do(to)
		}
		if err == nil || !Again(err) {
			return err
		}
		if time.Since(began) > findWithin {
			return unavailable("the space %s has no leader that answers: %v: try again", space, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(findPause):
		}
		_ = m.refresh(ctx, asked) // the next attempt tells
	}
}
