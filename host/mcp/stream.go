package mcp

import (
	"bytes"
	"net/http"
	"strings"
	"sync"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/tool"
)

const eventStream = "text/event-stream"

// stream is the answer to a request over HTTP that becomes a stream of events once there is something to tell before the
// answer. The library can do that too, but loses what is told as the answer is about to be written.
type stream struct {
	http.ResponseWriter

	mu     sync.Mutex
	ours   bool // it became a stream here: what the library writes is the last event
	begun  bool // the head was written
	events bool // the library made it a stream
}

// streaming gives the stream for a request whose client takes one; nil when it does not.
func streaming(w http.ResponseWriter, r *http.Request) *stream {
	if !strings.Contains(r.Header.Get("Accept"), eventStream) {
		return nil
	}
	return &stream{ResponseWriter: w}
}

// tell sends a notification ahead of the answer. When that has begun, it is too late.
func (s *stream) tell(n protocol.JSONRPCNotification) {
	body, err := tool.Encode(n)
	if err != nil {
		return // nobody waits for it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun && !s.ours && !s.events {
		return
	}
	if !s.begun {
		s.begun, s.ours = true, true
		s.Header().Set("Content-Type", eventStream)
		s.Header().Set("Cache-Control", "no-cache")
		s.ResponseWriter.WriteHeader(http.StatusOK)
	}
	s.writeEvent(body)
	http.NewResponseController(s.ResponseWriter).Flush() // a client that left needs nothing
}

// writeEvent writes an event; the caller holds mu.
func (s *stream) writeEvent(body []byte) (int, error) {
	return s.ResponseWriter.Write([]byte("event: message\ndata: " + string(bytes.TrimSpace(body)) + "\n\n"))
}

func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ours {
		return
	}
	s.begun, s.events = true, strings.HasPrefix(s.Header().Get("Content-Type"), eventStream)
	s.ResponseWriter.WriteHeader(status)
}

// Write writes what the library writes, which is one message at a time.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = true
	if !s.ours || bytes.HasPrefix(p, []byte("event:")) {
		return s.ResponseWriter.Write(p)
	}
	if _, err := s.writeEvent(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush lets answers stream.
func (s *stream) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	http.NewResponseController(s.ResponseWriter).Flush()
}

// send puts a notification into a client's queue, unless it reads nothing and that is full.
func send(client server.ClientSession, n protocol.JSONRPCNotification) {
	select {
	case client.NotificationChannel() <- n:
	default:
	}
}

func notification(method protocol.MCPMethod, params map[string]any) protocol.JSONRPCNotification {
	return protocol.JSONRPCNotification{
		JSONRPC:      protocol.JSONRPC_VERSION,
		Notification: protocol.Notification{Method: string(method), Params: protocol.NotificationParams{AdditionalFields: params}},
	}
}
