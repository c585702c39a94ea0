package lineage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// Catalogue is the set of branches and of the merges between them. It is safe for concurrent use.
type Catalogue struct {
	mu     sync.RWMutex
	byName map[string]*Branch // those not deleted
	byID   map[store.BranchID]*Branch
	merges map[store.BranchID][]Merge // by target, oldest first
	lastID store.BranchID
}

// New returns an empty catalogue.
func New() *Catalogue {
	return &Catalogue{
		byName: map[string]*Branch{},
		byID:   map[store.BranchID]*Branch{},
		merges: map[store.BranchID][]Merge{},
	}
}

// Load replaces what the catalogue has by its stored entries: every version of every branch record and merge record, deleted ones too. An
// error names the entry that cannot be read, and changes nothing.
func (c *Catalogue) Load(branches, merges []store.Entry) error {
	fresh := New()
	if err := fresh.load(branches, merges); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byName, c.byID, c.merges, c.lastID = fresh.byName, fresh.byID, fresh.merges, fresh.lastID
	return nil
}

// load fills an empty catalogue.
func (c *Catalogue) load(branches, merges []store.Entry) error {
	branches = slices.Clone(branches)
	slices.SortFunc(branches, func(a, b store.Entry) int { // ancestors first, each branch's newest version first
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(b.Version, a.Version))
	})
	created := map[string]time.Time{}
	for _, e := range branches {
		created[e.Name] = e.Time
	}
	seen := ""
	for _, e := range branches {
		if e.Name == seen {
			continue
		}
		seen = e.Name
		if err := c.loadBranch(e, created[e.Name]); err != nil {
			return err
		}
	}
	return c.loadMerges(merges)
}

func (c *Catalogue) loadBranch(e store.Entry, created time.Time) error {
	id, err := store.ParseSequence(e.Name)
	if err != nil {
		return fmt.Errorf("read the catalogue of branches: %s: %w", e.Key, err)
	}
	c.lastID = max(c.lastID, store.BranchID(id))
	if e.Deleted {
		return nil // reclaimed; its id stays used
	}
	var r Record
	if err := json.Unmarshal(e.Value, &r); err != nil {
		return fmt.Errorf("read the catalogue of branches: %s: %w", e.Key, err)
	}
	c.put(c.newBranch(store.BranchID(id), r, store.Point{Version: e.Version, Time: created}))
	return nil
}

func (c *Catalogue) loadMerges(entries []store.Entry) error {
	gone := map[string]bool{}
	for _, e := range entries {
		if e.Deleted {
			gone[e.Name] = true
		}
		if gone[e.Name] {
			continue
		}
		r, err := ReadMerge(e)
		if err != nil {
			return err
		}
		c.merges[r.Target] = append(c.merges[r.Target], Merge{r, e.Version, e.Key})
	}
	for _, list := range c.merges {
		slices.SortFunc(list, func(a, b Merge) int { return cmp.Compare(a.At, b.At) })
	}
	return nil
}

// newBranch derives the lineage of a branch from its ancestors, which the catalogue already has.
func (c *Catalogue) newBranch(id store.BranchID, r Record, at store.Point) *Branch {
	var from store.Lineage
	if parent := c.byID[r.From]; parent != nil {
		from = parent.Lineage.At(r.At)
	}
	return &Branch{Record: r, ID: id, Version: at.Version, Created: at.Time, Lineage: from.Fork(id)}
}

// put publishes a branch, or its deletion. The caller holds mu.
func (c *Catalogue) put(b *Branch) {
	c.byID[b.ID] = b
	if b.Deleted {
		if c.byName[b.Name] != nil && c.byName[b.Name].ID == b.ID {
			delete(c.byName, b.Name)
		}
		return
	}
	c.byName[b.Name] = b
}

// Publish adds or replaces a branch after its record was committed at a point. created is zero for a new one.
func (c *Catalogue) Publish(id store.BranchID, r Record, at store.Point, created time.Time) *Branch {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.newBranch(id, r, at)
	if !created.IsZero() {
		b.Created = created
	}
	c.put(b)
	return b
}

// MergedInto returns the branches that were merged into a branch, with the versions of the last merges.
func (c *Catalogue) MergedInto(target store.BranchID) map[store.BranchID]uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	last := map[store.BranchID]uint64{}
	for _, m := range c.merges[target] {
		last[m.Source] = m.At
	}
	return last
}

// NewestMerges lists at most limit merges, the newest first, without those into branches that were forgotten.
func (c *Catalogue) NewestMerges(limit int) []Merge {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := slices.Concat(slices.Collect(maps.Values(c.merges))...)
	slices.SortFunc(all, func(a, b Merge) int { return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.Target, b.Target)) })
	return all[:min(limit, len(all))]
}

// AddMerge adds a merge after its record was committed.
func (c *Catalogue) AddMerge(m Merge) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.merges[m.Target] = append(c.merges[m.Target], m)
}

// Forget drops a reclaimed branch and the merges into it.
func (c *Catalogue) Forget(id store.BranchID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, id)
	delete(c.merges, id)
}

// NextID returns an id that no branch ever had.
func (c *Catalogue) NextID() store.BranchID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	return c.lastID
}

// Named finds a branch that was not deleted; nil when there is none. It never finds the system branch.
func (c *Catalogue) Named(name string) *Branch {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if b := c.byName[name]; b != nil && name != System {
		return b
	}
	return nil
}

// Gathering finds the newest proposal that takes further changes to a branch from a gatherer, and that nobody forked: it is forked anew
// from a later version with each of them. Nil when there is none.
func (c *Catalogue) Gathering(by Gatherer, from store.BranchID) *Branch {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var open *Branch
	for _, b := range c.byName {
		if b.Gathers == by && b.From == from && (open == nil || b.ID > open.ID) {
			open = b
		}
	}
	if open == nil {
		return nil
	}
	for _, b := range c.byID {
		if b.ID != open.ID && b.Lineage.Has(open.ID) {
			return nil
		}
	}
	return open
}

// System is the branch for data that is the same on all branches; nil before it is made.
func (c *Catalogue) System() *Branch {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byName[System]
}

// Live lists the branches that were not deleted, oldest first, without the system branch.
func (c *Catalogue) Live() []*Branch {
	c.mu.RLock()
	defer c.mu.RUnlock()
	list := make([]*Branch, 0, len(c.byName))
	for name, b := range c.byName {
		if name != System {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b *Branch) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Kept lists every branch in the catalogue, deleted and reclaimed ones and the system branch too, oldest first.
func (c *Catalogue) Kept() []*Branch {
	c.mu.RLock()
	defer c.mu.RUnlock()
	list := make([]*Branch, 0, len(c.byID))
	for _, b := range c.byID {
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b *Branch) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// ByID finds a branch, deleted or not; nil when it was forgotten.
func (c *Catalogue) ByID(id store.BranchID) *Branch {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byID[id]
}

// IsLive reports whether a branch has not been deleted since it was read.
func (c *Catalogue) IsLive(b *Branch) bool {
	now := c.Named(b.Name)
	return now != nil && now.ID == b.ID
}

// NameOf is the current or last name of a branch; its number when it was forgotten.
func (c *Catalogue) NameOf(id store.BranchID) string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if b := c.byID[id]; b != nil {
		return b.Name
	}
	return fmt.Sprintf("#%d", id)
}

// Forks returns for each branch the versions at which branches that are kept were forked from it, ascending.
func (c *Catalogue) Forks() map[store.BranchID][]uint64 {
	forks := map[store.BranchID][]uint64{}
	for _, b := range c.Kept() {
		if b.Reclaimed {
			continue
		}
		for _, segment := range b.Lineage[1:] {
			forks[segment.Branch] = append(forks[segment.Branch], segment.At)
		}
	}
	for id, list := range forks {
		slices.Sort(list)
		forks[id] = slices.Compact(list)
	}
	return forks
}

// Pins are the versions of a branch at which others were forked from it or merged with it, ascending.
func (c *Catalogue) Pins(id store.BranchID) []uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var pins []uint64
	for _, b := range c.byID {
		for i, segment := range b.Lineage {
			if segment.Branch == id && i > 0 {
				pins = append(pins, segment.At)
			}
		}
	}
	for target, list := range c.merges {
		for _, m := range list {
			pins = append(pins, c.mergePins(id, target, m)...)
		}
	}
	slices.Sort(pins)
	return slices.Compact(pins)
}

func (c *Catalogue) mergePins(id, target store.BranchID, m Merge) []uint64 {
	var pins []uint64
	if target == id {
		pins = append(pins, m.At)
	}
	source := c.byID[m.Source]
	if source == nil {
		return pins
	}
	for _, segment := range source.Lineage.At(m.SourceAt) {
		if segment.Branch == id {
			pins = append(pins, segment.At)
		}
	}
	return pins
}

// Restorable lists the deleted branches that can be restored, those deleted first first.
func (c *Catalogue) Restorable() []*Branch {
	list := slices.DeleteFunc(c.Kept(), func(b *Branch) bool { return !b.Restorable() })
	slices.SortFunc(list, func(a, b *Branch) int {
		return cmp.Or(cmp.Compare(a.DeletedAt, b.DeletedAt), cmp.Compare(a.Version, b.Version))
	})
	return list
}

// Unneeded finds a deleted branch whose data no other branch can read any more, and that cannot be restored.
func (c *Catalogue) Unneeded() (*Branch, bool) {
	for _, b := range c.Kept() {
		if b.Deleted && !b.Reclaimed && !b.Restorable() && !c.needed(b.ID) {
			return b, true
		}
	}
	return nil, false
}

// needed reports whether a branch's data may still be read: by a fork of it, or as the merge base of two branches that merged it. A
// single branch that merged it reads its own copies.
func (c *Catalogue) needed(id store.BranchID) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	mergers := 0
	for _, b := range c.byID {
		if b.Reclaimed || b.ID == id {
			continue
		}
		if b.Lineage.Has(id) {
			return true
		}
		if c.merged(b.ID, id, map[store.BranchID]bool{}) {
			mergers++
		}
	}
	return mergers > 1
}

// merged reports whether a branch merged another, directly or by way of branches that were reclaimed since.
func (c *Catalogue) merged(target, id store.BranchID, seen map[store.BranchID]bool) bool {
	seen[target] = true
	for _, m := range c.merges[target] {
		source := c.byID[m.Source]
		if m.Source == id {
			return true
		}
		if source == nil || !source.Reclaimed {
			continue
		}
		for _, segment := range source.Lineage {
			if segment.Branch == id || !seen[segment.Branch] && c.merged(segment.Branch, id, seen) {
				return true
			}
		}
	}
	return false
}

// Mentioned reports whether another branch descends from a branch or merged it, not counting the merges in apart.
func (c *Catalogue) Mentioned(id store.BranchID, apart ...Merge) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, b := range c.byID {
		if b.ID != id && b.Lineage.Has(id) {
			return true
		}
	}
	for _, list := range c.merges {
		if slices.ContainsFunc(list, func(m Merge) bool {
			return m.Source == id && !slices.ContainsFunc(apart, func(a Merge) bool { return a.Stored == m.Stored })
		}) {
			return true
		}
	}
	return false
}

// MergeKeys are the keys of the records of merges into a branch.
func (c *Catalogue) MergeKeys(target store.BranchID) []store.Key {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var keys []store.Key
	for _, m := range c.merges[target] {
		keys = append(keys, m.Stored)
	}
	return keys
}

// Merged counts the merges that the catalogue remembers.
func (c *Catalogue) Merged() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	n := 0
	for _, list := range c.merges {
		n += len(list)
	}
	return n
}
