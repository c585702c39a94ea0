package feed

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// complete fills in payloads, authors and times.
func (r *Reader) complete(ctx context.Context, b *lineage.Branch, notices []Notice) error {
	if err := r.payloads(ctx, b, notices); err != nil {
		return err
	}
	if err := r.date(ctx, notices); err != nil {
		return err
	}
	return r.credit(ctx, b, notices)
}

// payloads reads the payloads of families' notices.
func (r *Reader) payloads(ctx context.Context, b *lineage.Branch, notices []Notice) error {
	system := r.branches.System()
	for i := range notices {
		n := &notices[i]
		if n.Kind != unread {
			continue
		}
		on, key := b, store.Key{Namespace: n.Namespace, Collection: emitted, Name: n.Key}
		if n.restricted {
			key.Collection = emittedTo
		}
		if n.perSpace {
			on = system
		}
		if n.restricted || n.perSpace {
			n.Key = "" // a number, whose gaps would tell of notices for others
		}
		found, err := r.engine.GetAt(ctx, on.Lineage.At(n.Watermark), []store.Key{key})
		if err != nil {
			if _, trimmed := errors.AsType[*store.TrimmedError](err); trimmed && n.perSpace { // meanwhile
				continue
			}
			return err
		}
		if !found[0].Exists() {
			continue
		}
		if err := n.read(found[0]); err != nil {
			return err
		}
	}
	return nil
}

// read fills in what a family said.
func (n *Notice) read(e store.Entry) error {
	r, err := record.Decode(e)
	if err != nil {
		return err
	}
	var said emittedRecord
	if err := json.Unmarshal(r.Value, &said); err != nil {
		return err
	}
	n.Kind, n.Payload, n.Agent, n.Family, n.To = said.Kind, said.Payload, r.Agent, said.Family, said.To
	return nil
}

// credit fills in the authors of notices. Those of families have theirs.
func (r *Reader) credit(ctx context.Context, b *lineage.Branch, notices []Notice) (err error) {
	for i := range notices {
		if n := &notices[i]; n.Kind == MemoryStored || n.Kind == EventLogged {
			if n.Agent, err = r.authorOf(ctx, b, *n); err != nil {
				return err
			}
		}
	}
	return r.creditCommits(ctx, notices)
}

// authorOf returns the author of a notice's memory or event; empty: its past is not kept.
func (r *Reader) authorOf(ctx context.Context, b *lineage.Branch, n Notice) (string, error) {
	collection := record.Memories
	if n.Kind == EventLogged {
		collection = record.Events
	}
	found, err := r.engine.GetAt(ctx, b.Lineage.At(n.Watermark), []store.Key{{Namespace: n.Namespace, Collection: collection, Name: n.Key}})
	if _, trimmed := errors.AsType[*store.TrimmedError](err); trimmed {
		return "", nil
	}
	if err != nil || !found[0].Exists() {
		return "", err
	}
	return record.Author(found[0])
}

// date fills in the commit times of notices.
func (r *Reader) date(ctx context.Context, notices []Notice) error {
	var last store.Point
	for i := range notices {
		if notices[i].Watermark != last.Version {
			point, err := r.engine.PointOf(ctx, notices[i].Watermark)
			if err != nil {
				return err
			}
			last = point
		}
		notices[i].Timestamp = last.Time
	}
	return nil
}

const (
	mostCredited = 10_000 // notes of commits read for the authors of one page
	notesAtOnce  = 2000
)

// creditCommits fills in the authors of deletions from the notes of commits: a deletion has no author of its own.
func (r *Reader) creditCommits(ctx context.Context, notices []Notice) error {
	missing := map[uint64][]int{}
	for i, n := range notices {
		if n.Agent == "" && n.Kind == MemoryForgotten {
			missing[n.Watermark] = append(missing[n.Watermark], i)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	read, first, last := 0, notices[0].Watermark, notices[len(notices)-1].Watermark
	for noted, err := range store.Notes(ctx, r.engine.Notes, first-1, last+1, notesAtOnce) {
		if err != nil {
			return err
		}
		if read++; read > mostCredited || len(missing) == 0 {
			return nil
		}
		note, _ := record.DecodeNote(noted.Note)
		for _, i := range missing[noted.Version] {
			notices[i].Agent = note.Agent
		}
		delete(missing, noted.Version)
	}
	return nil
}
