package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/tool"
)

const (
	queued    = 64 // notifications of a listen request waiting to be written
	mostAsked = 8  // questions of one connection that wait for its user
)

// remote is the protocol library's session of a connection's client.
type remote struct {
	*server.InProcessSession
	state  *tool.Session // state between its calls
	bridge atomic.Bool   // its client is a bridge
	tell   func(protocol.JSONRPCNotification)
	send   func(any)

	mu     sync.Mutex
	asked  map[string]chan *message // requests to the client, by the key of their id
	number int
}

func newRemote(state *tool.Session) *remote {
	return &remote{InProcessSession: server.NewInProcessSession(rand.Text(), nil), state: state, asked: map[string]chan *message{}}
}

// RequestElicitation asks the user of the client, and waits for the answer.
func (r *remote) RequestElicitation(ctx context.Context, request protocol.ElicitationRequest) (*protocol.ElicitationResult, error) {
	var result protocol.ElicitationResult
	return &result, r.request(ctx, protocol.MethodElicitationCreate, request.Params, &result)
}

// RequestSampling has the model of the client answer, and waits for the answer.
func (r *remote) RequestSampling(ctx context.Context, request protocol.CreateMessageRequest) (*protocol.CreateMessageResult, error) {
	var result protocol.CreateMessageResult
	return &result, r.request(ctx, protocol.MethodSamplingCreateMessage, request.CreateMessageParams, &result)
}

// ListRoots asks the client for its folders.
func (r *remote) ListRoots(ctx context.Context, _ protocol.ListRootsRequest) (*protocol.ListRootsResult, error) {
	var result protocol.ListRootsResult
	return &result, r.request(ctx, protocol.MethodListRoots, map[string]any{}, &result)
}

// request asks the client, and waits for the answer.
func (r *remote) request(ctx context.Context, method protocol.MCPMethod, params, into any) error {
	answer := make(chan *message, 1)
	r.mu.Lock()
	if len(r.asked) >= mostAsked {
		r.mu.Unlock()
		return fmt.Errorf("%d questions wait for the user already, which is the limit", mostAsked)
	}
	r.number++
	id := quoted(fmt.Sprintf("%s-%d", r.SessionID(), r.number))
	r.asked[jsonrpc.Key(id)] = answer
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.asked, jsonrpc.Key(id))
	}()
	r.send(map[string]any{"jsonrpc": protocol.JSONRPC_VERSION, "id": id, "method": method, "params": params})
	select {
	case m := <-answer:
		return answerOf(m, into)
	case <-ctx.Done():
		r.tell(notification(methodCancelled, map[string]any{"requestId": id, "reason": "no request waits for this answer"}))
		return context.Cause(ctx)
	}
}

func answerOf(m *message, into any) error {
	raw := m.read.Result.Of(m.read.Line)
	if len(raw) == 0 {
		return fmt.Errorf("the client answered with the error %s", tool.Clip(string(m.read.Error.Of(m.read.Line)), gotLength))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read the answer of the client: %w", err)
	}
	return nil
}

// answered takes the answer to a request to the client. Answers to questions that were never asked are dropped.
func (r *remote) answered(m *message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if waiting := r.asked[jsonrpc.Key(m.id)]; waiting != nil && m.id != nil {
		delete(r.asked, jsonrpc.Key(m.id))
		waiting <- m
	}
}

// listener is the session of a client during a listen request. The library's own drop what is told just before the answer, and those of one
// client share it.
type listener struct {
	librarySession
	server        *Server
	id            string          // among subscribers
	subscription  json.RawMessage // the id of the request
	context       context.Context // of the request
	tell          func(protocol.JSONRPCNotification)
	notifications chan protocol.JSONRPCNotification
	telling       sync.WaitGroup
	answered      chan struct{}
	once          sync.Once
}

func (s *Server) newListener(subscription json.RawMessage, tell func(protocol.JSONRPCNotification)) *listener {
	return &listener{server: s, id: rand.Text(), subscription: subscription, tell: tell, notifications: make(chan protocol.JSONRPCNotification, queued), answered: make(chan struct{})}
}

// within returns a context whose client is told through the listener.
func (l *listener) within(ctx context.Context) context.Context {
	client, ok := server.ClientSessionFromContext(ctx).(librarySession)
	if !ok {
		return ctx // the library refuses the request
	}
	l.librarySession, l.context = client, ctx
	l.telling.Go(l.pass)
	return l.server.protocol.WithContext(ctx, l)
}

func (l *listener) NotificationChannel() chan<- protocol.JSONRPCNotification { return l.notifications }

// pass passes on notifications until the request is answered, those included that came before.
func (l *listener) pass() {
	for {
		select {
		case n := <-l.notifications:
			l.tell(n)
		case <-l.answered:
			for len(l.notifications) > 0 {
				l.tell(<-l.notifications)
			}
			return
		}
	}
}

// end returns when the client was told what comes before the answer.
func (l *listener) end() {
	l.once.Do(func() { close(l.answered) })
	l.telling.Wait()
}

// listened ends a listener before its request is answered.
func listened(ctx context.Context, _ any, _ *protocol.SubscriptionsListenRequest, _ *protocol.SubscriptionsListenResult) {
	if l, ok := server.ClientSessionFromContext(ctx).(*listener); ok {
		l.end()
	}
}
