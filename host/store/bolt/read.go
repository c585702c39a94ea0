package bolt

import (
	"bytes"
	"context"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// block is a unit of reading: a segment of a lineage, or an overlay of several.
type block struct {
	segment store.Segment // the segment, or the overlay's front one
	overlay *overlay      // nil: a plain segment
	length  int           // the number of segments
}

// reader reads within one transaction.
type reader struct {
	tx       *bbolt.Tx
	branches *bbolt.Bucket
	table    layout.Table                     // of entries
	entries  map[store.BranchID]*bbolt.Bucket // cached; nil for a branch without entries
	overlays map[*overlay]*bbolt.Bucket       // cached
}

func newReader(tx *bbolt.Tx) *reader {
	return &reader{tx: tx, branches: layout.Branches(tx), table: layout.TableOf(layout.KindEntries, 0), entries: map[store.BranchID]*bbolt.Bucket{}, overlays: map[*overlay]*bbolt.Bucket{}}
}

func (r *reader) bucket(b block) *bbolt.Bucket {
	if b.overlay != nil {
		return r.overlay(b.overlay)
	}
	if found, ok := r.entries[b.segment.Branch]; ok {
		return found
	}
	var entries *bbolt.Bucket
	if branch := r.branches.Bucket(layout.U64(uint64(b.segment.Branch))); branch != nil {
		entries = branch.Bucket(layout.KindEntries.Bucket())
	}
	r.entries[b.segment.Branch] = entries
	return entries
}

// get returns the newest entry of a key that the blocks see; the zero Entry if there is none.
func (r *reader) get(blocks []block, key store.Key) (store.Entry, error) {
	raw := keycode.Encode(key)
	for _, b := range blocks {
		if !b.mayHave(raw) {
			continue
		}
		entries := r.bucket(b)
		if entries == nil {
			continue
		}
		found, value := entries.Cursor().Seek(keycode.Version(raw, b.segment.At))
		if !isVersionOf(found, raw) {
			continue
		}
		return r.decode(found, value)
	}
	return store.Entry{}, nil
}

func isVersionOf(key, raw []byte) bool {
	return len(key) == len(raw)+keycode.VersionSize && bytes.HasPrefix(key, raw)
}

func (r *reader) decode(key, data []byte) (store.Entry, error) {
	raw, version, err := keycode.SplitVersion(key)
	if err != nil {
		return store.Entry{}, err
	}
	name, err := keycode.Decode(raw)
	if err != nil {
		return store.Entry{}, err
	}
	rec, err := r.table.DecodeRecord(key, data)
	if err == nil && rec.Large() {
		rec.Value, err = r.large(rec.Branch, key, rec.Value)
	}
	if err != nil {
		return store.Entry{}, fmt.Errorf("read %s at version %d: %w", name, version, err)
	}
	return rec.Entry(name, version), nil
}

// large returns a separately stored value and verifies its checksum.
func (r *reader) large(b store.BranchID, key, sum []byte) ([]byte, error) {
	branch := r.branches.Bucket(layout.U64(uint64(b)))
	if branch == nil {
		return nil, layout.ErrNoValue
	}
	values := layout.InBranch(branch, b, layout.KindValues)
	return layout.OpenLarge(values.Table, key, values.Get(key), sum)
}

// readLineage runs a read of a lineage; a TrimmedError if part of it was trimmed.
func (e *Engine) readLineage(ctx context.Context, l store.Lineage, do func(r *reader, blocks []block) error) error {
	return e.read(ctx, func(tx *bbolt.Tx) error {
		if err := e.checkFloors(l); err != nil {
			return err
		}
		r := newReader(tx)
		return do(r, e.blocks(r, l))
	})
}

// GetAt returns the newest entry of each key.
func (e *Engine) GetAt(ctx context.Context, l store.Lineage, keys []store.Key) (found []store.Entry, err error) {
	found = make([]store.Entry, len(keys))
	err = e.readLineage(ctx, l, func(r *reader, blocks []block) error {
		for i, key := range keys {
			if found[i], err = r.get(blocks, key); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// mergeIterator is a merge iterator over the keys of several blocks.
type mergeIterator struct {
	reader  *reader
	prefix  []byte
	reverse bool
	sources []*source
}

// source is a block's cursor in a merge; key is the next one, nil at the end.
type source struct {
	block  block
	cursor *bbolt.Cursor
	key    []byte
}

// walk returns an iterator at the first encoded key (without version) at or after from, within prefix.
func (r *reader) walk(blocks []block, prefix, from []byte) *mergeIterator {
	m := &mergeIterator{reader: r, prefix: prefix, sources: r.sources(blocks)}
	for _, s := range m.sources {
		s.key, _ = s.cursor.Seek(from)
	}
	return m
}

// walkBack returns an iterator that descends from the last encoded key below limit (nil: from the last one), within prefix.
func (r *reader) walkBack(blocks []block, prefix, limit []byte) *mergeIterator {
	m := &mergeIterator{reader: r, prefix: prefix, reverse: true, sources: r.sources(blocks)}
	for _, s := range m.sources {
		s.key = before(s.cursor, limit)
	}
	return m
}

func (r *reader) sources(blocks []block) (list []*source) {
	for _, b := range blocks {
		if entries := r.bucket(b); entries != nil {
			list = append(list, &source{block: b, cursor: entries.Cursor()})
		}
	}
	return list
}

// before returns the last key of a bucket below limit; nil limit: the last key.
func before(c *bbolt.Cursor, limit []byte) []byte {
	if limit == nil {
		key, _ := c.Last()
		return key
	}
	if key, _ := c.Seek(limit); key == nil {
		last, _ := c.Last()
		return last
	}
	key, _ := c.Prev()
	return key
}

// next returns the next key of any block, without version; nil at the end of the prefix.
func (m *mergeIterator) next() []byte {
	var best []byte
	for _, s := range m.sources {
		if !bytes.HasPrefix(s.key, m.prefix) || len(s.key) < keycode.VersionSize {
			continue
		}
		raw := s.key[:len(s.key)-keycode.VersionSize]
		if best == nil || (bytes.Compare(raw, best) < 0) != m.reverse && !bytes.Equal(raw, best) {
			best = raw
		}
	}
	return best
}

// newest returns the newest entry of a key that the blocks see, and moves every block past the key.
func (m *mergeIterator) newest(raw []byte) (found store.Entry, err error) {
	for _, s := range m.sources {
		if !isVersionOf(s.key, raw) {
			continue
		}
		if found.Version == 0 {
			key, value := s.cursor.Seek(keycode.Version(raw, s.block.segment.At))
			if isVersionOf(key, raw) {
				if found, err = m.reader.decode(key, value); err != nil {
					return found, err
				}
			}
		}
		m.pass(s, raw)
	}
	return found, nil
}

// pass moves a source beyond all versions of a key.
func (m *mergeIterator) pass(s *source, raw []byte) {
	if m.reverse {
		s.key = before(s.cursor, raw)
		return
	}
	last := keycode.Version(raw, 0)
	key, _ := s.cursor.Seek(last)
	if bytes.Equal(key, last) {
		key, _ = s.cursor.Next()
	}
	s.key = key
}

// versions calls do with the versions of a key that the blocks see below a version, newest first, until do returns false.
// Unless stopped, it moves every block past the key.
func (m *mergeIterator) versions(raw []byte, below uint64, do func(store.Entry) (more bool)) (more bool, err error) {
	for _, s := range m.sources {
		if !isVersionOf(s.key, raw) {
			continue
		}
		key, value := s.cursor.Seek(keycode.Version(raw, min(s.block.segment.At, below-1)))
		for ; isVersionOf(key, raw); key, value = s.cursor.Next() {
			e, err := m.reader.decode(key, value)
			if err != nil {
				return false, err
			}
			if !do(e) {
				return false, nil
			}
		}
		m.pass(s, raw)
	}
	return true, nil
}

// ScanAt lists live entries.
func (e *Engine) ScanAt(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) (list []store.Entry, next store.Cursor, err error) {
	prefix := keycode.Prefix(r)
	from, err := keycode.Start(r, prefix, c)
	if err != nil {
		return nil, "", fmt.Errorf("scan: %w", err)
	}
	err = e.readLineage(ctx, l, func(rd *reader, blocks []block) error {
		walk := rd.walk
		if r.Reverse {
			walk = rd.walkBack
		}
		m := walk(blocks, prefix, from)
		for raw := m.next(); raw != nil; raw = m.next() {
			raw = bytes.Clone(raw)
			if len(list) >= limit {
				next = store.Cursor(raw)
				if r.Reverse {
					next = store.Cursor(keycode.Version(raw, 0))
				}
				return nil
			}
			found, err := m.newest(raw)
			if err != nil {
				return err
			}
			if found.Exists() {
				list = append(list, found)
			}
		}
		return nil
	})
	return list, next, err
}

// Versions lists every version. A cursor inside a key has the version to continue from.
func (e *Engine) Versions(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) (list []store.Entry, next store.Cursor, err error) {
	prefix := keycode.Prefix(r)
	var resume []byte
	below := store.Latest
	if len(c) > keycode.VersionSize {
		if resume, below, err = keycode.SplitVersion([]byte(c)); err != nil {
			return nil, "", fmt.Errorf("list versions: %w", err)
		}
	}
	from, err := keycode.Start(r, prefix, store.Cursor(resume))
	if err != nil {
		return nil, "", fmt.Errorf("list versions: %w", err)
	}
	err = e.readLineage(ctx, l, func(rd *reader, blocks []block) error {
		m := rd.walk(blocks, prefix, from)
		for raw := m.next(); raw != nil; raw = m.next() {
			raw = bytes.Clone(raw)
			if !bytes.Equal(raw, resume) {
				below = store.Latest
			}
			more, err := m.versions(raw, below, func(v store.Entry) bool {
				if len(list) >= limit {
					next = store.Cursor(keycode.Version(raw, v.Version+1))
					return false
				}
				list = append(list, v)
				return true
			})
			if err != nil || !more {
				return err
			}
		}
		return nil
	})
	return list, next, err
}

// lastName returns the greatest name of a collection on one branch; empty if there is none.
func (r *reader) lastName(b store.BranchID, namespace, collection string) (string, error) {
	entries := r.bucket(block{segment: store.Segment{Branch: b}})
	if entries == nil {
		return "", nil
	}
	all := store.Range{Namespace: namespace, Collection: collection, Reverse: true}
	prefix := keycode.Prefix(all)
	key := before(entries.Cursor(), keycode.After(prefix))
	if !bytes.HasPrefix(key, prefix) {
		return "", nil
	}
	raw, _, err := keycode.SplitVersion(key)
	if err != nil {
		return "", err
	}
	k, err := keycode.Decode(raw)
	return k.Name, err
}

// Changes lists a branch's change log.
func (e *Engine) Changes(ctx context.Context, b store.BranchID, from, to uint64, limit int) (changes []store.Change, next uint64, err error) {
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		if t, trimmed := e.floor(b); trimmed && from < t.Floor.Version {
			return &store.TrimmedError{Branch: b, Floor: t.Floor}
		}
		branch := layout.Branch(tx, b)
		if branch == nil || from >= to {
			return nil
		}
		log := layout.InBranch(branch, b, layout.KindLog)
		c, last := log.Cursor(), uint64(0)
		for key, value := c.Seek(layout.U64(from + 1)); key != nil; key, value = c.Next() {
			change, err := log.Change(key, value)
			if err != nil {
				return fmt.Errorf("read the log of branch %d: %w", b, err)
			}
			if change.Version > to {
				return nil
			}
			if len(changes) >= limit && change.Version != last {
				next = last
				return nil
			}
			changes = append(changes, change)
			last = change.Version
		}
		changes, next, err = tailChanges(tx, b, from, to, limit, changes)
		return err
	})
	return changes, next, err
}

// tailChanges adds the changes of a branch that its log does not have yet.
func tailChanges(tx *bbolt.Tx, b store.BranchID, from, to uint64, limit int, changes []store.Change) ([]store.Change, uint64, error) {
	list, err := layout.Tails(tx, from)
	if err != nil {
		return nil, 0, fmt.Errorf("read the log of branch %d: %w", b, err)
	}
	for _, p := range list {
		for _, c := range p.Changes {
			if c.Branch != b || p.Version > to {
				continue
			}
			if n := len(changes); n >= limit && n > 0 && changes[n-1].Version != p.Version {
				return changes, changes[n-1].Version, nil
			}
			key, err := keycode.Decode(c.Raw)
			if err != nil {
				return nil, 0, fmt.Errorf("read the log of branch %d: %w", b, err)
			}
			changes = append(changes, store.Change{Key: key, Version: p.Version, Deleted: c.Deleted})
		}
	}
	return changes, 0, nil
}

// Counters returns counters, searching segment by segment.
func (e *Engine) Counters(ctx context.Context, l store.Lineage, keys []store.Key) (found [][]byte, err error) {
	found = make([][]byte, len(keys))
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		for i, key := range keys {
			if found[i], err = counter(tx, l, keycode.Encode(key)); err != nil {
				return fmt.Errorf("count of %s: %w", key, err)
			}
		}
		return nil
	})
	return found, err
}

func counter(tx *bbolt.Tx, l store.Lineage, raw []byte) ([]byte, error) {
	for _, s := range l {
		branch := layout.Branch(tx, s.Branch)
		if branch == nil {
			continue
		}
		counters := layout.InBranch(branch, s.Branch, layout.KindCounters)
		key, value := counters.Cursor().Seek(keycode.Version(raw, s.At))
		if isVersionOf(key, raw) {
			return counters.Counter(key, value)
		}
	}
	return nil, nil
}

// CountersOn lists a branch's own counters.
func (e *Engine) CountersOn(ctx context.Context, b store.BranchID, after uint64, c store.Cursor, limit int) (list []store.Counted, next store.Cursor, err error) {
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		branch := layout.Branch(tx, b)
		if branch == nil {
			return nil
		}
		counters := layout.InBranch(branch, b, layout.KindCounters)
		cursor := counters.Cursor()
		for key, value := cursor.Seek([]byte(c)); key != nil; {
			if len(list) >= limit {
				next = store.Cursor(key)
				return nil
			}
			raw, version, err := keycode.SplitVersion(key)
			if err != nil {
				return err
			}
			raw = bytes.Clone(raw)
			if version > after {
				k, err := keycode.Decode(raw)
				if err != nil {
					return err
				}
				count, err := counters.Counter(key, value)
				if err != nil {
					return fmt.Errorf("count of %s: %w", k, err)
				}
				list = append(list, store.Counted{Key: k, Version: version, Value: count})
			}
			last := keycode.Version(raw, 0)
			if key, value = cursor.Seek(last); bytes.Equal(key, last) {
				key, value = cursor.Next()
			}
		}
		return nil
	})
	return list, next, err
}
