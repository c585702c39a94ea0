package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/tool"
)

const (
	mostSubscriptions = 100                    // of one client, or of one listen request
	gatherUpdates     = 100 * time.Millisecond // commits within it are told together
	updatesPage       = 500                    // notices read at once
)

// subscribers are the clients to notify when resources change.
type subscribers struct {
	server *Server
	begin  sync.Once
	news   chan struct{} // of a subscription

	mu    sync.Mutex
	known map[string]*subscriber // by session, or one of a listen request
}

// subscriber is a client that subscribed to resources.
type subscriber struct {
	caller memory.Caller
	tell   func(uri string) // must not block

	mu    sync.Mutex
	uris  map[string]resourceURI
	after map[string]uint64 // by branch: what was told
}

// add subscribes a client to a resource. The caller may read the place, whether or not the memory exists.
func (all *subscribers) add(ctx context.Context, id, uri string, made func() *subscriber) error {
	u, err := all.server.followed(ctx, uri)
	if err != nil {
		return &uriError{err}
	}
	if u.on() == "" {
		return &uriError{errors.New("a session announces no changes: subscribe to memories and branches")}
	}
	s := all.of(id, made)
	end, err := all.server.mayFollow(ctx, s.caller, u)
	if err == nil {
		err = s.add(uri, u, end)
	}
	if err != nil {
		all.remove(id, uri)
		return err
	}
	all.begin.Do(func() { go all.follow(all.server.open) })
	select {
	case all.news <- struct{}{}: // of what was committed meanwhile
	default:
	}
	return nil
}

// familyHost stands for a resource of a family. It may have changed whenever its branch did.
const familyHost = "family"

// followed returns what tells of changes to a resource: of a family's, the branch of the session.
func (s *Server) followed(ctx context.Context, uri string) (resourceURI, error) {
	if !(offers{s}).owns(ctx, uri) {
		return parseURI(uri)
	}
	state, _ := s.state(ctx)
	branch, _ := state.At()
	return resourceURI{host: familyHost, name: uri, branch: branch}, nil
}

// of returns the subscriber of a session, made if there is none.
func (all *subscribers) of(id string, made func() *subscriber) *subscriber {
	all.mu.Lock()
	defer all.mu.Unlock()
	s := all.known[id]
	if s == nil {
		s = made()
		s.uris, s.after = map[string]resourceURI{}, map[string]uint64{}
		all.known[id] = s
	}
	return s
}

// mayFollow returns the present end of the feed of a resource that a caller may read.
func (s *Server) mayFollow(ctx context.Context, by memory.Caller, u resourceURI) (end uint64, err error) {
	access := s.options.Space.As(by)
	query := feed.Query{Branch: u.on(), Limit: 1}
	if u.host == memoryHost {
		query.Namespaces = []string{u.namespace}
	}
	if end, err = access.FeedEnd(ctx, query.Branch); err != nil {
		return 0, err
	}
	query.After = end
	_, err = access.ReadFeed(ctx, query)
	return end, err
}

// on returns the branch whose feed tells of changes to the resource; empty: none does.
func (u resourceURI) on() string {
	switch u.host {
	case branchHost:
		return u.name
	case memoryHost, familyHost:
		return u.branch
	}
	return ""
}

func (s *subscriber) add(uri string, u resourceURI, end uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.uris[uri]; !twice && len(s.uris) >= mostSubscriptions {
		return &memory.Error{Code: memory.Exhausted, Message: fmt.Sprintf("%d subscriptions are open, which is the limit: unsubscribe from some, or subscribe to their branch", mostSubscriptions)}
	}
	s.uris[uri] = u
	if _, follows := s.after[u.on()]; !follows {
		s.after[u.on()] = end
	}
	return nil
}

// remove ends a subscription.
func (all *subscribers) remove(id, uri string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	s := all.known[id]
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.uris, uri); len(s.uris) == 0 {
		delete(all.known, id)
	}
}

// removeClient ends all subscriptions of a client.
func (all *subscribers) removeClient(id string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.known, id)
}

// follow tells of commits, until the server is closed.
func (all *subscribers) follow(ctx context.Context) {
	commits := all.server.options.Space.Watch(ctx)
	for {
		select {
		case _, open := <-commits:
			if !open {
				return
			}
		case <-all.news:
		case <-ctx.Done():
			return
		}
		all.notifyAll(ctx)
		select {
		case <-time.After(gatherUpdates):
		case <-ctx.Done():
			return
		}
	}
}

// notifyAll tells every subscriber what changed.
func (all *subscribers) notifyAll(ctx context.Context) {
	all.mu.Lock()
	list := make([]*subscriber, 0, len(all.known))
	for _, s := range all.known {
		list = append(list, s)
	}
	all.mu.Unlock()
	for _, s := range list {
		for branch, after := range s.places() {
			all.notify(ctx, s, branch, after)
		}
	}
}

// places returns what a subscriber was told of each branch, without branches that it follows no more.
func (s *subscriber) places() map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	places := map[string]uint64{}
	for _, u := range s.uris {
		places[u.on()] = s.after[u.on()]
	}
	s.after = places
	return maps.Clone(places)
}

// notify tells a subscriber what changed on a branch. One that may read it no more, or whose branch is gone, is told nothing.
func (all *subscribers) notify(ctx context.Context, s *subscriber, branch string, after uint64) {
	access := all.server.options.Space.As(s.caller)
	query := feed.Query{Branch: branch, Namespaces: s.namespaces(branch), After: after, Limit: updatesPage}
	told := map[string]bool{}
	for {
		page, err := access.ReadFeed(ctx, query)
		if err != nil {
			if tool.FailureOf(err).Code == memory.Internal && ctx.Err() == nil {
				all.server.options.Logger.ErrorContext(ctx, "the changes of resources could not be read", "error", err)
			}
			break
		}
		for _, uri := range s.changed(branch, page) {
			if !told[uri] {
				told[uri] = true
				s.tell(uri)
			}
		}
		if query.After, query.Within = page.Watermark, page.Within; !page.More {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, follows := s.after[branch]; follows {
		s.after[branch] = max(s.after[branch], query.After)
	}
}

// namespaces returns those whose changes a subscriber is told of; nil: all.
func (s *subscriber) namespaces(branch string) (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uris {
		if u.on() != branch {
			continue
		}
		if u.host != memoryHost {
			return nil
		}
		if !slices.Contains(list, u.namespace) {
			list = append(list, u.namespace)
		}
	}
	return list
}

// changed returns the resources that changed by the notices of a page. All did if some notices are no longer kept.
func (s *subscriber) changed(branch string, page feed.Page) (uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri, u := range s.uris {
		of := func(n feed.Notice) bool {
			return u.host != memoryHost || n.Namespace == u.namespace && n.Key == u.name && (n.Kind == feed.MemoryStored || n.Kind == feed.MemoryForgotten)
		}
		if u.on() == branch && (page.Expired || slices.ContainsFunc(page.Notices, of)) {
			uris = append(uris, uri)
		}
	}
	slices.Sort(uris)
	return uris
}

// SubscribeToResourceErr subscribes the client of a message.
func (c *readCall) SubscribeToResourceErr(uri string) error {
	session := SessionOf(c.context)
	err := c.server.subscribe(c.context, c.SessionID(), uri, func() *subscriber {
		return &subscriber{caller: c.server.who(c.context, session), tell: c.server.updates(c.librarySession)}
	})
	if err != nil {
		c.refuse(uri, err)
	}
	return err
}

func (c *readCall) SubscribeToResource(string) {}
func (c *readCall) UnsubscribeFromResource(uri string) {
	c.server.subscribers.remove(c.SessionID(), uri)
}
func (c *readCall) SubscribedResources() []string      { return nil }
func (c *readCall) IsSubscribedToResource(string) bool { return false }

// subscribe subscribes a client to a resource of any source. Those that memory does not tell of do not change.
func (s *Server) subscribe(ctx context.Context, id, uri string, made func() *subscriber) error {
	if s.options.Space == nil || s.source(ctx, uri) == nil {
		return &uriError{fmt.Errorf("there is nothing to subscribe to at %s: only memories and branches announce changes", tool.Clip(uri, gotLength))}
	}
	return s.subscribers.add(ctx, id, uri, made)
}

// updates returns how a client with initialize is told that a resource changed.
func (s *Server) updates(client librarySession) func(uri string) {
	if connected, ok := client.(*remote); ok {
		return func(uri string) { connected.tell(updated(uri)) }
	}
	id := client.SessionID()
	return func(uri string) {
		// A client that left, or does not read, misses it.
		_ = s.protocol.SendNotificationToSpecificClient(id, string(protocol.MethodNotificationResourceUpdated), map[string]any{"uri": uri})
	}
}

func updated(uri string) protocol.JSONRPCNotification {
	return notification(protocol.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
}

// SubscribeToResourceErr subscribes a listening client.
func (l *listener) SubscribeToResourceErr(uri string) error {
	return l.server.subscribe(l.context, l.id, uri, func() *subscriber {
		who := l.server.who(l.context, SessionOf(l.context))
		who.Session = "" // the client has none
		return &subscriber{caller: who, tell: func(uri string) {
			n := updated(uri)
			n.Params.Meta = map[string]any{protocol.MetaKeySubscriptionID: l.subscription}
			select {
			case l.notifications <- n:
			default: // it has too much to read, and misses it
			}
		}}
	})
}

func (l *listener) SubscribeToResource(string)         {}
func (l *listener) UnsubscribeFromResource(uri string) { l.server.subscribers.remove(l.id, uri) }
func (l *listener) SubscribedResources() []string      { return nil }
func (l *listener) IsSubscribedToResource(string) bool { return false }

var _ server.SessionWithResourceSubscriptionsErr = (*listener)(nil)
