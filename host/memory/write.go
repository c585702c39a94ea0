package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// request identifies a write, so that its repetition is recognised. parts are its full content.
func request(w Write, operation string, parts ...any) store.Request {
	if w.RequestID == "" {
		return store.Request{}
	}
	content, err := json.Marshal(parts)
	if err != nil { // parts are plain data with valid JSON
		content = fmt.Append(nil, parts...)
	}
	req, sum := store.Request{Caller: w.identity(), ID: w.RequestID}, sha256.New()
	io.WriteString(sum, operation+"\x00") //nolint:errcheck // a hash takes everything
	sum.Write(content)
	sum.Sum(req.Digest[:0])
	return req
}

// replayed looks for an earlier commit of the same request.
func (s *Space) replayed(ctx context.Context, req store.Request) (store.Committed, bool, error) {
	if req == (store.Request{}) {
		return store.Committed{}, false, nil
	}
	c, done, err := s.engine.Requested(ctx, req)
	return c, done, s.translate("look up the request", err)
}

// orReplayed returns what the same request committed before, if it did, in place of an error of its repetition.
func (s *Space) orReplayed(ctx context.Context, req store.Request, err error) (store.Committed, error) {
	if done, again, failed := s.replayed(ctx, req); again || failed != nil {
		return done, failed
	}
	return store.Committed{}, err
}

// commit writes to a branch and indexes the writes before it returns. records are those of the first writes, as far as they are known.
func (s *Space) commit(ctx context.Context, b *lineage.Branch, batch store.Batch, records []*record.Record, by Caller) (store.Committed, error) {
	s.writing.RLock()
	defer s.writing.RUnlock()
	return s.commitLocked(ctx, b, batch, records, by)
}

// commitLocked is commit for a caller that holds writing.
func (s *Space) commitLocked(ctx context.Context, b *lineage.Branch, batch store.Batch, records []*record.Record, by Caller) (store.Committed, error) {
	if IsProposal(b.Name) && writesTo(b.ID, batch) {
		return store.Committed{}, unchanging(b.Name)
	}
	batch, err := s.signed(batch, b.ID, b.Name, by)
	if err != nil {
		return store.Committed{}, err
	}
	batch.Expect = append(batch.Expect, b.Alive())
	return s.upkeep.Commit(ctx, batch, records)
}

// writesTo reports whether a batch changes a branch: a stage on one may write only what all branches share.
func writesTo(b store.BranchID, batch store.Batch) bool {
	return slices.ContainsFunc(batch.Writes, func(w store.Write) bool { return w.Branch == b }) ||
		slices.ContainsFunc(batch.Appends, func(a store.Append) bool { return a.Lineage[0].Branch == b })
}

// ownWrite is what a caller writes itself, in a commit of its own.
type ownWrite struct {
	Location
	change    Change // that hooks are asked about; empty: an event, of which they are not told
	operation string // identifies the request, with content
	content   []any
	keys      []store.Key // of items
	items     []Item      // to store; hooks may change them
	stage     func(t *Stage) error
}

// write commits what a caller writes itself, and returns the branch that it is proposed on. It stages nothing if the same request was carried
// out before.
func (a *Access) write(ctx context.Context, o *ownWrite, w Write, doing string) (done store.Committed, proposal string, err error) {
	s, w := a.space, a.sign(w)
	req := request(w, o.operation, o.content...)
	if done, again, err := s.replayed(ctx, req); again || err != nil {
		s.noteProposed(ctx, o.Branch, done.Version, w)
		return done, "", err
	}
	b, err := s.branch(o.Branch)
	if err != nil {
		return done, "", err
	}
	t, effects := a.begin(b, fromCaller), a.hookEffects(ctx, w)
	t.own = o
	done, proposal, err = t.commit(effect.With(ctx, effects), Commit{Write: w}, req, doing)
	if err != nil && effects.Count() > 0 {
		s.logger.WarnContext(ctx, "a write failed after its hooks sent something", "sent", effects.List(), "error", err)
	}
	if err == nil {
		w.noteProposal(proposal)
	}
	return done, proposal, effects.Failed(ctx, err)
}

// hookEffects returns the external effects of a write's hooks: none in a dry run; nil without hooks.
func (a *Access) hookEffects(ctx context.Context, w Write) *effect.Ledger {
	switch outer := effect.Of(ctx); {
	case a.space.currentHooks() == nil:
		return nil
	case w.DryRun && outer.Rehearsed():
		return outer
	case w.DryRun:
		return effect.Rehearse()
	}
	return a.Effects(w)
}

// Store stores memories, all of them or none. Storing an identical memory again changes nothing
// and returns its version. Of items with the same key the last counts.
func (a *Access) Store(ctx context.Context, p Location, items []Item, w Write) (receipts []Stored, err error) {
	if p, err = a.writing(p); err != nil {
		return nil, err
	}
	keys, err := a.space.keysOf(p.Namespace, items)
	if err != nil {
		return nil, err
	}
	o := &ownWrite{Location: p, change: ChangeStore, operation: "store", content: []any{p, items}, keys: keys, items: items}
	o.stage = func(t *Stage) (err error) {
		receipts, err = t.put(ctx, keys, o.items)
		return err
	}
	done, proposal, err := a.write(ctx, o, w, "store")
	switch {
	case err != nil:
		return nil, err
	case done.Replayed:
		receipts = receiptsFor(keys)
	case proposal != "":
		receipts = withoutFormer(receipts)
	case done.Version != 0:
		a.space.correctFormer(ctx, p.Branch, keys, receipts, done.Point)
	}
	return receiptsAt(receipts, done.Point), nil
}

// withoutFormer drops what receipts say of former memories, which their commit did not replace.
func withoutFormer(receipts []Stored) []Stored {
	for i := range receipts {
		receipts[i].Former = nil
	}
	return receipts
}

// correctFormer sets what a blind write replaced, if somebody else wrote after its stage had read: of two agents that write one key at once,
// the later one is told so. What cannot be read is left as it is: the write is done.
func (s *Space) correctFormer(ctx context.Context, branch string, keys []store.Key, receipts []Stored, at store.Point) {
	b, err := s.branch(branch)
	if err != nil {
		return
	}
	before, err := s.engine.GetAt(ctx, b.Lineage.At(at.Version-1), keys)
	if err != nil {
		return
	}
	for i, e := range before {
		r := &receipts[i]
		if r.Version != 0 || !r.readable || r.Former != nil && r.Former.Version == e.Version {
			continue
		}
		r.Former = nil
		if m, err := (view{now: at.Time}).present(e); err == nil && m != nil {
			r.Former, r.Replaces = &Former{Version: m.Version, Value: m.Value, Agent: m.Agent}, m.Version
		}
	}
}

// receiptsAt sets a commit in the receipts without a version.
func receiptsAt(receipts []Stored, at store.Point) []Stored {
	for i := range receipts {
		if receipts[i].Version == 0 {
			receipts[i].Version, receipts[i].Timestamp = at.Version, at.Time
		}
	}
	return receipts
}

// keysOf returns the keys of items, derived ones included, and refuses invalid items.
func (s *Space) keysOf(namespace string, items []Item) ([]store.Key, error) {
	if len(items) == 0 {
		return nil, invalid("there is nothing to store: give a value, or items")
	}
	if len(items) > s.limits.Batch {
		return nil, invalid("%d items: at most %d are allowed in one request; send several", len(items), s.limits.Batch)
	}
	now := s.clock()
	for i, it := range items {
		err := s.limits.checkItem(it)
		if err == nil && !it.ExpiresAt.IsZero() && !it.ExpiresAt.After(now) {
			err = invalid("expiry %s is in the past: it is %s now", FormatTime(it.ExpiresAt), FormatTime(now))
		}
		if err != nil {
			return nil, inItem(i, len(items), err)
		}
	}
	keys := make([]store.Key, len(items))
	for i, it := range items {
		name, err := it.Key, error(nil)
		if name == "" {
			name, err = derivedKey(namespace, it.Value)
		}
		if err != nil {
			return nil, inItem(i, len(items), err)
		}
		keys[i] = memoryKey(namespace, name)
	}
	return keys, nil
}

// inItem names the item of several that an error is about.
func inItem(i, of int, err error) error {
	var e *Error
	if of == 1 || !errors.As(err, &e) {
		return err
	}
	placed := *e
	placed.Message = fmt.Sprintf("items[%d]: %s", i, e.Message)
	return &placed
}

// named returns items with their keys, derived ones included.
func named(items []Item, keys []store.Key) []Item {
	list := slices.Clone(items)
	for i := range list {
		list[i].Key = keys[i].Name
	}
	return list
}

func memoryKey(namespace, name string) store.Key {
	return store.Key{Namespace: namespace, Collection: memories, Name: name}
}

func receiptsFor(keys []store.Key) []Stored {
	list := make([]Stored, len(keys))
	for i, key := range keys {
		list[i] = Stored{Namespace: key.Namespace, Key: key.Name}
	}
	return list
}

// Forget deletes the memories under keys, and lists the existing ones. Their past stays readable.
func (a *Access) Forget(ctx context.Context, p Location, keys []string, w Write) ([]string, error) {
	return a.change(ctx, p, keys, w, ChangeDelete, "forget", func(t *Stage, namespace string, keys []string) ([]string, error) {
		return t.forget(ctx, namespace, keys)
	})
}

// SetState sets the state of memories, for instance to archive or restore them, and lists the keys of existing ones.
func (a *Access) SetState(ctx context.Context, p Location, keys []string, state State, w Write) ([]string, error) {
	if err := checkState(state); err != nil {
		return nil, err
	}
	state = cmp.Or(state, Active)
	return a.change(ctx, p, keys, w, ChangeState, "set state "+string(state), func(t *Stage, namespace string, keys []string) ([]string, error) {
		return t.setState(ctx, namespace, keys, state)
	})
}

// change commits a change of existing memories, and lists the keys of these.
func (a *Access) change(ctx context.Context, p Location, names []string, w Write, c Change, operation string, stage func(*Stage, string, []string) ([]string, error)) (found []string, err error) {
	if p, err = a.writing(p); err != nil {
		return nil, err
	}
	keys, err := a.space.checkKeys(names)
	if err != nil {
		return nil, err
	}
	o := &ownWrite{Location: p, change: c, operation: operation, content: []any{p, names}, stage: func(t *Stage) (err error) {
		found, err = stage(t, p.Namespace, keys)
		return err
	}}
	done, _, err := a.write(ctx, o, w, operation)
	if err == nil && done.Replayed {
		return a.space.changedBy(ctx, p.Branch, done)
	}
	return found, err
}

// checkKeys checks keys, and drops duplicates.
func (s *Space) checkKeys(names []string) ([]string, error) {
	if len(names) == 0 || len(names) > s.limits.Batch {
		return nil, invalid("%d keys: give from 1 to %d", len(names), s.limits.Batch)
	}
	var keys []string
	seen := map[string]bool{}
	for _, name := range names {
		if err := s.limits.checkKey(name); err != nil {
			return nil, err
		}
		if !seen[name] {
			keys = append(keys, name)
		}
		seen[name] = true
	}
	return keys, nil
}

// changedBy returns the keys of the memories that a commit wrote or deleted.
func (s *Space) changedBy(ctx context.Context, branch string, done store.Committed) ([]string, error) {
	b, err := s.branch(branch)
	if err != nil {
		return nil, err
	}
	changes, _, err := s.engine.Changes(ctx, b.ID, done.Version-1, done.Version, s.limits.Batch)
	if err != nil {
		return nil, s.translate("read what the earlier request did", err)
	}
	var keys []string
	for _, c := range changes {
		keys = append(keys, c.Key.Name)
	}
	return keys, nil
}
