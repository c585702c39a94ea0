package memory

import (
	"context"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Search searches at the stage's version, without staged changes.
func (t *Stage) Search(ctx context.Context, q Search) (Found, error) {
	q.Branch = t.home().Name
	if !q.AsOf.IsNow() {
		return t.access.Search(ctx, q)
	}
	if q.AsOf = t.at; !t.at.IsNow() {
		return t.access.Search(ctx, q)
	}
	changes, _, err := t.space.engine.Changes(ctx, t.home().ID, t.version, store.Latest, 1)
	if err != nil {
		return Found{}, t.space.translate("search", err)
	}
	if len(changes) > 0 {
		q.AsOf, q.present = AsOf{Version: t.version}, true
	}
	return t.access.Search(ctx, q)
}

// SearchRecords searches a collection at the stage's version, without staged changes. The zero Mode is Hybrid.
func (t *Stage) SearchRecords(ctx context.Context, c Collection, q Search) ([]RecordHit, int, error) {
	if len(c.Fields) == 0 {
		return nil, 0, invalid("collection %s is not searchable: its manifest names no fields to search", c.Name)
	}
	q.records = c.Name
	if err := t.access.checkSearch(&q); err != nil {
		return nil, 0, err
	}
	return t.space.searchRecords(ctx, t.lineageOf(c), t.branch, t.now, c, q)
}

// RecordHit is a hit of a record search.
type RecordHit struct {
	Record
	Score   float64
	Snippet string
}

// searchRecords searches a collection in a lineage.
func (s *Space) searchRecords(ctx context.Context, l store.Lineage, b *lineage.Branch, now time.Time, c Collection, q Search) ([]RecordHit, int, error) {
	if err := s.Ready(ctx); err != nil || l == nil {
		return nil, 0, err
	}
	found, _, err := s.ask(ctx, view{branch: b, lineage: l, now: now}, q, q.indexQuery())
	if err != nil {
		return nil, 0, s.translate("search", err)
	}
	entries, err := s.engine.GetAt(ctx, l, keysOfHits(found.Hits))
	if err != nil {
		return nil, 0, s.translate("read what was found", err)
	}
	var hits []RecordHit
	for i, e := range entries {
		if !e.Exists() {
			continue
		}
		r, err := record.Decode(e)
		if err != nil {
			return nil, 0, err
		}
		hits = append(hits, RecordHit{Score: found.Hits[i].Score, Snippet: q.question.Snippet(r.Searched(), snippetLength),
			Record: Record{e.Namespace, e.Name, r.Value, e.Version, e.Time, r.ExpiresAt(), false}})
	}
	return hits, found.Total, nil
}
