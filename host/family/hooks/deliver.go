package hooks

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/effect"
)

// source is a sequence of writes: those of a branch, or those shared by all branches.
type source struct {
	branch   string
	perSpace bool
}

// key returns the key of the record of a family's position. No branch has an empty name.
func (s source) key(x Family) string { return x.Name() + "/" + s.branch }

// listener is a family with a stored or merged hook.
type listener struct {
	Family
	stored, merged bool // the hooks that are on
}

// query returns the query for a listener's writes from a source; ok is false if it wants none.
func (l listener) query(from source, after uint64) (q memory.WrittenQuery, ok bool) {
	q = memory.WrittenQuery{Branch: from.branch, PerSpace: from.perSpace, Merges: l.merged && !from.perSpace, After: after, Limit: storedPage}
	if hook := l.Manifest().Hooks.Stored; l.stored && hook != nil {
		q.Memories = about(hook.Collections, "memory") && !from.perSpace
		for _, c := range l.Manifest().Collections {
			if slices.Contains(hook.Collections, c.Name) && (c.Per == "space") == from.perSpace {
				q.Collections = append(q.Collections, l.Name()+"/"+c.Name)
			}
		}
	}
	return q, q.Memories || q.Merges || len(q.Collections) > 0
}

// isOwn reports whether an entry comes from the family itself and must not return to it. Records are always its own: those
// that its hooks wrote do not return.
func (l listener) isOwn(e memory.WrittenEntry) bool {
	switch {
	case e.By.Family != l.Name() && e.Agent != "family:"+l.Name():
		return false
	case e.By.Generation > 0:
		return true
	}
	return e.Collection == "" && !l.Manifest().Hooks.Stored.Own
}

// batch is what one call passes to a listener: writes of one generation.
type batch struct {
	entries    []abi.Entry
	merges     []abi.MergeNotice
	generation int
	upto       uint64
	more       bool
	cut        *Cut // of those it misses; nil: none
}

func (n batch) empty() bool { return len(n.entries) == 0 && len(n.merges) == 0 }

// pick selects a listener's writes from a page, up to a change of generation. called is calledFor.
func (h *Hooks) pick(l listener, branch string, page memory.Written, called bool) batch {
	n := batch{upto: page.Upto, more: page.More}
	entries, merges := page.Entries, page.Merges
	for len(entries)+len(merges) > 0 {
		var version uint64
		if len(merges) == 0 || len(entries) > 0 && entries[0].Version <= merges[0].Version {
			e := entries[0]
			version, entries = e.Version, entries[1:]
			if h.takes(&n, l, abi.HookStored, branch, version, e.By, l.isOwn(e) || !l.concerns(e, called)) {
				n.entries = append(n.entries, l.entry(e))
			}
		} else {
			m := merges[0]
			version, merges = m.Version, merges[1:]
			if h.takes(&n, l, abi.HookMerged, branch, version, m.By, m.By.Family == l.Name()) {
				n.merges = append(n.merges, mergeNotice(branch, m))
			}
		}
		if version > n.upto {
			break
		}
	}
	return n
}

// concerns reports whether a listener's stored hook is about an entry. It is about deletions only while it is called for whatever it lists.
func (l listener) concerns(e memory.WrittenEntry, called bool) bool {
	hook := l.Manifest().Hooks.Stored
	if e.Collection != "" || e.Deleted {
		return called
	}
	return concerns(hook, called, memory.Item{Type: e.Type, Importance: e.Importance, Tags: e.Tags, Metadata: e.Metadata})
}

// wanted reports whether a listener is to be told of writes of a source now, and whether it is called for whatever these are. Of what was written
// while it was not wanted it is not told, unless the server ends before it is told of something later.
func (h *Hooks) wanted(ctx context.Context, l listener, from source, now uint64) (called, wanted bool, err error) {
	if !l.stored {
		return true, true, nil
	}
	when := l.Manifest().Hooks.Stored.When
	called, err = calledFor(ctx, l.Family, when, place{agent: ops.OwnCaller(l.Name()).Agent})
	if wanted = called || len(when.Lacks) > 0 || l.merged; err == nil && !wanted {
		h.passed.note(from.key(l), now)
	}
	return called, wanted, err
}

// passed are versions of sources up to which a family has nothing to be told of, by the source's key, beside the positions that are stored. Its
// methods may be called concurrently.
type passed struct {
	mu   sync.Mutex
	upto map[string]uint64
}

// mostPassed bounds the sources that are kept; beyond, they are read again.
const mostPassed = 10_000

func (p *passed) note(key string, version uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.upto == nil || len(p.upto) >= mostPassed {
		p.upto = map[string]uint64{}
	}
	p.upto[key] = version
}

func (p *passed) upTo(key string) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.upto[key]
}

// takes reports whether a listener gets a write, unless it is not for it. It ends the news before a write of another generation, and counts cut
// writes.
func (h *Hooks) takes(n *batch, l listener, hook abi.Hook, branch string, version uint64, by memory.Caller, not bool) bool {
	switch {
	case not:
		return false
	case by.Generation > l.Generations(hook):
		n.cut = n.cut.add(by, branch, version, h.o.Clock())
		return false
	case n.empty():
		n.generation = by.Generation
	case by.Generation != n.generation:
		n.upto, n.more = version-1, true
		return false
	}
	return true
}

// entry converts a written entry for a guest.
func (l listener) entry(w memory.WrittenEntry) abi.Entry {
	e := abi.Entry{Namespace: w.Namespace, Collection: "memory", Key: w.Key, Version: w.Version, Deleted: w.Deleted, Agent: w.Agent, Family: w.By.Family,
		Value: w.Value, Tags: w.Tags, Type: w.Type, Importance: w.Importance, Metadata: w.Metadata}
	if e.Agent == "" {
		e.Agent = w.By.Agent
	}
	if w.Collection != "" {
		e.Collection = strings.TrimPrefix(w.Collection, l.Name()+"/")
		return e
	}
	e.State = stateText(w.State)
	return e
}

func mergeNotice(target string, m memory.MergedBranch) abi.MergeNotice {
	notice := abi.MergeNotice{Source: m.Source, Target: target, Version: m.Version, Agent: m.By.Agent, Count: m.Count, Keys: []abi.MergeKey{}}
	for _, k := range m.Keys {
		notice.Keys = append(notice.Keys, abi.MergeKey{Namespace: k.Namespace, Key: k.Key, Deleted: k.Deleted})
	}
	return notice
}

// deliver passes the next page of a source, after version since at the earliest, to a family. Its staged work and its position
// are committed together.
func (h *Hooks) deliver(ctx context.Context, l listener, from source, since uint64) (more bool, err error) {
	stage, err := h.own(l).Stage(ctx, from.branch)
	if err != nil {
		return false, err
	}
	after, known, err := watermark(ctx, stage, from.key(l))
	if err != nil {
		return false, err
	}
	called, wanted, err := h.wanted(ctx, l, from, stage.Version())
	if err != nil || !wanted {
		return false, err
	}
	told := max(after, since)
	after = max(told, h.passed.upTo(from.key(l)))
	q, ok := l.query(from, after)
	if !ok || after >= stage.Version() {
		return false, nil
	}
	reader := ops.OwnCaller(l.Name())
	if reader.Rights = l.Rights(); !reader.Rights.ReadsAnything() {
		return false, nil
	}
	page, err := h.as(reader, l).Written(ctx, q)
	if err != nil || page.Upto <= after {
		return false, err
	}
	n := h.pick(l, from.branch, page, called)
	if n.empty() && n.cut == nil && !n.more && (!known || n.upto-told < storedPage) {
		h.passed.note(from.key(l), n.upto)
		return false, nil // an unchanged position is not worth a commit
	}
	return h.deliverBatch(ctx, l, from, after, n)
}

// deliverBatch calls a family whose position is a version.
func (h *Hooks) deliverBatch(ctx context.Context, l listener, from source, after uint64, n batch) (more bool, err error) {
	caller := ops.OwnCaller(l.Name())
	caller.Generation = n.generation + 1
	stage, err := h.as(caller, l).Stage(ctx, from.branch)
	if err != nil {
		return false, err
	}
	key := from.key(l)
	if now, _, err := watermark(ctx, stage, key); err != nil || now > after {
		return err == nil, err // it was called meanwhile
	}
	effects := effect.New(advanceFirst(h.own(l), stage, key, n.upto))
	if err = note(ctx, stage, key, n.upto); err == nil {
		err = h.deliverPage(effect.With(ctx, effects), l, stage, caller, n)
	}
	if err != nil && effects.Count() > 0 {
		h.o.Logger.Error("a family failed after it had sent something; its stored hook is not repeated", "family", l.Name(), "branch", from.branch,
			"up_to_version", n.upto, "sent", effects.List(), "error", err)
		return n.more, nil
	}
	return n.more && err == nil, err
}

// deliverPage calls a family, and commits what it stages, and what it misses.
func (h *Hooks) deliverPage(ctx context.Context, l listener, stage *memory.Stage, caller memory.Caller, n batch) error {
	if n.cut != nil {
		h.o.Logger.Warn("a family is not notified of answers to answers", "family", l.Name(), "branch", n.cut.Branch, "version", n.cut.Version,
			"count", n.cut.Count, "written_by", n.cut.By, "generation", n.cut.Generation)
		if err := addCut(ctx, stage, l.Name(), *n.cut); err != nil {
			return err
		}
	}
	if n.empty() {
		_, err := stage.Commit(ctx, memory.Commit{})
		return err
	}
	guest, err := l.Load(ctx)
	if err != nil {
		return err
	}
	defer guest.Release()
	r := guest.Begin(abi.HookStored, stage, caller, "", "")
	if len(n.entries) > 0 {
		if err := askHook(ctx, r, abi.HookRequest{Hook: abi.HookStored, Entries: n.entries}); err != nil {
			return err
		}
	}
	for _, m := range n.merges {
		if err := askHook(ctx, r, abi.HookRequest{Hook: abi.HookMerged, Merge: &m}); err != nil {
			return err
		}
	}
	return r.Commit(ctx)
}

// askHook calls a guest whose answer is ignored.
func askHook(ctx context.Context, r Request, about abi.HookRequest) (err error) {
	if about.Config, err = r.Config(ctx); err != nil {
		return err
	}
	about.Context = r.Operations().Context()
	request, err := json.Marshal(about)
	if err != nil {
		return err
	}
	_, err = r.Ask(ctx, abi.KindHook, request, 0)
	return err
}
