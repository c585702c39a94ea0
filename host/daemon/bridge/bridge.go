// Package bridge connects an MCP client's stdio to the owner of a data directory.
//
// Messages are forwarded unchanged, but for their _meta. When the owner dies, the bridge reconnects, which starts an owner if
// necessary, repeats the initialization, and resends unanswered requests. Each tool call has a request id
// by which the server recognises a repeated one, so a call is executed once. A call that changes the session's state is
// answered with the state, which the bridge keeps from the client and gives to the next owner.
package bridge

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

const (
	defaultDrain      = 30 * time.Second
	introduceWithin   = 10 * time.Second
	methodInitialize  = "initialize"
	methodCall        = "tools/call"
	notifyInitialized = "notifications/initialized"
	notifyCancelled   = "notifications/cancelled"
)

// LineLimit bounds a client's message, in bytes.
const LineLimit = 16 << 20

// ownerLimit bounds an owner's answer, in bytes, to detect a fault.
const ownerLimit = 256 << 20

// lastWrite is how long Run waits for a write that is in progress when it ends.
const lastWrite = time.Second

// Options configure Run.
type Options struct {
	// Dial connects to the owner, for a session that starts in the given state. The bridge closes each
	// connection.
	Dial    func(ctx context.Context, at SessionState) (io.ReadWriteCloser, error)
	In      io.Reader
	Out     io.Writer // whole lines are written to it
	Logger  *slog.Logger
	NewID   func() string // makes request ids; nil: random ones
	Project string        // in which the session begins; empty: none
	// ProjectOf returns the project of a folder, an absolute path that the client names; empty: it has none. A client that knows roots is
	// asked for them when it begins, and when they change, and the session goes on in the project of the first; nil: it is not asked.
	ProjectOf func(folder string) string
	Drain     time.Duration // time for answers after In has ended; 0: 30 seconds
	// Fatal reports whether an error of Dial ends the bridge; nil: none does. Pending requests are answered
	// with the error in either case.
	Fatal func(error) bool
}

// bridge is one client's connection to the current owner.
type bridge struct {
	Options
	pending *pending
	roots   roots
	ended   chan error

	out  sync.Mutex  // held to write to Out
	mute atomic.Bool // Run is returning: write nothing more
	send sync.Mutex  // held to connect and to write to conn
	conn io.ReadWriteCloser
	dead bool // the bridge has ended: connect no more
}

// Run forwards messages until In has ended and all requests are answered, ctx ends, or Out fails.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b := &bridge{Options: o, pending: newPending(o.Project), ended: make(chan error, 1)}
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

// begin connects before the first request, which then need not wait.
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

// unreachable answers all requests with the error of the connection.
func (b *bridge) unreachable(err error) {
	if b.Fatal != nil && b.Fatal(err) {
		b.end(err)
	} else {
		b.Logger.Error("the alcove server cannot be reached", "error", err)
	}
	for _, r := range b.pending.all() {
		b.failRequest(r, err)
	}
}

// end ends the bridge; the first reason is kept.
func (b *bridge) end(err error) {
	select {
	case b.ended <- err:
	default:
	}
}

// close ends the connection. Once it has returned, Out is no longer written, unless the client blocks a write for longer than lastWrite.
func (b *bridge) close() {
	b.disconnect()
	b.mute.Store(true)
	written := make(chan struct{})
	go func() {
		b.out.Lock() // a write that had begun
		defer b.out.Unlock()
		close(written)
	}()
	select {
	case <-written:
	case <-time.After(lastWrite):
	}
}

func (b *bridge) disconnect() {
	b.send.Lock()
	defer b.send.Unlock()
	b.dead = true
	if b.conn != nil {
		b.conn.Close()
	}
}

// fromClient reads the client's messages until they end, then waits for the answers.
func (b *bridge) fromClient(ctx context.Context) error {
	in := jsonrpc.NewLines(b.In, LineLimit)
	for {
		line, err := in.Next(ctx)
		var skipped *jsonrpc.Skipped
		switch {
		case errors.As(err, &skipped):
			b.fail(skipped.ID, jsonrpc.CodeInvalid, err)
		case errors.Is(err, io.EOF):
			return b.drain(ctx)
		case err != nil:
			return fmt.Errorf("read the client's messages: %w", err)
		default:
			b.carry(ctx, line)
		}
	}
}

// drain waits until all requests are answered.
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

// carry forwards one message of the client. Messages that the server would refuse are refused here, so bridge and server
// agree on which messages will be answered.
func (b *bridge) carry(ctx context.Context, line []byte) {
	m, fault := jsonrpc.Parse(line)
	switch {
	case fault != nil:
		b.fail(fault.ID, fault.Code, fault)
	case m.IsRequest():
		b.ask(ctx, m)
	case b.isRoots(m):
		b.takeRoots(ctx, m)
	default:
		b.notify(m)
		if m.Method == notifyInitialized || m.Method == rootsChanged {
			b.askRoots()
		}
	}
}

// ask sends a request and keeps it until it is answered.
func (b *bridge) ask(ctx context.Context, m jsonrpc.Message) {
	switch m.Method {
	case methodCall:
		m = stamp(m, requestID, strconv.Quote(b.NewID()))
	case methodInitialize:
		b.roots.offered(m)
		m = stamp(m, bridgeMember, "true")
	}
	if len(m.Line) > LineLimit { // including its request id
		b.fail(m.RawID(), jsonrpc.CodeInvalid, &jsonrpc.TooLongError{Limit: LineLimit})
		return
	}
	r := newRequest(m)
	if err := b.pending.add(r); err != nil {
		b.fail(m.RawID(), jsonrpc.CodeInvalid, err)
		return
	}
	b.send.Lock()
	defer b.send.Unlock()
	switch {
	case r.sent > 0 || !b.pending.has(r):
		return // another connect sent it or gave up on it
	case b.conn == nil:
		b.revive(ctx)
		return
	}
	r.sent++
	b.write(m.Line)
}

// notify sends a notification, if an owner is connected.
func (b *bridge) notify(m jsonrpc.Message) {
	switch m.Method {
	case notifyInitialized:
		b.pending.confirmed(m.Line)
	case notifyCancelled:
		if id := m.Field(m.Params, "requestId").Of(m.Line); id != nil {
			b.cancel(jsonrpc.Key(id))
		}
	}
	b.send.Lock()
	defer b.send.Unlock()
	if b.conn != nil {
		b.write(m.Line)
	}
}

// cancel forgets a request that the client has cancelled.
func (b *bridge) cancel(key string) {
	if b.pending.remove(key) != nil {
		b.pending.done()
	}
}

// write sends a message as a line; the caller holds send. The connection's reader handles a failure.
func (b *bridge) write(message []byte) {
	if _, err := b.conn.Write(append(message, '\n')); err != nil {
		b.conn.Close()
	}
}

// revive connects to an owner and sends it the unanswered requests; the caller holds send.
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
		b.failRequest(r, errHopeless)
	}
	for _, r := range again {
		b.write(r.Line)
	}
}

// introductions bounds the connections made in a row, each of which ends while the client is introduced.
const introductions = 3

// connect makes a connection and restores the session on it; the caller holds send. It tries again if the owner ends meanwhile.
func (b *bridge) connect(ctx context.Context) (err error) {
	for range introductions {
		if err = b.connectOnce(ctx); !errors.As(err, new(brokenOff)) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// brokenOff means that a connection ended while the client was introduced on it.
type brokenOff struct{ error }

func (e brokenOff) Unwrap() error { return e.error }

func (b *bridge) connectOnce(ctx context.Context) error {
	initialize, initialized, place := b.pending.session()
	conn, err := b.Dial(ctx, place)
	if err != nil {
		return err
	}
	in := jsonrpc.NewLines(conn, ownerLimit)
	if initialize != nil {
		if err := b.introduce(ctx, conn, in, *initialize, initialized); err != nil {
			conn.Close()
			return fmt.Errorf("introduce the client to the alcove server again: %w", err)
		}
	}
	b.conn = conn
	go b.fromOwner(ctx, conn, in)
	return nil
}

// introduce repeats the client's initialization and discards the answer.
func (b *bridge) introduce(ctx context.Context, conn io.ReadWriteCloser, in *jsonrpc.Lines, initialize jsonrpc.Message, initialized []byte) error {
	timer := time.AfterFunc(introduceWithin, func() { conn.Close() })
	defer timer.Stop()
	id := "alcove-bridge-" + b.NewID()
	if _, err := conn.Write(append(initialize.Replace(initialize.ID, strconv.Quote(id)).Line, '\n')); err != nil {
		return brokenOff{err}
	}
	for {
		line, err := in.NextWhole(ctx)
		if err != nil {
			return brokenOff{err}
		}
		m, fault := jsonrpc.Parse(line)
		if fault != nil || !m.IsAnswer() || jsonrpc.Text(m.RawID()) != id {
			continue // anything else is not for the client
		}
		if m.Failed() {
			return refused(m)
		}
		if len(initialized) == 0 {
			return nil
		}
		if _, err = conn.Write(append(initialized, '\n')); err != nil {
			return brokenOff{err}
		}
		return nil
	}
}

// refusedError is an owner's error answer to an introduction.
type refusedError struct {
	Message string
	Data    struct {
		Code      string
		Retryable bool
	}
}

func (e *refusedError) Error() string { return e.Message }

// Class is what the owner said.
func (e *refusedError) Class() (code string, retryable bool) { return e.Data.Code, e.Data.Retryable }

func refused(m jsonrpc.Message) error {
	var e refusedError
	if json.Unmarshal(m.Error.Of(m.Line), &e) != nil || e.Data.Code == "" {
		return fmt.Errorf("it answered %s", m.Line)
	}
	return &e
}

// fromOwner forwards an owner's messages until the connection ends, then reconnects if requests are pending.
func (b *bridge) fromOwner(ctx context.Context, conn io.ReadWriteCloser, in *jsonrpc.Lines) {
	for {
		line, err := in.NextWhole(ctx)
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
		b.Logger.Info("the alcove server is gone: looking for another")
		b.revive(ctx)
	}
}

// answer forwards one message of the owner. An unexpected answer is dropped: the client cancelled the request, or
// another owner has answered it.
func (b *bridge) answer(line []byte) {
	m, ok := jsonrpc.Outline(line)
	if !ok {
		b.Logger.Warn("the alcove server sent a line that is not a message", "bytes", len(line))
		return
	}
	if m.IsAnswer() && string(m.RawID()) != "null" {
		r := b.pending.remove(m.Key())
		if r == nil {
			return
		}
		defer b.pending.done()
		line = b.pending.answered(r, m)
	}
	b.emit(append(line, '\n'))
}

// failRequest answers a request with an error, unless it was answered.
func (b *bridge) failRequest(r *request, err error) {
	if b.pending.remove(r.Key()) != nil {
		defer b.pending.done()
		b.fail(r.RawID(), jsonrpc.CodeServer, err)
	}
}

// classifiedError is an error of Dial that knows what clients are told of it beside its text.
type classifiedError interface {
	error
	Class() (code string, retryable bool)
}

// failRequest answers a request with an error of the bridge's own.
func (b *bridge) fail(id []byte, code int, err error) {
	if id == nil {
		id = []byte("null")
	}
	type data struct {
		Code      string `json:"code"`
		Retryable bool   `json:"retryable"`
	}
	class := data{"invalid_argument", false}
	var told classifiedError
	switch {
	case errors.As(err, &told):
		class.Code, class.Retryable = told.Class()
	case code == jsonrpc.CodeServer:
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
	if b.mute.Load() {
		return
	}
	if _, err := b.Out.Write(line); err != nil {
		b.end(fmt.Errorf("write to the client: %w", err))
	}
}
