package bolt

import (
	"bytes"
	"context"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// The note of a commit is behind the instant in its point: it takes no record and no page of its own.

const (
	notesPage = 20_000 // points read in one transaction
	notesDrop = 2_000  // notes dropped in one transaction
)

// Notes lists the commits that have a note.
func (e *Engine) Notes(ctx context.Context, after, before uint64, limit int) (list []store.Noted, err error) {
	for before > after && len(list) < limit {
		err := e.read(ctx, func(tx *bbolt.Tx) (err error) {
			list, before, err = notesBefore(layout.InSpace(tx, layout.KindPoints), list, after, before, limit)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("list notes: %w", err)
		}
	}
	return list, nil
}

// notesBefore adds the notes of a page of points, and returns before which version to go on; 0: nowhere.
func notesBefore(points layout.Records, list []store.Noted, after, before uint64, limit int) ([]store.Noted, uint64, error) {
	c := points.Cursor()
	step := c.Prev
	if later, _ := c.Seek(layout.U64(before)); later == nil {
		step = c.Last
	}
	version, value := step()
	for range notesPage {
		if version == nil || layout.FromU64(version) <= after || len(list) == limit {
			return list, 0, nil
		}
		p, err := points.Noted(version, value)
		if err != nil {
			return list, 0, err
		}
		if len(p.Note) > 0 {
			p.Note = bytes.Clone(p.Note)
			list = append(list, p)
		}
		before = p.Version
		version, value = c.Prev()
	}
	return list, before, nil
}

// DropNotes drops the notes of commits.
func (e *Engine) DropNotes(ctx context.Context, versions []uint64) error {
	for len(versions) > 0 {
		some := versions[:min(notesDrop, len(versions))]
		versions = versions[len(some):]
		err := e.update(ctx, func(tx *bbolt.Tx) error {
			_, err := dropNotes(tx, some)
			return err
		})
		if err != nil {
			return fmt.Errorf("drop notes: %w", err)
		}
	}
	return nil
}

// PurgeNotes drops the notes of commits in one transaction, and marks their bytes for Erase.
func (e *Engine) PurgeNotes(ctx context.Context, versions []uint64) error {
	if len(versions) == 0 {
		return ctx.Err()
	}
	head, err := e.Head(ctx)
	if err != nil {
		return err
	}
	err = e.update(ctx, func(tx *bbolt.Tx) error {
		dropped, err := dropNotes(tx, versions)
		if err != nil || len(dropped) == 0 {
			return err
		}
		for _, version := range dropped {
			if err := layout.InSpace(tx, layout.KindPurged).Write(layout.PurgedNote(version), layout.U64(head.Version)); err != nil {
				return err
			}
		}
		return layout.InSpace(tx, layout.KindMeta).Write(keyErase, []byte{1})
	})
	if err != nil {
		return fmt.Errorf("purge notes: %w", err)
	}
	return nil
}

// dropNotes drops the notes of commits, and returns the versions that had one.
func dropNotes(tx *bbolt.Tx, versions []uint64) (dropped []uint64, err error) {
	points := layout.InSpace(tx, layout.KindPoints)
	for _, version := range versions {
		key := layout.U64(version)
		data := points.Get(key)
		if data == nil {
			continue
		}
		p, err := points.Noted(key, data)
		if err != nil {
			return nil, err
		}
		if len(p.Note) == 0 {
			continue
		}
		if err := points.Write(key, layout.EncodePoint(p.Point, nil)); err != nil {
			return nil, err
		}
		dropped = append(dropped, version)
	}
	return dropped, nil
}
