package hooks

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// source is where writes are told of: a branch, or what is the same on every branch.
type source struct {
	branch   string
	perSpace bool
}

// key is the key of the record of how far a family was told. No branch has an empty name.
func (s source) key(x Family) string { return x.Name() + "/" + s.branch }

// listener is a family that is told.
type listener struct {
	Family
	stored, merged bool // which of its hooks are on
}

// query says what a listener is told of from a source; ok is false when that is nothing.
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

// isOwn reports whether an entry comes from the family itself and is not to come back to it. Records are always its own: those that
// its hooks wrote do not come back.
func (l listener) isOwn(e memory.WrittenEntry) bool {
	switch {
	case e.By.Family != l.Name() && e.Agent != "family:"+l.Name():
		return false
	case e.By.Generation > 0:
		return true
	}
	return e.Collection == "" && !l.Manifest().Hooks.Stored.Own
}

// news is what a listener is told at once: writes of one generation.
type news struct {
	entries    []abi.Entry
	merges     []abi.MergeNotice
	generation int
	upto       uint64
	more       bool
	cut        *Cut // of those that it is not told of; nil: none
}

func (n news) empty() bool { return len(n.entries) == 0 && len(n.merges) == 0 }

// pick takes from a page what a listener is told of, up to where the generation changes.
func (h *Hooks) pick(l listener, branch string, page memory.Written) news {
	n := news{upto: page.Upto, more: page.More}
	entries, merges := page.Entries, page.Merges
	for len(entries)+len(merges) > 0 {
		var version uint64
		if len(merges) == 0 || len(entries) > 0 && entries[0].Version <= merges[0].Version {
			e := entries[0]
			version, entries = e.Version, entries[1:]
			if h.takes(&n, l, abi.HookStored, branch, version, e.By, l.isOwn(e)) {
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

// takes reports whether a listener is told of a write. It ends the news before a write of another generation, and counts what is
// cut.
func (h *Hooks) takes(n *news, l listener, hook abi.Hook, branch string, version uint64, by memory.Caller, own bool) bool {
	switch {
	case own:
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

// entry is a written entry as a guest is told of it.
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

// tell tells a family of the next page of a source, from a version on if it was told nothing of it yet. What it stages and how far
// it was told are committed together.
func (h *Hooks) tell(ctx context.Context, l listener, from source, since uint64) (more bool, err error) {
	stage, err := h.own(l).Stage(ctx, from.branch)
	if err != nil {
		return false, err
	}
	after, known, err := watermark(ctx, stage, from.key(l))
	if err != nil {
		return false, err
	}
	after = max(after, since)
	q, wanted := l.query(from, after)
	if !wanted || after >= stage.Version() {
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
	n := h.pick(l, from.branch, page)
	if n.empty() && n.cut == nil && !n.more && (!known || n.upto-after < storedPage) {
		return false, nil // what is noted can wait until there is something
	}
	return h.tellNews(ctx, l, from, after, n)
}

// tellNews tells a family that was told up to a version.
func (h *Hooks) tellNews(ctx context.Context, l listener, from source, after uint64, n news) (more bool, err error) {
	caller := ops.OwnCaller(l.Name())
	caller.Generation = n.generation + 1
	stage, err := h.as(caller, l).Stage(ctx, from.branch)
	if err != nil {
		return false, err
	}
	key := from.key(l)
	if now, _, err := watermark(ctx, stage, key); err != nil || now > after {
		return err == nil, err // it was told meanwhile
	}
	effects := memory.NewEffects(toldBefore(h.own(l), stage, key, n.upto))
	if err = note(ctx, stage, key, n.upto); err == nil {
		err = h.tellPage(memory.WithEffects(ctx, effects), l, stage, caller, n)
	}
	if err != nil && effects.Count() > 0 {
		h.o.Logger.Error("a family failed after it had sent something; it is not told again of what it was told", "family", l.Name(), "branch", from.branch,
			"up_to_version", n.upto, "sent", effects.List(), "error", err)
		return n.more, nil
	}
	return n.more && err == nil, err
}

// tellPage tells a family, and commits what it stages, and what it is not told of.
func (h *Hooks) tellPage(ctx context.Context, l listener, stage *memory.Stage, caller memory.Caller, n news) error {
	if n.cut != nil {
		h.o.Logger.Warn("a family is not told of answers to answers", "family", l.Name(), "branch", n.cut.Branch, "version", n.cut.Version,
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
	r := guest.Begin(stage, caller, "", "")
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

// askHook asks a guest whose answer does not matter.
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
