package mcp

import (
	"bytes"
	"net/http"
	"strings"
	"sync"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/tool"
)

const eventStream = "text/event-stream"

// stream is an HTTP response that becomes an event stream at the first notification before the answer. The library's own
// streams lose notifications sent just before the answer is written, and requests of one session share their notifications.
type stream struct {
	http.ResponseWriter

	mu     sync.Mutex
	ours   bool // it became a stream here: the library's output is the last event
	begun  bool // the header was written
	events bool // the library made it a stream
}

// streaming returns a stream for a request whose client accepts one, or nil.
func streaming(w http.ResponseWriter, r *http.Request) *stream {
	if !strings.Contains(r.Header.Get("Accept"), eventStream) {
		return nil
	}
	return &stream{ResponseWriter: w}
}

// notify sends a notification before the answer. It does nothing once the answer has begun.
func (s *stream) notify(n protocol.JSONRPCNotification) {
	body, err := tool.Encode(n)
	if err != nil {
		return // notifications are best effort
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
	http.NewResponseController(s.ResponseWriter).Flush() // fails only if the client left
}

// writeEvent writes an event; the caller holds mu.
func (s *stream) writeEvent(body []byte) (int, error) {
	return s.ResponseWriter.Write(event(body))
}

// event returns a message as an event of a stream.
func event(body []byte) []byte {
	return []byte("event: message\ndata: " + string(bytes.TrimSpace(body)) + "\n\n")
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

// Write writes the library's output, one message per call.
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

// Flush supports streaming of answers.
func (s *stream) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	http.NewResponseController(s.ResponseWriter).Flush()
}

func notification(method protocol.MCPMethod, params map[string]any) protocol.JSONRPCNotification {
	return protocol.JSONRPCNotification{
		JSONRPC:      protocol.JSONRPC_VERSION,
		Notification: protocol.Notification{Method: string(method), Params: protocol.NotificationParams{AdditionalFields: params}},
	}
}
