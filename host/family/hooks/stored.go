package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// watermarks is the collection of the families' positions in what was stored: a record per family and branch, and one per family for
// the version at which its hook was first seen on.
var watermarks = memory.Collection{Name: "_stored", PerSpace: true, Internal: true}

const (
	storedPage  = 100         // minimal entries per call of a stored hook, if there are more
	storedRetry = time.Minute // longest delay after a failure
)

// Follow calls the families' stored and merged hooks for everything stored and merged, in order, branch by branch, including
// what came while the server was down or they failed. Families do not wait for each other. It ends with ctx.
func (h *Hooks) Follow(ctx context.Context) {
	commits := h.o.Space.Watch(ctx)
	look := time.NewTicker(storedRetry)
	defer look.Stop()
	var following sync.WaitGroup
	defer following.Wait()
	wake := map[string]chan struct{}{} // by the name of a family
	for {
		changed := h.o.Families.Changed()
		for _, x := range h.followers() {
			if wake[x.Name()] == nil {
				news := make(chan struct{}, 1)
				wake[x.Name()] = news
				following.Go(func() { h.follow(ctx, x.Name(), news) })
			}
			select {
			case wake[x.Name()] <- struct{}{}:
			default:
			}
		}
		select {
		case <-ctx.Done():
			return
		case _, open := <-commits:
			if !open {
				return
			}
		case <-changed: // a hook may have been turned on
		case <-look.C:
		}
	}
}

// follow calls one family when there is news, with a backoff while it fails, until ctx ends.
func (h *Hooks) follow(ctx context.Context, name string, news <-chan struct{}) {
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-news:
		}
		for more := true; more; {
			var err error
			if more, err = h.deliverAll(ctx, name); err == nil {
				failures = 0
				continue
			}
			failures++
			more = wait(ctx, min(jobs.Backoff(h.o.Retry, failures), storedRetry))
		}
	}
}

// wait waits, and reports whether ctx is still live.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// followers returns the families with a stored or merged hook.
func (h *Hooks) followers() []Family {
	list := h.o.Families.On(abi.HookStored)
	for _, x := range h.o.Families.On(abi.HookMerged) {
		if !slices.ContainsFunc(list, func(y Family) bool { return y.Name() == x.Name() }) {
			list = append(list, x)
		}
	}
	return list
}

// deliverAll passes a page of each branch to a family, if its hook is on, and reports whether there is more. A failing branch
// does not block the others.
func (h *Hooks) deliverAll(ctx context.Context, name string) (more bool, err error) {
	_, stored := h.named(abi.HookStored, name)
	_, merged := h.named(abi.HookMerged, name)
	at := slices.IndexFunc(h.followers(), func(x Family) bool { return x.Name() == name })
	if at < 0 {
		return false, nil
	}
	l := listener{Family: h.followers()[at], stored: stored, merged: merged}
	since, on, err := h.listensSince(ctx, l)
	if err != nil || !on {
		return false, err
	}
	branches, err := h.own(l).Branches(ctx)
	if err != nil {
		return false, err
	}
	sources := []source{{perSpace: true}}
	for _, b := range branches {
		if !memory.IsProposal(b.Name) { // what is merged from it is told of then
			sources = append(sources, source{branch: b.Name})
		}
	}
	var failed error
	for _, from := range sources {
		again, err := h.deliver(ctx, l, from, since)
		if err != nil && ctx.Err() == nil {
			h.o.Logger.Warn("a stored hook failed; it is tried again", "family", name, "branch", from.branch, "error", err)
			failed = err
		}
		more = more || again
	}
	return more && ctx.Err() == nil, failed
}

// listensSince returns the version at which a family's hook was first seen on; on is false if that is now.
func (h *Hooks) listensSince(ctx context.Context, x Family) (at uint64, on bool, err error) {
	stage, err := h.own(x).Stage(ctx, memory.Default)
	if err != nil {
		return 0, false, err
	}
	if at, on, err = watermark(ctx, stage, x.Name()); on || err != nil {
		return at, on, err
	}
	if err := note(ctx, stage, x.Name(), stage.Version()); err != nil {
		return 0, false, err
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	var refused *memory.Error
	if errors.As(err, &refused) && refused.Code == memory.Conflict {
		// Another goroutine saw the hook first: what it noted is the beginning.
		if stage, err = h.own(x).Stage(ctx, memory.Default); err != nil {
			return 0, false, err
		}
		at, on, noted := watermark(ctx, stage, x.Name())
		if on || noted != nil {
			return at, on, noted
		}
		return 0, false, refused
	}
	return stage.Version(), err == nil, err
}

// advanceFirst advances a family's position before it sends something: its external effects are never repeated.
func advanceFirst(space *memory.Access, stage *memory.Stage, key string, at uint64) func(context.Context, []string) error {
	counted := false
	return func(ctx context.Context, _ []string) error {
		if counted {
			return nil
		}
		own, err := space.Stage(ctx, memory.Default)
		if err != nil {
			return err
		}
		if err := note(ctx, own, key, at); err != nil {
			return err
		}
		done, err := own.Commit(ctx, memory.Commit{})
		if err != nil {
			return err
		}
		stage.ExpectRecord(watermarks, ops.SystemNamespace, key, done.Version)
		counted = true
		return nil
	}
}

func watermark(ctx context.Context, stage *memory.Stage, key string) (at uint64, known bool, err error) {
	found, err := stage.Records(ctx, watermarks, ops.SystemNamespace, []string{key})
	if err != nil || found[0] == nil {
		return 0, false, err
	}
	if err := json.Unmarshal(found[0].Value, &at); err != nil {
		return 0, false, fmt.Errorf("read how far %s was told: %w", key, err)
	}
	return at, true, nil
}

// note stages a family's position.
func note(ctx context.Context, stage *memory.Stage, key string, at uint64) error {
	value, err := json.Marshal(at)
	if err != nil {
		return err
	}
	return stage.PutRecord(ctx, watermarks, ops.SystemNamespace, key, value, nil)
}
