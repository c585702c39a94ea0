// Package counters counts accesses and feedback of memories, which have no versions.
package counters

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/internal/sealed"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// Record is what was counted of a memory.
type Record struct {
	Accesses int64   `json:"n,omitempty"`
	Last     int64   `json:"t,omitempty"` // µs since the epoch
	Health   float64 `json:"h,omitempty"`
}

// Decode decodes what was counted of a memory in all spaces; nil is that of a memory without counts.
func Decode(value []byte) (Record, error) {
	s, err := decodeStored(value)
	return s.total(), err
}

// Plus adds counts made elsewhere; the last access is the later one.
func (r Record) Plus(d Record) Record {
	return Record{
		Accesses: max(0, r.Accesses+d.Accesses),
		Last:     max(r.Last, d.Last),
		Health:   min(1, max(-1, r.Health+d.Health)),
	}
}

// Minus returns what was counted since.
func (r Record) Minus(d Record) Record {
	return Record{Accesses: r.Accesses - d.Accesses, Last: r.Last, Health: r.Health - d.Health}
}

// pageSize is how many counters are read at once.
const pageSize = 2000

// pendingLimit bounds the counted keys in memory; more are written early.
const pendingLimit = 4096

// Counting gathers counts in memory and writes them in batches, so that reads never wait for the disk.
type Counting struct {
	o    Options
	full chan struct{}

	mu      sync.Mutex
	pending map[*lineage.Branch]map[store.Key]Record
	size    int
	writing sync.Mutex // held while pending counts are being written

	columns map[store.BranchID]*column // guarded by writing
	looked  uint64                     // counts uses of columns; guarded by writing
	changed changed                    // counters that other spaces know; guarded by writing
	seal    *sealed.Key                // of places between counters
}

// Options are what is counted for.
type Options struct {
	Engine    store.Engine
	Catalogue *lineage.Catalogue
	Clock     func() time.Time
	Logger    *slog.Logger
	Delay     time.Duration // between writes
	ReadOnly  bool          // nothing is counted
	// First is the branch whose counters are exchanged with other spaces, and Replicas its names in them, one for each incarnation of the
	// space; none where there is no history.
	First    string
	Replicas func() []string
}

// New returns a Counting without counts.
func New(o Options) *Counting {
	return &Counting{o: o, full: make(chan struct{}, 1), pending: map[*lineage.Branch]map[store.Key]Record{}, columns: map[store.BranchID]*column{}, changed: changed{began: rand.Text(), last: map[store.Key]uint64{}}, seal: sealed.New()}
}

// Pending returns how many branches and keys have counts that are not written yet.
func (c *Counting) Pending() (branches, keys int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending), c.size
}

// Merge is a merge of branches.
type Merge struct {
	Source, Target *lineage.Branch
	TargetAt       uint64
	Covers         func(namespace string) bool
	Shared         func(b store.BranchID) uint64                                      // the version up to which both see a branch in all namespaces
	Base           func(ctx context.Context, namespace string) (store.Lineage, error) // where the two parted; empty: nowhere
}

// Touch counts accesses and feedback.
func (c *Counting) Touch(b *lineage.Branch, key store.Key, accesses int64, health float64) {
	if c.o.ReadOnly {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := c.pending[b]
	if keys == nil {
		keys = map[store.Key]Record{}
		c.pending[b] = keys
	}
	if _, ok := keys[key]; !ok {
		c.size++
	}
	d := keys[key]
	keys[key] = Record{Accesses: d.Accesses + accesses, Last: c.o.Clock().UnixMicro(), Health: d.Health + health}
	if c.size >= pendingLimit {
		select {
		case c.full <- struct{}{}:
		default:
		}
	}
}

// Reset drops the pending and earlier counts of a key that was just deleted.
func (c *Counting) Reset(b *lineage.Branch, key store.Key) {
	c.mu.Lock()
	if _, waits := c.pending[b][key]; waits {
		delete(c.pending[b], key)
		c.size--
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.reset(ctx, b, key); err != nil {
		c.o.Logger.Warn("counters of a forgotten memory were not reset", "error", err)
	}
}

// reset resets stored counters. The caller holds writing.
func (c *Counting) reset(ctx context.Context, b *lineage.Branch, key store.Key) error {
	old, err := c.o.Engine.Counters(ctx, b.Lineage, []store.Key{key, sharedKey()})
	if err != nil || old[0] == nil {
		return err
	}
	was, err := c.stored(b, old[0])
	if err != nil {
		return err
	}
	w := store.CounterWrite{Branch: b.ID, Key: key, Keep: c.keep(b)}
	if b.Name == c.o.First && old[1] != nil { // others are to take it back, too
		if w.Value, err = was.forgotten().encode(); err != nil || bytes.Equal(w.Value, old[0]) {
			return err
		}
	}
	return c.commit(ctx, b, []store.CounterWrite{w})
}

// commit writes counters as of the newest version. The caller holds writing.
func (c *Counting) commit(ctx context.Context, b *lineage.Branch, writes []store.CounterWrite) error {
	head, err := c.o.Engine.Head(ctx)
	if err != nil {
		return err
	}
	for i := range writes {
		writes[i].Version = head.Version
	}
	c.note(b, writes)
	_, err = c.o.Engine.Commit(ctx, store.Batch{Expect: []store.Expectation{b.Alive()}, Counters: writes})
	c.wrote(b.ID, writes, err)
	return err
}

// Drop drops the pending counts of a deleted branch.
func (c *Counting) Drop(id store.BranchID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for b := range c.pending {
		if b.ID == id {
			c.size -= len(c.pending[b])
			delete(c.pending, b)
		}
	}
}

// Run writes pending counts every delay until ctx ends.
func (c *Counting) Run(ctx context.Context) {
	tick := time.NewTicker(c.o.Delay)
	defer tick.Stop()
	for failed := false; ; {
		before := failed
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-c.full:
			if failed {
				continue // failed counts return and fill it again: wait for the tick
			}
		}
		err := c.Flush(ctx)
		if failed = err != nil; failed && !before && ctx.Err() == nil { // an engine that refuses writes may do so for long
			c.o.Logger.Warn("counters were not written", "error", err)
		}
	}
}

// Flush writes all pending counts. Those of a branch deleted meanwhile are dropped, and a failing branch
// does not block the others.
func (c *Counting) Flush(ctx context.Context) error {
	c.mu.Lock()
	branches := make([]*lineage.Branch, 0, len(c.pending))
	for b := range c.pending {
		branches = append(branches, b)
	}
	c.mu.Unlock()
	var failed error
	for _, b := range branches {
		if err := c.flushBranch(ctx, b); err != nil {
			failed = errors.Join(failed, fmt.Errorf("flush counters of branch %s: %w", b.Name, err))
		}
	}
	return failed
}

func (c *Counting) flushBranch(ctx context.Context, b *lineage.Branch) error {
	head, err := c.o.Engine.Head(ctx)
	if err != nil {
		return err
	}
	writes, finish := c.Collect(ctx, b, store.Segment{Branch: b.ID, At: head.Version})
	if len(writes) > 0 {
		_, err = c.o.Engine.Commit(ctx, store.Batch{Counters: writes, Expect: []store.Expectation{b.Alive()}})
	}
	if errors.Is(err, store.ErrConflict) { // the branch is deleted: nothing else was expected
		err = nil
	}
	finish(err)
	return err
}

// Collect returns the writes of a branch's pending counts, as of the version in front. The caller commits them and
// then calls finish with the outcome, which returns failed counts. When a fork starts elsewhere
// than at the branch itself, there is nothing to write.
func (c *Counting) Collect(ctx context.Context, b *lineage.Branch, front store.Segment) (writes []store.CounterWrite, finish func(error)) {
	c.writing.Lock()
	c.mu.Lock()
	taken := c.pending[b]
	if front.Branch != b.ID {
		taken = nil
	} else {
		delete(c.pending, b)
		c.size -= len(taken)
	}
	c.mu.Unlock()
	finish = func(err error) {
		defer c.writing.Unlock()
		c.wrote(b.ID, writes, err)
		if err != nil && c.o.Catalogue.IsLive(b) {
			c.restorePending(b, taken)
		}
	}
	writes, err := c.writes(ctx, b, front.At, taken)
	if err != nil {
		c.o.Logger.Warn("counters could not be read", "branch", b.Name, "error", err)
		c.restorePending(b, taken)
		taken = nil
	}
	return writes, finish
}

func (c *Counting) restorePending(b *lineage.Branch, taken map[store.Key]Record) {
	for key, d := range taken {
		c.Touch(b, key, d.Accesses, d.Health)
	}
}

// writes returns the writes that add counts to those of a branch at a version.
func (c *Counting) writes(ctx context.Context, b *lineage.Branch, at uint64, deltas map[store.Key]Record) ([]store.CounterWrite, error) {
	if len(deltas) == 0 {
		return nil, nil
	}
	keys := make([]store.Key, 0, len(deltas))
	for key := range deltas {
		keys = append(keys, key)
	}
	old, err := c.o.Engine.Counters(ctx, b.Lineage, keys)
	if err != nil {
		return nil, err
	}
	keep := min(c.keep(b), at)
	writes := make([]store.CounterWrite, len(keys))
	for i, key := range keys {
		was, err := c.stored(b, old[i])
		if err != nil {
			return nil, err
		}
		was.Record = was.Plus(deltas[key])
		value, err := was.encode()
		if err != nil {
			return nil, err
		}
		writes[i] = store.CounterWrite{Branch: b.ID, Key: key, Version: at, Keep: keep, Value: value}
	}
	c.note(b, writes)
	return writes, nil
}

// keep returns the newest version of a branch at which something else depends on its counters.
func (c *Counting) keep(b *lineage.Branch) uint64 {
	pins := c.o.Catalogue.Pins(b.ID)
	if len(pins) == 0 {
		return 0
	}
	return pins[len(pins)-1]
}

// Read adds pending to stored counts.
func (c *Counting) Read(ctx context.Context, b *lineage.Branch, keys []store.Key) ([]Record, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	stored, err := c.o.Engine.Counters(ctx, b.Lineage, keys)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	counted := make([]Record, len(keys))
	for i, key := range keys {
		was, err := Decode(stored[i])
		if err != nil {
			return nil, err
		}
		counted[i] = was.Plus(c.pending[b][key])
	}
	return counted, nil
}

// Brings reports whether a merge's source has counts that its target does not have yet, without writing those that are pending.
func (c *Counting) Brings(ctx context.Context, m Merge) (bool, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.isPending(m.Source, m.Covers) {
		return true, nil
	}
	counted, err := c.counted(ctx, m)
	return len(counted) > 0, err
}

func (c *Counting) isPending(b *lineage.Branch, covers func(namespace string) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.pending[b] {
		if covers(key.Namespace) {
			return true
		}
	}
	return false
}

// Merge returns the writes that add the source's counts since the two parted to the target. The caller
// commits them and then calls the returned function, also after an error.
func (c *Counting) Merge(ctx context.Context, m Merge) ([]store.CounterWrite, func(), error) {
	finish := func() {}
	if err := c.Flush(ctx); err != nil {
		return nil, finish, err
	}
	c.writing.Lock()
	finish = c.writing.Unlock
	counted, err := c.counted(ctx, m)
	if err != nil || len(counted) == 0 {
		return nil, finish, err
	}
	delete(c.columns, m.Target.ID)
	writes, err := c.writes(ctx, m.Target, m.TargetAt, counted)
	return writes, finish, err
}

// counted returns the counts on the source, and on its ancestors, that the target does not have yet.
func (c *Counting) counted(ctx context.Context, m Merge) (map[store.Key]Record, error) {
	counted, seen := map[store.Key]Record{}, map[store.Key]bool{}
	for _, segment := range m.Source.Lineage {
		var cursor store.Cursor
		for after := m.Shared(segment.Branch); after < segment.At; {
			page, next, err := c.o.Engine.CountersOn(ctx, segment.Branch, after, cursor, pageSize)
			if err != nil {
				return nil, err
			}
			if err := c.addCounted(ctx, m, page, seen, counted); err != nil {
				return nil, err
			}
			if next == "" {
				break
			}
			cursor = next
		}
	}
	return counted, nil
}

// addCounted adds what the source counted since the two parted, of the keys of a page that no earlier page had.
func (c *Counting) addCounted(ctx context.Context, m Merge, page []store.Counted, seen map[store.Key]bool, counted map[store.Key]Record) error {
	keys := map[string][]store.Key{} // by namespace
	for _, record := range page {
		if key := record.Key; !seen[key] && m.Covers(key.Namespace) {
			seen[key] = true
			keys[key.Namespace] = append(keys[key.Namespace], key)
		}
	}
	for namespace, list := range keys {
		base, err := m.Base(ctx, namespace)
		if err != nil {
			return err
		}
		now, err := c.countedBy(ctx, m.Source.Lineage, list)
		if err != nil {
			return err
		}
		was, err := c.countedBy(ctx, base, list)
		if err != nil {
			return err
		}
		for i, key := range list {
			if now[i] != (Record{}) && now[i] != was[i] { // what the source dropped takes nothing from the target
				counted[key] = now[i].Minus(was[i])
			}
		}
	}
	return nil
}

// countedBy returns the counts of keys that a lineage sees; none without a lineage.
func (c *Counting) countedBy(ctx context.Context, l store.Lineage, keys []store.Key) ([]Record, error) {
	counted := make([]Record, len(keys))
	if len(l) == 0 {
		return counted, nil
	}
	values, err := c.o.Engine.Counters(ctx, l, keys)
	for i, value := range values {
		if counted[i], err = Decode(value); err != nil {
			return nil, err
		}
	}
	return counted, err
}
