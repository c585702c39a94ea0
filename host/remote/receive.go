package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/provenance"
)

// mergedAtOnce is how many versions a branch that tracks another space receives before they are merged: a merge is one commit.
const mergedAtOnce = 20_000

// Conflict is a memory that both spaces changed without knowing of each other.
type Conflict = memory.ExchangeConflict

// Result counts what an exchange brought to a branch.
type Result struct {
	Taken     int        `json:"taken"` // versions written
	Known     int        `json:"known"` // that it had before
	Conflicts []Conflict `json:"conflicts,omitempty"`
	Version   uint64     `json:"version,omitempty"` // of the last commit; 0: there was nothing to write
	Counted   int        `json:"counted,omitempty"` // memories that have other counters now
	Events    int        `json:"events,omitempty"`  // of logs, written
	Records   int        `json:"records,omitempty"` // of families, written
	Past      int        `json:"past,omitempty"`    // versions of histories, written
	Left      int        `json:"left,omitempty"`    // of histories, not taken: a hook refused them, or there are too many of a memory
	// NewestOnly says that histories were asked for, and the other space exchanges the newest versions alone.
	NewestOnly bool `json:"newest_only,omitempty"`
}

func (r *Result) add(o Result) {
	r.Taken, r.Known, r.Conflicts, r.Version = r.Taken+o.Taken, r.Known+o.Known, append(r.Conflicts, o.Conflicts...), max(r.Version, o.Version)
	r.Counted, r.Events, r.Records, r.Past, r.Left = r.Counted+o.Counted, r.Events+o.Events, r.Records+o.Records, r.Past+o.Past, r.Left+o.Left
}

// progress is how far a branch has received. It is kept on the branch, in the commit of what it received.
type progress struct {
	Space    string           `json:"space"` // that sends
	Branch   string           `json:"branch"`
	Scope    provenance.Scope `json:"scope"`
	At       uint64           `json:"at"`   // of the sender
	Next     string           `json:"next"` // empty: at the beginning, or complete
	Received int              `json:"received"`
}

func (p progress) continues(o progress) bool {
	return p.Space == o.Space && p.Branch == o.Branch && p.Scope.Key() == o.Scope.Key()
}

// receiver receives versions on a branch that tracks another space, and merges them.
type receiver struct {
	space    *memory.Space
	caller   memory.Caller // who may write what is received
	branch   string        // to merge into
	tracking string
	strategy memory.Strategy
}

func trackingBranch(peer, branch string) string {
	return memory.Tracking + peer + "/" + cmp.Or(branch, memory.Default)
}

// owner is the access that forks, merges and deletes the tracking branch, which needs no right of the caller: what lies on it was written
// with those.
func (r *receiver) owner() *memory.Access {
	return r.space.As(memory.Caller{Agent: r.caller.Agent, Rights: memory.FullRights()})
}

// state returns the progress of an exchange that was interrupted; ok is false without one.
func (r *receiver) state(ctx context.Context) (was progress, ok bool) {
	text, err := r.owner().ExchangeState(ctx, r.tracking)
	if err != nil || text == nil {
		return was, false
	}
	return was, json.Unmarshal(text, &was) == nil
}

// begin begins an exchange, or continues the one that p continues.
func (r *receiver) begin(ctx context.Context, p progress) (progress, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return p, err
	}
	was, err := r.owner().Track(ctx, r.branch, r.tracking, text, memory.Write{})
	if err != nil || was == nil {
		return p, err
	}
	var old progress
	if json.Unmarshal(was, &old) == nil && old.continues(p) && (p.At == 0 || p.At == old.At) {
		return old, nil
	}
	if err := r.drop(ctx); err != nil {
		return p, err
	}
	_, err = r.owner().Track(ctx, r.branch, r.tracking, text, memory.Write{})
	return p, err
}

// drop deletes the tracking branch.
func (r *receiver) drop(ctx context.Context) error {
	return r.owner().Delete(ctx, memory.Deletion{Branch: r.tracking, Force: true, Final: true}, memory.Write{})
}

// take receives a page, and merges after the last one.
func (r *receiver) take(ctx context.Context, p progress, pg page) (progress, Result, error) {
	var done Result
	next := p
	next.At, next.Next, next.Received = pg.At, pg.next, p.Received+len(pg.versions)
	step := r.space.Limits().Batch
	for first := 0; first == 0 || first < len(pg.versions); first += step {
		end := min(first+step, len(pg.versions))
		in := memory.Received{Branch: r.tracking, Versions: pg.versions[first:end], Known: pg.Known, Scope: next.Scope, Strategy: r.strategy}
		before, err := json.Marshal(p)
		if err != nil {
			return p, done, err
		}
		if in.State = before; end == len(pg.versions) {
			in.Complete = pg.next == ""
			if in.State, err = json.Marshal(next); err != nil {
				return p, done, err
			}
		}
		got, err := r.receive(ctx, in, before)
		if done.add(got); err != nil {
			return p, done, r.after(ctx, err)
		}
	}
	if pg.next != "" && next.Received < mergedAtOnce {
		return next, done, nil
	}
	version, err := r.merge(ctx)
	done.Version = version
	if err == nil && pg.next != "" {
		next.Received = 0
		next, err = r.begin(ctx, next)
	}
	return next, done, err
}

// whole receives an exchange of one page, without a tracking branch. It reports whether it could: what is refused has to be found out, which
// takes several commits.
func (r *receiver) whole(ctx context.Context, scope provenance.Scope, pg page) (Result, bool, error) {
	if pg.next != "" || len(pg.versions) > r.space.Limits().Batch {
		return Result{}, false, nil
	}
	in := memory.Received{Branch: r.branch, Versions: pg.versions, Known: pg.Known, Scope: scope, Strategy: r.strategy, Complete: true}
	got, err := r.space.As(r.caller).Receive(ctx, in, memory.Write{})
	if isRefused(err) && len(in.Versions) > 0 {
		return Result{}, false, nil
	}
	return resultOf(got), true, err
}

func resultOf(r memory.ReceivedResult) Result {
	return Result{Taken: r.Taken, Known: r.Known, Conflicts: r.Conflicts, Events: r.Events, Version: r.Version}
}

// after returns the error of an exchange. One that was refused begins anew, from what the sender has then.
func (r *receiver) after(ctx context.Context, err error) error {
	if !isRefused(err) {
		return err
	}
	return errors.Join(err, r.drop(ctx))
}

func isRefused(err error) bool {
	e, ok := errors.AsType[*memory.Error](err)
	return ok && (e.Code == memory.Denied || e.Code == memory.Exhausted)
}

// receive receives versions. If one is refused, the error names it, and the state stays as before.
func (r *receiver) receive(ctx context.Context, in memory.Received, before json.RawMessage) (Result, error) {
	got, err := r.space.As(r.caller).Receive(ctx, in, memory.Write{})
	if !isRefused(err) || len(in.Versions) == 0 {
		return resultOf(got), err
	}
	if len(in.Versions) == 1 {
		return Result{}, &memory.Error{Code: memory.Denied, Cause: err, Message: fmt.Sprintf("%s#%s is refused: %v. Forget it, or leave its namespace out with --never",
			clip(in.Versions[0].Namespace), clip(in.Versions[0].Key), err)}
	}
	first, rest := in, in
	half := len(in.Versions) / 2
	first.Versions, rest.Versions, first.Complete, first.State = in.Versions[:half], in.Versions[half:], false, before
	done, err := r.receive(ctx, first, before)
	if err != nil {
		return done, err
	}
	more, err := r.receive(ctx, rest, before)
	done.add(more)
	return done, err
}

// again is how often an exchange is begun again that was overtaken.
const again = 5

// overtaken is the error of an exchange during which what it received was changed here, too. Which version replaces which is then decided
// again, by what both sides know now.
func overtaken() error {
	return &memory.Error{Code: memory.Conflict, Retryable: true, Message: "memories were changed while they were received: synchronise again"}
}

func isOvertaken(err error) bool {
	e, ok := errors.AsType[*memory.Error](err)
	return ok && e.Code == memory.Conflict && e.Retryable
}

// merge merges what was received, and deletes the tracking branch.
func (r *receiver) merge(ctx context.Context) (uint64, error) {
	merged, err := r.owner().Merge(ctx, memory.Merge{Source: r.tracking, Target: r.branch, Strategy: memory.Strict, Origins: true}, memory.Write{})
	if e, ok := errors.AsType[*memory.Error](err); err != nil && !(ok && e.Code == memory.Conflict) {
		return 0, err
	}
	if dropped := r.drop(ctx); dropped != nil {
		return 0, dropped
	}
	if err != nil || merged.Unresolved > 0 {
		return 0, overtaken()
	}
	return merged.Version, nil
}

// turns lets one exchange at a time use a tracking branch.
type turns struct {
	mu    sync.Mutex
	taken map[string]chan struct{}
}

// take waits for the turn of a branch. The caller calls end.
func (t *turns) take(ctx context.Context, branch string) (end func(), err error) {
	for {
		t.mu.Lock()
		busy := t.taken[branch]
		if busy == nil {
			break
		}
		t.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer t.mu.Unlock()
	if t.taken == nil {
		t.taken = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	t.taken[branch] = mine
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.taken, branch)
		close(mine)
	}, nil
}
