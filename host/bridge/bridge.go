// Package bridge carries an MCP client's stdio to the owner of a data directory.
//
// Messages are copied as they are. What the bridge adds is that the client does not notice when the
// owner dies: the bridge dials again, which starts an owner if need be, introduces the client anew and
// sends the requests again that were not answered. Each tool call carries a request id by which the
// server recognises one that it had already carried out, so a call happens once.
package bridge

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	defaultDrain      = 30 * time.Second
	introduceWithin   = 10 * time.Second
	codeParse         = -32700
	codeInvalid       = -32600
	codeOwner         = -32000
	notifyInitialized = "notifications/initialized"
	notifyCancelled   = "notifications/cancelled"
)

// Options say what to carry where.
type Options struct {
	// Dial connects to the owner, for a session that starts at the place. Each connection is closed by the
	// bridge.
	Dial   func(ctx context.Context, at Place) (io.ReadWriteCloser, error)
	In     io.Reader
	Out    io.Writer // whole lines are written to it
	Logger *slog.Logger
	NewID  func() string // makes request ids; nil: random ones
	Drain  time.Duration // how long answers may take after In has ended; 0: 30 seconds
	// Fatal reports whether an error of Dial ends the bridge; nil: none does. In any case the requests that
	// wait are answered with the error.
	Fatal func(error) bool
}

// bridge is one client's connection to whichever owner there is.
type bridge struct {
	Options
	pending *pending
	ended   chan error

	out  sync.Mutex // held to write to Out
	send sync.Mutex // held to connect and to write to conn
	conn io.ReadWriteCloser
	dead bool // the bridge has ended: connect no more
}

// Run carries messages until In ends and what was asked is answered, ctx ends, or Out fails.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b := &bridge{Options: o, pending: newPending(), ended: make(chan error, 1)}
	if b.NewID == nil {
		b.NewID = rand.Text
	}
	if b.Logger == nil {
		b.Logger = slog.New(slog.DiscardHandler)
	}
	if b.Drain == 0 {
		b.Drain = defaultDrain
	}
	defer b.close()
	go b.begin(ctx)
	go func() { b.end(b.fromClient(ctx)) }()
	select {
	case err := <-b.ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

// begin connects before anything is asked, so that the first request need not wait for it.
func (b *bridge) begin(ctx context.Context) {
	b.send.Lock()
	defer b.send.Unlock()
	if b.conn != nil || b.dead {
		return
	}
	if err := b.connect(ctx); err != nil {
		b.unreachable(err)
	}
}

// unreachable answers all requests with why there is no owner to ask.
func (b *bridge) unreachable(err error) {
	if b.Fatal != nil && b.Fatal(err) {
		b.end(err)
	} else {
		b.Logger.Error("the alcove server cannot be reached", "error", err)
	}
	for _, r := range b.pending.all() {
		b.giveUp(r, err)
	}
}

// end ends the bridge; the first reason counts.
func (b *bridge) end(err error) {
	select {
	case b.ended <- err:
	default:
	}
}

func (b *bridge) close() {
	b.send.Lock()
	defer b.send.Unlock()
	b.dead = true
	if b.conn != nil {
		b.conn.Close()
	}
}

// fromClient reads the client's messages until they end, then waits for the answers.
func (b *bridge) fromClient(ctx context.Context) error {
	in := newLines(b.In, LineLimit)
	for {
		line, err := in.next(false)
		var long *longLine
		switch {
		case errors.As(err, &long):
			b.fail(long.id, codeInvalid, err)
		case errors.Is(err, io.EOF):
			return b.drain(ctx)
		case err != nil:
			return fmt.Errorf("read the client's messages: %w", err)
		default:
			b.carry(ctx, line)
		}
	}
}

// drain waits until everything is answered.
func (b *bridge) drain(ctx context.Context) error {
	timer := time.NewTimer(b.Drain)
	defer timer.Stop()
	for b.pending.waiting() > 0 {
		select {
		case <-b.pending.left:
		case <-timer.C:
			return fmt.Errorf("%d requests were not answered within %s after the client left", b.pending.waiting(), b.Drain)
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// carry passes on one message of the client.
func (b *bridge) carry(ctx context.Context, line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	if !json.Valid(line) {
		b.fail(nil, codeParse, errors.New("the line is not valid JSON: send one JSON-RPC message a line"))
		return
	}
	m, ok := parse(line)
	switch {
	case !ok:
		b.fail(nil, codeInvalid, errors.New("the line is not a JSON object: send one JSON-RPC message a line, no batches"))
	case !utf8.Valid(line):
		b.fail(m.plainID(), codeParse, errors.New("the message is not valid UTF-8"))
	case m.fault() != "":
		b.fail(m.plainID(), codeInvalid, errors.New(m.fault()))
	case m.isRequest():
		b.ask(ctx, m)
	default:
		b.tell(m)
	}
}

// ask sends a request and remembers it until it is answered.
func (b *bridge) ask(ctx context.Context, m message) {
	if m.method == "tools/call" {
		m, _ = parse(stamp(m, b.NewID()))
	}
	r := newRequest(m)
	if err := b.pending.add(r); err != nil {
		b.fail(m.id.of(m.line), codeInvalid, err)
		return
	}
	b.send.Lock()
	defer b.send.Unlock()
	switch {
	case r.sent > 0 || !b.pending.holds(r):
		return // whoever connected in the meantime sent it, or gave it up
	case b.conn == nil:
		b.revive(ctx)
		return
	}
	r.sent++
	b.write(m.line)
}

// tell sends what wants no answer. It matters only to an owner that is there.
func (b *bridge) tell(m message) {
	switch m.method {
	case notifyInitialized:
		b.pending.confirmed(m.line)
	case notifyCancelled:
		if id := m.field(m.params, "requestId"); id != (span{}) {
			b.cancel(idKey(id.of(m.line)))
		}
	}
	b.send.Lock()
	defer b.send.Unlock()
	if b.conn != nil {
		b.write(m.line)
	}
}

// cancel forgets a request of which the client wants to know no more.
func (b *bridge) cancel(key string) {
	if b.pending.take(key) != nil {
		b.pending.done()
	}
}

// write sends a line; the caller holds send. When it fails, the connection's reader takes notice.
func (b *bridge) write(line []byte) {
	if _, err := b.conn.Write(line); err != nil {
		b.conn.Close()
	}
}

// revive connects to an owner and sends it what was not answered; the caller holds send.
func (b *bridge) revive(ctx context.Context) {
	if b.dead || ctx.Err() != nil {
		return
	}
	if err := b.connect(ctx); err != nil {
		b.unreachable(err)
		return
	}
	again, hopeless := b.pending.resend()
	for _, r := range hopeless {
		b.giveUp(r, errHopeless)
	}
	for _, r := range again {
		b.write(r.line)
	}
}

// connect makes a connection on which the session stands as before; the caller holds send.
func (b *bridge) connect(ctx context.Context) error {
	initialize, initialized, place := b.pending.session()
	conn, err := b.Dial(ctx, place)
	if err != nil {
		return err
	}
	in := newLines(conn, ownerLimit)
	if initialize != nil {
		if err := b.introduce(conn, in, *initialize, initialized); err != nil {
			conn.Close()
			return fmt.Errorf("introduce the client to the alcove server again: %w", err)
		}
	}
	b.conn = conn
	go b.fromOwner(ctx, conn, in)
	return nil
}

// introduce repeats the client's initialization and keeps the answer from it.
func (b *bridge) introduce(conn io.ReadWriteCloser, in *lines, initialize message, initialized []byte) error {
	timer := time.AfterFunc(introduceWithin, func() { conn.Close() })
	defer timer.Stop()
	id := "alcove-bridge-" + b.NewID()
	if _, err := conn.Write(withID(initialize, id)); err != nil {
		return err
	}
	for {
		line, err := in.next(true)
		if err != nil {
			return err
		}
		m, ok := parse(line)
		if !ok || !m.isAnswer() || text(m.id.of(line)) != id {
			continue // a new owner has nothing to say that the client waits for
		}
		if m.failed {
			return fmt.Errorf("it answered %s", bytes.TrimSpace(line))
		}
		if len(initialized) > 0 {
			_, err = conn.Write(initialized)
		}
		return err
	}
}

// fromOwner passes on what an owner says until the connection ends, and then looks for another owner if
// there is something left to ask.
func (b *bridge) fromOwner(ctx context.Context, conn io.ReadWriteCloser, in *lines) {
	for {
		line, err := in.next(true)
		if err != nil {
			break
		}
		b.answer(line)
	}
	conn.Close()
	b.send.Lock()
	defer b.send.Unlock()
	if b.conn == conn {
		b.conn = nil
	}
	if len(b.pending.all()) > 0 && b.conn == nil {
		b.Logger.Info("the alcove server went away: looking for another")
		b.revive(ctx)
	}
}

// answer passes on one message of the owner. An answer that nobody waits for is dropped: the client
// cancelled it, or has had it from another owner.
func (b *bridge) answer(line []byte) {
	m, ok := parse(line)
	if !ok {
		b.Logger.Warn("the alcove server sent a line that is not a JSON object", "bytes", len(line))
		return
	}
	if m.isAnswer() {
		r := b.pending.take(m.key())
		if r == nil {
			return
		}
		defer b.pending.done()
		b.pending.answered(r, m)
	}
	b.emit(line)
}

// giveUp answers a request with an error, unless it was answered.
func (b *bridge) giveUp(r *request, err error) {
	if b.pending.take(r.key()) != nil {
		defer b.pending.done()
		b.fail(r.id.of(r.line), codeOwner, err)
	}
}

// fail answers a request with an error of the bridge's own.
func (b *bridge) fail(id []byte, code int, err error) {
	if len(id) == 0 || !json.Valid(id) {
		id = []byte("null")
	}
	type data struct {
		Code      string `json:"code"`
		Retryable bool   `json:"retryable"`
	}
	class := data{"invalid_argument", false}
	if code == codeOwner {
		class = data{"unavailable", true}
	}
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": json.RawMessage(id),
		"error": map[string]any{"code": code, "message": err.Error(), "data": class},
	})
	if err != nil {
		b.end(fmt.Errorf("answer the client: %w", err))
		return
	}
	b.emit(append(line, '\n'))
}

// emit writes a line to the client.
func (b *bridge) emit(line []byte) {
	b.out.Lock()
	defer b.out.Unlock()
	if _, err := b.Out.Write(line); err != nil {
		b.end(fmt.Errorf("write to the client: %w", err))
	}
}
