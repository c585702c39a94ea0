// Package stream pushes events over WebSockets, and runs operations over them.
package stream

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// Options configures a server. Space, Dispatcher and Client are required.
type Options struct {
	Space      *memory.Space
	Dispatcher *tool.Dispatcher
	// Client returns who sent a request. It is asked again for each page of events: rights that it no longer returns are gone.
	Client   func(*http.Request) connection.Client
	Sessions connection.Sessions // told of the streams that run operations; nil: nobody is
	Logger   *slog.Logger        // nil: discards
	Limits   Limits
	Stopped  error // the cause by which operations are cancelled when the server stops; nil: context.Canceled
}

// Limits bounds streams. Zero fields have the defaults.
type Limits struct {
	connection.Limits               // a message has 1 MiB
	Streams           int           // in all; 4,096
	PerKey            int           // streams of one key; 256
	Reading           int           // pages of events that the streams of one key read at once; 1
	Subscriptions     int           // of a stream; 32
	Running           int           // operations of a stream at once; 8
	MessageWithin     time.Duration // for a message to arrive; 30 s
	WriteWithin       time.Duration // for the client to accept a message; 30 s
	Ping              time.Duration // between pings; 30 s
	Pong              time.Duration // for the answer to a ping; 30 s
	Idle              time.Duration // without subscription, message or operation; 10 minutes
	Gather            time.Duration // between looks for events while there are many; 100 ms
	Drain             time.Duration // for operations to end when the server stops; 5 s
	CloseWithin       time.Duration // for the client to agree to the end of its stream; 2 s
}

func (l Limits) withDefaults() Limits {
	l.Message = cmp.Or(l.Message, 1<<20)
	return Limits{
		Limits:  l.Limits.WithDefaults(),
		Streams: cmp.Or(l.Streams, 4096), PerKey: cmp.Or(l.PerKey, 256), Reading: cmp.Or(l.Reading, 1), Subscriptions: cmp.Or(l.Subscriptions, 32), Running: cmp.Or(l.Running, 8),
		MessageWithin: cmp.Or(l.MessageWithin, 30*time.Second), WriteWithin: cmp.Or(l.WriteWithin, 30*time.Second),
		Ping: cmp.Or(l.Ping, 30*time.Second), Pong: cmp.Or(l.Pong, 30*time.Second), Idle: cmp.Or(l.Idle, 10*time.Minute), Gather: cmp.Or(l.Gather, 100*time.Millisecond), Drain: cmp.Or(l.Drain, 5*time.Second),
		CloseWithin: cmp.Or(l.CloseWithin, 2*time.Second),
	}
}

// Server serves streams. Its methods may be called concurrently.
type Server struct {
	options  Options
	limits   Limits
	news     commitSignal
	stopping context.Context // ends when the server stops
	stop     context.CancelFunc
	watching sync.Once
	open     sync.WaitGroup // streams

	mu    sync.Mutex
	all   int
	byKey map[string]*holder
}

// holder is what the streams of one key have in common.
type holder struct {
	streams int
	reading chan struct{} // taken while a page of events is read: the streams of a key take turns, so that many are no burden to others
}

// New returns a server of streams.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Sessions == nil {
		o.Sessions = connection.Unfollowed{}
	}
	if o.Stopped == nil {
		o.Stopped = context.Canceled
	}
	s := &Server{options: o, limits: o.Limits.withDefaults(), byKey: map[string]*holder{}}
	s.news.next = make(chan struct{})
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Stop refuses new streams and ends the open ones, whose operations may finish.
func (s *Server) Stop() {
	s.mu.Lock() // no stream is admitted beside it
	defer s.mu.Unlock()
	s.stop()
}

// Close is Stop, and waits until all streams are closed.
func (s *Server) Close() {
	s.Stop()
	s.open.Wait()
}

// ServeHTTP serves a stream until its client, its key or the server ends it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	client := s.options.Client(r)
	if err := s.limits.Keys.Charge(client.Caller.Key); err != nil {
		w.Header().Set("Retry-After", tool.RetryAfter(err))
		connection.RefuseRequest(w, http.StatusTooManyRequests, tool.FailureOf(err))
		return
	}
	reading, leave, err := s.enter(client.Caller.Key)
	if err != nil {
		connection.RefuseRequest(w, http.StatusServiceUnavailable, tool.FailureOf(err))
		return
	}
	defer leave()
	over := &hijackedConn{ResponseWriter: w}
	ws, err := websocket.Accept(over, r, nil) // same origin only, without compression
	if err != nil {
		return // it has answered
	}
	s.watching.Do(func() { go s.news.follow(s.stopping, s.options.Space.Watch(s.stopping), s.limits.Gather) })
	newConn(s, ws, over.conn, r, client, reading).serve(r.Context())
}

// hijackedConn keeps the connection that a WebSocket takes over: closing it is the only way to end one whose client does not cooperate.
type hijackedConn struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack implements http.Hijacker.
func (h *hijackedConn) Hijack() (conn net.Conn, buffered *bufio.ReadWriter, err error) {
	h.conn, buffered, err = http.NewResponseController(h.ResponseWriter).Hijack()
	return h.conn, buffered, err
}

// enter admits a stream within the limits. reading is that of its holder. The caller calls leave when the stream is over.
func (s *Server) enter(key string) (reading chan struct{}, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.byKey[key]
	if of == nil {
		of = &holder{reading: make(chan struct{}, s.turnsOf(key))}
	}
	switch {
	case s.stopping.Err() != nil:
		return nil, nil, &memory.Error{Code: memory.Unavailable, Retryable: true, Message: "the alcove server is stopping: connect again"}
	case s.all >= s.limits.Streams:
		return nil, nil, exhausted("%d streams are open, which is the limit: close some, or poll with memory_poll_events", s.limits.Streams)
	case key != "" && of.streams >= s.limits.PerKey:
		return nil, nil, exhausted("%d streams of this key are open, which is the limit: close some, or subscribe several times on one", s.limits.PerKey)
	}
	s.all++
	of.streams++
	s.byKey[key] = of
	s.open.Add(1)
	return of.reading, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if of.streams--; of.streams == 0 {
			delete(s.byKey, key)
		}
		s.open.Done()
	}, nil
}

// turnsOf returns how many pages of events the streams of a key read at once; the owner's as many as there are streams.
func (s *Server) turnsOf(key string) int {
	if key == "" {
		return s.limits.Streams
	}
	return s.limits.Reading
}

func exhausted(format string, values ...any) *memory.Error {
	return &memory.Error{Code: memory.Exhausted, Retryable: true, Message: fmt.Sprintf(format, values...)}
}

// commitSignal wakes those who wait for commits.
type commitSignal struct {
	mu   sync.Mutex
	next chan struct{} // closed at the next news
}

// wait returns a channel that is closed at the next news.
func (n *commitSignal) wait() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.next
}

// follow tells of commits: of the first at once, then of those within an interval together.
func (n *commitSignal) follow(ctx context.Context, commits <-chan uint64, every time.Duration) {
	pause := time.NewTimer(every)
	defer pause.Stop()
	for range commits {
		n.broadcast()
		pause.Reset(every)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
	}
}

func (n *commitSignal) broadcast() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.next)
	n.next = make(chan struct{})
}

// closeReason is why a stream ends, and how its client is told.
type closeReason struct {
	code   websocket.StatusCode
	reason string
}

func (c *closeReason) Error() string { return c.reason }

// closingOf returns how a client is told of the cause of an end.
func closingOf(cause error) *closeReason {
	var told *closeReason
	if errors.As(cause, &told) {
		return told
	}
	var known *memory.Error
	if errors.As(cause, &known) {
		return &closeReason{websocket.StatusPolicyViolation, known.Message}
	}
	return &closeReason{websocket.StatusInternalError, "the stream failed: connect again, and subscribe with your last watermark"}
}
