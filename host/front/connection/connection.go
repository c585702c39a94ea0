// Package connection bounds and serves the connections of clients, for all front ends.
//
// A connection's life:
//
//  1. New bounds it: bytes of a line, time for a line to arrive, messages served at once, bytes of answers that its client has not read.
//  2. Serve reads lines. The goroutine that read one serves it, and lets another goroutine read on.
//  3. Line and Notify write: a line as a whole, lines that wait for a slow client together.
//  4. Reading ends with the client, with a failure, or with the context. No more messages are served then, and Serve returns when those that
//     are being served have ended.
package connection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

const (
	MaxInFlight = 256     // messages of one connection being served; further ones wait
	MaxUnread   = 4 << 20 // bytes of answers unread by one client; beyond, serving it pauses

	lineWithin = time.Minute // for a long line to arrive
	maxIdle    = 8           // goroutines of one connection that wait to read
)

// Handler serves the messages of one connection.
type Handler interface {
	// Receive returns what serves a line, and releases it; nil: there is nothing more to do with it. An error ends reading.
	Receive(ctx context.Context, line []byte) (serve func(), err error)
	// Refuse answers a line that was skipped.
	Refuse(*jsonrpc.Skipped)
}

// Conn is the connection of one client.
type Conn struct {
	Output
	lines *jsonrpc.Lines  // read by the goroutine that has the turn
	turn  chan struct{}   // passes the turn to a goroutine that waits for it; closed when reading has ended
	idle  atomic.Int32    // goroutines that wait for the turn
	ended chan error      // why reading has ended; nil: the client ended it
	open  context.Context // ends when reading has ended
	end   context.CancelFunc
	slots chan struct{} // semaphore of messages being served
	work  Work
}

// New returns a connection of a client with a key, empty for none. fail ends the context of Serve when writing fails.
func New(r io.Reader, w io.Writer, fail context.CancelCauseFunc, l *Limits, key string) *Conn {
	open, end := context.WithCancel(context.Background())
	c := &Conn{
		Output: Output{w: w, fail: fail, read: make(chan struct{}, 1)},
		lines:  jsonrpc.NewLines(r, l.Longest(key)),
		turn:   make(chan struct{}), ended: make(chan error, 1), open: open, end: end,
		slots: make(chan struct{}, MaxInFlight),
	}
	c.lines.Budget, c.lines.Within = l.Input, lineWithin
	return c
}

// Serve serves messages until the client ends and all are served, or reading fails, or ctx ends. A read may then still be pending.
func (c *Conn) Serve(ctx context.Context, h Handler) error {
	defer c.finish()
	defer c.work.Wait()
	defer c.end()
	go c.serve(ctx, h)
	select {
	case err := <-c.ended:
		if err != nil {
			return fmt.Errorf("read from the client: %w", err)
		}
		c.work.Wait()
	case <-ctx.Done():
		c.work.Stop()
	}
	return context.Cause(ctx)
}

// Open returns a context that ends when no more messages will be served.
func (c *Conn) Open() context.Context { return c.open }

// Release gives a line back to the budget of large messages.
func (c *Conn) Release(line []byte) { c.lines.Release(line) }

// Enter waits until there is room to serve a message, and returns a function that frees it.
func (c *Conn) Enter(ctx context.Context) (leave func(), err error) {
	c.wait(ctx)
	select {
	case c.slots <- struct{}{}:
		return func() { <-c.slots }, context.Cause(ctx)
	case <-ctx.Done():
		return func() {}, context.Cause(ctx)
	}
}

// serve reads, and serves the messages that it reads. Before it serves one, it passes on the turn to read.
func (c *Conn) serve(ctx context.Context, h Handler) {
	for mine := true; mine; mine = c.waitForTurn() {
		message, err := c.next(ctx, h)
		if message == nil {
			close(c.turn)
			c.end()
			c.ended <- err
			return
		}
		select {
		case c.turn <- struct{}{}:
		default:
			go c.serve(ctx, h)
		}
		message()
		c.work.Done()
	}
}

// waitForTurn reports whether the goroutine is to read. It does not wait if enough others do.
func (c *Conn) waitForTurn() (mine bool) {
	defer c.idle.Add(-1)
	if c.idle.Add(1) > maxIdle {
		return false
	}
	_, mine = <-c.turn
	return mine
}

// next reads up to a message that is to be served and returns what serves it, which counts as work; nil: reading has ended.
func (c *Conn) next(ctx context.Context, h Handler) (serve func(), err error) {
	for {
		line, err := c.lines.Next(ctx)
		var skipped *jsonrpc.Skipped
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil
		case err != nil && !errors.As(err, &skipped):
			return nil, err
		case !c.work.Begin():
			c.Release(line)
			return nil, nil
		}
		if skipped != nil {
			h.Refuse(skipped)
			err = nil
		} else if serve, err = h.Receive(ctx, line); serve != nil {
			return serve, nil
		}
		c.Release(line)
		c.work.Done()
		if err != nil {
			return nil, err
		}
	}
}

// Work counts what is being done, until no more may begin. The zero value is ready for use.
type Work struct {
	mu      sync.Mutex
	stopped bool
	running sync.WaitGroup
}

// Begin counts a piece of work, unless the work was stopped. The caller calls Done at its end.
func (w *Work) Begin() (begun bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.running.Add(1)
	}
	return !w.stopped
}

// Done ends a piece of work.
func (w *Work) Done() { w.running.Done() }

// Stop lets no more work begin.
func (w *Work) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
}

// Wait waits until all work has ended. No more may begin meanwhile.
func (w *Work) Wait() { w.running.Wait() }
