package memory

import (
	"context"
	"iter"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// commitNotes is the collection of the system branch in which the previous version noted the authors of commits: an entry beside the
// commit's writes, named by the instant at which the commit began. They are read and dropped, and no longer written.
const commitNotes = record.CommitNotes

// longestCommit bounds the duration of a commit: the names of notes may be out of version order by that much.
const longestCommit = 10 * time.Minute

// oldNotes visits the notes of the previous version with after < version < before, newest first.
func (s *Space) oldNotes(ctx context.Context, after, before uint64) iter.Seq2[store.Noted, error] {
	return func(yield func(store.Noted, error) bool) {
		system := s.catalogue.System()
		if system == nil {
			return
		}
		var oldest time.Time
		if after > 0 {
			p, err := s.engine.PointOf(ctx, after)
			if err != nil {
				yield(store.Noted{}, err)
				return
			}
			oldest = p.Time.Add(-longestCommit)
		}
		within := store.Range{Namespace: lineage.Namespace, Collection: commitNotes, Reverse: true}
		for e, err := range store.Entries(ctx, s.engine.ScanAt, system.Lineage, within, fillPage) {
			switch {
			case err != nil:
				yield(store.Noted{}, err)
				return
			case e.Time.Before(oldest):
				return
			case e.Version <= after || e.Version >= before:
				continue
			}
			if !yield(store.Noted{Point: e.Point, Note: e.Value}, nil) {
				return
			}
		}
	}
}

// dropOldNotes drops the previous version's notes, up to a version, for which gone is true.
func (s *Space) dropOldNotes(ctx context.Context, upTo uint64, gone func(store.Noted) bool) error {
	system := s.catalogue.System()
	if system == nil {
		return nil
	}
	within := store.Range{Namespace: lineage.Namespace, Collection: commitNotes}
	for page, err := range store.Pages(ctx, s.engine.ScanAt, system.Lineage, within, cataloguePage) {
		if err != nil {
			return err
		}
		batch := store.Batch{Expect: []store.Expectation{system.Alive()}}
		for _, e := range page {
			if gone(store.Noted{Point: e.Point, Note: e.Value}) {
				batch.Writes = append(batch.Writes, store.Write{Branch: system.ID, Key: e.Key, Delete: true})
			}
		}
		if len(batch.Writes) > 0 {
			if _, err := s.engine.Commit(ctx, batch); err != nil {
				return err
			}
		}
		if len(page) > 0 && page[len(page)-1].Version > upTo {
			return nil
		}
	}
	return nil
}

// oldCommittedBy returns the author of a commit of the previous version; the zero Caller if not recorded.
func (s *Space) oldCommittedBy(ctx context.Context, version uint64) (Caller, error) {
	system := s.catalogue.System()
	if system == nil {
		return Caller{}, nil
	}
	changes, err := s.changesOf(ctx, system.ID, version)
	if err != nil {
		return Caller{}, err
	}
	for _, c := range changes {
		if c.Collection != commitNotes || c.Deleted {
			continue
		}
		found, err := s.engine.GetAt(ctx, system.Lineage, []store.Key{c.Key})
		if err != nil || !found[0].Exists() {
			return Caller{}, err
		}
		n, _ := decodeNote(found[0].Value)
		return n.caller(), nil
	}
	return Caller{}, nil
}
