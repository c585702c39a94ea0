package mcp

import (
	"crypto/rand"
	"sync/atomic"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/tool"
)

const queued = 64 // notifications of a listen request waiting to be written

// remote is the protocol library's session of a connection's client.
type remote struct {
	*server.InProcessSession
	state  *tool.Session // state between its calls
	bridge atomic.Bool   // its client is a bridge
}

func newRemote(state *tool.Session) *remote {
	return &remote{InProcessSession: server.NewInProcessSession(rand.Text(), nil), state: state}
}

// listener is the session of a connection's client during a listen request, which it does not share: what the library tells it comes before
// the request's answer.
type listener struct {
	*remote
	notifications chan protocol.JSONRPCNotification
}

func (l *listener) NotificationChannel() chan<- protocol.JSONRPCNotification { return l.notifications }

// tellUntil passes on notifications until the request is answered, those included that came before.
func (l *listener) tellUntil(answered <-chan struct{}, tell func(protocol.JSONRPCNotification)) {
	for {
		select {
		case n := <-l.notifications:
			tell(n)
		case <-answered:
			for len(l.notifications) > 0 {
				tell(<-l.notifications)
			}
			return
		}
	}
}
