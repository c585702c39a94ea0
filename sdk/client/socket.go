package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

const (
	greetWithin = 10 * time.Second // to connect and to be welcomed
	helloLimit  = 64 << 10
)

// socket sends operations over a Unix socket, a line each. Many may be unanswered at once.
type socket struct {
	options Options
	find    func() (path string, err error) // a server that starts may listen elsewhere

	mu     sync.Mutex
	conn   *lineConn // nil: there is none
	closed bool
}

func newSocket(find func() (string, error), o Options) *socket {
	return &socket{options: o, find: find}
}

func (s *socket) do(ctx context.Context, operation []byte) ([]byte, error) {
	conn, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	return conn.do(ctx, operation)
}

// errClosed is the error of operations after Close.
var errClosed = errors.New("the client is closed")

// connected returns the connection, or a new one if it has ended.
func (s *socket) connected(ctx context.Context) (*lineConn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	if s.conn != nil && s.conn.alive() {
		return s.conn, nil
	}
	path, err := s.find()
	if err != nil {
		return nil, &lostError{true, err}
	}
	s.conn, err = greet(ctx, path, s.options)
	return s.conn, err
}

func (s *socket) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.conn == nil {
		return nil
	}
	s.conn.end(&lostError{false, errClosed})
	return nil
}

// hello is the first line of a connection, and welcome its answer.
type hello struct {
	Alcove   int    `json:"alcove"`
	Protocol string `json:"protocol"`
	Agent    string `json:"agent,omitempty"`
	Key      string `json:"key,omitempty"`
}

type welcome struct {
	Alcove   int
	Protocol string
	Version  string
	Error    *Error
}

const (
	protocolVersion = 1
	operations      = "operations"
)

// greet connects to a server.
func greet(ctx context.Context, path string, o Options) (*lineConn, error) {
	ctx, cancel := context.WithTimeout(ctx, greetWithin)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, &lostError{true, err}
	}
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Now()) })()
	r := bufio.NewReaderSize(conn, helloLimit)
	if err := introduce(conn, r, o); err != nil {
		conn.Close()
		return nil, err
	}
	c := &lineConn{conn: conn, waiting: map[uint64]chan reply{}, maxAnswer: o.MaxAnswer}
	go c.read(r)
	return c, nil
}

// introduce says hello, and reads the welcome.
func introduce(conn io.Writer, r *bufio.Reader, o Options) error {
	line, err := json.Marshal(hello{protocolVersion, operations, o.Agent, o.Key})
	if err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	if _, err := conn.Write(append(line, '\n')); err != nil {
		return &lostError{true, fmt.Errorf("say hello: %w", err)}
	}
	answer, err := r.ReadSlice('\n')
	if err != nil {
		return &lostError{true, fmt.Errorf("read the answer to the hello: %w", err)}
	}
	var w welcome
	switch err := json.Unmarshal(answer, &w); {
	case err != nil:
		return fmt.Errorf("read the answer to the hello: %w", err)
	case w.Error != nil && w.Error.Retryable:
		return &lostError{true, w.Error.normal()}
	case w.Error != nil:
		return w.Error.normal()
	case w.Alcove != protocolVersion || w.Protocol != operations:
		return &Error{Code: InvalidArgument, Message: fmt.Sprintf("the alcove server (version %q) serves no operations on its socket: use its HTTP address, or a later version", w.Version)}
	}
	return nil
}

// lineConn is a connection on which operations are sent.
type lineConn struct {
	conn      net.Conn
	maxAnswer int

	writing sync.Mutex // held to write

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan reply // by the id of the request
	ended   error                 // nil: it is alive
}

// reply is an answer, or why there is none.
type reply struct {
	line []byte
	err  error
}

func (c *lineConn) alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended == nil
}

func (c *lineConn) do(ctx context.Context, operation []byte) ([]byte, error) {
	id, answered, err := c.register()
	if err != nil {
		return nil, err
	}
	defer c.forget(id)
	if err := c.write(id, operation); err != nil {
		c.end(&lostError{false, err})
	}
	select {
	case r := <-answered:
		return r.line, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *lineConn) register() (uint64, chan reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return 0, nil, &lostError{true, c.ended}
	}
	c.next++
	answered := make(chan reply, 1)
	c.waiting[c.next] = answered
	return c.next, answered, nil
}

func (c *lineConn) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// idPrefix begins each request and each answer.
const idPrefix = `{"id":`

func (c *lineConn) write(id uint64, operation []byte) error {
	line := make([]byte, 0, len(operation)+len(idPrefix)+24)
	line = strconv.AppendUint(append(line, idPrefix...), id, 10)
	line = append(append(append(line, ','), operation[1:]...), '\n')
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.conn.Write(line)
	return err
}

// read passes answers on until the connection ends.
func (c *lineConn) read(r *bufio.Reader) {
	for {
		line, id, err := readAnswer(r, c.maxAnswer)
		if err != nil && line == nil && id == 0 {
			c.end(&lostError{false, err})
			return
		}
		if id == 0 { // the server's last words
			c.end(&lostError{true, lastWords(line)})
			return
		}
		c.mu.Lock()
		answered := c.waiting[id]
		delete(c.waiting, id)
		c.mu.Unlock()
		if answered != nil { // or nobody waits any more
			answered <- reply{line, err}
		}
	}
}

// lastWords returns why a server ends a connection whose open requests it has not begun.
func lastWords(line []byte) error {
	if e := decodeError(line); e != nil {
		return e
	}
	return errors.New("the alcove server ended the connection")
}

// end ends the connection; the first reason is kept.
func (c *lineConn) end(why *lostError) {
	c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return
	}
	c.ended = why
	for id, answered := range c.waiting {
		answered <- reply{err: why}
		delete(c.waiting, id)
	}
}

// readAnswer reads a line, and the id that it begins with; 0: it has none. A line beyond the limit is skipped, and the error
// belongs to its request.
func readAnswer(r *bufio.Reader, limit int) (line []byte, id uint64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if line == nil {
			id = idOf(part)
		}
		if len(line)+len(part) > limit && id != 0 {
			return nil, id, skip(r, err, limit)
		}
		line = append(line, part...)
		if err == nil {
			return line, id, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) > limit {
			return nil, 0, err
		}
	}
}

// skip reads the rest of a line whose last part ended with err.
func skip(r *bufio.Reader, err error, limit int) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	if err != nil {
		return &lostError{false, err}
	}
	return tooLong(limit)
}

func tooLong(limit int) error {
	return &Error{Code: Exhausted, Message: fmt.Sprintf("the answer is longer than %d bytes, which is the client's limit: ask for less at once, or raise MaxAnswer", limit)}
}

// idOf returns the id at the beginning of an answer; 0: there is none.
func idOf(line []byte) uint64 {
	rest, ok := bytes.CutPrefix(line, []byte(idPrefix))
	if !ok {
		return 0
	}
	digits, _, _ := bytes.Cut(rest, []byte(","))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return id
}
