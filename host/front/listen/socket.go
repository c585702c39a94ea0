// Package listen serves the clients of a data directory, on a Unix socket and over HTTP.
package listen

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
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
	// Admit returns the context of a client's session, which ends when the client is no longer admitted, or why it is refused. The
	// caller calls stop when the session is over. Nil: all are admitted.
	Admit   func(ctx context.Context, h owner.Hello) (admitted context.Context, stop func(), refusal *owner.Refusal)
	Session Session
	Welcome owner.Welcome
	Logger  *slog.Logger
	Use     *Use
	Limit   ConnectionLimit // zero: derived from the process's file descriptors
	// Stopped is the cause by which operations are cancelled that run for too long when the server stops; nil: context.Canceled.
	// They are answered. Calls of MCP are not, because bridges send them again to the next owner.
	Stopped error
}

// Serve accepts clients until ctx ends, then waits for running calls and closes the listener.
func (s *Socket) Serve(ctx context.Context, l net.Listener) error {
	var sessions sync.WaitGroup
	defer sessions.Wait()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	if s.Limit == (ConnectionLimit{}) {
		s.Limit, _ = share(Descriptors())
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
			defer g.peers.remove(conn)
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
		conn.SetWriteDeadline(time.Now().Add(drainLongest + answerWithin))
	})
	defer stop()
	r := bufio.NewReaderSize(conn, 64<<10)
	calls, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	hello, calls, leave, ok := s.handshake(ctx, calls, conn, r, all)
	if !ok {
		return
	}
	defer leave()
	defer context.AfterFunc(calls, func() {
		if hello.Protocol != owner.Operations || ctx.Err() == nil {
			conn.SetDeadline(time.Now())
		}
	})()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(drainLongest, func() { cancel(s.Stopped) }) })()
	err := s.Session(calls, hello, r, conn)
	if err != nil && ctx.Err() == nil {
		s.Logger.Warn("a client's session ended", "agent", hello.Agent, "error", err)
	}
}

// handshake answers a client's hello. It returns the context of the client's session, derived from calls, and what ends its admission.
func (s *Socket) handshake(ctx, calls context.Context, conn net.Conn, r *bufio.Reader, all *peers) (owner.Hello, context.Context, func(), bool) {
	conn.SetDeadline(time.Now().Add(helloWithin))
	hello, refusal := owner.Listen(r)
	leave := func() {}
	if refusal == nil && s.Admit != nil {
		calls, leave, refusal = s.Admit(calls, hello)
	}
	if refusal == nil && s.welcome(ctx, conn, hello, all) {
		return hello, calls, leave, true
	}
	if refusal != nil {
		owner.Refuse(conn, refusal)
	} else {
		leave()
	}
	return owner.Hello{}, nil, nil, false
}

// welcome reports whether a client was told that it is admitted.
func (s *Socket) welcome(ctx context.Context, conn net.Conn, hello owner.Hello, all *peers) bool {
	welcome := s.Welcome
	welcome.Protocol, welcome.Space = hello.Protocol, hello.Space
	if ctx.Err() != nil {
		owner.Refuse(conn, &owner.Refusal{Code: "unavailable", Message: "the alcove server is stopping", Retryable: true})
		return false
	}
	if !all.identify(conn) { // before the welcome: a welcomed client is never evicted
		return false
	}
	if err := owner.Accept(conn, welcome); err != nil {
		return false
	}
	conn.SetDeadline(time.Time{})
	return ctx.Err() == nil // stopping had set the deadline that was just cleared
}
