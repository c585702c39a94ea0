package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// The catalogue of branches is kept as entries of the engine's catalogue branch, in a namespace that no
// caller can name.
const (
	catalogueSpace = "_"
	systemName     = "_system" // of the branch for what is the same on all of them
	branchRecords  = "_branches"
	mergeRecords   = "_merges"
	cataloguePage  = 1000
)

var catalogueLineage = store.Lineage{{Branch: store.Catalogue, At: store.Latest}}

// branchRecord is how a branch is stored, under its id.
type branchRecord struct {
	Name    string         `json:"name"`
	Parent  string         `json:"parent,omitempty"` // as the forker called it
	From    store.BranchID `json:"from,omitempty"`   // 0: started empty
	At      uint64         `json:"at,omitempty"`     // the version of From that it started from
	Deleted bool           `json:"deleted,omitempty"`
	// Reclaimed branches have no data any more. What is remembered of them says what those that merged them know.
	Reclaimed bool `json:"reclaimed,omitempty"`
}

// mergeRecord says that what a source knew at a version is part of a target since another.
type mergeRecord struct {
	Source     store.BranchID `json:"source"`
	SourceAt   uint64         `json:"source_at"`
	Target     store.BranchID `json:"target"`
	Namespaces []string       `json:"namespaces,omitempty"` // nil: all
	// Silent are keys that the source had changed and the target kept as it had them: nothing was written, so no
	// change log tells that the target has decided.
	Silent []store.Key `json:"silent,omitempty"`
}

func (m mergeRecord) covers(namespace string) bool {
	return m.Namespaces == nil || slices.Contains(m.Namespaces, namespace)
}

// branch is a branch as the catalogue knows it. It is never changed after it was published, but replaced.
type branch struct {
	branchRecord
	id      store.BranchID
	version uint64 // of its record
	created time.Time
	lineage store.Lineage
}

func (b *branch) key() store.Key { return branchKey(b.id) }

func branchKey(id store.BranchID) store.Key {
	return store.Key{Namespace: catalogueSpace, Collection: branchRecords, Name: store.SequenceName(uint64(id))}
}

// alive is the condition that the branch has not been deleted or replaced meanwhile.
func (b *branch) alive() store.Expectation {
	return store.Expectation{Lineage: catalogueLineage, Key: b.key(), Version: b.version}
}

func (b *branch) describe() Branch {
	return Branch{Name: b.Name, Parent: b.Parent, ForkedAt: b.At, Created: b.created, Depth: len(b.lineage) - 1}
}

// merge is a merge that happened: the target has it from version at on.
type merge struct {
	mergeRecord
	at  uint64
	key store.Key
}

// catalogue is the set of branches and of the merges between them.
type catalogue struct {
	mu     sync.RWMutex
	byName map[string]*branch // those not deleted
	byID   map[store.BranchID]*branch
	merges map[store.BranchID][]merge // by target, oldest first
	lastID store.BranchID
}

func newCatalogue() *catalogue {
	return &catalogue{
		byName: map[string]*branch{},
		byID:   map[store.BranchID]*branch{},
		merges: map[store.BranchID][]merge{},
	}
}

// load reads the whole catalogue, once, before it is used.
func (c *catalogue) load(ctx context.Context, engine store.Engine) error {
	branches, err := catalogueEntries(ctx, engine, branchRecords)
	if err != nil {
		return err
	}
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
	return c.loadMerges(ctx, engine)
}

// catalogueEntries lists every version, deleted ones too.
func catalogueEntries(ctx context.Context, engine store.Engine, collection string) ([]store.Entry, error) {
	var all []store.Entry
	within := store.Range{Namespace: catalogueSpace, Collection: collection}
	for page, err := range eachPage(ctx, engine.Versions, catalogueLineage, within, cataloguePage) {
		if err != nil {
			return nil, fmt.Errorf("read the catalogue of branches: %w", err)
		}
		all = append(all, page...)
	}
	return all, nil
}

func (c *catalogue) loadBranch(e store.Entry, created time.Time) error {
	id, err := store.ParseSequence(e.Name)
	if err != nil {
		return fmt.Errorf("read the catalogue of branches: %s: %w", e.Key, err)
	}
	c.lastID = max(c.lastID, store.BranchID(id))
	if e.Deleted {
		return nil // reclaimed; its id stays used
	}
	var r branchRecord
	if err := json.Unmarshal(e.Value, &r); err != nil {
		return fmt.Errorf("read the catalogue of branches: %s: %w", e.Key, err)
	}
	c.put(c.newBranch(store.BranchID(id), r, store.Point{Version: e.Version, Time: created}))
	return nil
}

func (c *catalogue) loadMerges(ctx context.Context, engine store.Engine) error {
	entries, err := catalogueEntries(ctx, engine, mergeRecords)
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, e := range entries {
		if e.Deleted {
			gone[e.Name] = true
		}
		if gone[e.Name] {
			continue
		}
		var r mergeRecord
		if err := json.Unmarshal(e.Value, &r); err != nil {
			return fmt.Errorf("read the catalogue of merges: %s: %w", e.Key, err)
		}
		c.merges[r.Target] = append(c.merges[r.Target], merge{r, e.Version, e.Key})
	}
	for _, list := range c.merges {
		slices.SortFunc(list, func(a, b merge) int { return cmp.Compare(a.at, b.at) })
	}
	return nil
}

// newBranch works out the lineage of a branch whose ancestors the catalogue already has.
func (c *catalogue) newBranch(id store.BranchID, r branchRecord, at store.Point) *branch {
	var from store.Lineage
	if parent := c.byID[r.From]; parent != nil {
		from = parent.lineage.At(r.At)
	}
	return &branch{branchRecord: r, id: id, version: at.Version, created: at.Time, lineage: from.Fork(id)}
}

// put publishes a branch, or its deletion. Callers other than load hold mu.
func (c *catalogue) put(b *branch) {
	c.byID[b.id] = b
	if b.Deleted {
		if c.byName[b.Name] != nil && c.byName[b.Name].id == b.id {
			delete(c.byName, b.Name)
		}
		return
	}
	c.byName[b.Name] = b
}

// publish makes a branch known after its record was committed at a point. created is zero for a new one.
func (c *catalogue) publish(id store.BranchID, r branchRecord, at store.Point, created time.Time) *branch {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.newBranch(id, r, at)
	if !created.IsZero() {
		b.created = created
	}
	c.put(b)
	return b
}

func (c *catalogue) addMerge(m merge) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.merges[m.Target] = append(c.merges[m.Target], m)
}

// forget drops a reclaimed branch.
func (c *catalogue) forget(id store.BranchID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, id)
	delete(c.merges, id)
}

// nextID is an id that no branch ever had. Callers hold Space.branching.
func (c *catalogue) nextID() store.BranchID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	return c.lastID
}

// named finds a branch that was not deleted.
func (c *catalogue) named(name string) (*branch, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if b := c.byName[cmp.Or(name, Default)]; b != nil && b.Name != systemName {
		return b, nil
	}
	return nil, notFound("there is no branch %q: %s", clip(name, 64), c.someNames())
}

// system is the branch for what is the same on all of them; nil before there is one.
func (c *catalogue) system() *branch {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byName[systemName]
}

func (c *catalogue) someNames() string {
	names := make([]string, 0, len(c.byName))
	for name := range c.byName {
		if name != systemName {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) > 10 {
		return fmt.Sprintf("there are %d, among them %v; list them with memory_branch action=list", len(names), names[:10])
	}
	return fmt.Sprintf("there are %v", names)
}

// live lists the branches that were not deleted, oldest first.
func (c *catalogue) live() []*branch {
	c.mu.RLock()
	defer c.mu.RUnlock()
	list := make([]*branch, 0, len(c.byName))
	for name, b := range c.byName {
		if name != systemName {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b *branch) int { return cmp.Compare(a.id, b.id) })
	return list
}

// kept lists every branch whose data is there, deleted or not.
func (c *catalogue) kept() []*branch {
	c.mu.RLock()
	defer c.mu.RUnlock()
	list := make([]*branch, 0, len(c.byID))
	for _, b := range c.byID {
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b *branch) int { return cmp.Compare(a.id, b.id) })
	return list
}

// nameOf is the name a branch has, or last had.
func (c *catalogue) nameOf(id store.BranchID) string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if b := c.byID[id]; b != nil {
		return b.Name
	}
	return fmt.Sprintf("#%d", id)
}

// pins are the versions of a branch at which others were forked from or merged with it.
func (c *catalogue) pins(id store.BranchID) []uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var pins []uint64
	for _, b := range c.byID {
		for i, segment := range b.lineage {
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

func (c *catalogue) mergePins(id, target store.BranchID, m merge) []uint64 {
	var pins []uint64
	if target == id {
		pins = append(pins, m.at)
	}
	source := c.byID[m.Source]
	if source == nil {
		return pins
	}
	for _, segment := range source.lineage.At(m.SourceAt) {
		if segment.Branch == id {
			pins = append(pins, segment.At)
		}
	}
	return pins
}

// unneeded finds a deleted branch whose data no branch can ask for any more.
func (c *catalogue) unneeded() (*branch, bool) {
	for _, b := range c.kept() {
		if b.Deleted && !b.Reclaimed && !c.needed(b.id) {
			return b, true
		}
	}
	return nil, false
}

// needed reports whether a branch's data may be read: by one that was forked from it, or as the merge base of two
// that merged it. One that merged it alone reads its own copies.
func (c *catalogue) needed(id store.BranchID) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	mergers := 0
	for _, b := range c.byID {
		if b.Reclaimed || b.id == id {
			continue
		}
		if b.lineage.Has(id) {
			return true
		}
		if c.merged(b.id, id, map[store.BranchID]bool{}) {
			mergers++
		}
	}
	return mergers > 1
}

// merged reports whether a branch merged another: itself, or by way of branches that were reclaimed since.
func (c *catalogue) merged(target, id store.BranchID, seen map[store.BranchID]bool) bool {
	seen[target] = true
	for _, m := range c.merges[target] {
		source := c.byID[m.Source]
		if m.Source == id {
			return true
		}
		if source == nil || !source.Reclaimed {
			continue
		}
		for _, segment := range source.lineage {
			if segment.Branch == id || !seen[segment.Branch] && c.merged(segment.Branch, id, seen) {
				return true
			}
		}
	}
	return false
}

// mentioned reports whether the record of a branch still says something about others, apart from some merges.
func (c *catalogue) mentioned(id store.BranchID, apart ...merge) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, b := range c.byID {
		if b.id != id && b.lineage.Has(id) {
			return true
		}
	}
	for _, list := range c.merges {
		if slices.ContainsFunc(list, func(m merge) bool {
			return m.Source == id && !slices.ContainsFunc(apart, func(a merge) bool { return a.key == m.key })
		}) {
			return true
		}
	}
	return false
}

// mergeKeys are the records of merges into a branch.
func (c *catalogue) mergeKeys(target store.BranchID) []store.Key {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var keys []store.Key
	for _, m := range c.merges[target] {
		keys = append(keys, m.key)
	}
	return keys
}
