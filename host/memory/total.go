package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/scope"
	"github.com/alcove-memory/alcove/host/store"
)

// Holdings is the size of a namespace for its total quota: the memories of the default branch when the quota was set, and later changes on
// any branch.
type Holdings struct {
	Memories int64 `json:"memories"`
	Links    int64 `json:"links"`
	Bytes    int64 `json:"bytes"`
}

// plus adds a change. The result is never negative, because other operations can remove memories without a change here.
func (h Holdings) plus(o Holdings) Holdings {
	return Holdings{max(0, h.Memories+o.Memories), max(0, h.Links+o.Links), max(0, h.Bytes+o.Bytes)}
}

// change adds the change from one memory to another; nil: none.
func (h *Holdings) change(was, will *record.Record) {
	if was != nil {
		h.Memories, h.Links, h.Bytes = h.Memories-1, h.Links-int64(len(was.Links)), h.Bytes-weight(was)
	}
	if will != nil {
		h.Memories, h.Links, h.Bytes = h.Memories+1, h.Links+int64(len(will.Links)), h.Bytes+weight(will)
	}
}

// fitsTotal returns an error if a change exceeds the total quota. A change that adds nothing is never refused.
func fitsTotal(q scope.Total, namespace string, was, will Holdings) error {
	for _, of := range []struct {
		limit, what    string
		was, will, max int64
	}{
		{"total_memories", "memories", was.Memories, will.Memories, q.Memories},
		{"total_links", "links", was.Links, will.Links, q.Links},
		{"total_bytes", "bytes", was.Bytes, will.Bytes, q.Bytes},
	} {
		if of.max > 0 && of.will > of.max && of.will > of.was {
			return &Error{Code: Exhausted, Message: fmt.Sprintf("namespace %q would hold %d %s, and its quota for all agents together is %d: nothing was stored; an operator can change the quota", namespace, of.will, of.what, of.max),
				Rule: "quota " + of.limit, Details: map[string]any{"limit": of.limit, "value": of.max, "used": of.was, "namespace": namespace}}
		}
	}
	return nil
}

// spendTotal adds a change to the holdings of a namespace.
func (s *Space) spendTotal(ctx context.Context, namespace string, by Holdings) (w store.Write, err error) {
	was, err := s.holdings(ctx, namespace)
	if err != nil {
		return w, err
	}
	will := was.plus(by)
	if err := fitsTotal(s.quotaOf(namespace).Total, namespace, was, will); err != nil {
		return w, err
	}
	return keptWrite(spentKey(namespace, everybody), will)
}

// holdings reads the holdings of a namespace.
func (s *Space) holdings(ctx context.Context, namespace string) (h Holdings, err error) {
	b := s.catalogue.System()
	if b == nil {
		return h, nil
	}
	found, err := s.engine.GetAt(ctx, b.Lineage, []store.Key{spentKey(namespace, everybody)})
	if err != nil {
		return h, s.translate("read what a namespace holds", err)
	}
	return h, decodeKept(found[0], &h)
}

// countHeld counts the memories of a namespace on the default branch.
func (s *Space) countHeld(ctx context.Context, namespace string) (h Holdings, err error) {
	v, err := s.view(ctx, "", AsOf{})
	if err != nil {
		return h, err
	}
	for page, err := range store.Pages(ctx, s.engine.ScanAt, v.lineage, store.Range{Namespace: namespace, Collection: memories}, cataloguePage) {
		if err != nil {
			return h, s.translate("count the memories of a namespace", err)
		}
		for _, e := range page {
			r, err := record.Decode(e)
			if err != nil {
				return h, err
			}
			h.change(nil, &r)
		}
	}
	return h, nil
}

// KeyQuota is the quota of the holders of an API key for a day, in all namespaces. The zero Quota limits nothing.
type KeyQuota struct {
	ID    string
	Quota scope.Quota
}

// keyLimits returns the quotas of the stage's key, and of the keys that it was delegated from.
func (t *Stage) keyLimits() []KeyQuota {
	id := t.access.caller.Key
	if id == "" || t.space.keyQuotas == nil {
		return nil
	}
	return slices.DeleteFunc(t.space.keyQuotas(id), func(k KeyQuota) bool { return k.Quota.Unlimited() })
}

// spendOfKey charges a commit to the daily use of a key. Only growth of memories counts as bytes.
func (s *Space) spendOfKey(ctx context.Context, k KeyQuota, cost Spent) (w store.Write, err error) {
	known, err := s.spent(ctx, "", []string{ofKey + k.ID})
	if err != nil {
		return w, err
	}
	day := dayOf(s.clock())
	was := known[0]
	if was.Day != day {
		was = Spent{}
	}
	will := Spent{Day: day, Memories: was.Memories + cost.Memories, Links: was.Links + cost.Links, Bytes: was.Bytes + max(0, cost.Bytes)}
	if err := fitsKey(k, was, will); err != nil {
		return w, err
	}
	return keptWrite(spentKey("", ofKey+k.ID), will)
}

func fitsKey(k KeyQuota, was, will Spent) error {
	for _, of := range []struct {
		limit, what    string
		was, will, max int64
	}{
		{"key_memories_a_day", "memories", was.Memories, will.Memories, k.Quota.Memories},
		{"key_links_a_day", "links", was.Links, will.Links, k.Quota.Links},
		{"key_bytes_a_day", "bytes", was.Bytes, will.Bytes, k.Quota.Bytes},
	} {
		if of.max > 0 && of.will > of.max && of.will > of.was {
			return &Error{Code: Exhausted, Message: fmt.Sprintf("the holders of the key %s would store %d %s today, and its quota is %d: nothing was stored; an operator can make a key with another quota", k.ID, of.will, of.what, of.max),
				Rule: "quota " + of.limit, Details: map[string]any{"limit": of.limit, "value": of.max, "used": of.was, "key": k.ID}}
		}
	}
	return nil
}
