package memory

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Append adds an event to the log of a branch and namespace. It can never be changed.
func (a *Access) Append(ctx context.Context, p Location, event string, data json.RawMessage, w Write) (Event, error) {
	s, w := a.space, a.sign(w)
	p, err := a.writing(p)
	if err != nil {
		return Event{}, err
	}
	b, err := s.branch(p.Branch)
	if err != nil {
		return Event{}, err
	}
	t := a.blind(b)
	t.agent = w.Agent
	if err := t.Log(p.Namespace, event, data); err != nil {
		return Event{}, err
	}
	if w.DryRun {
		return s.eventToBe(ctx, b, t)
	}
	done, err := t.finish(ctx, Commit{Write: w}, request(w, "append", p, event, t.events[0].data), "log the event")
	if err != nil {
		return Event{}, err
	}
	if len(done.Sequences) != 1 {
		return Event{}, fmt.Errorf("log the event: the engine gave %d sequence numbers", len(done.Sequences))
	}
	return s.eventAt(ctx, b, p.Namespace, done.Sequences[0])
}

// eventToBe is the event that a stage would add to the log now.
func (s *Space) eventToBe(ctx context.Context, b *lineage.Branch, t *Stage) (Event, error) {
	staged := t.events[0]
	last, err := s.lastEvent(ctx, b.Lineage, staged.namespace)
	return Event{Namespace: staged.namespace, Sequence: last.Sequence + 1, Event: staged.event, Data: staged.data, Agent: t.agent,
		Digest: record.Digest(staged.data), Branch: b.Name}, err
}

// lastEvent is the newest event that a lineage sees; the zero Event when there is none.
func (s *Space) lastEvent(ctx context.Context, l store.Lineage, namespace string) (Event, error) {
	r := store.Range{Namespace: namespace, Collection: events, Reverse: true}
	last, _, err := s.engine.ScanAt(ctx, l, r, "", 1)
	if err != nil || len(last) == 0 {
		return Event{}, s.translate("read the log", err)
	}
	return s.event(last[0])
}

func (s *Space) eventAt(ctx context.Context, b *lineage.Branch, namespace string, sequence uint64) (Event, error) {
	key := store.Key{Namespace: namespace, Collection: events, Name: store.SequenceName(sequence)}
	found, err := s.engine.GetAt(ctx, b.Lineage, []store.Key{key})
	if err != nil {
		return Event{}, s.translate("read the event", err)
	}
	return s.event(found[0])
}

func (s *Space) event(e store.Entry) (Event, error) {
	r, err := record.DecodeEvent(e)
	if err != nil {
		return Event{}, err
	}
	sequence, err := store.ParseSequence(e.Name)
	if err != nil {
		return Event{}, fmt.Errorf("decode event %s: %w", e.Key, err)
	}
	return Event{
		Namespace: e.Namespace, Sequence: sequence, Event: r.Event, Data: r.Data, Agent: r.Agent, Version: e.Version,
		Timestamp: e.Time, Digest: r.Digest, Hash: r.Hash, Branch: s.catalogue.NameOf(e.Branch),
	}, nil
}

// Events reads a log, oldest first, from a sequence number on, at most limit.
func (a *Access) Events(ctx context.Context, p Location, at AsOf, from uint64, limit int) ([]Event, error) {
	s := a.space
	p, err := a.reading(p)
	if err != nil {
		return nil, err
	}
	v, err := s.view(ctx, p.Branch, at)
	if err != nil {
		return nil, err
	}
	r := store.Range{Namespace: p.Namespace, Collection: events, From: store.SequenceName(from)}
	list, err := scan(ctx, s, v, r, s.page(limit), func(e store.Entry) (*Event, error) {
		event, err := s.event(e)
		return &event, err
	})
	return list, s.translate("read the log", err)
}

// VerifyLog checks a log's chain from its first event on: that no event is missing, changed or out of order.
// It returns how many events it checked.
func (a *Access) VerifyLog(ctx context.Context, p Location) (int, error) {
	before, checked := "", 0
	for {
		page, err := a.Events(ctx, p, AsOf{}, uint64(checked)+1, 0)
		if err != nil || len(page) == 0 {
			return checked, err
		}
		for _, e := range page {
			sequence := uint64(checked) + 1
			if e.Sequence != sequence {
				return checked, fmt.Errorf("verify log: event %d is missing; found %d", sequence, e.Sequence)
			}
			r := record.Event{Event: e.Event, Data: e.Data, Agent: e.Agent, Digest: e.Digest, Hash: e.Hash}
			if err := r.Verify(before, sequence, store.Point{Version: e.Version, Time: e.Timestamp}); err != nil {
				return checked, err
			}
			before = e.Hash
			checked++
		}
	}
}
