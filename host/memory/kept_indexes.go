package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/store"
)

// Indexes of records and of links are kept in the engine on shadow branches: one for each branch and index, whose number is
// composed of both. The lineage of a shadow is that of its branch, number by number, so forks cost nothing and the past has its index.
// Shadows are outside the catalogue, and so absent from change logs, merges and listings of branches. An index is derived from the
// records alone: an undeclared one is reclaimed, and one that a purge may have touched is rebuilt under
// another number.

// Collections of the catalogue about indexes.
const (
	indexSets  = "_indexes" // by collection: its indexes
	indexBuilt = "_built"   // by index and branch: that the index is complete
)

const (
	shadowed    = store.BranchID(1) << 63
	indexNumber = 32 // bits below the number of the index
)

// shadow returns the branch with the entries of an index for a branch.
func shadow(index uint32, b store.BranchID) store.BranchID {
	return shadowed | store.BranchID(index)<<indexNumber | b
}

// ofShadow is the inverse of shadow.
func ofShadow(id store.BranchID) (index uint32, b store.BranchID, ok bool) {
	return uint32(id &^ shadowed >> indexNumber), id & (1<<indexNumber - 1), id&shadowed != 0
}

// shadowLineage returns the lineage of an index for that of a branch.
func shadowLineage(index uint32, l store.Lineage) store.Lineage {
	out := make(store.Lineage, len(l))
	for i, s := range l {
		out[i] = store.Segment{Branch: shadow(index, s.Branch), At: s.At}
	}
	return out
}

// keptIndex is a stored index.
type keptIndex struct {
	ID     uint32      `json:"id"`
	Fields query.Index `json:"fields,omitempty"` // none: the links of memories
}

// indexSet holds the indexes of a collection.
type indexSet struct {
	PerSpace bool        `json:"per_space,omitempty"`
	Indexes  []keptIndex `json:"indexes,omitempty"`
	Retired  []uint32    `json:"retired,omitempty"` // to be reclaimed
	Last     uint32      `json:"last"`              // the greatest number so far
	Erase    bool        `json:"erase,omitempty"`   // once they are reclaimed, the file may still have what a purge erases

	version uint64 // of the record
}

// indexes holds the indexes of a space.
type indexes struct {
	mu    sync.RWMutex
	sets  map[string]*indexSet // by collection; a set is immutable, and replaced on change
	built map[uint32]map[store.BranchID]uint64
	due   map[builds]bool // queued
	asked sync.Once       // for backlinks

	declared map[string]Collection // by manifests, kept or not
}

// builds names an index of a collection to be built on a branch.
type builds struct {
	collection string
	index      uint32
	branch     store.BranchID
}

func setKey(collection string) store.Key {
	return store.Key{Namespace: lineage.Namespace, Collection: indexSets, Name: collection}
}

func builtKey(index uint32, b store.BranchID) store.Key {
	return store.Key{Namespace: lineage.Namespace, Collection: indexBuilt, Name: fmt.Sprintf("%010d/%s", index, store.SequenceName(uint64(b)))}
}

// load reads the sets of indexes, once, before anything is written.
func (x *indexes) load(ctx context.Context, s *Space) error {
	x.sets, x.built, x.due = map[string]*indexSet{}, map[uint32]map[store.BranchID]uint64{}, map[builds]bool{}
	x.declared = map[string]Collection{}
	for _, collection := range []string{indexSets, indexBuilt} {
		within := store.Range{Namespace: lineage.Namespace, Collection: collection}
		for e, err := range store.Entries(ctx, s.engine.ScanAt, lineage.Root(), within, cataloguePage) {
			if err == nil {
				err = x.loadOne(e)
			}
			if err != nil {
				return fmt.Errorf("read which indexes are kept: %w", err)
			}
		}
	}
	return nil
}

func (x *indexes) loadOne(e store.Entry) error {
	if e.Collection == indexSets {
		set := &indexSet{version: e.Version}
		x.sets[e.Name] = set
		return json.Unmarshal(e.Value, set)
	}
	id, branch, _ := strings.Cut(e.Name, "/")
	index, err := store.ParseSequence(id)
	if err != nil {
		return err
	}
	b, err := store.ParseSequence(branch)
	x.noteBuilt(uint32(index), store.BranchID(b), e.Version)
	return err
}

func (x *indexes) noteBuilt(index uint32, b store.BranchID, version uint64) {
	if x.built[index] == nil {
		x.built[index] = map[store.BranchID]uint64{}
	}
	x.built[index][b] = version
}

// of returns the set of a collection; nil: none.
func (x *indexes) of(collection string) *indexSet {
	x.mu.RLock()
	defer x.mu.RUnlock()
	set := x.sets[collection]
	if set == nil || len(set.Indexes) == 0 {
		return nil
	}
	return set
}

// all returns the sets by collection.
func (x *indexes) all() map[string]*indexSet {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return maps.Clone(x.sets)
}

// numbers returns the numbers of all indexes, retired ones included.
func (x *indexes) numbers() (list []uint32) {
	for _, set := range x.all() {
		for _, index := range set.Indexes {
			list = append(list, index.ID)
		}
		list = append(list, set.Retired...)
	}
	return list
}

// covering returns the lineage for reading an index for a view of a branch; nil: the index is incomplete for that view. The front
// part of the view's lineage suffices, down to a branch on which the index was built before it was forked.
func (x *indexes) covering(index uint32, l store.Lineage) store.Lineage {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i, segment := range l {
		if at, built := x.built[index][segment.Branch]; built && at <= segment.At {
			return shadowLineage(index, l[:i+1])
		}
	}
	return nil
}

// kept returns the index of a set that sorts by fields; nil: none.
func (set *indexSet) kept(fields query.Index) *keptIndex {
	if set == nil {
		return nil
	}
	for i := range set.Indexes {
		if set.Indexes[i].Fields.Equal(fields) {
			return &set.Indexes[i]
		}
	}
	return nil
}

// DeclareIndexes sets the indexes of a collection to its declared ones. If none are kept yet, indexing begins at the
// collection's first use.
func (s *Space) DeclareIndexes(c Collection) {
	x := &s.indexes
	x.mu.Lock()
	x.declared[c.Name] = c
	kept := x.sets[c.Name] != nil
	x.mu.Unlock()
	if kept {
		s.queueDeclared(c.Name)
	}
}

// changed returns a collection whose declared indexes differ from the kept ones.
func (x *indexes) changed(collection string) (c Collection, changed bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	c, declared := x.declared[collection]
	return c, declared && !x.sets[collection].matches(c)
}

// matches reports whether the indexes of a set are those that a collection declares.
func (set *indexSet) matches(c Collection) bool {
	if set == nil {
		return len(c.Indexes) == 0
	}
	return set.PerSpace == c.PerSpace && !slices.ContainsFunc(c.Indexes, func(fields query.Index) bool { return set.kept(fields) == nil }) &&
		!slices.ContainsFunc(set.Indexes, func(k keptIndex) bool { return !slices.ContainsFunc(c.Indexes, k.Fields.Equal) })
}

// queueDeclared queues the change to a collection's declared indexes.
func (s *Space) queueDeclared(collection string) {
	if _, changed := s.indexes.changed(collection); changed && !s.readOnly {
		s.chores.add("keep the indexes of "+collection, func(ctx context.Context) error { return s.keepDeclared(ctx, collection) })
	}
}

func (s *Space) keepDeclared(ctx context.Context, collection string) error {
	if c, changed := s.indexes.changed(collection); changed {
		return s.KeepIndexes(ctx, c)
	}
	return nil
}

// KeepIndexes sets the indexes of a collection to its declared ones. New ones are built in the background.
func (s *Space) KeepIndexes(ctx context.Context, c Collection) error {
	if s.readOnly {
		return nil
	}
	return s.changeIndexes(ctx, c.Name, func(set *indexSet, next func() uint32) (changed bool) {
		var list []keptIndex
		for _, fields := range c.Indexes {
			if slices.ContainsFunc(list, func(k keptIndex) bool { return k.Fields.Equal(fields) }) {
				continue
			}
			if was := set.kept(fields); was != nil && set.PerSpace == c.PerSpace {
				list = append(list, *was)
				continue
			}
			list, changed = append(list, keptIndex{next(), fields}), true
		}
		for _, was := range set.Indexes {
			if !slices.ContainsFunc(list, func(k keptIndex) bool { return k.ID == was.ID }) {
				set.Retired, changed = append(set.Retired, was.ID), true
			}
		}
		set.Indexes, set.PerSpace = list, c.PerSpace
		return changed
	})
}

// keepLinks starts the index of links.
func (s *Space) keepLinks(ctx context.Context) error {
	return s.changeIndexes(ctx, memories, func(set *indexSet, next func() uint32) bool {
		if len(set.Indexes) > 0 {
			return false
		}
		set.Indexes = []keptIndex{{ID: next()}}
		return true
	})
}

// changeIndexes commits a change of a collection's indexes, and queues the building of new ones and the reclaiming of retired ones.
func (s *Space) changeIndexes(ctx context.Context, collection string, change func(set *indexSet, next func() uint32) (changed bool)) error {
	if err := s.beginIndexes(ctx, collection, change); err != nil {
		return s.translate("change the indexes of "+collection, err)
	}
	s.queueRetired()
	set := s.indexes.of(collection)
	if set == nil {
		return nil
	}
	for _, index := range set.Indexes {
		if b := s.firstIndexed(set); b != nil {
			s.queueBuild(builds{collection, index.ID, b.ID})
		}
	}
	return nil
}

// beginIndexes commits a change while nothing else is written, so that no commit misses its writes to an index.
func (s *Space) beginIndexes(ctx context.Context, collection string, change func(set *indexSet, next func() uint32) (changed bool)) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.commitIndexSet(ctx, collection, change)
}

// checkCurrent returns a conflict if a batch writes to a collection without the writes of indexes kept since it was made.
func (x *indexes) checkCurrent(batch store.Batch) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if len(x.sets) == 0 {
		return nil
	}
	for _, w := range batch.Writes {
		set := x.sets[w.Key.Collection]
		if set == nil || len(set.Indexes) == 0 || w.Branch&shadowed != 0 {
			continue
		}
		expected := set.expectation(w.Key.Collection)
		if !slices.ContainsFunc(batch.Expect, func(e store.Expectation) bool { return e.Key == expected.Key && e.Version == expected.Version }) {
			return &store.ConflictError{Key: expected.Key, Have: set.version}
		}
	}
	return nil
}

// indexesChanged reports whether a commit failed only because the kept indexes changed.
func indexesChanged(err error) bool {
	var conflict *store.ConflictError
	return errors.As(err, &conflict) && conflict.Key.Namespace == lineage.Namespace && conflict.Key.Collection == indexSets
}

// firstIndexed returns the branch on which an index is built before it is needed; nil: none yet.
func (s *Space) firstIndexed(set *indexSet) *lineage.Branch {
	if set.PerSpace {
		return s.catalogue.System()
	}
	return s.catalogue.Named(Default)
}

func (s *Space) commitIndexSet(ctx context.Context, collection string, change func(set *indexSet, next func() uint32) (changed bool)) error {
	x := &s.indexes
	x.mu.Lock()
	defer x.mu.Unlock()
	set := &indexSet{}
	if was := x.sets[collection]; was != nil {
		copied := *was
		set = &copied
		set.Indexes, set.Retired = slices.Clone(was.Indexes), slices.Clone(was.Retired)
	}
	if !change(set, func() uint32 {
		for _, other := range x.sets {
			set.Last = max(set.Last, other.Last)
		}
		set.Last++
		return set.Last
	}) {
		return nil
	}
	value, err := json.Marshal(set)
	if err != nil {
		return err
	}
	key := setKey(collection)
	batch := store.Batch{
		Writes: []store.Write{{Branch: store.Catalogue, Key: key, Value: value}},
		Expect: []store.Expectation{{Lineage: lineage.Root(), Key: key, Version: set.version}},
	}
	fresh, err := s.unused(ctx, collection, set)
	if err != nil {
		return err
	}
	for _, b := range fresh {
		batch.Writes = append(batch.Writes, store.Write{Branch: store.Catalogue, Key: builtKey(b.index, b.branch), Value: []byte("{}")})
	}
	done, err := s.engine.Commit(ctx, batch)
	if err != nil {
		return err
	}
	for _, b := range fresh {
		x.noteBuilt(b.index, b.branch, done.Version)
	}
	set.version = done.Version
	x.sets[collection] = set
	return nil
}

// unused returns the new indexes of a set that have nothing to build yet. The caller holds writing and the indexes' lock.
func (s *Space) unused(ctx context.Context, collection string, set *indexSet) (list []builds, err error) {
	b := s.firstIndexed(set)
	if b == nil {
		return nil, nil
	}
	for _, index := range set.Indexes {
		if _, done := s.indexes.built[index.ID][b.ID]; !done {
			list = append(list, builds{collection, index.ID, b.ID})
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	if ranges, err := s.rangesOf(ctx, b.Lineage, collection); err != nil || len(ranges) > 0 {
		return nil, err
	}
	return list, nil
}

// retireIndexes replaces the indexes of a collection, and reclaims the old ones, after a purge erased something in it. The
// caller then erases unused space in the file.
func (s *Space) retireIndexes(ctx context.Context, collection string) error {
	return s.commitIndexSet(ctx, collection, func(set *indexSet, next func() uint32) bool {
		set.renumber(next)
		set.Erase = set.Erase || len(set.Retired) > 0
		return len(set.Retired) > 0
	})
}

// renumber retires all indexes of a set, and gives new numbers to those that take their place.
func (set *indexSet) renumber(next func() uint32) {
	for i, index := range set.Indexes {
		set.Retired = append(set.Retired, index.ID)
		set.Indexes[i].ID = next()
	}
}

// queueRetired queues the reclaiming of undeclared indexes.
func (s *Space) queueRetired() {
	if s.readOnly {
		return
	}
	s.chores.add("reclaim indexes", s.reclaimRetired)
}

// reclaimRetired reclaims the shadows of retired indexes, one after the other.
func (s *Space) reclaimRetired(ctx context.Context) error {
	for collection, set := range s.indexes.all() {
		if len(set.Retired) == 0 {
			continue
		}
		for _, index := range set.Retired {
			if err := s.reclaimIndex(ctx, index); err != nil {
				return err
			}
		}
		if compactor, ok := s.engine.(store.Compactor); ok && set.Erase {
			if _, err := compactor.Compact(ctx); err != nil {
				return err
			}
		}
		gone := set.Retired
		err := s.commitIndexSet(ctx, collection, func(set *indexSet, _ func() uint32) bool {
			set.Retired = slices.DeleteFunc(set.Retired, func(index uint32) bool { return slices.Contains(gone, index) })
			set.Erase = set.Erase && len(set.Retired) > 0
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reclaimIndex erases an index on every branch.
func (s *Space) reclaimIndex(ctx context.Context, index uint32) error {
	for _, b := range s.catalogue.Kept() {
		if err := s.engine.Reclaim(ctx, shadow(index, b.ID)); err != nil {
			return err
		}
	}
	return s.forgetBuilt(ctx, index)
}

func (s *Space) forgetBuilt(ctx context.Context, index uint32) error {
	x := &s.indexes
	x.mu.Lock()
	defer x.mu.Unlock()
	var batch store.Batch
	for b := range x.built[index] {
		batch.Writes = append(batch.Writes, store.Write{Branch: store.Catalogue, Key: builtKey(index, b), Delete: true})
	}
	if len(batch.Writes) > 0 {
		if _, err := s.engine.Commit(ctx, batch); err != nil {
			return err
		}
	}
	delete(x.built, index)
	return nil
}

// reclaimShadows erases the indexes of a branch that is no longer needed.
func (s *Space) reclaimShadows(ctx context.Context, b store.BranchID) error {
	for _, index := range s.indexes.numbers() {
		if err := s.engine.Reclaim(ctx, shadow(index, b)); err != nil {
			return err
		}
	}
	return nil
}

// trimShadows trims the past of a branch's indexes.
func (s *Space) trimShadows(ctx context.Context, b store.BranchID, floor uint64, pins []uint64) error {
	for _, index := range s.indexes.numbers() {
		id := shadow(index, b)
		some, _, err := s.engine.Versions(ctx, store.Lineage{{Branch: id, At: store.Latest}}, store.Range{}, "", 1)
		if _, trimmed := asTrimmed(err); err != nil && !trimmed {
			return err
		}
		if err == nil && len(some) == 0 {
			continue
		}
		if err := s.engine.Trim(ctx, id, floor, pins); err != nil {
			return err
		}
	}
	return nil
}

// errRebuilt means that an index was given up during its build.
var errRebuilt = errors.New("the index is not kept any more")
