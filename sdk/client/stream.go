package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Subscription selects events. Empty fields select all.
type Subscription struct {
	Namespaces []string // names and patterns such as team/*
	Kinds      []string // such as memory_stored and event_logged
	Agents     []string // authors
	Branch     string   // empty: the client's
	Watermark  *uint64  // events after it; nil: from now on
}

// Event is something that happened. An event may be delivered again after an interruption, never left out.
type Event struct {
	Kind      string          `json:"kind"`
	Payload   json.RawMessage `json:"payload"`
	Agent     string          `json:"agent"`
	Namespace string          `json:"namespace"`
	Timestamp time.Time       `json:"timestamp"`
	Version   uint64          `json:"version"`   // of its commit
	Watermark uint64          `json:"watermark"` // to subscribe from after the event was handled
	Missed    *Missed         `json:"-"`         // in place of all else but the watermark: events that are no longer kept
}

// Missed tells of events between two watermarks that a server no longer keeps: read what is stored now.
type Missed struct{ From, To uint64 }

// Stream receives the events of a subscription. It survives interruptions: it subscribes again from the last event. It must be read
// by one goroutine at a time.
type Stream struct {
	client       *Client
	subscription Subscription
	conn         *webSocket
	messages     chan streamMessage // of conn; closed when it ends
	ended        chan struct{}      // closed when conn is given up
	over         error              // the stream is of no use any more
}

// streamMessage is a message of a server.
type streamMessage struct {
	Type string
	Event
	From, To uint64
	Error    *Error
}

// Subscribe begins to receive events. The client's address must be a data directory or a URL, because events come over HTTP.
func (c *Client) Subscribe(ctx context.Context, s Subscription) (*Stream, error) {
	s.Branch = cmp.Or(s.Branch, c.options.Branch)
	stream := &Stream{client: c, subscription: s}
	if err := stream.connect(ctx); err != nil {
		return nil, final(err)
	}
	return stream, nil
}

// Watermark is where the stream is: a subscription from there receives what follows the last event.
func (s *Stream) Watermark() uint64 { return *s.subscription.Watermark }

// Close ends the stream.
func (s *Stream) Close() error {
	if s.over == nil {
		s.over = errors.New("the stream is closed")
		s.hangUp()
	}
	return nil
}

// Next waits for the next event.
func (s *Stream) Next(ctx context.Context) (Event, error) {
	for s.over == nil {
		select {
		case <-ctx.Done():
			return Event{}, ctx.Err()
		case m, ok := <-s.messages:
			if !ok {
				s.over = s.reconnect(ctx)
				continue
			}
			if e, ok := s.take(m); ok {
				return e, nil
			}
		}
	}
	err := s.over
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		s.over = nil // the next call connects again
		s.messages = ended()
	}
	return Event{}, err
}

// ended returns a channel of a connection that has ended.
func ended() chan streamMessage {
	c := make(chan streamMessage)
	close(c)
	return c
}

// take moves the stream on by a message, and returns the event that it is. False: it is none.
func (s *Stream) take(m streamMessage) (Event, bool) {
	switch m.Type {
	case "event":
		s.subscription.Watermark = &m.Watermark
		return m.Event, true
	case "missed":
		s.subscription.Watermark = &m.To
		return Event{Watermark: m.To, Missed: &Missed{m.From, m.To}}, true
	case "watermark":
		s.subscription.Watermark = &m.Watermark
	case "error":
		if m.Error != nil && !m.Error.normal().Retryable {
			s.over = m.Error
			s.hangUp()
		}
	}
	return Event{}, false
}

// reconnect subscribes again, for as long as the client waits for a server.
func (s *Stream) reconnect(ctx context.Context) error {
	s.hangUp()
	return s.client.retry(ctx, func() error { return s.connect(ctx) })
}

// connect opens a connection and subscribes.
func (s *Stream) connect(ctx context.Context) error {
	u, o, err := s.client.streamAddress()
	if err != nil {
		return err
	}
	conn, err := dialWebSocket(ctx, u.JoinPath("stream"), newHeader(o), o.TLS, o.MaxAnswer)
	if err != nil {
		return err
	}
	if err := s.subscribe(ctx, conn); err != nil {
		conn.close()
		return err
	}
	s.conn, s.messages, s.ended = conn, make(chan streamMessage), make(chan struct{})
	go s.read(conn, s.messages, s.ended)
	return nil
}

// subscribe sends the subscription and reads the answer.
func (s *Stream) subscribe(ctx context.Context, conn *webSocket) error {
	defer context.AfterFunc(ctx, func() { conn.conn.Close() })()
	message := map[string]any{"type": "subscribe", "id": 1}
	for name, list := range map[string][]string{"namespaces": s.subscription.Namespaces, "kinds": s.subscription.Kinds, "agents": s.subscription.Agents} {
		if len(list) > 0 {
			message[name] = list
		}
	}
	if s.subscription.Branch != "" {
		message["branch"] = s.subscription.Branch
	}
	if s.subscription.Watermark != nil {
		message["watermark"] = *s.subscription.Watermark
	}
	body, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode the subscription: %w", err)
	}
	if err := conn.write(opText, body); err != nil {
		return unanswered(ctx, err)
	}
	m, err := readMessage(conn)
	switch {
	case err != nil:
		return unanswered(ctx, err)
	case m.Error != nil && m.Error.normal().Retryable:
		return &lostError{true, m.Error}
	case m.Error != nil:
		return m.Error
	case m.Type != "subscribed":
		return &Error{Code: Internal, Message: "the server answered a subscription with a message of type " + m.Type}
	}
	if s.subscription.Watermark == nil {
		s.subscription.Watermark = &m.Watermark
	}
	return nil
}

func readMessage(conn *webSocket) (m streamMessage, err error) {
	data, err := conn.read()
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("decode a message: %w", err)
	}
	return m, nil
}

// read passes on the messages of a connection until it ends, or is given up.
func (s *Stream) read(conn *webSocket, messages chan<- streamMessage, ended <-chan struct{}) {
	defer close(messages)
	for {
		m, err := readMessage(conn)
		if err != nil {
			return // the stream connects again, and learns why if that fails, too
		}
		select {
		case messages <- m:
		case <-ended:
			return
		}
	}
}

// hangUp gives up the connection.
func (s *Stream) hangUp() {
	if s.conn != nil {
		close(s.ended)
		s.conn.close()
		s.conn = nil
	}
}

// absolute returns a URL whose path begins with a slash: JoinPath begins a relative path otherwise.
func absolute(u *url.URL) *url.URL {
	with := *u
	with.Path = "/" + strings.TrimPrefix(with.Path, "/")
	return &with
}

// streamAddress returns where streams are served, and with what to present oneself there.
func (c *Client) streamAddress() (*url.URL, Options, error) {
	if w, ok := c.transport.(*web); ok {
		return absolute(w.base), c.options, nil
	}
	info, err := os.Stat(c.directory)
	if err != nil || !info.IsDir() {
		return nil, c.options, &Error{Code: InvalidArgument, Message: "events come over HTTP: give Dial a data directory or a URL, not a socket"}
	}
	var record struct {
		HTTP string
		TLS  bool
	}
	data, err := os.ReadFile(filepath.Join(c.directory, "owner.json"))
	if err == nil {
		err = json.Unmarshal(data, &record)
	}
	if err != nil || record.HTTP == "" {
		return nil, c.options, &lostError{true, errors.Join(errors.New("the server serves no HTTP, over which events come"), err)}
	}
	u := &url.URL{Scheme: "http", Host: record.HTTP, Path: "/"}
	if record.TLS {
		u.Scheme = "https"
	}
	o := c.options
	if o.Key == "" {
		token, err := os.ReadFile(filepath.Join(c.directory, "token"))
		if err != nil {
			return nil, o, fmt.Errorf("read the token for HTTP: %w", err)
		}
		o.Key = strings.TrimSpace(string(token))
	}
	return u, o, nil
}
