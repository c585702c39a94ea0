package family

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// missing is a column of which nothing is known.
func missing(n int) []float32 {
	column := make([]float32, n)
	for i := range column {
		column[i] = float32(math.NaN())
	}
	return column
}

// watermarks is the collection of how far families were told of what was stored: a record a family and branch, and one a family for the
// version at which its hook was first seen on.
var watermarks = memory.Collection{Name: "_stored", PerSpace: true, Internal: true}

const (
	storedPage  = 100         // entries that one call of a stored hook is about, at least, if there are more
	storedRetry = time.Minute // at the latest, after a failure
)

// followStored tells families whose stored hook is on of what was stored: all of it, in order, branch by branch, also what
// was stored while the server did not run, or while they failed. None of them waits for another. It ends with ctx.
func (f *Families) followStored(ctx context.Context) {
	commits := f.o.Space.Watch(ctx)
	look := time.NewTicker(storedRetry)
	defer look.Stop()
	var following sync.WaitGroup
	defer following.Wait()
	wake := map[string]chan struct{}{} // by the name of a family
	for {
		changed := f.Changed()
		for _, x := range f.listeners() {
			if wake[x.name] == nil {
				news := make(chan struct{}, 1)
				wake[x.name] = news
				following.Go(func() { f.follow(ctx, x.name, news) })
			}
			select {
			case wake[x.name] <- struct{}{}:
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
func (f *Families) follow(ctx context.Context, name string, news <-chan struct{}) {
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-news:
		}
		for more := true; more; {
			var err error
			if more, err = f.tellAll(ctx, name); err == nil {
				failures = 0
				continue
			}
			failures++
			more = wait(ctx, min(jobs.Backoff(f.o.Retry, failures), storedRetry))
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

// listeners are the families whose stored hook is on.
func (f *Families) listeners() []*family {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var list []*family
	for _, x := range f.known {
		if _, on := f.hookOf(x, abi.HookStored); on {
			list = append(list, x)
		}
	}
	return list
}

// tellAll tells a family of a page of each branch, if its hook is on, and reports whether there is more. A branch that fails
// does not keep it from the others.
func (f *Families) tellAll(ctx context.Context, name string) (more bool, err error) {
	list := f.listeners()
	at := slices.IndexFunc(list, func(x *family) bool { return x.name == name })
	if at < 0 {
		return false, nil
	}
	x := list[at]
	since, on, err := f.listensSince(ctx, x)
	if err != nil || !on {
		return false, err
	}
	branches, err := f.ownSpace(x).Branches(ctx)
	if err != nil {
		return false, err
	}
	var failed error
	for _, b := range branches {
		again, err := f.tell(ctx, x, b.Name, since)
		if err != nil && ctx.Err() == nil {
			f.o.Logger.Warn("a family could not be told of what was stored; it is tried again", "family", x.name, "branch", b.Name, "error", err)
			failed = err
		}
		more = more || again
	}
	return more && ctx.Err() == nil, failed
}

// listensSince is the version at which a family's hook was first seen on; on is false when that is now.
func (f *Families) listensSince(ctx context.Context, x *family) (at uint64, on bool, err error) {
	stage, err := f.ownSpace(x).Stage(ctx, memory.Default)
	if err != nil {
		return 0, false, err
	}
	if at, on, err = watermark(ctx, stage, x.name); on || err != nil {
		return at, on, err
	}
	if err := note(ctx, stage, x.name, stage.Version()); err != nil {
		return 0, false, err
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	return stage.Version(), err == nil, err
}

// tell tells a family of the next page of a branch, from a version on if it was told nothing of it yet. What it stages and
// how far it was told are committed together.
func (f *Families) tell(ctx context.Context, x *family, branch string, since uint64) (more bool, err error) {
	space := f.ownSpace(x)
	stage, err := space.Stage(ctx, branch)
	if err != nil {
		return false, err
	}
	key := x.name + "/" + branch
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
	ctx = memory.WithEffects(ctx, effects)
	w := f.newRequest(x, stage, ownCaller(x.name), "", "")
	if len(entries) > 0 {
		err = w.askStored(ctx, entries)
	}
	if err == nil {
		err = w.commitTold(ctx, key, feed.Watermark)
	}
	if err != nil && effects.Count() > 0 {
		f.o.Logger.Error("a family failed after it had sent something; it is not told again of what it was told", "family", x.name, "branch", branch,
			"up_to_version", feed.Watermark, "sent", effects.List(), "error", err)
		return feed.More, nil
	}
	return feed.More && err == nil, err
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

// commitTold commits how far a family was told with all that it staged. What it may only propose is on a branch of its own
// then.
func (w *request) commitTold(ctx context.Context, key string, at uint64) error {
	var c memory.Commit
	if w.Proposes() {
		c.Proposal = w.proposalName()
	}
	if err := note(ctx, w.Stage, key, at); err != nil {
		return err
	}
	if _, err := w.commitStage(ctx, c); err != nil {
		return err
	}
	w.FinishUnseen(ctx)
	return nil
}

// entriesOf are what notices are about, as it was stored.
func entriesOf(ctx context.Context, space *memory.Access, branch string, x *family, notices []memory.Notice) ([]abi.Entry, error) {
	var entries []abi.Entry
	if !about(x.manifest.Hooks.Stored.Collections, "memory") {
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
			if m.Agent == "family:"+x.name {
				continue // or it would be told of what it answered to being told
			}
			e.Value, e.Tags, e.Type, e.Importance, e.Metadata = m.Value, m.Tags, m.Type, m.Importance, m.Metadata
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// askStored tells the guest.
func (w *request) askStored(ctx context.Context, entries []abi.Entry) error {
	m, release, err := w.families.acquire(ctx, w.family)
	if err != nil {
		return err
	}
	defer release()
	config, err := w.configJSON(ctx)
	if err != nil {
		return err
	}
	request, err := json.Marshal(abi.HookRequest{Hook: abi.HookStored, Entries: entries, Config: config, Context: w.Context()})
	if err != nil {
		return err
	}
	_, err = w.ask(ctx, m, abi.KindHook, request)
	return err
}
