package memory

import (
	"context"
	"encoding/json"

	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/memory/portable"
)

// What follows is for those that do not say yet on whose behalf they ask: each is the owner's, with the author that a Write names.

func (s *Space) owner(agent string) *Access {
	return &Access{space: s, caller: Caller{Agent: agent, Rights: FullRights()}}
}

// Recall is Access.Recall for the owner.
func (s *Space) Recall(ctx context.Context, p Location, key string, at AsOf) (*Memory, error) {
	return s.owner("").Recall(ctx, p, key, at)
}

// List is Access.List for the owner.
func (s *Space) List(ctx context.Context, p Location, prefix, after string, at AsOf, limit int) ([]Memory, error) {
	list, _, err := s.owner("").List(ctx, p, prefix, after, at, limit)
	return list, err
}

// History is Access.History for the owner.
func (s *Space) History(ctx context.Context, p Location, key string, at AsOf, limit int) ([]Memory, uint64, error) {
	return s.owner("").History(ctx, p, key, at, limit)
}

// Extent is Access.Extent for the owner.
func (s *Space) Extent(ctx context.Context, branch string) (Extent, error) {
	return s.owner("").Extent(ctx, branch)
}

// Status is Access.Status for the owner.
func (s *Space) Status(ctx context.Context, p Location) (Status, error) {
	return s.owner("").Status(ctx, p)
}

// Counters is Access.Counters for the owner.
func (s *Space) Counters(ctx context.Context, p Location, key string) (Counters, error) {
	return s.owner("").Counters(ctx, p, key)
}

// Search is Access.Search for the owner.
func (s *Space) Search(ctx context.Context, q Search) (Found, error) {
	return s.owner("").Search(ctx, q)
}

// Events is Access.Events for the owner.
func (s *Space) Events(ctx context.Context, p Location, at AsOf, from uint64, limit int) ([]Event, error) {
	return s.owner("").Events(ctx, p, at, from, limit)
}

// VerifyLog is Access.VerifyLog for the owner.
func (s *Space) VerifyLog(ctx context.Context, p Location) (int, error) {
	return s.owner("").VerifyLog(ctx, p)
}

// Feed is Access.Feed for the owner.
func (s *Space) Feed(ctx context.Context, branch string, namespaces []string, after uint64, limit int) (feed.Page, error) {
	return s.owner("").Feed(ctx, branch, namespaces, after, limit)
}

// Branches is Access.Branches for the owner.
func (s *Space) Branches(ctx context.Context) ([]Branch, error) {
	return s.owner("").Branches(ctx)
}

// Diff is Access.Diff for the owner.
func (s *Space) Diff(ctx context.Context, q DiffQuery) (Diff, error) {
	return s.owner("").Diff(ctx, q)
}

// Store is Access.Store for the owner.
func (s *Space) Store(ctx context.Context, p Location, items []Item, w Write) ([]Stored, error) {
	return s.owner(w.Agent).Store(ctx, p, items, w)
}

// Forget is Access.Forget for the owner, and counts.
func (s *Space) Forget(ctx context.Context, p Location, keys []string, w Write) (int, error) {
	found, err := s.owner(w.Agent).Forget(ctx, p, keys, w)
	return len(found), err
}

// SetState is Access.SetState for the owner, and counts.
func (s *Space) SetState(ctx context.Context, p Location, keys []string, state State, w Write) (int, error) {
	found, err := s.owner(w.Agent).SetState(ctx, p, keys, state, w)
	return len(found), err
}

// Append is Access.Append for the owner.
func (s *Space) Append(ctx context.Context, p Location, event string, data json.RawMessage, w Write) (Event, error) {
	return s.owner(w.Agent).Append(ctx, p, event, data, w)
}

// Fork is Access.Fork for the owner.
func (s *Space) Fork(ctx context.Context, from, name string, at AsOf, w Write) (Branch, error) {
	return s.owner(w.Agent).Fork(ctx, from, name, at, w)
}

// Create is Access.Create for the owner.
func (s *Space) Create(ctx context.Context, name string, w Write) (Branch, error) {
	return s.owner(w.Agent).Create(ctx, name, w)
}

// Delete is Access.Delete for the owner, with force, and final.
func (s *Space) Delete(ctx context.Context, name string, w Write) error {
	return s.owner(w.Agent).Delete(ctx, Deletion{Branch: name, Force: true, Final: true}, w)
}

// Merge is Access.Merge for the owner.
func (s *Space) Merge(ctx context.Context, m Merge, w Write) (MergeResult, error) {
	return s.owner(w.Agent).Merge(ctx, m, w)
}

// Import is Access.Import for the owner.
func (s *Space) Import(ctx context.Context, branch string, list []portable.Memory, w Write) (Imported, error) {
	return s.owner(w.Agent).Import(ctx, branch, list, w)
}

// Stage is Access.Stage for the owner.
func (s *Space) Stage(ctx context.Context, branch, agent string) (*Stage, error) {
	return s.owner(agent).Stage(ctx, branch)
}

// Answered is Access.Answered for the owner.
func (s *Space) Answered(ctx context.Context, c Commit) (json.RawMessage, uint64, error) {
	return s.owner(c.Agent).Answered(ctx, c)
}

// Effects is Access.Effects for the owner.
func (s *Space) Effects(w Write) *effect.Ledger { return s.owner(w.Agent).Effects(w) }
