// Package api serves the clients of a data directory, on a Unix socket and over HTTP.
package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/owner"
)

const (
	helloWithin  = 10 * time.Second
	drainLongest = 5 * time.Second // for running calls when the server stops
)

// Session serves one client of the socket, after its hello, until it ends. The caller closes the
// connection. A Refusal returned before the first byte is written is sent to the client.
type Session func(ctx context.Context, h owner.Hello, r io.Reader, w io.Writer) error

// Socket serves clients on a Unix socket.
type Socket struct {
	Check   func(owner.Hello) *owner.Refusal // returns why a client is refused; nil: none is
	Session Session
	Welcome owner.Welcome
	Logger  *slog.Logger
	Use     *Use
	Limit   ConnectionLimit // zero: derived from the process's file descriptors
}

// Serve accepts clients until ctx ends, then waits for running calls and closes the listener.
func (s *Socket) Serve(ctx context.Context, l net.Listener) error {
	var sessions sync.WaitGroup
	defer sessions.Wait()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	if s.Limit == (ConnectionLimit{}) {
		s.Limit, _ = Share(Descriptors())
	}
	g := newGate(l, s.Limit, s.Logger, refuseOne)
	for {
		conn, err := g.Accept()
		if ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept clients on the socket: %w", err)
		}
		sessions.Go(func() {
			defer g.peers.leave(conn)
			s.serve(ctx, conn, g.peers)
		})
	}
}

// refuseOne sends a client the reason for its refusal.
func refuseOne(conn net.Conn, why string) {
	owner.Refuse(conn, &owner.Refusal{Code: "exhausted", Retryable: true, Message: why})
	discard(conn)
}

// serve serves one client.
func (s *Socket) serve(ctx context.Context, conn net.Conn, all *peers) {
	defer conn.Close()
	defer s.Use.Begin()()
	// When the server stops, reading from the client stops; running calls may still answer.
	stop := context.AfterFunc(ctx, func() {
		conn.SetReadDeadline(time.Now())
		conn.SetWriteDeadline(time.Now().Add(drainLongest))
	})
	defer stop()
	r := bufio.NewReaderSize(conn, 64<<10)
	hello, ok := s.greet(ctx, conn, r, all)
	if !ok {
		return
	}
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(drainLongest, cancel) })()
	err := s.Session(calls, hello, r, conn)
	if err != nil && ctx.Err() == nil {
		s.Logger.Warn("a client's session ended", "agent", hello.Agent, "error", err)
	}
}

func (s *Socket) greet(ctx context.Context, conn net.Conn, r *bufio.Reader, all *peers) (owner.Hello, bool) {
	conn.SetDeadline(time.Now().Add(helloWithin))
	hello, refusal := owner.Listen(r)
	if refusal == nil && s.Check != nil {
		refusal = s.Check(hello)
	}
	if ctx.Err() != nil {
		refusal = &owner.Refusal{Code: "unavailable", Message: "the alcove server is stopping", Retryable: true}
	}
	if refusal != nil {
		owner.Refuse(conn, refusal)
		return owner.Hello{}, false
	}
	if !all.identify(conn) { // before the welcome: a welcomed client is never evicted
		return owner.Hello{}, false
	}
	if err := owner.Accept(conn, s.Welcome); err != nil {
		return owner.Hello{}, false
	}
	conn.SetDeadline(time.Time{})
	if ctx.Err() != nil {
		return owner.Hello{}, false // stopping had set the deadline that was just cleared
	}
	return hello, true
}
