package memory

import (
	"bytes"
	"context"

	"github.com/alcove-memory/alcove/host/memory/feed"
)

// Feed reads the notices of a branch after a watermark, oldest first. namespaces nil means all.
func (a *Access) Feed(ctx context.Context, name string, namespaces []string, after uint64, limit int) (feed.Page, error) {
	return a.ReadFeed(ctx, feed.Query{Branch: name, Namespaces: namespaces, After: after, Limit: limit})
}

// ReadFeed reads a page of the notices of a branch that match a query and that the caller may read. A Limit of 0 is Limits.Page.
func (a *Access) ReadFeed(ctx context.Context, q feed.Query) (page feed.Page, err error) {
	if q.Namespaces, err = a.readable(q.Namespaces); err != nil {
		return feed.Page{}, err
	}
	b, err := a.space.branch(q.Branch)
	if err != nil {
		return feed.Page{}, err
	}
	q.Limit = a.space.page(q.Limit)
	page, err = a.space.feeds.Read(ctx, b, a.caller.Agent, q)
	return page, a.space.translate("read the feed", err)
}

// FeedEnd returns the watermark of a branch's feed after everything that was written.
func (a *Access) FeedEnd(ctx context.Context, name string) (uint64, error) {
	if _, err := a.branch(name); err != nil {
		return 0, err
	}
	head, err := a.space.engine.Head(ctx)
	return head.Version, a.space.translate("read the feed", err)
}

// CrowdedFeeds names the branches whose feeds have too many notices.
func (s *Space) CrowdedFeeds(ctx context.Context) ([]feed.Crowded, error) {
	list, err := s.feeds.Crowded(ctx)
	return list, s.translate("count the feed", err)
}

// Emit stages a family's notice for the feed.
func (t *Stage) Emit(ctx context.Context, namespace string, e feed.Emission) error {
	if err := e.Check(); err != nil {
		return err
	}
	if err := t.space.limits.checkName("kind", string(e.Kind)); err != nil {
		return err
	}
	if len(bytes.TrimSpace(e.Payload)) > 0 {
		if err := t.space.limits.checkJSON("payload", e.Payload, t.space.limits.Metadata); err != nil {
			return err
		}
	}
	collection, value, err := e.Record()
	if err != nil {
		return err
	}
	c := Collection{Name: collection, Expires: t.space.feeds.Age(), PerSpace: e.PerSpace}
	if e.PerSpace {
		c.Expires = min(c.Expires, systemKept)
	}
	_, err = t.AppendRecord(ctx, c, namespace, value)
	return err
}
