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

// tell tells a client whose list has changed.
func (a *audience) tell(at *seat) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w := a.watchers[at]; w != nil {
		a.check(w)
	}
}

// tellAll tells all clients whose lists have changed.
func (a *audience) tellAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.watchers {
		a.check(w)
	}
}

func (a *audience) check(w *watcher) {
	if now := a.outline(w.session, w.seat); now != w.last {
		w.last = now
		w.tell()
	}
}

// watch tells clients whose lists change because the families do, until the server is closed.
func (s *Server) watch() {
	for {
		select {
		case <-s.shelf.catalogue().outdated:
			s.audience.tellAll()
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
	n := protocol.JSONRPCNotification{
		JSONRPC:      protocol.JSONRPC_VERSION,
		Notification: protocol.Notification{Method: protocol.MethodNotificationToolsListChanged},
	}
	if subscription != nil {
		n.Params.Meta = map[string]any{protocol.MetaKeySubscriptionID: subscription}
	}
	select {
	case client.NotificationChannel() <- n:
	default: // it reads nothing
	}
}
