package memory

import (
	"context"
	"encoding/json"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// Kind says what a Notice is about.
type Kind string

// The kinds of notices.
const (
	MemoryStored    Kind = "memory_stored"
	MemoryForgotten Kind = "memory_forgotten"
	EventLogged     Kind = "event_logged"
)

// familyNotice stands for a notice whose kind a family chose, until that is read.
const familyNotice Kind = ""

// Notice says that something happened on a branch.
type Notice struct {
	Kind      Kind
	Namespace string
	Key       string // of the memory; the event's sequence number for an event
	Watermark uint64 // the version that did it
	Timestamp time.Time
	Payload   json.RawMessage // of a family's notice; nil: it has none
}

// Feed is a page of notices.
type Feed struct {
	Notices   []Notice
	Watermark uint64 // ask from here next; unchanged when there is nothing new
	More      bool   // there is more already
	Expired   bool   // notices after the watermark that was asked for are gone; this page begins where the feed does
}

// Feed reads what happened on a branch after a watermark, oldest first: about limit notices, never part of a
// commit. namespaces nil means all. A branch's feed begins when it was forked, and goes FeedAge back.
func (a *Access) Feed(ctx context.Context, name string, namespaces []string, after uint64, limit int) (Feed, error) {
	return a.feed(ctx, name, namespaces, after, limit, a.space.feedAge)
}

// WholeFeed is Feed as far back as the branch is kept. It misses nothing while the clock is ahead.
func (a *Access) WholeFeed(ctx context.Context, name string, namespaces []string, after uint64, limit int) (Feed, error) {
	return a.feed(ctx, name, namespaces, after, limit, 0)
}

// feed is the feed of an age; 0: of any.
func (a *Access) feed(ctx context.Context, name string, namespaces []string, after uint64, limit int, age time.Duration) (Feed, error) {
	s := a.space
	namespaces, err := a.readable(namespaces)
	if err != nil {
		return Feed{}, err
	}
	b, err := s.branch(name)
	if err != nil {
		return Feed{}, err
	}
	begin, err := s.feedBegin(ctx, b, age)
	if err != nil {
		return Feed{}, err
	}
	feed := Feed{Watermark: max(after, begin), Expired: after < begin}
	changes, next, err := s.engine.Changes(ctx, b.ID, feed.Watermark, store.Latest, s.page(limit))
	if err != nil {
		return Feed{}, s.translate("read the feed", err)
	}
	feed.More = next != 0
	for _, c := range changes {
		feed.Watermark = c.Version
		if n, ok := notice(c); ok && selected(namespaces, c.Key.Namespace) {
			feed.Notices = append(feed.Notices, n)
		}
	}
	if err := s.payloads(ctx, b, feed.Notices); err != nil {
		return Feed{}, err
	}
	return feed, s.date(ctx, feed.Notices)
}

// feedBegin is the newest version that is too old for the feed.
func (s *Space) feedBegin(ctx context.Context, b *lineage.Branch, age time.Duration) (uint64, error) {
	var begin store.Point
	if age > 0 {
		var err error
		if begin, err = s.engine.VersionAt(ctx, s.clock().Add(-age)); err != nil {
			return 0, s.translate("read the feed", err)
		}
	}
	_, _, err := s.engine.Changes(ctx, b.ID, begin.Version, begin.Version, 1)
	if trimmed, ok := asTrimmed(err); ok {
		return trimmed.Floor.Version, nil
	}
	return begin.Version, s.translate("read the feed", err)
}

func notice(c store.Change) (Notice, bool) {
	n := Notice{Namespace: c.Key.Namespace, Key: c.Key.Name, Watermark: c.Version}
	switch {
	case c.Key.Collection == memories && c.Deleted:
		n.Kind = MemoryForgotten
	case c.Key.Collection == memories:
		n.Kind = MemoryStored
	case c.Key.Collection == events:
		n.Kind = EventLogged
	case c.Key.Collection == emitted && !c.Deleted:
		n.Kind = familyNotice
	default:
		return n, false
	}
	return n, true
}

func selected(names []string, name string) bool {
	if names == nil {
		return true
	}
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// date fills in when the notices' versions were committed.
func (s *Space) date(ctx context.Context, notices []Notice) error {
	var last store.Point
	for i := range notices {
		if notices[i].Watermark != last.Version {
			point, err := s.engine.PointOf(ctx, notices[i].Watermark)
			if err != nil {
				return s.translate("read the feed", err)
			}
			last = point
		}
		notices[i].Timestamp = last.Time
	}
	return nil
}
