package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// watermarks is the collection of how far families were told of what was stored: a record a family and branch, and one a family for the
// version at which its hook was first seen on.
var watermarks = memory.Collection{Name: "_stored", PerSpace: true, Internal: true}

const (
	storedPage  = 100         // entries that one call of a stored hook is about, at least, if there are more
	storedRetry = time.Minute // at the latest, after a failure
)

// Follow tells the families whose stored hook is on what was stored: all of it, in order, branch by branch, also what
// was stored while the server did not run, or while they failed. None of them waits for another. It ends with ctx.
func (h *Hooks) Follow(ctx context.Context) {
	commits := h.o.Space.Watch(ctx)
	look := time.NewTicker(storedRetry)
	defer look.Stop()
	var following sync.WaitGroup
	defer following.Wait()
	wake := map[string]chan struct{}{} // by the name of a family
	for {
		changed := h.o.Families.Changed()
		for _, x := range h.o.Families.On(abi.HookStored) {
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

// follow tells one family, whenever there is news, and less and less often while it fails, until ctx ends.
func (h *Hooks) follow(ctx context.Context, name string, news <-chan struct{}) {
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-news:
		}
		for more := true; more; {
			var err error
			if more, err = h.tellAll(ctx, name); err == nil {
				failures = 0
				continue
			}
			failures++
			more = wait(ctx, min(jobs.Backoff(h.o.Retry, failures), storedRetry))
		}
	}
}

// wait waits, and reports whether ctx is still there then.
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

// tellAll tells a family of a page of each branch, if its hook is on, and reports whether there is more. A branch that fails
// does not keep it from the others.
func (h *Hooks) tellAll(ctx context.Context, name string) (more bool, err error) {
	x, on := h.named(abi.HookStored, name)
	if !on {
		return false, nil
	}
	since, on, err := h.listensSince(ctx, x)
	if err != nil || !on {
		return false, err
	}
	branches, err := h.own(x).Branches(ctx)
	if err != nil {
		return false, err
	}
	var failed error
	for _, b := range branches {
		again, err := h.tell(ctx, x, b.Name, since)
		if err != nil && ctx.Err() == nil {
			h.o.Logger.Warn("a family could not be told of what was stored; it is tried again", "family", x.Name(), "branch", b.Name, "error", err)
			failed = err
		}
		more = more || again
	}
	return more && ctx.Err() == nil, failed
}

// listensSince is the version at which a family's hook was first seen on; on is false when that is now.
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
	return stage.Version(), err == nil, err
}

// tell tells a family of the next page of a branch, from a version on if it was told nothing of it yet. What it stages and
// how far it was told are committed together.
func (h *Hooks) tell(ctx context.Context, x Family, branch string, since uint64) (more bool, err error) {
	space := h.own(x)
	stage, err := space.Stage(ctx, branch)
	if err != nil {
		return false, err
	}
	key := x.Name() + "/" + branch
	after, known, err := watermark(ctx, stage, key)
	if err != nil {
		return false, err
	}
	after = max(after, since)
	if after >= stage.Version() {
		return false, nil
	}
	feed, err := space.WholeFeed(ctx, branch, nil, after, storedPage)
	if err != nil || feed.Watermark <= after {
		return false, err
	}
	entries, err := entriesOf(ctx, space, stage.Branch(), x, feed.Notices)
	if err != nil {
		return false, err
	}
	if len(entries) == 0 && !feed.More && (!known || feed.Watermark-after < storedPage) {
		return false, nil // what is noted can wait until there is something
	}
	effects := memory.NewEffects(toldBefore(space, stage, key, feed.Watermark))
	if err = note(ctx, stage, key, feed.Watermark); err == nil {
		err = h.tellPage(memory.WithEffects(ctx, effects), x, stage, entries)
	}
	if err != nil && effects.Count() > 0 {
		h.o.Logger.Error("a family failed after it had sent something; it is not told again of what it was told", "family", x.Name(), "branch", branch,
			"up_to_version", feed.Watermark, "sent", effects.List(), "error", err)
		return feed.More, nil
	}
	return feed.More && err == nil, err
}

// tellPage tells a family of entries, and commits what it stages.
func (h *Hooks) tellPage(ctx context.Context, x Family, stage *memory.Stage, entries []abi.Entry) error {
	if len(entries) == 0 {
		_, err := stage.Commit(ctx, memory.Commit{})
		return err
	}
	guest, err := x.Load(ctx)
	if err != nil {
		return err
	}
	defer guest.Release()
	r := guest.Begin(stage, ops.OwnCaller(x.Name()), "", "")
	if err := askStored(ctx, r, entries); err != nil {
		return err
	}
	return r.Commit(ctx)
}

// toldBefore counts a family as told before it sends something: what it does outside is not repeated, come what may.
func toldBefore(space *memory.Access, stage *memory.Stage, key string, at uint64) func(context.Context, []string) error {
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

// note stages how far a family was told.
func note(ctx context.Context, stage *memory.Stage, key string, at uint64) error {
	value, err := json.Marshal(at)
	if err != nil {
		return err
	}
	return stage.PutRecord(ctx, watermarks, ops.SystemNamespace, key, value, nil)
}

// entriesOf are what notices are about, as it was stored.
func entriesOf(ctx context.Context, space *memory.Access, branch string, x Family, notices []memory.Notice) ([]abi.Entry, error) {
	var entries []abi.Entry
	if !about(x.Manifest().Hooks.Stored.Collections, "memory") {
		return nil, nil
	}
	for _, n := range notices {
		e := abi.Entry{Namespace: n.Namespace, Collection: "memory", Key: n.Key, Version: n.Watermark, Deleted: n.Kind == memory.MemoryForgotten}
		if n.Kind != memory.MemoryStored && n.Kind != memory.MemoryForgotten {
			continue
		}
		if !e.Deleted {
			m, err := space.Recall(ctx, memory.Location{Branch: branch, Namespace: n.Namespace}, n.Key, memory.AsOf{Version: n.Watermark})
			var known *memory.Error
			if errors.As(err, &known) && known.Code == memory.InvalidArgument || err == nil && m == nil {
				continue // its past was dropped, or it was purged or expired
			}
			if err != nil {
				return nil, err
			}
			if m.Agent == "family:"+x.Name() {
				continue // or it would be told of what it answered to being told
			}
			e.Value, e.Tags, e.Type, e.Importance, e.Metadata = m.Value, m.Tags, m.Type, m.Importance, m.Metadata
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// askStored tells a guest.
func askStored(ctx context.Context, r Request, entries []abi.Entry) error {
	config, err := r.Config(ctx)
	if err != nil {
		return err
	}
	request, err := json.Marshal(abi.HookRequest{Hook: abi.HookStored, Entries: entries, Config: config, Context: r.Operations().Context()})
	if err != nil {
		return err
	}
	_, err = r.Ask(ctx, abi.KindHook, request, 0)
	return err
}
