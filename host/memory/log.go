package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// eventRecord is how an event is stored. The chain is over digests, so that a payload can be erased and the
// chain still be checked.
type eventRecord struct {
	Event  string          `json:"e"`
	Data   json.RawMessage `json:"d,omitempty"`
	Agent  string          `json:"a,omitempty"`
	Digest string          `json:"g"`
	Hash   string          `json:"h"`
}

func (r eventRecord) encode() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

func decodeEvent(e store.Entry) (eventRecord, error) {
	var r eventRecord
	if err := json.Unmarshal(e.Value, &r); err != nil {
		return r, fmt.Errorf("decode event %s at version %d: %w", e.Key, e.Version, err)
	}
	return r, nil
}

func describeEvent(d *search.Doc, e store.Entry) error {
	r, err := decodeEvent(e)
	if err != nil {
		return err
	}
	d.Text, d.Type, d.State = append([]string{r.Event}, leaves(r.Data)...), r.Event, search.Active
	return nil
}

// chain hashes an event onto the one before it: SHA-256 over a label, the hash before (empty for the first),
// the sequence number, the instant in µs, the event's name, the agent and the data's digest, each with its
// length in front where it varies.
func chain(before string, sequence uint64, at store.Point, r eventRecord) string {
	h := sha256.New()
	field := func(text string) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(text)))
		h.Write(size[:])
		h.Write([]byte(text))
	}
	number := func(n uint64) {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
	field("alcove log 1")
	field(before)
	number(sequence)
	number(uint64(at.Time.UnixMicro()))
	field(r.Event)
	field(r.Agent)
	field(r.Digest)
	return hex.EncodeToString(h.Sum(nil))
}

// logAppend is the append that adds an event to a branch's log.
func logAppend(b *lineage.Branch, namespace, event, agent string, data json.RawMessage) store.Append {
	digest := sha256.Sum256(data)
	r := eventRecord{Event: event, Data: data, Agent: agent, Digest: hex.EncodeToString(digest[:])}
	return store.Append{
		Lineage: b.Lineage, Namespace: namespace, Collection: events,
		Seal: func(last store.Entry, sequence uint64, at store.Point) ([]byte, error) {
			var before eventRecord
			if last.Version != 0 {
				var err error
				if before, err = decodeEvent(last); err != nil {
					return nil, err
				}
			}
			sealed := r
			sealed.Hash = chain(before.Hash, sequence, at, r)
			return sealed.encode()
		},
	}
}

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
	digest := sha256.Sum256(staged.data)
	return Event{Namespace: staged.namespace, Sequence: last.Sequence + 1, Event: staged.event, Data: staged.data, Agent: t.agent,
		Digest: hex.EncodeToString(digest[:]), Branch: b.Name}, err
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
	r, err := decodeEvent(e)
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

// LogCheck is what a check of a part of a log found.
type LogCheck struct {
	Checked int    // events that are sound, from the first on
	Next    uint64 // the sequence number after them; 0: there is none
	Hash    string // of the last of them; empty: there is none
	Broken  uint64 // the first sequence number that is not sound; 0: all are
	Fault   string // what is wrong with it
}

// CheckLog checks at most limit events of a log's chain, from a sequence number on. The event before that is trusted.
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
// It returns how many events it checked.
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

func verifyEvent(before string, sequence uint64, e Event) error {
	if e.Sequence != sequence {
		return fmt.Errorf("verify log: event %d is missing; found %d", sequence, e.Sequence)
	}
	digest := sha256.Sum256(e.Data)
	if e.Data != nil && hex.EncodeToString(digest[:]) != e.Digest {
		return fmt.Errorf("verify log: the data of event %d is not what was logged", sequence)
	}
	r := eventRecord{Event: e.Event, Agent: e.Agent, Digest: e.Digest}
	if chain(before, sequence, store.Point{Version: e.Version, Time: e.Timestamp}, r) != e.Hash {
		return fmt.Errorf("verify log: event %d does not continue the chain", sequence)
	}
	return nil
}
