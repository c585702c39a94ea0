package mcp

import (
	"context"
	"sync"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// audience is the clients that are told when their list of tools has changed.
type audience struct {
	outline func(Session, *seat) string // of a client's list: it changes when that does

	mu       sync.Mutex
	watchers map[*seat]*watcher
}

// watcher is a client of the audience.
type watcher struct {
	session Session
	seat    *seat
	tell    func() // never waits

	last string // outline of the list that it knows
}

// join adds a client, which knows its list as it is now.
func (a *audience) join(w *watcher) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.watchers == nil {
		a.watchers = map[*seat]*watcher{}
	}
	w.last = a.outline(w.session, w.seat)
	a.watchers[w.seat] = w
}

func (a *audience) leave(at *seat) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.watchers, at)
}

// moved reports whether a client's list has changed, and counts it as told.
func (a *audience) moved(at *seat) (*watcher, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.watchers[at]
	return w, w != nil && a.check(w)
}

// tellAll tells all clients whose lists have changed.
func (a *audience) tellAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.watchers {
		if a.check(w) {
			w.tell()
		}
	}
}

func (a *audience) check(w *watcher) (changed bool) {
	now := a.outline(w.session, w.seat)
	changed, w.last = now != w.last, now
	return changed
}

// tellList tells the client of a request that its list has changed, if it has.
func (s *Server) tellList(ctx context.Context, at *seat) {
	w, moved := s.audience.moved(at)
	if _, over := ctx.Value(streamKey{}).(*stream); moved && over {
		s.notify(ctx, notification(protocol.MethodNotificationToolsListChanged, nil))
	} else if moved {
		w.tell()
	}
}

// watch tells clients whose lists change because the families do, until the server is closed.
func (s *Server) watch() {
	for {
		now := s.shelf.catalogue()
		s.audience.tellAll() // after that, or a change in between would be missed
		select {
		case <-now.outdated:
		case <-s.closed:
			return
		}
	}
}

// listens makes a client that stands alone one of the audience, as long as its request lasts.
func (s *Server) listens(ctx context.Context, id any, request *protocol.SubscriptionsListenRequest) {
	client := server.ClientSessionFromContext(ctx)
	if client == nil || !request.Params.Notifications.ToolsListChanged {
		return
	}
	session := sessionOf(ctx)
	w := &watcher{session: session, seat: newSeat(session), tell: func() { listChanged(client, id) }}
	s.audience.join(w)
	context.AfterFunc(ctx, func() { s.audience.leave(w.seat) })
}

// listChanged tells a client that its list has changed. It is for the request that asked to be told, if there is one.
func listChanged(client server.ClientSession, subscription any) {
	n := notification(protocol.MethodNotificationToolsListChanged, nil)
	if subscription != nil {
		n.Params.Meta = map[string]any{protocol.MetaKeySubscriptionID: subscription}
	}
	send(client, n)
}
