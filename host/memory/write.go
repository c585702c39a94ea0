package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// write commits a caller's own write, and returns the branch of a proposal. It stages nothing if the same request was committed before.
func (a *Access) write(ctx context.Context, o *ownWrite, w Write, doing string) (done store.Committed, proposal string, err error) {
	s, w := a.space, a.sign(w)
	req := request(w, o.operation, o.content...)
	done, again, end, err := s.once(ctx, req)
	defer end()
	if again || err != nil {
		s.noteProposed(ctx, o.Branch, done.Version, w)
		return done, "", err
	}
	b, err := s.branch(o.Branch)
	if err != nil {
		return done, "", err
	}
	t, effects := a.begin(b, fromCaller), a.hookEffects(ctx, w)
	t.own = o
	done, proposal, err = t.commit(effect.With(ctx, effects), Commit{Write: w}, req, doing)
	if err != nil && effects.Count() > 0 {
		s.logger.WarnContext(ctx, "a write failed after its hooks sent something", "sent", effects.List(), "error", err)
	}
	if err == nil {
		w.noteProposal(proposal)
	}
	return done, proposal, effects.Failed(ctx, err)
}

// hookEffects returns the external effects of a write's hooks: none in a dry run; nil without hooks.
func (a *Access) hookEffects(ctx context.Context, w Write) *effect.Ledger {
	switch outer := effect.Of(ctx); {
	case a.space.currentHooks() == nil:
		return nil
	case w.DryRun && outer.Rehearsed():
		return outer
	case w.DryRun:
		return effect.Rehearse()
	}
	return a.Effects(w)
}

// Store stores memories, all of them or none. Storing an identical memory again changes nothing
// and returns its version. Of items with the same key the last counts.
func (a *Access) Store(ctx context.Context, p Location, items []Item, w Write) (receipts []Stored, err error) {
	if p, err = a.writing(p); err != nil {
		return nil, err
	}
	keys, err := a.space.keysOf(p.Namespace, items)
	if err != nil {
		return nil, err
	}
	o := &ownWrite{Location: p, change: ChangeStore, operation: "store", content: []any{p, items}, keys: keys, items: items}
	o.stage = func(t *Stage) (err error) {
		receipts, err = t.put(ctx, keys, o.items)
		return err
	}
	done, proposal, err := a.write(ctx, o, w, "store")
	switch {
	case err != nil:
		return nil, err
	case done.Replayed:
		receipts = receiptsFor(keys)
	case proposal != "":
		receipts = withoutFormer(receipts)
	case done.Version != 0:
		a.space.correctFormer(ctx, p.Branch, keys, receipts, done.Point)
	}
	return receiptsAt(receipts, done.Point), nil
}

// withoutFormer removes the former memories from the receipts of a proposal, which replaces nothing.
func withoutFormer(receipts []Stored) []Stored {
	for i := range receipts {
		receipts[i].Former = nil
	}
	return receipts
}

// correctFormer corrects the receipts of a blind write if another write came after its stage had read: of two agents that write a key at
// once, the later one learns of the other. It leaves receipts whose former version cannot be read: the write is done.
func (s *Space) correctFormer(ctx context.Context, branch string, keys []store.Key, receipts []Stored, at store.Point) {
	b, err := s.branch(branch)
	if err != nil {
		return
	}
	before, err := s.engine.GetAt(ctx, b.Lineage.At(at.Version-1), keys)
	if err != nil {
		return
	}
	for i, e := range before {
		r := &receipts[i]
		if r.Version != 0 || !r.readable || r.Former != nil && r.Former.Version == e.Version {
			continue
		}
		r.Former = nil
		if m, err := (view{now: at.Time}).present(e); err == nil && m != nil {
			r.Former, r.Replaces = &Former{Version: m.Version, Value: m.Value, Agent: m.Agent}, m.Version
		}
	}
}

// receiptsAt sets a commit in the receipts without a version.
func receiptsAt(receipts []Stored, at store.Point) []Stored {
	for i := range receipts {
		if receipts[i].Version == 0 {
			receipts[i].Version, receipts[i].Timestamp = at.Version, at.Time
		}
	}
	return receipts
}

func receiptsFor(keys []store.Key) []Stored {
	list := make([]Stored, len(keys))
	for i, key := range keys {
		list[i] = Stored{Namespace: key.Namespace, Key: key.Name}
	}
	return list
}

// Forget deletes the memories under keys, and lists the existing ones. Their past stays readable.
func (a *Access) Forget(ctx context.Context, p Location, keys []string, w Write) ([]string, error) {
	return a.change(ctx, p, keys, w, ChangeDelete, "forget", func(t *Stage, namespace string, keys []string) ([]string, error) {
		return t.forget(ctx, namespace, keys)
	})
}

// SetState sets the state of memories, for instance to archive or restore them, and lists the keys of existing ones.
func (a *Access) SetState(ctx context.Context, p Location, keys []string, state State, w Write) ([]string, error) {
	if err := checkState(state); err != nil {
		return nil, err
	}
	state = cmp.Or(state, Active)
	return a.change(ctx, p, keys, w, ChangeState, "set state "+string(state), func(t *Stage, namespace string, keys []string) ([]string, error) {
		return t.setState(ctx, namespace, keys, state)
	})
}

// change commits a change of existing memories, and lists the keys of these.
func (a *Access) change(ctx context.Context, p Location, names []string, w Write, c Change, operation string, stage func(*Stage, string, []string) ([]string, error)) (found []string, err error) {
	if p, err = a.writing(p); err != nil {
		return nil, err
	}
	keys, err := a.space.checkKeys(names)
	if err != nil {
		return nil, err
	}
	o := &ownWrite{Location: p, change: c, operation: operation, content: []any{p, names}, stage: func(t *Stage) (err error) {
		found, err = stage(t, p.Namespace, keys)
		return err
	}}
	done, _, err := a.write(ctx, o, w, operation)
	if err == nil && done.Replayed {
		return a.space.changedBy(ctx, p.Branch, done)
	}
	return found, err
}

// changedBy returns the keys of the memories that a commit wrote or deleted.
func (s *Space) changedBy(ctx context.Context, branch string, done store.Committed) ([]string, error) {
	b, err := s.branch(branch)
	if err != nil {
		return nil, err
	}
	changes, _, err := s.engine.Changes(ctx, b.ID, done.Version-1, done.Version, s.limits.Batch)
	if err != nil {
		return nil, s.translate("read what the earlier request did", err)
	}
	var keys []string
	for _, c := range changes {
		keys = append(keys, c.Key.Name)
	}
	return keys, nil
}

// Append adds an event to the log of a branch and namespace. Events are immutable.
func (a *Access) Append(ctx context.Context, p Location, event string, data json.RawMessage, w Write) (Event, error) {
	p, err := a.writing(p)
	if err != nil {
		return Event{}, err
	}
	if data, err = a.space.limits.checkEvent(event, data); err != nil {
		return Event{}, err
	}
	staged := stagedEvent{p.Namespace, event, data}
	o := &ownWrite{Location: p, operation: "append", content: []any{p, event, data}, stage: func(t *Stage) error { return t.log(staged) }}
	done, _, err := a.write(ctx, o, w, "log the event")
	switch {
	case err != nil:
		return Event{}, err
	case w.DryRun:
		return a.eventToBe(ctx, p.Branch, staged)
	case len(done.Sequences) != 1:
		return Event{}, fmt.Errorf("log the event: the engine gave %d sequence numbers", len(done.Sequences))
	}
	return a.space.eventAt(ctx, p, done.Sequences[0])
}

// eventToBe returns the event of a dry run.
func (a *Access) eventToBe(ctx context.Context, branch string, e stagedEvent) (Event, error) {
	b, err := a.space.branch(branch)
	if err != nil {
		return Event{}, err
	}
	last, err := a.space.lastEvent(ctx, b.Lineage, e.namespace)
	return Event{Namespace: e.namespace, Sequence: last.Sequence + 1, Event: e.event, Data: e.data, Agent: a.caller.Agent,
		Digest: record.Digest(e.data), Branch: b.Name}, err
}
