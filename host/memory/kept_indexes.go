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
	"github.com/alcove-memory/alcove/host/store"
)

// Indexes of records, and that of links, are kept in the engine on shadow branches: for each branch and index one, whose number is
// made of both. The lineage of a shadow is that of its branch, number by number, so a fork costs nothing, and the past has its index.
// No catalogue lists shadows: change logs, merges and listings of branches are without them. What an index has follows from the
// records alone, so an index that nobody declares any more is reclaimed, and one that a purge may have touched is built anew under
// another number.

// Collections of the catalogue about indexes.
const (
	indexSets  = "_indexes" // of each collection: its indexes
	indexBuilt = "_built"   // of each index and branch: that it has everything
)

const (
	shadowed    = store.BranchID(1) << 63
	indexNumber = 32 // bits below the number of the index
)

// shadow is the branch that has the entries of an index for a branch.
func shadow(index uint32, b store.BranchID) store.BranchID {
	return shadowed | store.BranchID(index)<<indexNumber | b
}

// ofShadow is the inverse of shadow.
func ofShadow(id store.BranchID) (index uint32, b store.BranchID, ok bool) {
	return uint32(id &^ shadowed >> indexNumber), id & (1<<indexNumber - 1), id&shadowed != 0
}

// shadowLineage is the lineage of an index for that of a branch.
func shadowLineage(index uint32, l store.Lineage) store.Lineage {
	out := make(store.Lineage, len(l))
	for i, s := range l {
		out[i] = store.Segment{Branch: shadow(index, s.Branch), At: s.At}
	}
	return out
}

// keptIndex is an index that is kept.
type keptIndex struct {
	ID     uint32     `json:"id"`
	Fields FieldIndex `json:"fields,omitempty"` // none: of the links of memories
}

// indexSet is what is kept for a collection.
type indexSet struct {
	PerSpace bool        `json:"per_space,omitempty"`
	Indexes  []keptIndex `json:"indexes,omitempty"`
	Retired  []uint32    `json:"retired,omitempty"` // to be reclaimed
	Last     uint32      `json:"last"`              // the greatest number so far
	Erase    bool        `json:"erase,omitempty"`   // the file may have what a purge is to erase once they are reclaimed

	version uint64 // of the record
}

// indexes are those of a space.
type indexes struct {
	mu    sync.RWMutex
	sets  map[string]*indexSet // by collection; a set is never changed, only replaced
	built map[uint32]map[store.BranchID]uint64
	due   map[builds]bool // queued
	asked sync.Once       // for links back

	declared map[string]Collection // by manifests, whether they are kept yet or not
}

// builds is an index of a collection to be built on a branch.
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

// load reads what is kept, once, before anything is written.
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

// of is what is kept for a collection; nil: nothing.
func (x *indexes) of(collection string) *indexSet {
	x.mu.RLock()
	defer x.mu.RUnlock()
	set := x.sets[collection]
	if set == nil || len(set.Indexes) == 0 {
		return nil
	}
	return set
}

// all are the sets by collection.
func (x *indexes) all() map[string]*indexSet {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return maps.Clone(x.sets)
}

// numbers are those of all indexes, retired ones included.
func (x *indexes) numbers() (list []uint32) {
	for _, set := range x.all() {
		for _, index := range set.Indexes {
			list = append(list, index.ID)
		}
		list = append(list, set.Retired...)
	}
	return list
}

// builtAt is the version from which on an index has everything on a branch.
func (x *indexes) builtAt(index uint32, b store.BranchID) (version uint64, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	version, ok = x.built[index][b]
	return version, ok
}

// covering is the lineage to read an index by for a view of a branch; nil: the index does not have all of what that sees. The front
// part of the view's lineage is enough, down to a branch on which the index was built before it was forked.
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

// kept is the index of a set that sorts by fields; nil: there is none.
func (set *indexSet) kept(fields FieldIndex) *keptIndex {
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

// DeclareIndexes has the indexes kept that a collection declares, and no others. Where none are kept yet, that begins when the
// collection is first used.
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

// changed finds a collection whose declared indexes are not those that are kept.
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
	return set.PerSpace == c.PerSpace && !slices.ContainsFunc(c.Indexes, func(fields FieldIndex) bool { return set.kept(fields) == nil }) &&
		!slices.ContainsFunc(set.Indexes, func(k keptIndex) bool { return !slices.ContainsFunc(c.Indexes, k.Fields.Equal) })
}

// queueDeclared has kept what is declared for a collection.
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

// KeepIndexes has the indexes kept that a collection declares, and no others. Those that are new are built in the background.
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

// keepLinks has the index of links kept.
func (s *Space) keepLinks(ctx context.Context) error {
	return s.changeIndexes(ctx, memories, func(set *indexSet, next func() uint32) bool {
		if len(set.Indexes) > 0 {
			return false
		}
		set.Indexes = []keptIndex{{ID: next()}}
		return true
	})
}

// changeIndexes commits a change of what is kept for a collection, and has built what is new, and reclaimed what is retired.
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

// beginIndexes commits a change while nothing else is written, so that no commit is without what it has to write to an index.
func (s *Space) beginIndexes(ctx context.Context, collection string, change func(set *indexSet, next func() uint32) (changed bool)) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.commitIndexSet(ctx, collection, change)
}

// unaware is a conflict when a batch writes to a collection without what its indexes need, which are kept since it was made.
func (x *indexes) unaware(batch store.Batch) error {
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

// indexesChanged reports whether a commit failed only because other indexes are kept now.
func indexesChanged(err error) bool {
	var conflict *store.ConflictError
	return errors.As(err, &conflict) && conflict.Key.Namespace == lineage.Namespace && conflict.Key.Collection == indexSets
}

// firstIndexed is the branch on which an index is built before anybody asks for it; nil: there is none yet.
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

// unused are the new indexes of a set where there is nothing to build yet. The caller holds writing and the indexes' lock.
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

// retireIndexes replaces the indexes of a collection, and reclaims the old ones: a purge erased something in the collection. The
// caller erases what is unused in the file afterwards.
func (s *Space) retireIndexes(ctx context.Context, collection string) error {
	return s.commitIndexSet(ctx, collection, func(set *indexSet, next func() uint32) bool {
		for i, index := range set.Indexes {
			set.Retired = append(set.Retired, index.ID)
			set.Indexes[i].ID = next()
		}
		set.Erase = set.Erase || len(set.Retired) > 0
		return len(set.Retired) > 0
	})
}

// queueRetired reclaims indexes that nobody declares any more.
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

// reclaimShadows erases the indexes of a branch that nothing needs any more.
func (s *Space) reclaimShadows(ctx context.Context, b store.BranchID) error {
	for _, index := range s.indexes.numbers() {
		if err := s.engine.Reclaim(ctx, shadow(index, b)); err != nil {
			return err
		}
	}
	return nil
}

// trimShadows forgets the past of a branch's indexes.
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

// errRebuilt says that an index was given up while it was built.
var errRebuilt = errors.New("the index is not kept any more")
