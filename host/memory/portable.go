package memory

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/portable"
	"github.com/alcove-memory/alcove/host/store"
)

// Selection selects memories to export.
type Selection struct {
	Branch    string `json:"branch,omitempty"`    // empty: Default
	Namespace string `json:"namespace,omitempty"` // empty: all
	AsOf      string `json:"as_of,omitempty"`     // for ParseAsOf; empty: now
	Since     string `json:"since,omitempty"`     // only those written at or after this moment
}

// WriteMemories writes the memories of a branch at a moment, one per line, between a header and a trailer that
// counts them. History and logs are left out.
func (s *Space) WriteMemories(ctx context.Context, q Selection, w io.Writer) error {
	v, since, err := s.selected(ctx, q)
	if err != nil {
		return err
	}
	out, err := portable.NewWriter(w)
	if err != nil {
		return err
	}
	for e, err := range store.Entries(ctx, s.engine.ScanAt, v.lineage, store.Range{Namespace: q.Namespace}, fillPage) {
		if err != nil {
			return s.translate("export", err)
		}
		if e.Collection != memories || e.Time.Before(since) {
			continue
		}
		m, err := v.present(e)
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		if err := out.Write(exported(*m)); err != nil {
			return err
		}
	}
	return out.Close()
}

// selected returns the view to export, and the earliest time of a memory in it.
func (s *Space) selected(ctx context.Context, q Selection) (v view, since time.Time, err error) {
	if q.Namespace != "" {
		if err := s.limits.checkName("namespace", q.Namespace); err != nil {
			return v, since, err
		}
	}
	at, err := ParseAsOf(q.AsOf, s.clock())
	if err != nil {
		return v, since, fmt.Errorf("as_of: %w", err)
	}
	if v, err = s.view(ctx, q.Branch, at); err != nil {
		return v, since, err
	}
	if q.Since == "" {
		return v, since, nil
	}
	from, err := ParseAsOf(q.Since, s.clock())
	if err != nil {
		return v, since, fmt.Errorf("since: %w", err)
	}
	_, since, err = s.resolve(ctx, from)
	return v, since, err
}

func exported(m Memory) portable.Memory {
	p := portable.Memory{
		Namespace: m.Namespace, Key: m.Key, Value: m.Value, Tags: m.Tags, Type: m.Type, Importance: m.Importance, Metadata: m.Metadata,
		Supersedes: m.Supersedes, Links: m.Links, Agent: m.Agent, Version: m.Version, Timestamp: &m.Timestamp, Created: &m.Created,
		Vector: m.Vector.Values, VectorOf: m.Vector.Embedder,
	}
	if m.State != Active {
		p.State = string(m.State)
	}
	if !m.ExpiresAt.IsZero() {
		p.ExpiresAt = &m.ExpiresAt
	}
	return p
}

// Imported counts the results of an import or its dry run.
type Imported struct {
	Stored    int `json:"stored"`    // new memories or new versions
	Unchanged int `json:"unchanged"` // already stored with equal content
}

// Import stores at most Limits.Batch memories on a branch, one commit per namespace. It is idempotent.
func (a *Access) Import(ctx context.Context, branch string, list []portable.Memory, w Write) (Imported, error) {
	var done Imported
	if most := a.space.limits.Batch; len(list) > most {
		return done, invalid("%d memories: at most %d can be imported at once", len(list), most)
	}
	b, err := a.space.branch(branch)
	if err != nil {
		return done, err
	}
	groups := map[string][]Item{}
	var order []string
	for _, m := range list {
		namespace := cmp.Or(m.Namespace, Default)
		if groups[namespace] == nil {
			order = append(order, namespace)
		}
		groups[namespace] = append(groups[namespace], imported(m))
	}
	for _, namespace := range order {
		if _, err := a.writing(Location{b.Name, namespace}); err != nil {
			return done, err
		}
	}
	for _, namespace := range order {
		changed, err := a.importTo(ctx, b, namespace, groups[namespace], a.sign(w))
		if err != nil {
			return done, err
		}
		done.Stored += changed
		done.Unchanged += len(groups[namespace]) - changed
	}
	return done, nil
}

// importTo stores items, and counts new and changed ones. It calls no hook if nothing would change.
func (a *Access) importTo(ctx context.Context, b *lineage.Branch, namespace string, items []Item, w Write) (int, error) {
	known, err := a.space.areKnown(ctx, b, namespace, items)
	if err != nil {
		return 0, err
	}
	if known { // otherwise something changes
		t := a.begin(b, fromCaller)
		if _, err := t.Put(ctx, namespace, items); err != nil || t.Changes() == 0 {
			return 0, err
		}
	}
	receipts, err := a.Store(ctx, Location{b.Name, namespace}, items, w)
	changed := map[string]bool{}
	for _, r := range receipts {
		if r.Replaces == 0 || r.Version != r.Replaces {
			changed[r.Key] = true
		}
	}
	return len(changed), err
}

// areKnown reports whether there is a memory under the key of each item.
func (s *Space) areKnown(ctx context.Context, b *lineage.Branch, namespace string, items []Item) (bool, error) {
	keys := make([]store.Key, len(items))
	for i, it := range items {
		keys[i] = store.Key{Namespace: namespace, Collection: memories, Name: it.Key}
	}
	entries, err := s.engine.GetAt(ctx, b.Lineage, keys)
	if err != nil {
		return false, s.translate("import", err)
	}
	return !slices.ContainsFunc(entries, func(e store.Entry) bool { return !e.Exists() }), nil
}

func imported(p portable.Memory) Item {
	it := Item{
		Key: p.Key, Value: p.Value, Tags: p.Tags, Type: p.Type, Importance: p.Importance, Metadata: p.Metadata, State: State(p.State),
		Supersedes: p.Supersedes, Links: p.Links, Vector: Vector{p.VectorOf, p.Vector},
	}
	if p.ExpiresAt != nil {
		it.ExpiresAt = *p.ExpiresAt
	}
	if p.Created != nil {
		it.Created = *p.Created
	}
	return it
}
