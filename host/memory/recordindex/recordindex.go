// Package recordindex keeps secondary indexes of records and links on shadow branches: one for each branch and index, whose number is
// composed of both.
//
// The lineage of a shadow is that of its branch, number by number, so forks cost nothing and the past has its index. Shadows are outside
// the catalogue, and so absent from change logs, merges and listings of branches. An index is derived from the records alone: an undeclared
// one is reclaimed, and one that a purge may have touched is rebuilt under another number.
package recordindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/store"
)

// Collections of the catalogue about indexes, and that of shadows.
const (
	indexSets    = "_indexes" // by collection: its indexes
	indexBuilt   = "_built"   // by index and branch: that the index is complete
	indexEntries = "_index"   // of shadows: the entries
)

const (
	loadPage  = 1000 // entries of the catalogue read at once
	buildPage = 500  // records indexed per commit of a build
	queryPage = 500
	scanPage  = 2000
)

// MostScanned bounds the records that are read instead of an index that is not built.
const MostScanned = 20_000

// Options are what indexes are kept for.
type Options struct {
	Engine    store.Engine
	Catalogue *lineage.Catalogue
	// First is the branch on which an index is built before it is needed.
	First    string
	ReadOnly bool // nothing is built or reclaimed
	// Writing is held for reading by whatever commits records, and for writing while the indexes of a collection change.
	Writing *sync.RWMutex
	// Branching is held while the set of branches changes.
	Branching sync.Locker
	// Queue has work done in the background, one piece at a time. What fails is tried again.
	Queue func(name string, do func(ctx context.Context) error)
	// Explain makes an engine's error one that a caller can act on. It keeps nil.
	Explain func(doing string, err error) error
}

// Collection declares the indexes of a collection.
type Collection struct {
	query.Records
	PerSpace bool // the same on every branch
}

// Indexes are the indexes of a space. They are safe for concurrent use.
type Indexes struct {
	o Options

	mu    sync.RWMutex
	sets  map[string]*indexSet // by collection; a set is immutable, and replaced on change
	built map[uint32]map[store.BranchID]uint64
	due   map[builds]bool // queued
	links sync.Once       // asked for

	declared map[string]Collection // by manifests, kept or not
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

// builds names an index of a collection to be built on a branch.
type builds struct {
	collection string
	index      uint32
	branch     store.BranchID
}

// New returns indexes, which Load reads before their first use.
func New(o Options) *Indexes {
	return &Indexes{o: o, sets: map[string]*indexSet{}, built: map[uint32]map[store.BranchID]uint64{}, due: map[builds]bool{},
		declared: map[string]Collection{}}
}

func setKey(collection string) store.Key {
	return store.Key{Namespace: lineage.Namespace, Collection: indexSets, Name: collection}
}

func builtKey(index uint32, b store.BranchID) store.Key {
	return store.Key{Namespace: lineage.Namespace, Collection: indexBuilt, Name: fmt.Sprintf("%010d/%s", index, store.SequenceName(uint64(b)))}
}

// Load reads which indexes are kept: before anything is written, and again where another server wrote it.
func (x *Indexes) Load(ctx context.Context) error {
	fresh := New(x.o)
	if err := fresh.load(ctx); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sets, x.built = fresh.sets, fresh.built
	return nil
}

// load is Load of what nobody else knows yet.
func (x *Indexes) load(ctx context.Context) error {
	for _, collection := range []string{indexSets, indexBuilt} {
		within := store.Range{Namespace: lineage.Namespace, Collection: collection}
		for e, err := range store.Entries(ctx, x.o.Engine.ScanAt, lineage.Root(), within, loadPage) {
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

func (x *Indexes) loadOne(e store.Entry) error {
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

func (x *Indexes) noteBuilt(index uint32, b store.BranchID, version uint64) {
	if x.built[index] == nil {
		x.built[index] = map[store.BranchID]uint64{}
	}
	x.built[index][b] = version
}

// of returns the set of a collection; nil: none.
func (x *Indexes) of(collection string) *indexSet {
	x.mu.RLock()
	defer x.mu.RUnlock()
	set := x.sets[collection]
	if set == nil || len(set.Indexes) == 0 {
		return nil
	}
	return set
}

// all returns the sets by collection.
func (x *Indexes) all() map[string]*indexSet {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return maps.Clone(x.sets)
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

// expectation makes a commit conditional on an unchanged set.
func (set *indexSet) expectation(collection string) store.Expectation {
	return store.Expectation{Lineage: lineage.Root(), Key: setKey(collection), Version: set.version}
}

// Pending counts the indexes that are to be built or reclaimed.
func (x *Indexes) Pending() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := len(x.due)
	for _, set := range x.sets {
		n += len(set.Retired)
	}
	return n
}

// Covering returns the lineage for reading the index of a collection by fields, or, without fields, by links, for a view of a branch; nil:
// there is none, or it is incomplete for that view.
func (x *Indexes) Covering(collection string, fields query.Index, l store.Lineage) store.Lineage {
	kept := x.of(collection).kept(fields)
	if kept == nil {
		return nil
	}
	return x.covering(kept.ID, l)
}

// covering is Covering for an index. The front part of the view's lineage suffices, down to a branch on which the index was built before
// it was forked.
func (x *Indexes) covering(index uint32, l store.Lineage) store.Lineage {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i, segment := range l {
		if at, built := x.built[index][segment.Branch]; built && at <= segment.At {
			return shadowLineage(index, l[:i+1])
		}
	}
	return nil
}

// IsBuilt reports whether an index was built on a branch itself: it has no part in what the branch's ancestors get later.
func (x *Indexes) IsBuilt(b store.BranchID) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, built := range x.built {
		if _, ok := built[b]; ok {
			return true
		}
	}
	return false
}

// Changed reports whether a commit failed only because the kept indexes changed.
func Changed(err error) bool {
	var conflict *store.ConflictError
	return errors.As(err, &conflict) && conflict.Key.Namespace == lineage.Namespace && conflict.Key.Collection == indexSets
}

func isTrimmed(err error) bool {
	var trimmed *store.TrimmedError
	return errors.As(err, &trimmed)
}
