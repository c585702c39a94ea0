package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// request identifies a write, so that a repetition of it is recognised. parts are everything that it asks for.
func request(w Write, operation string, parts ...any) store.Request {
	if w.RequestID == "" {
		return store.Request{}
	}
	content, err := json.Marshal(parts)
	if err != nil { // parts are plain data whose JSON was checked
		content = fmt.Append(nil, parts...)
	}
	return store.Request{Caller: w.Agent, ID: w.RequestID, Digest: sha256.Sum256(append([]byte(operation+"\x00"), content...))}
}

// replayed looks for an earlier commit of the same request.
func (s *Space) replayed(ctx context.Context, req store.Request) (store.Committed, bool, error) {
	if req == (store.Request{}) {
		return store.Committed{}, false, nil
	}
	c, done, err := s.engine.Requested(ctx, req)
	return c, done, s.translate("look up the request", err)
}

// commit writes to a branch and makes what was written searchable before it returns.
func (s *Space) commit(ctx context.Context, b *branch, batch store.Batch) (store.Committed, error) {
	s.writing.RLock()
	defer s.writing.RUnlock()
	return s.commitLocked(ctx, b, batch)
}

// commitLocked is commit for a caller that holds writing.
func (s *Space) commitLocked(ctx context.Context, b *branch, batch store.Batch) (store.Committed, error) {
	batch.Expect = append(batch.Expect, b.alive())
	return s.commitIndexed(ctx, batch)
}

// recordSeals makes each append remember the value it sealed, and returns where.
func recordSeals(appends []store.Append) [][]byte {
	sealed := make([][]byte, len(appends))
	for i := range appends {
		seal := appends[i].Seal
		appends[i].Seal = func(last store.Entry, sequence uint64, at store.Point) ([]byte, error) {
			value, err := seal(last, sequence, at)
			sealed[i] = value
			return value, err
		}
	}
	return sealed
}

// docs are what a committed batch adds to the index.
func (s *Space) docs(batch store.Batch, sealed [][]byte, done store.Committed) ([]search.Doc, error) {
	var docs []search.Doc
	add := func(e store.Entry) error {
		d, ok, err := doc(e)
		if ok {
			docs = append(docs, d)
		}
		return err
	}
	for _, w := range batch.Writes {
		if err := add(store.Entry{Key: w.Key, Point: done.Point, Branch: w.Branch, Value: w.Value, Deleted: w.Delete}); err != nil {
			return nil, err
		}
	}
	for i, a := range batch.Appends {
		key := store.Key{Namespace: a.Namespace, Collection: a.Collection, Name: store.SequenceName(done.Sequences[i])}
		if err := add(store.Entry{Key: key, Point: done.Point, Branch: a.Lineage[0].Branch, Value: sealed[i]}); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// Store keeps memories, all of them or none. Storing what is there already, word for word, changes nothing
// and is answered with the version that has it. Of items with the same key the last one counts.
func (s *Space) Store(ctx context.Context, p Place, items []Item, w Write) ([]Stored, error) {
	p, err := s.checkStore(p, items)
	if err != nil {
		return nil, err
	}
	keys, err := keysOf(p.Namespace, items)
	if err != nil {
		return nil, err
	}
	req := request(w, "store", p, items)
	if done, again, err := s.replayed(ctx, req); again || err != nil {
		return receiptsAt(receiptsFor(keys), done.Point), err
	}
	b, err := s.catalogue.named(p.Branch)
	if err != nil {
		return nil, err
	}
	if s.hooks == nil {
		return s.store(ctx, b, p, keys, items, w, req)
	}
	effects := s.Effects(w)
	stored, err := s.store(WithEffects(ctx, effects), b, p, keys, items, w, req)
	if err != nil && effects.Count() > 0 {
		s.logger.WarnContext(ctx, "a store failed after its hooks sent something", "sent", effects.List(), "error", err)
	}
	return stored, effects.Failed(ctx, err)
}

// store asks the hooks, once, and stores what they make of items that were checked.
func (s *Space) store(ctx context.Context, b *branch, p Place, keys []store.Key, items []Item, w Write, req store.Request) ([]Stored, error) {
	items, err := s.storing(ctx, p, named(items, keys), w, false)
	if err != nil {
		return nil, err
	}
	t := s.blind(b, w.Agent)
	receipts, err := t.put(ctx, keys, items)
	if err != nil || t.Changes() == 0 {
		return receipts, err
	}
	done, err := t.finish(ctx, Commit{Write: w}, req, "store")
	return receiptsAt(receipts, done.Point), err
}

// receiptsAt are receipts of which those without a version are of a commit.
func receiptsAt(receipts []Stored, at store.Point) []Stored {
	for i := range receipts {
		if receipts[i].Version == 0 {
			receipts[i].Version, receipts[i].Timestamp = at.Version, at.Time
		}
	}
	return receipts
}

func (s *Space) checkStore(p Place, items []Item) (Place, error) {
	p, err := s.limits.checkPlace(p)
	if err != nil {
		return p, err
	}
	if len(items) == 0 {
		return p, invalid("there is nothing to store: give a value, or items")
	}
	if len(items) > s.limits.Batch {
		return p, invalid("%d items: at most %d are allowed in one request; send several", len(items), s.limits.Batch)
	}
	now := s.clock()
	for i, it := range items {
		err := s.limits.checkItem(it)
		if err == nil && !it.ExpiresAt.IsZero() && !it.ExpiresAt.After(now) {
			err = invalid("expiry %s is in the past: it is %s now", FormatTime(it.ExpiresAt), FormatTime(now))
		}
		if err != nil {
			return p, inItem(i, len(items), err)
		}
	}
	return p, nil
}

// inItem says which of several items an error is about.
func inItem(i, of int, err error) error {
	var e *Error
	if of == 1 || !errors.As(err, &e) {
		return err
	}
	placed := *e
	placed.Message = fmt.Sprintf("items[%d]: %s", i, e.Message)
	return &placed
}

func keysOf(namespace string, items []Item) ([]store.Key, error) {
	keys := make([]store.Key, len(items))
	for i, it := range items {
		name := it.Key
		if name == "" {
			derived, err := derivedKey(namespace, it.Value)
			if err != nil {
				return nil, inItem(i, len(items), err)
			}
			name = derived
		}
		keys[i] = memoryKey(namespace, name)
	}
	return keys, nil
}

// named is items under their keys, derived ones included.
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

// Forget deletes the memories under keys and reports how many there were. Their past can still be read.
func (s *Space) Forget(ctx context.Context, p Place, keys []string, w Write) (int, error) {
	return s.change(ctx, p, keys, w, "forget", func(t *Stage, keys []string) (int, error) {
		return t.Delete(ctx, p.Namespace, keys)
	})
}

// SetState moves memories to a state, for instance to archive or to restore them, and reports how many it
// found.
func (s *Space) SetState(ctx context.Context, p Place, keys []string, state State, w Write) (int, error) {
	if err := checkState(state); err != nil {
		return 0, err
	}
	state = cmp.Or(state, Active)
	return s.change(ctx, p, keys, w, "set state "+string(state), func(t *Stage, keys []string) (int, error) {
		patches := make([]Patch, len(keys))
		for i, key := range keys {
			patches[i] = Patch{Key: key, State: state}
		}
		missing, err := t.Patch(ctx, p.Namespace, patches)
		return len(keys) - len(missing), err
	})
}

// attempts is how often a read-change-write is tried before its caller is told of the conflict.
const attempts = 16

// change stages a change of memories, counts those that there are, and commits it, again when they are changed meanwhile.
func (s *Space) change(ctx context.Context, p Place, names []string, w Write, operation string, stage func(t *Stage, keys []string) (int, error)) (int, error) {
	p, keys, err := s.checkKeys(p, names)
	if err != nil {
		return 0, err
	}
	b, err := s.catalogue.named(p.Branch)
	if err != nil {
		return 0, err
	}
	req := request(w, operation, p, names)
	if done, again, err := s.replayed(ctx, req); again || err != nil {
		return s.countChanged(ctx, b, done, err)
	}
	for attempt := 1; ; attempt++ {
		t := s.blind(b, w.Agent)
		count, err := stage(t, keys)
		if err != nil || t.Changes() == 0 {
			return count, err
		}
		done, err := t.finish(ctx, Commit{Write: w}, req, operation)
		switch {
		case done.Replayed && err == nil:
			return s.countChanged(ctx, b, done, nil)
		case !errors.Is(err, store.ErrConflict) || attempt == attempts:
			return count, err
		}
	}
}

// checkKeys checks names, and lists each once.
func (s *Space) checkKeys(p Place, names []string) (Place, []string, error) {
	p, err := s.limits.checkPlace(p)
	if err != nil {
		return p, nil, err
	}
	if len(names) == 0 || len(names) > s.limits.Batch {
		return p, nil, invalid("%d keys: give from 1 to %d", len(names), s.limits.Batch)
	}
	var keys []string
	seen := map[string]bool{}
	for _, name := range names {
		if err := s.limits.checkKey(name); err != nil {
			return p, nil, err
		}
		if !seen[name] {
			keys = append(keys, name)
		}
		seen[name] = true
	}
	return p, keys, nil
}

// countChanged is how many memories a commit wrote or deleted.
func (s *Space) countChanged(ctx context.Context, b *branch, done store.Committed, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	changes, _, err := s.engine.Changes(ctx, b.id, done.Version-1, done.Version, s.limits.Batch)
	if err != nil {
		return 0, s.translate("read what the earlier request did", err)
	}
	return len(changes), nil
}
