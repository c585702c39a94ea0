package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// block is a stretch of a lineage that is read at once: a segment, or an overlay of several.
type block struct {
	segment store.Segment // of an overlay: the front one
	overlay *overlay      // nil: the segment itself
	length  int           // segments it stands for
}

// reader reads within one transaction.
type reader struct {
	tx       *bbolt.Tx
	branches *bbolt.Bucket
	whole    place                            // of entries
	entries  map[store.BranchID]*bbolt.Bucket // those looked up so far; nil for a branch without any
	overlays map[*overlay]*bbolt.Bucket       // likewise
}

func newReader(tx *bbolt.Tx) *reader {
	return &reader{tx: tx, branches: tx.Bucket(bucketBranches), whole: placeOf(kindEntries, 0), entries: map[store.BranchID]*bbolt.Bucket{}, overlays: map[*overlay]*bbolt.Bucket{}}
}

func (r *reader) bucket(b block) *bbolt.Bucket {
	if b.overlay != nil {
		return r.overlay(b.overlay)
	}
	if found, ok := r.entries[b.segment.Branch]; ok {
		return found
	}
	var entries *bbolt.Bucket
	if branch := r.branches.Bucket(u64(uint64(b.segment.Branch))); branch != nil {
		entries = branch.Bucket(bucketEntries)
	}
	r.entries[b.segment.Branch] = entries
	return entries
}

// get finds the newest entry of a key that the blocks see; the zero Entry for none.
func (r *reader) get(blocks []block, key store.Key) (store.Entry, error) {
	raw := encodeKey(key)
	for _, b := range blocks {
		if !b.mayHave(raw) {
			continue
		}
		entries := r.bucket(b)
		if entries == nil {
			continue
		}
		found, value := entries.Cursor().Seek(atVersion(raw, b.segment.At))
		if !isVersionOf(found, raw) {
			continue
		}
		return r.decode(found, value)
	}
	return store.Entry{}, nil
}

func isVersionOf(key, raw []byte) bool {
	return len(key) == len(raw)+versionSize && bytes.HasPrefix(key, raw)
}

func (r *reader) decode(key, data []byte) (store.Entry, error) {
	raw, version, err := splitVersion(key)
	if err != nil {
		return store.Entry{}, err
	}
	name, err := decodeKey(raw)
	if err != nil {
		return store.Entry{}, err
	}
	rec, err := r.whole.decodeRecord(key, data)
	if err == nil && rec.flags&flagLarge != 0 {
		rec.value, err = r.large(rec.branch, key, rec.value)
	}
	if err != nil {
		return store.Entry{}, fmt.Errorf("read %s at version %d: %w", name, version, err)
	}
	return rec.entry(name, version), nil
}

// large is a value that is kept apart and has a checksum.
func (r *reader) large(b store.BranchID, key, sum []byte) ([]byte, error) {
	branch := r.branches.Bucket(u64(uint64(b)))
	if branch == nil {
		return nil, errNoValue
	}
	values := of(branch, b, kindValues)
	return openLarge(values.place, key, values.Get(key), sum)
}

var errNoValue = fmt.Errorf("its value is missing: %w", store.ErrDamaged)

// openLarge is a value that was kept apart, which must be the one that its entry was written with.
func openLarge(p place, key, data, sum []byte) ([]byte, error) {
	if data == nil {
		return nil, errNoValue
	}
	value, err := p.open(key, data)
	if err == nil && !bytes.Equal(data[len(value):], sum) {
		err = errRot
	}
	return value, err
}

// readLineage runs a read of a lineage, unless part of it was trimmed.
func (e *Engine) readLineage(ctx context.Context, l store.Lineage, do func(r *reader, blocks []block) error) error {
	return e.read(ctx, func(tx *bbolt.Tx) error {
		if err := e.checkFloors(l); err != nil {
			return err
		}
		r := newReader(tx)
		return do(r, e.blocks(r, l))
	})
}

// GetAt looks up keys.
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

// merged walks the keys of several blocks in order.
type merged struct {
	reader  *reader
	prefix  []byte
	reverse bool
	sources []*source
}

// source is a block's place in a walk: key is the next one there, nil at the end.
type source struct {
	block  block
	cursor *bbolt.Cursor
	key    []byte
}

// walk starts at the first encoded key (without version) at or after from, within prefix.
func (r *reader) walk(blocks []block, prefix, from []byte, reverse bool) *merged {
	m := &merged{reader: r, prefix: prefix, reverse: reverse}
	for _, b := range blocks {
		entries := r.bucket(b)
		if entries == nil {
			continue
		}
		s := &source{block: b, cursor: entries.Cursor()}
		if reverse {
			s.key = before(s.cursor, from)
		} else {
			s.key, _ = s.cursor.Seek(from)
		}
		m.sources = append(m.sources, s)
	}
	return m
}

// before is the last key of a bucket that is below limit; nil limit: the last of all.
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

// next is the next key that any block has, without version; nil at the end of the prefix.
func (m *merged) next() []byte {
	var best []byte
	for _, s := range m.sources {
		if !bytes.HasPrefix(s.key, m.prefix) || len(s.key) < versionSize {
			continue
		}
		raw := s.key[:len(s.key)-versionSize]
		if best == nil || (bytes.Compare(raw, best) < 0) != m.reverse && !bytes.Equal(raw, best) {
			best = raw
		}
	}
	return best
}

// newest is the newest entry of a key that the blocks see, and moves every block past the key.
func (m *merged) newest(raw []byte) (found store.Entry, err error) {
	for _, s := range m.sources {
		if !isVersionOf(s.key, raw) {
			continue
		}
		if found.Version == 0 {
			key, value := s.cursor.Seek(atVersion(raw, s.block.segment.At))
			if isVersionOf(key, raw) {
				if found, err = m.reader.decode(key, value); err != nil {
					return found, err
				}
			}
		}
		s.pass(raw, m.reverse)
	}
	return found, nil
}

// pass moves beyond all versions of a key.
func (s *source) pass(raw []byte, reverse bool) {
	if reverse {
		s.key = before(s.cursor, raw)
		return
	}
	last := atVersion(raw, 0)
	key, _ := s.cursor.Seek(last)
	if bytes.Equal(key, last) {
		key, _ = s.cursor.Next()
	}
	s.key = key
}

// versions gives the versions of a key that the blocks see below a version, newest first, until do says stop.
// It moves every block past the key unless it was stopped.
func (m *merged) versions(raw []byte, below uint64, do func(store.Entry) (more bool)) (more bool, err error) {
	for _, s := range m.sources {
		if !isVersionOf(s.key, raw) {
			continue
		}
		key, value := s.cursor.Seek(atVersion(raw, min(s.block.segment.At, below-1)))
		for ; isVersionOf(key, raw); key, value = s.cursor.Next() {
			e, err := m.reader.decode(key, value)
			if err != nil {
				return false, err
			}
			if !do(e) {
				return false, nil
			}
		}
		s.pass(raw, false)
	}
	return true, nil
}

var errCursor = errors.New("cursor does not belong to this listing")

// start is where a listing begins: at the cursor, or where the range does.
func start(r store.Range, prefix []byte, c store.Cursor) ([]byte, error) {
	if c != "" {
		if !bytes.HasPrefix([]byte(c), prefix) {
			return nil, errCursor
		}
		return []byte(c), nil
	}
	if r.Reverse {
		return reverseStart(r, prefix), nil
	}
	if r.From != "" {
		from := encodeKey(store.Key{Namespace: r.Namespace, Collection: r.Collection, Name: r.From})
		if bytes.Compare(from[:len(from)-2], prefix) > 0 {
			return from[:len(from)-2], nil
		}
	}
	return prefix, nil
}

// reverseStart is the first encoded key that a listing backwards does not give; nil for none.
func reverseStart(r store.Range, prefix []byte) []byte {
	if r.From != "" {
		return atVersion(encodeKey(store.Key{Namespace: r.Namespace, Collection: r.Collection, Name: r.From}), 0)
	}
	end := slices.Clone(prefix)
	for len(end) > 0 && end[len(end)-1] == 255 {
		end = end[:len(end)-1]
	}
	if len(end) == 0 {
		return nil
	}
	end[len(end)-1]++
	return end
}

// ScanAt lists live entries.
func (e *Engine) ScanAt(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) (list []store.Entry, next store.Cursor, err error) {
	prefix := prefixOf(r)
	from, err := start(r, prefix, c)
	if err != nil {
		return nil, "", fmt.Errorf("scan: %w", err)
	}
	err = e.readLineage(ctx, l, func(rd *reader, blocks []block) error {
		m := rd.walk(blocks, prefix, from, r.Reverse)
		for raw := m.next(); raw != nil; raw = m.next() {
			raw = bytes.Clone(raw)
			if len(list) >= limit {
				next = store.Cursor(raw)
				if r.Reverse {
					next = store.Cursor(atVersion(raw, 0))
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

// Versions lists every version. A cursor inside a key carries the version to go on from.
func (e *Engine) Versions(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) (list []store.Entry, next store.Cursor, err error) {
	prefix := prefixOf(r)
	var resume []byte
	below := store.Latest
	if len(c) > versionSize {
		if resume, below, err = splitVersion([]byte(c)); err != nil {
			return nil, "", fmt.Errorf("list versions: %w", err)
		}
	}
	from, err := start(r, prefix, store.Cursor(resume))
	if err != nil {
		return nil, "", fmt.Errorf("list versions: %w", err)
	}
	err = e.readLineage(ctx, l, func(rd *reader, blocks []block) error {
		m := rd.walk(blocks, prefix, from, false)
		for raw := m.next(); raw != nil; raw = m.next() {
			raw = bytes.Clone(raw)
			if !bytes.Equal(raw, resume) {
				below = store.Latest
			}
			more, err := m.versions(raw, below, func(v store.Entry) bool {
				if len(list) >= limit {
					next = store.Cursor(atVersion(raw, v.Version+1))
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

// lastName is the greatest name in a collection on one branch; empty for none.
func (r *reader) lastName(b store.BranchID, namespace, collection string) (string, error) {
	entries := r.bucket(block{segment: store.Segment{Branch: b}})
	if entries == nil {
		return "", nil
	}
	all := store.Range{Namespace: namespace, Collection: collection, Reverse: true}
	prefix := prefixOf(all)
	key := before(entries.Cursor(), reverseStart(all, prefix))
	if !bytes.HasPrefix(key, prefix) {
		return "", nil
	}
	raw, _, err := splitVersion(key)
	if err != nil {
		return "", err
	}
	k, err := decodeKey(raw)
	return k.Name, err
}

// Changes lists a branch's change log.
func (e *Engine) Changes(ctx context.Context, b store.BranchID, from, to uint64, limit int) (changes []store.Change, next uint64, err error) {
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		if t, trimmed := e.floor(b); trimmed && from < t.floor.Version {
			return &store.TrimmedError{Branch: b, Floor: t.floor}
		}
		branch := tx.Bucket(bucketBranches).Bucket(u64(uint64(b)))
		if branch == nil || from >= to {
			return nil
		}
		log := of(branch, b, kindLog)
		c, last := log.Cursor(), uint64(0)
		for key, value := c.Seek(u64(from + 1)); key != nil; key, value = c.Next() {
			change, err := log.change(key, value)
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
		return nil
	})
	return changes, next, err
}

// Counters looks up counters, segment by segment.
func (e *Engine) Counters(ctx context.Context, l store.Lineage, keys []store.Key) (found [][]byte, err error) {
	found = make([][]byte, len(keys))
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		for i, key := range keys {
			if found[i], err = counter(tx, l, encodeKey(key)); err != nil {
				return fmt.Errorf("count of %s: %w", key, err)
			}
		}
		return nil
	})
	return found, err
}

func counter(tx *bbolt.Tx, l store.Lineage, raw []byte) ([]byte, error) {
	for _, s := range l {
		branch := tx.Bucket(bucketBranches).Bucket(u64(uint64(s.Branch)))
		if branch == nil {
			continue
		}
		counters := of(branch, s.Branch, kindCounters)
		key, value := counters.Cursor().Seek(atVersion(raw, s.At))
		if isVersionOf(key, raw) {
			return counters.counted(key, value)
		}
	}
	return nil, nil
}

// counted is a counter record's value: nil when it was forgotten.
func (p place) counted(key, data []byte) ([]byte, error) {
	value, err := p.open(key, data)
	if err != nil {
		return nil, err
	}
	return count(value), nil
}

func count(value []byte) []byte {
	if len(value) == 0 || value[0] == 0 {
		return nil
	}
	return bytes.Clone(value[1:])
}

func encodeCounted(value []byte) []byte {
	if value == nil {
		return []byte{0}
	}
	return append([]byte{1}, value...)
}

// CountersOn lists a branch's own counters.
func (e *Engine) CountersOn(ctx context.Context, b store.BranchID, after uint64, c store.Cursor, limit int) (list []store.Counted, next store.Cursor, err error) {
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		branch := tx.Bucket(bucketBranches).Bucket(u64(uint64(b)))
		if branch == nil {
			return nil
		}
		counters := of(branch, b, kindCounters)
		cursor := counters.Cursor()
		for key, value := cursor.Seek([]byte(c)); key != nil; {
			if len(list) >= limit {
				next = store.Cursor(key)
				return nil
			}
			raw, version, err := splitVersion(key)
			if err != nil {
				return err
			}
			raw = bytes.Clone(raw)
			if version > after {
				k, err := decodeKey(raw)
				if err != nil {
					return err
				}
				count, err := counters.counted(key, value)
				if err != nil {
					return fmt.Errorf("count of %s: %w", k, err)
				}
				list = append(list, store.Counted{Key: k, Version: version, Value: count})
			}
			last := atVersion(raw, 0)
			if key, value = cursor.Seek(last); bytes.Equal(key, last) {
				key, value = cursor.Next()
			}
		}
		return nil
	})
	return list, next, err
}
