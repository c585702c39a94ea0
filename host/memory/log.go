package memory

import (
	"context"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// lastEvent returns the newest event that a lineage sees; the zero Event: none.
func (s *Space) lastEvent(ctx context.Context, l store.Lineage, namespace string) (Event, error) {
	r := store.Range{Namespace: namespace, Collection: events, Reverse: true}
	last, _, err := s.engine.ScanAt(ctx, l, r, "", 1)
	if err != nil || len(last) == 0 {
		return Event{}, s.translate("read the log", err)
	}
	return s.event(last[0])
}

func (s *Space) eventAt(ctx context.Context, p Location, sequence uint64) (Event, error) {
	b, err := s.branch(p.Branch)
	if err != nil {
		return Event{}, err
	}
	key := store.Key{Namespace: p.Namespace, Collection: events, Name: store.SequenceName(sequence)}
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

// Events reads at most limit events of a log, oldest first, from a sequence number on.
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

// LogCheck is the result of a check of a part of a log.
type LogCheck struct {
	Checked int    // intact events, from the first on
	Next    uint64 // the sequence number after them; 0: none
	Hash    string // of the last of them; empty: none
	Broken  uint64 // the first damaged sequence number; 0: all are intact
	Fault   string // the damage
}

// CheckLog checks at most limit events of a log's chain, from a sequence number on. It trusts the event before that.
func (a *Access) CheckLog(ctx context.Context, p Location, at AsOf, from uint64, limit int) (LogCheck, error) {
	c, from := LogCheck{}, max(from, 1)
	if from > 1 {
		before, err := a.Events(ctx, p, at, from-1, 1)
		if err != nil {
			return c, err
		}
		if len(before) == 0 {
			return c, invalid("the log has no event %d: begin at one that it has, or at 1", from-1)
		}
		if before[0].Sequence != from-1 {
			return LogCheck{Broken: from - 1, Fault: fmt.Sprintf("event %d is missing; found %d", from-1, before[0].Sequence)}, nil
		}
		c.Hash = before[0].Hash
	}
	for next := from; c.Checked < limit; {
		page, err := a.Events(ctx, p, at, next, min(limit-c.Checked+1, a.space.limits.Page))
		if err != nil || len(page) == 0 {
			return c, err
		}
		for _, e := range page {
			if c.Checked == limit {
				c.Next = next
				return c, nil
			}
			if err := verifyEvent(c.Hash, next, e); err != nil {
				c.Broken, c.Fault = next, strings.TrimPrefix(err.Error(), "verify log: ")
				return c, nil
			}
			c.Hash, c.Checked, next = e.Hash, c.Checked+1, next+1
		}
	}
	return c, nil
}

// VerifyLog checks a log's chain from its first event on: that no event is missing, changed or out of order.
// It returns the number of events checked.
func (a *Access) VerifyLog(ctx context.Context, p Location) (int, error) {
	before, checked := "", 0
	for {
		page, err := a.Events(ctx, p, AsOf{}, uint64(checked)+1, 0)
		if err != nil || len(page) == 0 {
			return checked, err
		}
		for _, e := range page {
			if err := verifyEvent(before, uint64(checked)+1, e); err != nil {
				return checked, err
			}
			before = e.Hash
			checked++
		}
	}
}

// verifyOwnLog checks the part of a log's chain that was written on a branch: that it continues what the branch inherited, and that no
// event is missing, changed or out of order. It returns the number of events checked.
func (s *Space) verifyOwnLog(ctx context.Context, b *lineage.Branch, namespace string) (checked int, err error) {
	within := store.Range{Namespace: namespace, Collection: events}
	last, err := s.lastInherited(ctx, b, within)
	if err != nil {
		return 0, err
	}
	for e, err := range store.Entries(ctx, s.engine.ScanAt, b.Lineage[:1], within, verifyPage) {
		if err != nil {
			return checked, s.translate("verify the log", err)
		}
		event, err := s.event(e)
		if err != nil {
			return checked, err
		}
		if err := verifyEvent(last.Hash, last.Sequence+1, event); err != nil {
			return checked, err
		}
		last, checked = event, checked+1
	}
	return checked, nil
}

// verifyPage is how many events are in memory at once.
const verifyPage = 1000

// lastInherited returns the last event of a log that a branch has from its ancestors; the zero Event: none.
func (s *Space) lastInherited(ctx context.Context, b *lineage.Branch, within store.Range) (Event, error) {
	if len(b.Lineage) == 1 {
		return Event{}, nil
	}
	within.Reverse = true
	found, _, err := s.engine.ScanAt(ctx, b.Lineage[1:], within, "", 1)
	if err != nil || len(found) == 0 {
		return Event{}, s.translate("verify the log", err)
	}
	return s.event(found[0])
}

// verifyEvent checks an event's place in a log's chain, after the event whose hash is before.
func verifyEvent(before string, sequence uint64, e Event) error {
	if e.Sequence != sequence {
		return fmt.Errorf("verify log: event %d is missing; found %d", sequence, e.Sequence)
	}
	r := record.Event{Event: e.Event, Data: e.Data, Agent: e.Agent, Digest: e.Digest, Hash: e.Hash}
	return r.Verify(before, sequence, store.Point{Version: e.Version, Time: e.Timestamp})
}
