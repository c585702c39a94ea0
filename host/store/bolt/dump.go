package bolt

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/dumping"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

var _ store.Portable = (*Engine)(nil)

// Dump yields the pieces of the space at a version.
func (e *Engine) Dump(ctx context.Context, since, at uint64, yield func(store.Piece) error) error {
	d := &dump{engine: e, ctx: ctx, since: since, at: at, out: dumping.Pieces(yield)}
	if err := d.run(); err != nil {
		return fmt.Errorf("dump: %w", err)
	}
	return nil
}

type dump struct {
	engine    *Engine
	ctx       context.Context
	since, at uint64
	out       dumping.Output
	found     store.Entry // reused for each entry
}

func (d *dump) run() error {
	states, purged, err := d.states()
	if err != nil {
		return err
	}
	ids := make([]store.BranchID, len(states))
	for i, s := range states {
		ids[i] = s.ID
		if s.Floor.Version > d.at {
			return fmt.Errorf("branch %d: %w", s.ID, store.ErrChanged)
		}
	}
	d.out.Add(store.Piece{Branches: ids})
	if err := d.purgedNotes(purged[layout.PurgedNotes]); err != nil {
		return err
	}
	if err := d.points(); err != nil {
		return err
	}
	for _, s := range states {
		if err := d.branch(s, purged[s.ID]); err != nil {
			return err
		}
	}
	if err := d.out.Flush(); err != nil {
		return err
	}
	return d.unchanged(states)
}

// states returns the branches with their floors, and the purged keys of each.
func (d *dump) states() (states []store.BranchState, purged map[store.BranchID][][]byte, err error) {
	err = d.engine.read(d.ctx, func(tx *bbolt.Tx) error {
		branches := layout.Branches(tx)
		if purged, err = layout.ReadPurged(tx); err != nil {
			return err
		}
		return branches.ForEachBucket(func(id []byte) error {
			s := store.BranchState{ID: store.BranchID(layout.FromU64(id))}
			t, ok, err := layout.ReadTrim(branches.Bucket(id), s.ID)
			if ok {
				s.Floor, s.Pins, s.Keep = t.Floor, t.Pins, t.Keep
			}
			states = append(states, s)
			return err
		})
	})
	return states, purged, err
}

// unchanged returns ErrChanged if anything was dropped since the dump began.
func (d *dump) unchanged(before []store.BranchState) error {
	after, _, err := d.states()
	if err != nil {
		return err
	}
	for _, was := range before {
		i := slices.IndexFunc(after, func(s store.BranchState) bool { return s.ID == was.ID })
		if i < 0 || after[i].Floor != was.Floor {
			return fmt.Errorf("branch %d: %w", was.ID, store.ErrChanged)
		}
	}
	return nil
}

// pages calls read in a transaction each until there is no more.
func (d *dump) pages(read func(tx *bbolt.Tx) (more bool, err error)) error {
	for more := true; more; {
		err := d.engine.read(d.ctx, func(tx *bbolt.Tx) (err error) {
			more, err = read(tx)
			return err
		})
		if err != nil {
			return err
		}
		if d.out.Full() {
			if err := d.out.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *dump) points() error {
	next := d.since + 1
	return d.pages(func(tx *bbolt.Tx) (bool, error) {
		points := layout.InSpace(tx, layout.KindPoints)
		c := points.Cursor()
		for version, value := c.Seek(layout.U64(next)); version != nil && layout.FromU64(version) <= d.at; version, value = c.Next() {
			if d.out.Full() {
				return true, nil
			}
			p, err := points.Noted(version, value)
			if err != nil {
				return false, err
			}
			next = p.Version + 1
			d.out.Add(pointPiece(p))
		}
		return false, nil
	})
}

// purgedNotes yields the points of an earlier dump whose notes have been purged.
func (d *dump) purgedNotes(versions [][]byte) error {
	return d.pages(func(tx *bbolt.Tx) (bool, error) {
		points := layout.InSpace(tx, layout.KindPoints)
		for len(versions) > 0 && !d.out.Full() {
			version := versions[0]
			versions = versions[1:]
			if layout.FromU64(version) > d.since {
				continue // points yields it
			}
			p, err := points.Noted(version, points.Get(version))
			if err != nil {
				return false, err
			}
			d.out.Add(pointPiece(p))
		}
		return len(versions) > 0, nil
	})
}

// pointPiece is a point with a copy of its note.
func pointPiece(p store.Noted) store.Piece {
	piece := store.Piece{Point: &p.Point}
	if len(p.Note) > 0 {
		piece.Note = bytes.Clone(p.Note)
	}
	return piece
}

func (d *dump) branch(s store.BranchState, purged [][]byte) error {
	d.out.Add(store.Piece{Branch: &s})
	var err error
	if d.since > 0 && d.since >= s.Floor.Version {
		err = d.changed(s.ID, purged)
	} else {
		err = d.entries(s.ID)
	}
	if err != nil {
		return err
	}
	return d.counters(s.ID)
}

// entries yields all entries of a branch.
func (d *dump) entries(id store.BranchID) error {
	resume := []byte{}
	return d.pages(func(tx *bbolt.Tx) (bool, error) {
		branch := layout.Branch(tx, id)
		if branch == nil {
			return false, nil // unchanged reports it
		}
		p := newPeeker(branch, id)
		c := branch.Bucket(layout.KindEntries.Bucket()).Cursor()
		for key, value := c.Seek(resume); key != nil; key, value = c.Next() {
			if d.out.Full() {
				resume = bytes.Clone(key)
				return true, nil
			}
			if err := d.entry(p, key, value); err != nil {
				return false, err
			}
		}
		return false, nil
	})
}

func (d *dump) entry(p *peeker, key, value []byte) (err error) {
	if d.found, err = p.peek(key, value); err == nil && d.found.Version <= d.at {
		d.out.Add(store.Piece{Entry: &d.found})
	}
	return err
}

// changed yields the entries in the branch's change log, and purged ones.
func (d *dump) changed(id store.BranchID, keys [][]byte) error {
	next := d.since + 1
	for more := true; more; {
		err := d.engine.read(d.ctx, func(tx *bbolt.Tx) error {
			more = false
			branch := layout.Branch(tx, id)
			if branch == nil {
				return nil
			}
			c, n := branch.Bucket(layout.KindLog.Bucket()).Cursor(), 0
			for key, _ := c.Seek(layout.U64(next)); key != nil && layout.ChangeVersion(key) <= d.at; key, _ = c.Next() {
				version := layout.ChangeVersion(key)
				if n >= dumping.Page && version != next {
					more, next = true, version
					return nil
				}
				next = version
				keys = append(keys, keycode.Version(key[keycode.VersionSize:], version))
				n++
			}
			tails, err := layout.Tails(tx, d.since)
			for _, p := range tails {
				for _, change := range p.Changes {
					if change.Branch == id && p.Version <= d.at {
						keys = append(keys, keycode.Version(change.Raw, p.Version))
					}
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	keys = sortedUnique(keys)
	return d.pages(func(tx *bbolt.Tx) (bool, error) {
		branch := layout.Branch(tx, id)
		if branch == nil {
			return false, nil
		}
		p := newPeeker(branch, id)
		for len(keys) > 0 && !d.out.Full() {
			key := keys[0]
			keys = keys[1:]
			if value := branch.Bucket(layout.KindEntries.Bucket()).Get(key); value != nil {
				if err := d.entry(p, key, value); err != nil {
					return false, err
				}
			}
		}
		return len(keys) > 0, nil
	})
}

// countedAt returns the version at which a key's counters were last written; 0: by a restore.
func countedAt(branch *bbolt.Bucket, id store.BranchID, raw []byte) (uint64, error) {
	at, err := layout.InBranch(branch, id, layout.KindCounted).Read(raw)
	return layout.FromU64(at), err
}

const counterKeys = 10_000 // the most counter keys read in one transaction

// counters yields all records of the keys counted since.
func (d *dump) counters(id store.BranchID) error {
	resume := []byte{}
	return d.pages(func(tx *bbolt.Tx) (bool, error) {
		branch := layout.Branch(tx, id)
		if branch == nil {
			return false, nil
		}
		var raw []byte
		fresh, keys := false, 0
		counters := layout.InBranch(branch, id, layout.KindCounters)
		c := counters.Cursor()
		for key, value := c.Seek(resume); key != nil; key, value = c.Next() {
			own, version, err := keycode.SplitVersion(key)
			if err != nil {
				return false, err
			}
			if !bytes.Equal(own, raw) {
				if keys++; keys > counterKeys || d.out.Full() {
					resume = bytes.Clone(key)
					return true, nil
				}
				written, err := countedAt(branch, id, own)
				if err != nil {
					return false, err
				}
				raw, fresh = bytes.Clone(own), version > d.since || d.since == 0 || written > d.since
			}
			if !fresh {
				continue
			}
			k, err := keycode.Decode(raw)
			if err != nil {
				return false, err
			}
			count, err := counters.Counter(key, value)
			if err != nil {
				return false, fmt.Errorf("count of %s: %w", k, err)
			}
			d.out.Add(store.Piece{Counter: &store.CounterRecord{Branch: id, Key: k, Version: version, Value: count}})
		}
		return false, nil
	})
}
