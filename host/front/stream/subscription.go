package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/tool"
)

const (
	pageEvents = 64  // about so many events are read at once
	mostCommit = 256 // and at most so many of one commit
)

// subscription is a client's place in a feed. What a slow client has not read yet is not kept for it: it is read later.
type subscription struct {
	id    json.RawMessage
	query feed.Query // of the next page
	told  uint64     // the last watermark that the client knows
}

// push writes events, and handles commands, until the stream ends. True: the server is stopping.
func (c *conn) push(ctx context.Context) bool {
	tick := time.NewTicker(c.limits.Ping)
	defer tick.Stop()
	c.listen(ctx)
	for {
		news := c.server.news.wait() // before reading, lest events in between be missed
		if err := c.pushAll(ctx); err != nil {
			c.end(err)
			return false
		}
		select {
		case <-news:
		case do := <-c.commands:
			do(ctx) // a failed write has ended the stream
		case now := <-tick.C:
			c.heartbeat(ctx, now)
		case <-c.server.stopping.Done():
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// pushAll writes what is new, a page of each subscription in turn.
func (c *conn) pushAll(ctx context.Context) error {
	for more := true; more; {
		more = false
		for _, s := range c.following() {
			again, err := c.pushPage(ctx, s)
			if err != nil {
				return err
			}
			more = more || again
		}
		select {
		case do := <-c.commands:
			do(ctx)
			more = true // a new subscription has its page at once
		default:
		}
		if ctx.Err() != nil || c.server.stopping.Err() != nil {
			return nil
		}
	}
	return nil
}

// pushPage writes a page of events. A subscription that the client has no right to any more ends.
func (c *conn) pushPage(ctx context.Context, s *subscription) (more bool, err error) {
	if !slices.Contains(c.following(), s) {
		return false, nil // unsubscribed meanwhile
	}
	page, err := c.readFeed(ctx, s.query)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err != nil && c.server.stopping.Err() != nil {
		return false, nil // the client reads on from its watermark at the next server
	}
	if err != nil && s == c.room { // the client did not ask for it
		c.room = nil
		return false, nil
	}
	if err != nil {
		c.drop(s)
		if tool.FailureOf(err).Code == memory.Internal {
			c.server.options.Logger.ErrorContext(ctx, "a feed could not be read", "error", err)
		}
		return false, c.send(message{Type: "error", Subscription: s.id, Error: failureOf(err)})
	}
	if page.Expired && s.query.After > 0 {
		if err := c.send(missedBy(s, page)); err != nil {
			return false, err
		}
	}
	for i, n := range page.Notices {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		at := n.Watermark
		last := i+1 == len(page.Notices)
		if !last && page.Notices[i+1].Watermark == at || last && at > page.Watermark {
			at-- // there is more of its commit
		}
		if err := c.send(eventOf(s, n, at)); err != nil {
			return false, err
		}
		s.told = at
	}
	s.query.After, s.query.Within = page.Watermark, page.Within
	return page.More, nil
}

// readFeed reads a page when it is the turn of the stream among those of its key.
func (c *conn) readFeed(ctx context.Context, q feed.Query) (feed.Page, error) {
	select {
	case c.reading <- struct{}{}:
	case <-ctx.Done():
		return feed.Page{}, context.Cause(ctx)
	}
	defer func() { <-c.reading }()
	return c.server.options.Space.As(c.caller()).ReadFeed(ctx, q)
}

// listen has a stream hear the room of its namespace, until it subscribes to what it wants.
func (c *conn) listen(ctx context.Context) {
	_, namespace := c.session.At()
	s, err := c.begin(ctx, nil, subscribeRequest{now: true, query: feed.Query{Namespaces: []string{namespace}, Kinds: []string{kindMessage}}})
	if err == nil {
		c.room = s
	}
}

// following returns what is pushed: the subscriptions, or the room.
func (c *conn) following() []*subscription {
	if c.room != nil {
		return []*subscription{c.room}
	}
	return slices.Clone(c.subs)
}

func eventOf(s *subscription, n feed.Notice, at uint64) message {
	where := &origin{n.Namespace, memory.FormatTime(n.Timestamp), n.Watermark}
	if from, heard := saidOf(n); heard != nil {
		return message{Type: "message", Subscription: s.id, Watermark: &at, From: from, roomMessage: heard, origin: where}
	}
	return message{Type: "event", Subscription: s.id, Watermark: &at, origin: where, event: &event{Kind: n.Kind, Payload: tool.PayloadOf(n), Agent: n.Agent}}
}

func missedBy(s *subscription, page feed.Page) message {
	return message{Type: "missed", Subscription: s.id, From: s.query.After, gap: &gap{page.Oldest}, Message: fmt.Sprintf(
		"events between the watermarks %d and %d are no longer kept: read what is stored now; later events follow", s.query.After, page.Oldest)}
}

// heartbeat tells the client how far its subscriptions have been read, asks whether it is still there, and ends an idle stream.
func (c *conn) heartbeat(ctx context.Context, now time.Time) {
	if idle := now.Sub(time.Unix(0, c.heard.Load())); len(c.subs) == 0 && len(c.slots) == 0 && idle >= c.limits.Idle {
		c.end(&closeReason{websocket.StatusPolicyViolation, fmt.Sprintf("the stream had no subscription and no message for %s, which is the limit", c.limits.Idle)})
		return
	}
	for _, s := range c.subs {
		if s.query.Within > 0 || s.query.After <= s.told {
			continue
		}
		if s.told = s.query.After; c.send(message{Type: "watermark", Subscription: s.id, Watermark: &s.told}) != nil {
			return
		}
	}
	go func() {
		within, cancel := context.WithTimeout(context.Background(), c.limits.Pong)
		defer cancel()
		if c.ws.Ping(within) != nil && ctx.Err() == nil {
			c.end(&closeReason{websocket.StatusPolicyViolation, fmt.Sprintf("the client did not answer a ping within %s, which is the limit", c.limits.Pong)})
		}
	}()
}

// subscribe begins a subscription.
func (c *conn) subscribe(ctx context.Context, m clientMessage) error {
	if m.id == nil {
		return tool.Invalid(nil, "a subscription needs an id of your choice, which its events have")
	}
	a, err := m.subscription()
	if err != nil {
		return err
	}
	if c.find(m.id) != nil {
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("there is a subscription %s: choose another id, or unsubscribe it first", m.id)}
	}
	if len(c.subs) >= c.limits.Subscriptions {
		return exhausted("%d subscriptions are on this stream, which is the limit: unsubscribe some, or name several namespaces and kinds in one", c.limits.Subscriptions)
	}
	s, err := c.begin(ctx, m.id, a)
	if err != nil {
		c.server.options.Dispatcher.Note(tool.Request{Tool: "subscribe", Caller: c.caller()}, err)
		return err
	}
	c.subs, c.room = append(c.subs, s), nil
	c.called(c.caller())
	return c.send(message{Type: "subscribed", ID: m.id, Watermark: &s.told})
}

// begin finds where a subscription begins.
func (c *conn) begin(ctx context.Context, id json.RawMessage, a subscribeRequest) (*subscription, error) {
	access := c.server.options.Space.As(c.caller())
	branch, _ := c.session.At()
	if a.query.Branch == "" {
		a.query.Branch = branch
	}
	if a.now {
		end, err := access.FeedEnd(ctx, a.query.Branch)
		if err != nil {
			return nil, err
		}
		a.query.After = end
	}
	first := a.query
	first.Limit = 1
	page, err := c.readFeed(ctx, first) // says what the client may not do
	if err != nil {
		return nil, err
	}
	if a.query.After > page.Latest {
		return nil, &memory.Error{Code: memory.InvalidArgument, Details: map[string]any{"latestWatermark": page.Latest}, Message: fmt.Sprintf(
			"watermark %d is later than the newest, %d: it is that of another memory, or of this one before it was restored. Read what is stored now, and subscribe without a watermark", a.query.After, page.Latest)}
	}
	a.query.Limit, a.query.Most = pageEvents, mostCommit
	return &subscription{id: id, query: a.query, told: a.query.After}, nil
}

// unsubscribe ends a subscription.
func (c *conn) unsubscribe(_ context.Context, m clientMessage) error {
	id := m.id
	if named := m.members["subscription"]; named != nil {
		id = named
	}
	s := c.find(id)
	if s == nil {
		return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no subscription %s on this stream", tool.Clip(string(id), 60))}
	}
	c.drop(s)
	return c.send(message{Type: "unsubscribed", ID: id, Watermark: &s.told})
}

func (c *conn) find(id json.RawMessage) *subscription {
	i := slices.IndexFunc(c.subs, func(s *subscription) bool { return bytes.Equal(s.id, id) })
	if i < 0 {
		return nil
	}
	return c.subs[i]
}

func (c *conn) drop(s *subscription) {
	c.subs = slices.DeleteFunc(c.subs, func(other *subscription) bool { return other == s })
}
