package mcp

import (
	"context"
	"sync"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/tool"
)

// watchers are the clients that are told when their list of tools has changed.
type watchers struct {
	outline func(Session, *tool.Session) string // of a client's list: it changes when that does

	mu    sync.Mutex
	known map[*tool.Session]*watcher
}

// watcher is a client that is told.
type watcher struct {
	session Session
	state   *tool.Session
	tell    func() // never waits

	last string // outline of the list that it knows
}

// join adds a client, which knows its list as it is now.
func (a *watchers) join(w *watcher) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[*tool.Session]*watcher{}
	}
	w.last = a.outline(w.session, w.state)
	a.known[w.state] = w
}

func (a *watchers) leave(at *tool.Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, at)
}

// changed reports whether a client's list has changed, and counts the client as told.
func (a *watchers) changed(state *tool.Session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.known[state]
	return w != nil && a.check(w)
}

// tellAll tells all clients whose lists have changed.
func (a *watchers) tellAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.known {
		if a.check(w) {
			w.tell()
		}
	}
}

func (a *watchers) check(w *watcher) (changed bool) {
	now := a.outline(w.session, w.state)
	changed, w.last = now != w.last, now
	return changed
}

// watch tells clients whose lists change because the families do, until the server is closed.
func (s *Server) watch() {
	for {
		now := s.registry.Snapshot()
		s.watchers.tellAll() // after that, or a change in between would be missed
		select {
		case <-now.Outdated():
		case <-s.closed:
			return
		}
	}
}

// listens makes a client whose requests stand alone one of the watchers, as long as its request lasts.
func (s *Server) listens(ctx context.Context, id any, request *protocol.SubscriptionsListenRequest) {
	client := server.ClientSessionFromContext(ctx)
	if client == nil || !request.Params.Notifications.ToolsListChanged {
		return
	}
	session := sessionOf(ctx)
	w := &watcher{session: session, state: session.begin(oneCall), tell: func() { listChanged(client, id) }}
	s.watchers.join(w)
	context.AfterFunc(ctx, func() { s.watchers.leave(w.state) })
}

// listChanged tells a client that its list has changed. It is for the request that asked to be told, if there is one.
func listChanged(client server.ClientSession, subscription any) {
	n := notification(protocol.MethodNotificationToolsListChanged, nil)
	if subscription != nil {
		n.Params.Meta = map[string]any{protocol.MetaKeySubscriptionID: subscription}
	}
	send(client, n)
}
