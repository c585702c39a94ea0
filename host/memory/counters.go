package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// countRecord is the stored form of counters.
type countRecord struct {
	Accesses int64   `json:"n,omitempty"`
	Last     int64   `json:"t,omitempty"` // µs since the epoch
	Health   float64 `json:"h,omitempty"`
}

func decodeCount(value []byte) (countRecord, error) {
	var r countRecord
	if value == nil {
		return r, nil
	}
	if err := json.Unmarshal(value, &r); err != nil {
		return r, fmt.Errorf("decode counters: %w", err)
	}
	return r, nil
}

// plus adds counts made elsewhere; the last access is the later one.
func (r countRecord) plus(d countRecord) countRecord {
	return countRecord{
		Accesses: max(0, r.Accesses+d.Accesses),
		Last:     max(r.Last, d.Last),
		Health:   min(1, max(-1, r.Health+d.Health)),
	}
}

func (r countRecord) minus(d countRecord) countRecord {
	return countRecord{Accesses: r.Accesses - d.Accesses, Last: r.Last, Health: r.Health - d.Health}
}

// pendingLimit bounds the counted keys in memory; more are written early.
const pendingLimit = 4096

// counting gathers counts in memory and writes them in batches, so that reads never wait for the disk.
type counting struct {
	space *Space
	delay time.Duration
	full  chan struct{}

	mu      sync.Mutex
	pending map[*lineage.Branch]map[store.Key]countRecord
	size    int
	writing sync.Mutex // held while pending counts are being written

	columns map[store.BranchID]*countedColumn // guarded by writing
	looked  uint64                            // counts uses of columns; guarded by writing
}

func newCounting(s *Space, delay time.Duration) *counting {
	return &counting{space: s, delay: delay, full: make(chan struct{}, 1), pending: map[*lineage.Branch]map[store.Key]countRecord{},
		columns: map[store.BranchID]*countedColumn{}}
}

// touch counts accesses and feedback.
func (c *counting) touch(b *lineage.Branch, key store.Key, accesses int64, health float64) {
	if c.space.readOnly {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := c.pending[b]
	if keys == nil {
		keys = map[store.Key]countRecord{}
		c.pending[b] = keys
	}
	if _, ok := keys[key]; !ok {
		c.size++
	}
	d := keys[key]
	keys[key] = countRecord{Accesses: d.Accesses + accesses, Last: c.space.clock().UnixMicro(), Health: d.Health + health}
	if c.size >= pendingLimit {
		select {
		case c.full <- struct{}{}:
		default:
		}
	}
}

// reset drops the pending and earlier counts of a key that was just deleted.
func (c *counting) reset(b *lineage.Branch, key store.Key) {
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
	old, err := c.space.engine.Counters(ctx, b.Lineage, []store.Key{key})
	if err == nil && old[0] == nil {
		return
	}
	head, err := c.space.engine.Head(ctx)
	if err == nil {
		writes := []store.CounterWrite{{Branch: b.ID, Key: key, Version: head.Version, Keep: c.keep(b)}}
		_, err = c.space.engine.Commit(ctx, store.Batch{Expect: []store.Expectation{b.Alive()}, Counters: writes})
		c.wrote(b.ID, writes, err)
	}
	if err != nil {
		c.space.logger.Warn("counters of a forgotten memory were not reset", "error", err)
	}
}

// drop drops the pending counts of a deleted branch.
func (c *counting) drop(id store.BranchID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for b := range c.pending {
		if b.ID == id {
			c.size -= len(c.pending[b])
			delete(c.pending, b)
		}
	}
}

// run writes pending counts every delay until ctx ends.
func (c *counting) run(ctx context.Context) {
	tick := time.NewTicker(c.delay)
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
		err := c.flush(ctx)
		if failed = err != nil; failed && !before && ctx.Err() == nil { // an engine that refuses writes may do so for long
			c.space.logger.Warn("counters were not written", "error", err)
		}
	}
}

// flush writes all pending counts. Those of a branch deleted meanwhile are dropped, and a failing branch
// does not block the others.
func (c *counting) flush(ctx context.Context) error {
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

func (c *counting) flushBranch(ctx context.Context, b *lineage.Branch) error {
	head, err := c.space.engine.Head(ctx)
	if err != nil {
		return err
	}
	writes, finish := c.collect(ctx, b, store.Segment{Branch: b.ID, At: head.Version})
	if len(writes) > 0 {
		_, err = c.space.engine.Commit(ctx, store.Batch{Counters: writes, Expect: []store.Expectation{b.Alive()}})
	}
	if errors.Is(err, store.ErrConflict) { // the branch is deleted: nothing else was expected
		err = nil
	}
	finish(err)
	return err
}

// collect returns the writes of a branch's pending counts, as of the version in front. The caller commits them and
// then calls finish with the outcome, which returns failed counts. When a fork starts elsewhere
// than at the branch itself, there is nothing to write.
func (c *counting) collect(ctx context.Context, b *lineage.Branch, front store.Segment) (writes []store.CounterWrite, finish func(error)) {
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
		if err != nil && c.space.stillLive(b) {
			c.giveBack(b, taken)
		}
	}
	writes, err := c.writes(ctx, b, front.At, taken)
	if err != nil {
		c.space.logger.Warn("counters could not be read", "branch", b.Name, "error", err)
		c.giveBack(b, taken)
		taken = nil
	}
	return writes, finish
}

func (c *counting) giveBack(b *lineage.Branch, taken map[store.Key]countRecord) {
	for key, d := range taken {
		c.touch(b, key, d.Accesses, d.Health)
	}
}

func (c *counting) writes(ctx context.Context, b *lineage.Branch, at uint64, deltas map[store.Key]countRecord) ([]store.CounterWrite, error) {
	if len(deltas) == 0 {
		return nil, nil
	}
	keys := make([]store.Key, 0, len(deltas))
	for key := range deltas {
		keys = append(keys, key)
	}
	old, err := c.space.engine.Counters(ctx, b.Lineage, keys)
	if err != nil {
		return nil, err
	}
	keep := c.keep(b)
	writes := make([]store.CounterWrite, len(keys))
	for i, key := range keys {
		was, err := decodeCount(old[i])
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(was.plus(deltas[key]))
		if err != nil {
			return nil, err
		}
		writes[i] = store.CounterWrite{Branch: b.ID, Key: key, Version: at, Keep: keep, Value: value}
	}
	return writes, nil
}

// keep returns the newest version of a branch at which something else depends on its counters.
func (c *counting) keep(b *lineage.Branch) uint64 {
	pins := c.space.catalogue.Pins(b.ID)
	if len(pins) == 0 {
		return 0
	}
	return pins[len(pins)-1]
}

// Flush writes the counters still in memory. Everything else is durable once acknowledged.
func (s *Space) Flush(ctx context.Context) error {
	return s.translate("write what was counted", s.counters.flush(ctx))
}

// stillLive reports whether the branch has not been deleted.
func (s *Space) stillLive(b *lineage.Branch) bool {
	return s.catalogue.IsLive(b)
}

// Counters returns the counters of a memory on a branch, and on its ancestors.
func (a *Access) Counters(ctx context.Context, p Location, key string) (Counters, error) {
	s := a.space
	p, err := a.readingKey(p, key)
	if err != nil {
		return Counters{}, err
	}
	b, err := s.branch(p.Branch)
	if err != nil {
		return Counters{}, err
	}
	counted, err := s.countersOf(ctx, b, []store.Key{memoryKey(p.Namespace, key)})
	if err != nil {
		return Counters{}, err
	}
	return counted[0], nil
}

// countersOf returns the counters of some memories.
func (s *Space) countersOf(ctx context.Context, b *lineage.Branch, keys []store.Key) ([]Counters, error) {
	records, err := s.counters.read(ctx, b, keys)
	if err != nil {
		return nil, s.translate("read counters", err)
	}
	counted := make([]Counters, len(keys))
	for i, r := range records {
		counted[i] = Counters{Accesses: r.Accesses, Health: r.Health}
		if r.Last != 0 {
			counted[i].LastAccess = time.UnixMicro(r.Last).UTC()
		}
	}
	return counted, nil
}

// read adds pending to stored counts.
func (c *counting) read(ctx context.Context, b *lineage.Branch, keys []store.Key) ([]countRecord, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	stored, err := c.space.engine.Counters(ctx, b.Lineage, keys)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	counted := make([]countRecord, len(keys))
	for i, key := range keys {
		was, err := decodeCount(stored[i])
		if err != nil {
			return nil, err
		}
		counted[i] = was.plus(c.pending[b][key])
	}
	return counted, nil
}

// brings reports whether a merge's source has counts that its target does not have yet, without writing those that are pending.
func (c *counting) brings(ctx context.Context, p *mergePlan) (bool, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.isPending(p.source.branch, p.namespaces) {
		return true, nil
	}
	counted, err := c.counted(ctx, p)
	return len(counted) > 0, err
}

func (c *counting) isPending(b *lineage.Branch, namespaces []string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.pending[b] {
		if selected(namespaces, key.Namespace) {
			return true
		}
	}
	return false
}

// merge returns the writes that add the source's counts since the two parted to the target. The caller
// commits them and then calls the returned function, also after an error.
func (c *counting) merge(ctx context.Context, p *mergePlan) ([]store.CounterWrite, func(), error) {
	finish := func() {}
	if err := c.flush(ctx); err != nil {
		return nil, finish, err
	}
	c.writing.Lock()
	finish = c.writing.Unlock
	counted, err := c.counted(ctx, p)
	if err != nil || len(counted) == 0 {
		return nil, finish, err
	}
	delete(c.columns, p.target.branch.ID)
	keys := make([]store.Key, 0, len(counted))
	for key := range counted {
		keys = append(keys, key)
	}
	old, err := c.space.engine.Counters(ctx, p.target.branch.Lineage, keys)
	if err != nil {
		return nil, finish, err
	}
	var writes []store.CounterWrite
	keep := c.keep(p.target.branch)
	for i, key := range keys {
		was, err := decodeCount(old[i])
		if err != nil {
			return nil, finish, err
		}
		value, err := json.Marshal(was.plus(counted[key]))
		if err != nil {
			return nil, finish, err
		}
		writes = append(writes, store.CounterWrite{Branch: p.target.branch.ID, Key: key, Version: p.targetAt, Keep: min(keep, p.targetAt), Value: value})
	}
	return writes, finish, nil
}

// counted returns the counts on the source, and on its ancestors, that the target does not have yet.
func (c *counting) counted(ctx context.Context, p *mergePlan) (map[store.Key]countRecord, error) {
	counted, seen := map[store.Key]countRecord{}, map[store.Key]bool{}
	for _, segment := range p.source.branch.Lineage {
		var cursor store.Cursor
		for after := p.sharedByAll(segment.Branch); after < segment.At; {
			page, next, err := c.space.engine.CountersOn(ctx, segment.Branch, after, cursor, fillPage)
			if err != nil {
				return nil, err
			}
			if err := c.addCounted(ctx, p, page, seen, counted); err != nil {
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
func (c *counting) addCounted(ctx context.Context, p *mergePlan, page []store.Counted, seen map[store.Key]bool, counted map[store.Key]countRecord) error {
	keys := map[string][]store.Key{} // by namespace
	for _, record := range page {
		if key := record.Key; !seen[key] && selected(p.namespaces, key.Namespace) {
			seen[key] = true
			keys[key.Namespace] = append(keys[key.Namespace], key)
		}
	}
	for namespace, list := range keys {
		if err := p.learn(ctx, namespace); err != nil {
			return err
		}
		now, err := c.countedBy(ctx, p.source.branch.Lineage, list)
		if err != nil {
			return err
		}
		var base store.Lineage
		if bases := p.ground(namespace).bases; len(bases) > 0 {
			base = bases[0]
		}
		was, err := c.countedBy(ctx, base, list)
		if err != nil {
			return err
		}
		for i, key := range list {
			if now[i] != (countRecord{}) && now[i] != was[i] { // what the source dropped takes nothing from the target
				counted[key] = now[i].minus(was[i])
			}
		}
	}
	return nil
}

// countedBy returns the counts of keys that a lineage sees; none without a lineage.
func (c *counting) countedBy(ctx context.Context, l store.Lineage, keys []store.Key) ([]countRecord, error) {
	counted := make([]countRecord, len(keys))
	if len(l) == 0 {
		return counted, nil
	}
	values, err := c.space.engine.Counters(ctx, l, keys)
	for i, value := range values {
		if counted[i], err = decodeCount(value); err != nil {
			return nil, err
		}
	}
	return counted, err
}
