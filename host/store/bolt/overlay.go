package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bits-and-blooms/bloom/v3"
	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// overlay is consecutive segments of a lineage, front first, merged into one bucket of entries. Versions in a lineage grow
// towards its front, so a lineage cut within them can read it too, ignoring versions above the cut.
type overlay struct {
	id      uint64
	run     store.Lineage
	entries int
	since   int                // the first transaction that can read it
	keys    *bloom.BloomFilter // of its keys; nil: any
}

var (
	keyRun      = []byte("run")
	keyFilter   = []byte("filter")
	keyCount    = []byte("count") // written last: an overlay without it is unfinished
	deepEnough  = 16              // the most blocks of a lineage that need no consolidation
	rewriteRate = 4               // the largest ratio of a merged block's size to that of those in front
)

const (
	chunkEntries = 2000 // entries copied or dropped in one transaction
	maxPlans     = 4096 // cached plans
)

func (o *overlay) bucket(tx *bbolt.Tx) *bbolt.Bucket {
	if b := layout.Overlays(tx).Bucket(layout.U64(o.id)); b != nil {
		return b.Bucket(layout.KindEntries.Bucket())
	}
	return nil
}

// covers returns how many segments at the front of l the overlay contains; 0: none. The front one may be cut earlier than
// the overlay's.
func (o *overlay) covers(l store.Lineage) int {
	skip := slices.IndexFunc(o.run, func(s store.Segment) bool { return s.Branch == l[0].Branch && l[0].At <= s.At })
	if skip < 0 || len(o.run)-skip > len(l) || !slices.Equal(o.run[skip+1:], l[1:len(o.run)-skip]) {
		return 0
	}
	return len(o.run) - skip
}

// contains reports whether run is part of the overlay's, so that readers of run can read the overlay instead.
func (o *overlay) contains(run store.Lineage) bool {
	at := slices.Index(o.run, run[0])
	return at >= 0 && len(o.run)-at >= len(run) && slices.Equal(o.run[at:at+len(run)], run)
}

func encodeLineage(l store.Lineage) []byte {
	out := make([]byte, 0, 16*len(l))
	for _, s := range l {
		out = binary.BigEndian.AppendUint64(out, uint64(s.Branch))
		out = binary.BigEndian.AppendUint64(out, s.At)
	}
	return out
}

func decodeLineage(data []byte) store.Lineage {
	var l store.Lineage
	for ; len(data) >= 16; data = data[16:] {
		l = append(l, store.Segment{Branch: store.BranchID(layout.FromU64(data[:8])), At: layout.FromU64(data[8:16])})
	}
	return l
}

// blocks returns the blocks that a transaction reads for a lineage: the plan, or the plain segments if the transaction
// began before one of the plan's overlays was finished. Overlays leave the plans before they are erased, so a transaction
// that began before the plan was made can read all of its overlays.
func (e *Engine) blocks(r *reader, l store.Lineage) []block {
	plan := e.plan(l)
	for _, b := range plan {
		if b.overlay != nil && b.overlay.since > r.tx.ID() {
			return rawBlocks(l)
		}
	}
	return plan
}

// overlay returns the bucket of an overlay's entries.
func (r *reader) overlay(o *overlay) *bbolt.Bucket {
	found, ok := r.overlays[o]
	if !ok {
		found = o.bucket(r.tx)
		r.overlays[o] = found
	}
	return found
}

// mayHave reports false if the block certainly has no version of a key.
func (b block) mayHave(raw []byte) bool {
	return b.overlay == nil || b.overlay.keys == nil || b.overlay.keys.Test(raw)
}

// plan returns the blocks of a lineage with overlays where possible. Plans are cached until overlays change.
func (e *Engine) plan(l store.Lineage) []block {
	if len(l) <= 2 {
		return rawBlocks(l)
	}
	id := hashLineage(l)
	e.mu.RLock()
	known, ok := e.plans[id]
	e.mu.RUnlock()
	if ok && slices.Equal(known.lineage, l) {
		return known.blocks
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	blocks := e.makePlan(l)
	if len(e.plans) >= maxPlans {
		clear(e.plans)
	}
	e.plans[id] = cachedPlan{slices.Clone(l), blocks}
	return blocks
}

// cachedPlan is a cached plan with its lineage.
type cachedPlan struct {
	lineage store.Lineage
	blocks  []block
}

// hashLineage hashes a lineage (FNV-1a over words). Lineages with equal hashes evict each other's plans.
func hashLineage(l store.Lineage) uint64 {
	h := uint64(14695981039346656037)
	for _, s := range l {
		h = (h ^ uint64(s.Branch)) * 1099511628211
		h = (h ^ s.At) * 1099511628211
	}
	return h
}

func rawBlocks(l store.Lineage) []block {
	blocks := make([]block, len(l))
	for i, s := range l {
		blocks[i] = block{segment: s, length: 1}
	}
	return blocks
}

// makePlan chooses at each segment the longest overlay. The caller holds mu.
func (e *Engine) makePlan(l store.Lineage) []block {
	var blocks []block
	for i := 0; i < len(l); {
		best := block{segment: l[i], length: 1}
		for _, o := range e.overlays {
			if n := o.covers(l[i:]); n > best.length {
				best.overlay, best.length = o, n
			}
		}
		blocks = append(blocks, best)
		i += best.length
	}
	return blocks
}

// Consolidate merges the blocks of a lineage behind its own segment until they are few enough.
func (e *Engine) Consolidate(ctx context.Context, l store.Lineage) error {
	e.building.Lock()
	defer e.building.Unlock()
	for {
		blocks := e.plan(l)
		if len(blocks) <= deepEnough {
			return nil
		}
		first, last, err := e.choose(ctx, blocks)
		if err != nil {
			return fmt.Errorf("consolidate: %w", err)
		}
		from, to := 0, 0
		for i, b := range blocks[:last] {
			if i < first {
				from += b.length
			}
			to += b.length
		}
		if err := e.buildOverlay(ctx, slices.Clone(l[from:to]), blocks[first:last]); err != nil {
			return fmt.Errorf("consolidate: %w", err)
		}
	}
}

// choose picks adjacent blocks to merge, from the newest ancestor back as long as the next is at most rewriteRate times
// the size of those in front; failing that, the two with the lowest cost for their gain.
func (e *Engine) choose(ctx context.Context, blocks []block) (first, last int, err error) {
	sizes := make([]int, len(blocks))
	for i := 1; i < len(blocks); i++ {
		if sizes[i], err = e.sizeOf(ctx, blocks[i]); err != nil {
			return 0, 0, err
		}
	}
	for first = 1; first < len(blocks)-1; first++ {
		total := sizes[first] + 1
		last = first + 1
		for last < len(blocks) && sizes[last] <= rewriteRate*total {
			total += sizes[last]
			last++
		}
		if last-first > 1 {
			return first, last, nil
		}
	}
	return len(blocks) - 2, len(blocks), nil
}

// sizeOf counts the entries of a block.
func (e *Engine) sizeOf(ctx context.Context, b block) (n int, err error) {
	if b.overlay != nil {
		return b.overlay.entries, nil
	}
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		if entries := newReader(tx).bucket(b); entries != nil {
			n = entries.Stats().KeyN
		}
		return nil
	})
	return n, err
}

// buildOverlay copies the blocks' entries to a new overlay, in chunks so that commits continue, and drops the overlays
// that it contains.
func (e *Engine) buildOverlay(ctx context.Context, run store.Lineage, blocks []block) error {
	o, err := e.emptyOverlay(ctx, run, blocks)
	if err != nil {
		return err
	}
	if err = e.fillOverlay(ctx, o, blocks); err == nil {
		err = e.finishOverlay(ctx, o)
	}
	if err != nil {
		e.abandon(ctx, o)
		return err
	}
	if err := e.reach(OverlayUsed); err != nil {
		return err
	}
	err = e.dropOverlays(ctx, func(old *overlay) bool { return old != o && o.contains(old.run) })
	return errors.Join(err, e.reach(OverlaysDropped))
}

func (e *Engine) fillOverlay(ctx context.Context, o *overlay, blocks []block) error {
	if err := e.update(ctx, o.begin); err != nil {
		return err
	}
	if err := e.reach(OverlayBegun); err != nil {
		return err
	}
	for resume := []byte{}; resume != nil; {
		err := e.update(ctx, func(tx *bbolt.Tx) (err error) {
			resume, err = o.copyChunk(tx, blocks, resume, e.options.chunk)
			return err
		})
		if err == nil {
			err = e.reach(OverlayCopied)
		}
		if err != nil {
			return err
		}
	}
	return e.reach(OverlayWhole)
}

func (o *overlay) begin(tx *bbolt.Tx) (err error) {
	overlays := layout.Overlays(tx)
	if o.id, err = overlays.NextSequence(); err != nil {
		return err
	}
	b, err := overlays.CreateBucket(layout.U64(o.id))
	if err != nil {
		return err
	}
	if _, err := b.CreateBucket(layout.KindEntries.Bucket()); err != nil {
		return err
	}
	return overlayRecords(b, o.id).Write(keyRun, encodeLineage(o.run))
}

// overlayRecords returns an overlay's metadata records.
func overlayRecords(b *bbolt.Bucket, id uint64) layout.Records {
	return layout.In(b, layout.KindOverlay, id)
}

// abandonWithin bounds the time to erase an unfinished overlay.
const abandonWithin = 10 * time.Second

// abandon erases an unfinished overlay, even after ctx ended. Remains are erased with the next overlays or by the next Open.
func (e *Engine) abandon(ctx context.Context, o *overlay) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonWithin)
	defer cancel()
	if err := e.update(ctx, dropUnfinished); err != nil {
		e.logger.Warn("an unfinished overlay stays for now", "overlay", o.id, "error", err)
	}
}

// emptyOverlay returns a new overlay with a filter sized for the blocks' entries.
func (e *Engine) emptyOverlay(ctx context.Context, run store.Lineage, blocks []block) (*overlay, error) {
	total := 0
	for _, b := range blocks {
		n, err := e.sizeOf(ctx, b)
		if err != nil {
			return nil, err
		}
		total += n
	}
	return &overlay{run: run, keys: bloom.NewWithEstimates(uint(max(total, 1)), falseRate)}, nil
}

// copyChunk copies whole keys of about limit entries from resume on, and returns the next key; nil at the end.
func (o *overlay) copyChunk(tx *bbolt.Tx, blocks []block, resume []byte, limit int) ([]byte, error) {
	target := layout.In(o.bucket(tx), layout.KindEntries, 0)
	if target.Bucket == nil {
		return nil, fmt.Errorf("overlay %d was dropped while it was built", o.id)
	}
	target.FillPercent = 0.9 // keys come in order
	m := newReader(tx).walk(blocks, nil, resume)
	copied := 0
	for raw := m.next(); raw != nil; raw = m.next() {
		raw = bytes.Clone(raw)
		if copied >= limit {
			o.entries += copied
			return raw, nil
		}
		n, err := m.copyKey(raw, target)
		if err != nil {
			return nil, err
		}
		o.keys.Add(raw)
		copied += n
	}
	o.entries += copied
	return nil, nil
}

func (m *mergeIterator) copyKey(raw []byte, target layout.Records) (int, error) {
	n := 0
	for _, s := range m.sources {
		if !isVersionOf(s.key, raw) {
			continue
		}
		key, value := s.cursor.Seek(keycode.Version(raw, s.block.segment.At))
		for ; isVersionOf(key, raw); key, value = s.cursor.Next() {
			if err := target.AddSealed(bytes.Clone(key), bytes.Clone(value)); err != nil {
				return n, err
			}
			n++
		}
		m.pass(s, raw)
	}
	return n, nil
}

// finishOverlay puts an overlay into use, unless it was dropped meanwhile.
func (e *Engine) finishOverlay(ctx context.Context, o *overlay) error {
	filter, err := encodeFilter(o.keys)
	if err != nil {
		return err
	}
	err = e.update(ctx, func(tx *bbolt.Tx) error {
		b := layout.Overlays(tx).Bucket(layout.U64(o.id))
		if b == nil {
			return fmt.Errorf("overlay %d was dropped while it was built", o.id)
		}
		o.since = tx.ID()
		r := overlayRecords(b, o.id)
		return errors.Join(r.Write(keyFilter, filter), r.Write(keyCount, layout.U64(uint64(o.entries))))
	})
	if err != nil {
		return err
	}
	e.recallOverlays([]*overlay{o})
	return nil
}

// dropOverlays takes overlays out of use, and then erases them.
func (e *Engine) dropOverlays(ctx context.Context, which func(*overlay) bool) error {
	dropped := e.forgetOverlays(which)
	err := e.update(ctx, func(tx *bbolt.Tx) error { return eraseOverlays(tx, dropped) })
	if err != nil {
		e.recallOverlays(dropped)
		return fmt.Errorf("drop overlays: %w", err)
	}
	return nil
}

// forgetOverlays takes overlays out of use, so that they can be erased. The caller holds building.
func (e *Engine) forgetOverlays(which func(*overlay) bool) (forgotten []*overlay) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.overlays = slices.DeleteFunc(slices.Clone(e.overlays), func(o *overlay) bool {
		if which(o) {
			forgotten = append(forgotten, o)
			return true
		}
		return false
	})
	clear(e.plans)
	return forgotten
}

// recallOverlays puts overlays that could not be erased back into use, so that later erasures include them.
func (e *Engine) recallOverlays(forgotten []*overlay) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, o := range forgotten {
		if !slices.ContainsFunc(e.overlays, func(known *overlay) bool { return known.id == o.id }) { // a reopened file may have loaded it
			e.overlays = append(e.overlays, o)
		}
	}
	clear(e.plans)
}

// eraseOverlays erases overlays, and the unfinished ones that abandon could not erase.
func eraseOverlays(tx *bbolt.Tx, forgotten []*overlay) error {
	for _, o := range forgotten {
		if err := layout.Overlays(tx).DeleteBucket(layout.U64(o.id)); err != nil {
			return fmt.Errorf("erase overlay %d: %w", o.id, err)
		}
	}
	return dropUnfinished(tx)
}

func readOverlays(tx *bbolt.Tx) ([]*overlay, error) {
	var list []*overlay
	overlays := layout.Overlays(tx)
	err := overlays.ForEachBucket(func(id []byte) error {
		if o := readOverlay(overlays.Bucket(id), layout.FromU64(id)); o != nil {
			list = append(list, o)
		}
		return nil
	})
	return list, err
}

// readOverlay reads an overlay's metadata; nil if it is unfinished or damaged.
func readOverlay(b *bbolt.Bucket, id uint64) *overlay {
	r := overlayRecords(b, id)
	run, errRun := r.Read(keyRun)
	filter, errFilter := r.Read(keyFilter)
	count, errCount := r.Read(keyCount)
	o := &overlay{id: id, run: decodeLineage(run), entries: int(layout.FromU64(count)), keys: decodeFilter(filter)}
	if errors.Join(errRun, errFilter, errCount) != nil || count == nil || len(o.run) == 0 || b.Bucket(layout.KindEntries.Bucket()) == nil {
		return nil
	}
	return o
}

// dropUnfinished erases unfinished overlays. No overlay is under construction.
func dropUnfinished(tx *bbolt.Tx) error {
	overlays := layout.Overlays(tx)
	var drop [][]byte
	err := overlays.ForEachBucket(func(id []byte) error {
		if readOverlay(overlays.Bucket(id), layout.FromU64(id)) == nil {
			drop = append(drop, bytes.Clone(id))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range drop {
		if err := overlays.DeleteBucket(id); err != nil {
			return err
		}
	}
	return nil
}
