package family

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/policy"
)

// missing is a column of which nothing is known.
func missing(n int) []float32 {
	column := make([]float32, n)
	for i := range column {
		column[i] = float32(math.NaN())
	}
	return column
}

// watermarks is the collection of how far families were told of what was stored: a record a family and branch.
var watermarks = memory.Collection{Name: "_stored", PerSpace: true}

const (
	storedPage  = 100              // entries that one call of a stored hook is about, at most
	storedRetry = 10 * time.Second // after a failure
)

// followStored tells families whose stored hook is on of what was stored: all of it, in order, branch by branch, also what
// was stored while the server did not run, or while they failed. It ends with ctx.
func (f *Families) followStored(ctx context.Context) {
	commits := f.o.Space.Watch(ctx)
	retry := time.NewTicker(storedRetry)
	defer retry.Stop()
	for {
		for f.tellStored(ctx) {
		}
		select {
		case <-ctx.Done():
			return
		case _, open := <-commits:
			if !open {
				return
			}
		case <-f.Changed(): // a hook may have been turned on
		case <-retry.C:
		}
	}
}

// listeners are the families whose stored hook is on.
func (f *Families) listeners() []*family {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var list []*family
	for _, x := range f.known {
		if x.fault != "" || x.digest == "" || x.manifest.Hooks.Stored == nil {
			continue
		}
		if _, on := grantIn(f.lock, x).Hooks[abi.HookStored]; on {
			list = append(list, x)
		}
	}
	return list
}

// tellStored tells every listener of a page of each branch, and reports whether there is more.
func (f *Families) tellStored(ctx context.Context) (more bool) {
	for _, x := range f.listeners() {
		branches, err := f.o.Space.Branches(ctx)
		if err != nil {
			return false
		}
		for _, b := range branches {
			again, err := f.tell(ctx, x, b.Name)
			if err != nil && ctx.Err() == nil {
				f.o.Logger.Warn("a family could not be told of what was stored; it is tried again", "family", x.name, "branch", b.Name, "error", err)
			}
			more = more || again && err == nil
		}
	}
	return more && ctx.Err() == nil
}

// tell tells a family of the next page of a branch. What it stages and how far it was told are committed together.
func (f *Families) tell(ctx context.Context, x *family, branch string) (more bool, err error) {
	stage, err := f.o.Space.Stage(ctx, branch, "family:"+x.name)
	if err != nil {
		return false, err
	}
	key := x.name + "/" + branch
	after, known, err := watermark(ctx, stage, key)
	if err != nil {
		return false, err
	}
	if !known { // its hook was just turned on: it is told of what comes from now on
		return false, f.tellTo(ctx, stage, key, stage.Version())
	}
	if after >= stage.Version() {
		return false, nil
	}
	feed, err := f.o.Space.Feed(ctx, branch, nil, after, storedPage)
	if err != nil || feed.Watermark <= after {
		return false, err
	}
	entries, err := f.entries(ctx, stage, x, feed.Notices)
	if err != nil {
		return false, err
	}
	if len(entries) > 0 {
		if stage, err = f.askStored(ctx, x, stage, branch, entries); err != nil {
			return false, err
		}
	}
	if len(entries) == 0 && feed.Watermark-after < storedPage && !feed.More {
		return false, nil // nothing of interest: what is noted can wait until there is something
	}
	return feed.More, f.tellTo(ctx, stage, key, feed.Watermark)
}

func watermark(ctx context.Context, stage *memory.Stage, key string) (at uint64, known bool, err error) {
	found, err := stage.Records(ctx, watermarks, systemNamespace, []string{key})
	if err != nil || found[0] == nil {
		return 0, false, err
	}
	if err := json.Unmarshal(found[0].Value, &at); err != nil {
		return 0, false, fmt.Errorf("read how far %s was told: %w", key, err)
	}
	return at, true, nil
}

// tellTo commits how far a family was told, with all else that is staged.
func (f *Families) tellTo(ctx context.Context, stage *memory.Stage, key string, at uint64) error {
	value, err := json.Marshal(at)
	if err != nil {
		return err
	}
	if err := stage.PutRecord(ctx, watermarks, systemNamespace, key, value, nil); err != nil {
		return err
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	return err
}

// entries are what notices are about, as it was stored.
func (f *Families) entries(ctx context.Context, stage *memory.Stage, x *family, notices []memory.Notice) ([]abi.Entry, error) {
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
			m, err := f.o.Space.Recall(ctx, memory.Place{Branch: stage.Branch(), Namespace: n.Namespace}, n.Key, memory.AsOf{Version: n.Watermark})
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

// askStored asks the guest, and returns the stage with what it staged. Of what it would only propose, and of a family that
// may not write, nothing is there.
func (f *Families) askStored(ctx context.Context, x *family, stage *memory.Stage, branch string, entries []abi.Entry) (*memory.Stage, error) {
	m, release, err := f.take(ctx, x)
	if err != nil {
		return nil, err
	}
	defer release()
	w := f.newWork(x, stage, policy.Caller{}, "", "")
	config, err := w.configJSON(ctx)
	if err != nil {
		return nil, err
	}
	request, err := json.Marshal(abi.HookRequest{Hook: abi.HookStored, Entries: entries, Config: config, Context: w.context()})
	if err != nil {
		return nil, err
	}
	if _, err := w.ask(ctx, m, abi.KindHook, request); err != nil {
		return nil, err
	}
	if w.proposes && stage.ChangesMemories() {
		if _, err := stage.Commit(ctx, memory.Commit{Proposal: w.proposalName()}); err != nil {
			return nil, err
		}
		return f.o.Space.Stage(ctx, branch, "family:"+x.name)
	}
	return stage, nil
}
