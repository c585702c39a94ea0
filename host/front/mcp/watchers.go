package mcp

import (
	"context"
	"sync"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/tool"
)

// watchers are the clients to notify when their list of tools changes.
type watchers struct {
	outline func(Session, *tool.Session) string // fingerprint of a client's list

	mu    sync.Mutex
	known map[*tool.Session]*watcher
}

// watcher is a client to notify.
type watcher struct {
	session Session
	state   *tool.Session
	tell    func() // must not block

	last string // outline of the list last announced
}

// join adds a client, which is assumed to know its current list.
func (all *watchers) join(w *watcher) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.known == nil {
		all.known = map[*tool.Session]*watcher{}
	}
	w.last = all.outline(w.session, w.state)
	all.known[w.state] = w
}

func (all *watchers) remove(state *tool.Session) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.known, state)
}

// list has a client's list be that of a session's profile. It has not seen a list yet, so it is not told.
func (all *watchers) list(state *tool.Session, session Session) {
	all.mu.Lock()
	defer all.mu.Unlock()
	state.List(session.Profile, session.listing())
	if w := all.known[state]; w != nil {
		all.check(w)
	}
}

// changed reports whether a client's list has changed, and marks the client as notified.
func (all *watchers) changed(state *tool.Session) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	w := all.known[state]
	return w != nil && all.check(w)
}

// notifyAll notifies all clients whose lists have changed.
func (all *watchers) notifyAll() {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, w := range all.known {
		if all.check(w) {
			w.tell()
		}
	}
}

func (all *watchers) check(w *watcher) (changed bool) {
	now := all.outline(w.session, w.state)
	changed, w.last = now != w.last, now
	return changed
}

// watch notifies clients whose lists change with the families, until the server is closed.
func (s *Server) watch() {
	for {
		now := s.registry.Snapshot()
		s.watchers.notifyAll() // after Snapshot, lest a change in between be missed
		select {
		case <-now.Outdated():
		case <-s.open.Done():
			return
		}
	}
}

// listens adds a stateless client to the watchers for the duration of its request.
func (s *Server) listens(ctx context.Context, id any, request *protocol.SubscriptionsListenRequest) {
	client := server.ClientSessionFromContext(ctx)
	if client == nil || !request.Params.Notifications.ToolsListChanged {
		return
	}
	session := SessionOf(ctx).of(clientName(ctx))
	w := &watcher{session: session, state: session.begin(oneCall), tell: func() { listChanged(client, id) }}
	s.watchers.join(w)
	context.AfterFunc(ctx, func() { s.watchers.remove(w.state) })
}

// listChanged notifies a client that its list has changed, under its subscription.
func listChanged(client server.ClientSession, subscription any) {
	n := notification(protocol.MethodNotificationToolsListChanged, nil)
	n.Params.Meta = map[string]any{protocol.MetaKeySubscriptionID: subscription}
	select {
	case client.NotificationChannel() <- n:
	default: // it has too much to read, and misses it
	}
}
