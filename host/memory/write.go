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
		return receipts(p, keys, nil, done.Point), err
	}
	b, err := s.catalogue.named(p.Branch)
	if err != nil {
		return nil, err
	}
	if s.hooks == nil {
		return s.storeHooked(ctx, b, p, keys, items, w, req)
	}
	effects := s.Effects(w)
	stored, err := s.storeHooked(WithEffects(ctx, effects), b, p, keys, items, w, req)
	if err != nil && effects.Count() > 0 {
		s.logger.WarnContext(ctx, "a store failed after its hooks sent something", "sent", effects.List(), "error", err)
	}
	return stored, effects.Failed(ctx, err)
}

// storeHooked asks the hooks, once, and stores what they make of it.
func (s *Space) storeHooked(ctx context.Context, b *branch, p Place, keys []store.Key, items []Item, w Write, req store.Request) ([]Stored, error) {
	items, err := s.storing(ctx, p, named(items, keys), w, false)
	if err != nil {
		return nil, err
	}
	batch, kept, err := s.storeBatch(ctx, b, keys, items, w.Agent)
	if err != nil {
		return nil, err
	}
	if len(batch.Writes) == 0 {
		return receipts(p, keys, kept, store.Point{}), nil
	}
	batch.Request = req
	done, err := s.commit(ctx, b, batch)
	if err != nil {
		return nil, s.translate("store", err)
	}
	return receipts(p, keys, kept, done.Point), nil
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

// storeBatch makes the writes that are needed; kept says, per key, the version that already has its item.
func (s *Space) storeBatch(ctx context.Context, b *branch, keys []store.Key, items []Item, agent string) (store.Batch, map[store.Key]store.Point, error) {
	current, err := s.engine.GetAt(ctx, b.lineage, keys)
	if err != nil {
		return store.Batch{}, nil, s.translate("store", err)
	}
	var batch store.Batch
	kept := map[store.Key]store.Point{}
	last := map[store.Key]int{}
	for i, key := range keys {
		last[key] = i
	}
	for i, it := range items {
		expect, conditional, err := s.expectation(b, keys[i], it, current[i])
		if err != nil {
			return batch, nil, inItem(i, len(items), err)
		}
		if conditional {
			batch.Expect = append(batch.Expect, expect)
		}
		if last[keys[i]] != i {
			continue
		}
		write, same, err := s.writeOf(b, keys[i], it, agent, current[i])
		if err != nil {
			return batch, nil, inItem(i, len(items), err)
		}
		if same {
			kept[keys[i]] = current[i].Point
			continue
		}
		batch.Writes = append(batch.Writes, write)
	}
	return batch, kept, nil
}

func (s *Space) writeOf(b *branch, key store.Key, it Item, agent string, current store.Entry) (w store.Write, same bool, err error) {
	r, err := newRecord(it, agent)
	if err != nil {
		return w, false, err
	}
	if current.Exists() {
		was, err := decodeRecord(current)
		if err != nil {
			return w, false, err
		}
		if was.sameContent(r) {
			return w, true, nil
		}
	}
	value, err := r.encode()
	return store.Write{Branch: b.id, Key: key, Value: value}, false, err
}

// expectation is the condition of an item with IfVersion. An expired memory is there for the engine, and not
// for the caller.
func (s *Space) expectation(b *branch, key store.Key, it Item, current store.Entry) (e store.Expectation, conditional bool, err error) {
	if it.IfVersion == nil {
		return e, false, nil
	}
	e = store.Expectation{Lineage: b.lineage, Key: key}
	have := uint64(0)
	if current.Exists() {
		e.Version = current.Version
		r, err := decodeRecord(current)
		if err != nil {
			return e, false, err
		}
		if !r.expired(s.clock()) {
			have = current.Version
		}
	}
	if have != *it.IfVersion {
		return e, false, s.conflictError(&store.ConflictError{Key: key, Want: *it.IfVersion, Have: have})
	}
	return e, true, nil
}

func receipts(p Place, keys []store.Key, kept map[store.Key]store.Point, at store.Point) []Stored {
	list := make([]Stored, len(keys))
	for i, key := range keys {
		point := at
		if was, ok := kept[key]; ok {
			point = was
		}
		list[i] = Stored{Namespace: p.Namespace, Key: key.Name, Version: point.Version, Timestamp: point.Time}
	}
	return list
}

// Forget deletes the memories under keys and reports how many there were. Their past can still be read.
func (s *Space) Forget(ctx context.Context, p Place, keys []string, w Write) (int, error) {
	return s.change(ctx, p, keys, w, "forget", func(b *branch, key store.Key, r record) (store.Write, bool, error) {
		return store.Write{Branch: b.id, Key: key, Delete: true}, true, nil
	})
}

// SetState moves memories to a state, for instance to archive or to restore them, and reports how many it
// found.
func (s *Space) SetState(ctx context.Context, p Place, keys []string, state State, w Write) (int, error) {
	if err := checkState(state); err != nil {
		return 0, err
	}
	state = cmp.Or(state, Active)
	return s.change(ctx, p, keys, w, "set state "+string(state), func(b *branch, key store.Key, r record) (store.Write, bool, error) {
		if r.state() == state {
			return store.Write{}, false, nil
		}
		r.State, r.Agent = state, w.Agent
		if state == Active {
			r.State = ""
		}
		value, err := r.encode()
		return store.Write{Branch: b.id, Key: key, Value: value}, true, err
	})
}

// changing makes the write that changes a memory; write is false when nothing needs to change.
type changing func(b *branch, key store.Key, r record) (w store.Write, write bool, err error)

// attempts is how often a read-change-write is tried before its caller is told of the conflict.
const attempts = 16

// change applies a change to those memories that exist, and counts them.
func (s *Space) change(ctx context.Context, p Place, names []string, w Write, operation string, change changing) (int, error) {
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
		count, err := s.tryChange(ctx, b, keys, req, change)
		if err == nil {
			return count, nil
		}
		if !errors.Is(err, store.ErrConflict) || attempt == attempts {
			return 0, s.translate(operation, err)
		}
	}
}

func (s *Space) checkKeys(p Place, names []string) (Place, []store.Key, error) {
	p, err := s.limits.checkPlace(p)
	if err != nil {
		return p, nil, err
	}
	if len(names) == 0 || len(names) > s.limits.Batch {
		return p, nil, invalid("%d keys: give from 1 to %d", len(names), s.limits.Batch)
	}
	var keys []store.Key
	seen := map[string]bool{}
	for _, name := range names {
		if err := s.limits.checkKey(name); err != nil {
			return p, nil, err
		}
		if !seen[name] {
			keys = append(keys, memoryKey(p.Namespace, name))
		}
		seen[name] = true
	}
	return p, keys, nil
}

func (s *Space) tryChange(ctx context.Context, b *branch, keys []store.Key, req store.Request, change changing) (int, error) {
	current, err := s.engine.GetAt(ctx, b.lineage, keys)
	if err != nil {
		return 0, err
	}
	batch, count := store.Batch{Request: req}, 0
	now := s.clock()
	for i, e := range current {
		if !e.Exists() {
			continue
		}
		r, err := decodeRecord(e)
		if err != nil {
			return 0, err
		}
		if r.expired(now) {
			continue
		}
		count++
		write, needed, err := change(b, keys[i], r)
		if err != nil {
			return 0, err
		}
		if needed {
			batch.Writes = append(batch.Writes, write)
			batch.Expect = append(batch.Expect, store.Expectation{Lineage: b.lineage, Key: keys[i], Version: e.Version})
		}
	}
	if len(batch.Writes) == 0 {
		return count, nil
	}
	done, err := s.commit(ctx, b, batch)
	if err != nil {
		return 0, err
	}
	if done.Replayed {
		return s.countChanged(ctx, b, done, nil)
	}
	for _, w := range batch.Writes {
		if w.Delete {
			s.counters.reset(b, w.Key)
		}
	}
	return count, nil
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
