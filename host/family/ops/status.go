package ops

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

func namespaceList(call *Call, ctx context.Context, r abi.NamespaceListRequest) (out abi.NamespaceListResponse, err error) {
	names, err := call.readableNamespaces(ctx)
	if err != nil {
		return out, err
	}
	out.Namespaces = []abi.Namespace{}
	limit := cmp.Or(r.Limit, defaultPage)
	for _, name := range names {
		if name <= r.After || !strings.HasPrefix(name, r.Prefix) {
			continue
		}
		if len(out.Namespaces) == limit {
			out.Next = out.Namespaces[limit-1].Namespace
			break
		}
		n := abi.Namespace{Namespace: name}
		if r.Counts {
			if n.Memories, n.Events, err = call.counts(ctx, name); err != nil {
				return out, err
			}
		}
		out.Namespaces = append(out.Namespaces, n)
	}
	return out, nil
}

// counts counts a namespace's memories and events. Events are nil if its log may not be read.
func (call *Call) counts(ctx context.Context, namespace string) (memories, events *int, err error) {
	kept, logged, err := call.Stage.Count(ctx, namespace)
	if err == nil && call.Powers.Allows(abi.CanLogRead, namespace) {
		events = &logged
	}
	return &kept, events, err
}

// undoable is the minimal retention of what namespace.delete deletes.
const undoable = 24 * time.Hour

func namespaceDelete(call *Call, ctx context.Context, r abi.NamespaceDeleteRequest) (out abi.NamespaceDeleteResponse, err error) {
	if r.Namespace == "" {
		return out, invalid("name the namespace: not even the call's own is deleted unnamed")
	}
	if err := call.Powers.Check(abi.CanNamespaceDelete, r.Namespace); err != nil {
		return out, err
	}
	kept, err := call.host.Space.KeepsDeleted(ctx, memory.Location{Branch: call.Stage.Branch(), Namespace: r.Namespace}, undoable)
	if err != nil {
		return out, err
	}
	if !kept {
		return out, &abi.Error{Code: abi.CodeConflict,
			Message: fmt.Sprintf("retention keeps deletions in namespace %s for less than a day, so this could not be undone: an operator can keep more, with alcove retention", r.Namespace)}
	}
	out.Deleted, out.More, err = call.Stage.DeleteSome(ctx, r.Namespace, cmp.Or(r.Limit, 1000))
	return out, err
}

func statusGet(call *Call, ctx context.Context, r abi.StatusGetRequest) (out abi.StatusGetResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.Powers.Check(abi.CanMemoryRead, namespace); err != nil {
		return out, err
	}
	now, err := call.space().Status(ctx, memory.Location{Branch: call.Stage.Branch(), Namespace: namespace})
	if err != nil {
		return out, err
	}
	out = abi.StatusGetResponse{Branch: now.Branch, Namespace: now.Namespace, Branches: now.Branches, Memories: now.Keys, Version: now.Version,
		Searchable: now.Searchable, Embedders: []abi.Embedding{}}
	if call.Powers.Allows(abi.CanLogRead, namespace) {
		out.Events = &now.Events
	}
	for _, e := range now.Embedders {
		out.Embedders = append(out.Embedders, abi.Embedding{Name: e.Name, Vectors: e.Vectors, Waiting: e.Waiting, Refused: e.Refused})
	}
	if !r.Details {
		return out, nil
	}
	past, err := call.space().Extent(ctx, now.Branch)
	if err != nil {
		return out, err
	}
	out.Oldest, out.Latest = momentOf(past.OldestVersion, past.Oldest), momentOf(past.LatestVersion, past.Latest)
	out.Durability, err = call.durability(ctx)
	return out, err
}

// momentOf describes a commit; nil: there is none.
func momentOf(version uint64, at time.Time) *abi.Moment {
	if version == 0 {
		return nil
	}
	return &abi.Moment{Version: version, Timestamp: memory.FormatTime(at)}
}

// durability returns the counters of durability for callers who may read everything: they tell of all that is written.
func (call *Call) durability(ctx context.Context) (*abi.Durability, error) {
	if _, all := call.Caller.Rights.Ceiling().Readable(); !all {
		return nil, nil
	}
	d, counted, err := call.host.Space.Durability(ctx)
	if err != nil || !counted {
		return nil, err
	}
	return &abi.Durability{Commits: d.Commits, Syncs: d.Syncs, Failed: d.Failed, LastSyncNs: int(d.LastSync), SlowestSyncNs: int(d.Slowest), DatabaseBytes: int(d.Bytes)}, nil
}

func versionAt(call *Call, ctx context.Context, r abi.VersionAtRequest) (out abi.VersionAtResponse, err error) {
	branch := call.branchOr(r.Branch)
	if branch != call.Stage.Branch() {
		if err := call.Powers.Check(abi.CanBranchRead, branch); err != nil {
			return out, err
		}
	}
	at, err := call.asOf(r.AsOf)
	if err != nil {
		return out, err
	}
	version, instant, err := call.space().VersionAt(ctx, branch, at)
	if err != nil {
		return out, err
	}
	return abi.VersionAtResponse{Version: version, Timestamp: memory.FormatTime(instant)}, nil
}

// rebuildEvery is the minimal interval between rebuilds by embed.rebuild, across families.
const rebuildEvery = 10 * time.Minute

// rebuildTimer is the time of the last rebuild.
type rebuildTimer struct {
	mu   sync.Mutex
	last time.Time
}

// wait returns the time until the next rebuild may begin. A clock that was put back does not extend it.
func (r *rebuildTimer) wait(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.last.Add(rebuildEvery).Sub(now)
	if r.last.IsZero() || left < 0 || left > rebuildEvery {
		return 0
	}
	return left
}

// begin reports whether a rebuild may begin now, and if so records it.
func (r *rebuildTimer) begin(now time.Time) bool {
	if r.wait(now) > 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = now
	return true
}

func embedRebuild(call *Call, _ context.Context, _ abi.EmbedRebuildRequest) (out abi.EmbedRebuildResponse, err error) {
	if call.host.Embedder == nil {
		return out, noEmbedder()
	}
	name, documents, err := call.host.Embedder.Rebuildable()
	if err != nil {
		return out, err
	}
	if left := call.host.rebuilds.wait(call.Stage.Now()); left > 0 {
		return out, &abi.Error{Code: abi.CodeExhausted, Retryable: true, Message: fmt.Sprintf("vectors are made again at most once in %v: wait %v", rebuildEvery, left.Round(time.Second)),
			Details: map[string]any{"limit_s": rebuildEvery.Seconds(), "wait_s": left.Seconds()}}
	}
	now := call.Stage.Now()
	call.After("have vectors made again", func(ctx context.Context) error {
		if !call.host.rebuilds.begin(now) {
			return fmt.Errorf("another call had that done less than %v ago", rebuildEvery)
		}
		return call.host.Embedder.Rebuild(ctx, name)
	})
	if _, all := call.Caller.Rights.Readable(); !all {
		documents = 0
	}
	return abi.EmbedRebuildResponse{Embedder: name, Queued: documents}, nil
}
