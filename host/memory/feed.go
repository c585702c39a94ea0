package memory

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/namespace"
	"github.com/alcove-memory/alcove/host/store"
)

// Kind is the subject of a Notice.
type Kind string

// The kinds of notices.
const (
	MemoryStored    Kind = "memory_stored"
	MemoryForgotten Kind = "memory_forgotten"
	EventLogged     Kind = "event_logged"
)

// familyNotice marks a notice whose kind a family chose, until that is read.
const familyNotice Kind = ""

// Notice reports an event on a branch.
type Notice struct {
	Kind      Kind
	Namespace string
	Key       string // of the memory; the event's sequence number for an event
	Watermark uint64 // its version
	Timestamp time.Time
	Payload   json.RawMessage // of a family's notice; nil: none
	Agent     string          // the author; empty: unknown. feed leaves it out
	Family    string          // its sender; empty: not a family's notice, or an old one
}

// Feed is a page of notices.
type Feed struct {
	Notices   []Notice
	Watermark uint64 // After of the next page; unchanged without news
	More      bool   // more is available
	Expired   bool   // notices after the requested watermark are gone; this page begins where the feed does
	Oldest    uint64 // the feed is complete after this watermark
}

// FeedQuery selects notices. Empty fields match everything.
type FeedQuery struct {
	Branch     string
	Namespaces []string // nil: all
	Kinds      []string // one that ends in ".*" matches all kinds of a family
	Agents     []string
	After      uint64 // a watermark
	Limit      int
}

func (q FeedQuery) selects(n Notice) bool {
	return (len(q.Kinds) == 0 || slices.ContainsFunc(q.Kinds, n.isOf)) && (len(q.Agents) == 0 || slices.Contains(q.Agents, n.Agent))
}

// isOf reports whether a notice has a kind, or one of a family's kinds.
func (n Notice) isOf(kind string) bool {
	family, all := strings.CutSuffix(kind, ".*")
	return string(n.Kind) == kind || all && n.Family == family && family != ""
}

// mostFiltered bounds the changes that one page examines for matching notices.
const mostFiltered = 10_000

// ReadFeed is Feed with a selection. A page may have fewer notices than there are, or none, with More.
func (a *Access) ReadFeed(ctx context.Context, q FeedQuery) (Feed, error) {
	whole, err := a.Feed(ctx, q.Branch, q.Namespaces, q.After, q.Limit)
	if err != nil || len(q.Kinds)+len(q.Agents) == 0 {
		return whole, err
	}
	limit := a.space.page(q.Limit)
	whole.keep(q)
	for looked := limit; whole.More && len(whole.Notices) == 0 && looked < mostFiltered; looked += limit {
		next, err := a.Feed(ctx, q.Branch, q.Namespaces, whole.Watermark, limit)
		if err != nil {
			return Feed{}, err
		}
		next.keep(q)
		whole.Notices, whole.Watermark, whole.More = next.Notices, next.Watermark, next.More
	}
	return whole, nil
}

func (f *Feed) keep(q FeedQuery) {
	f.Notices = slices.DeleteFunc(f.Notices, func(n Notice) bool { return !q.selects(n) })
}

// Feed reads the notices of a branch after a watermark, oldest first: about limit notices, never part of a
// commit. namespaces nil means all. A branch's feed begins at its fork, and goes FeedAge back.
func (a *Access) Feed(ctx context.Context, name string, namespaces []string, after uint64, limit int) (Feed, error) {
	feed, err := a.feed(ctx, name, namespaces, after, limit)
	if err != nil {
		return Feed{}, err
	}
	return feed, a.space.credit(ctx, name, feed.Notices)
}

func (a *Access) feed(ctx context.Context, name string, namespaces []string, after uint64, limit int) (Feed, error) {
	s := a.space
	namespaces, err := a.readable(namespaces)
	if err != nil {
		return Feed{}, err
	}
	b, err := s.branch(name)
	if err != nil {
		return Feed{}, err
	}
	old, err := s.engine.VersionAt(ctx, s.clock().Add(-s.feedAge))
	if err != nil {
		return Feed{}, s.translate("read the feed", err)
	}
	begin, err := s.changesAfter(ctx, b, old.Version)
	if err != nil {
		return Feed{}, err
	}
	feed := Feed{Watermark: max(after, begin), Expired: after < begin, Oldest: begin}
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

// changesAfter returns the version after which the changes of a branch can be read: after, or a later one if retention dropped those.
func (s *Space) changesAfter(ctx context.Context, b *lineage.Branch, after uint64) (uint64, error) {
	_, _, err := s.engine.Changes(ctx, b.ID, after, after, 1)
	if trimmed, ok := asTrimmed(err); ok {
		return trimmed.Floor.Version, nil
	}
	return after, s.translate("read the changes of a branch", err)
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
	return names == nil || namespace.Covers(names, name)
}

// credit fills in the authors of notices.
func (s *Space) credit(ctx context.Context, name string, notices []Notice) error {
	b, err := s.branch(name)
	if err != nil {
		return err
	}
	unknown := false
	for i := range notices {
		n := &notices[i]
		switch {
		case n.Agent != "":
		case n.Kind == MemoryForgotten:
			unknown = true
		default:
			if n.Agent, err = s.authorOf(ctx, b, *n); err != nil {
				return err
			}
		}
	}
	if !unknown {
		return nil
	}
	return s.creditCommits(ctx, notices)
}

// authorOf returns the author of a notice's memory or event; empty: its past is not kept.
func (s *Space) authorOf(ctx context.Context, b *lineage.Branch, n Notice) (string, error) {
	collection := memories
	if n.Kind == EventLogged {
		collection = events
	}
	found, err := s.engine.GetAt(ctx, b.Lineage.At(n.Watermark), []store.Key{{Namespace: n.Namespace, Collection: collection, Name: n.Key}})
	if _, trimmed := asTrimmed(err); trimmed {
		return "", nil
	}
	if err != nil || !found[0].Exists() {
		return "", s.translate("read the feed", err)
	}
	if n.Kind == EventLogged {
		r, err := record.DecodeEvent(found[0])
		return r.Agent, err
	}
	r, err := record.Decode(found[0])
	return r.Agent, err
}

// date fills in the commit times of notices.
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
