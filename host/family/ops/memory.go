package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

func memoryOf(m *memory.Memory) *abi.Memory {
	if m == nil {
		return nil
	}
	out := &abi.Memory{Namespace: m.Namespace, Key: m.Key, Agent: m.Agent, Version: m.Version, Deleted: m.Deleted, MemoryFields: abi.MemoryFields{
		Value: m.Value, Tags: m.Tags, Importance: m.Importance, Metadata: m.Metadata, State: string(m.State), Supersedes: m.Supersedes, Links: m.Links}}
	if m.Type != "" {
		out.Type = &m.Type
	}
	if !m.Timestamp.IsZero() {
		out.Timestamp = memory.FormatTime(m.Timestamp)
	}
	if !m.ExpiresAt.IsZero() {
		expires := memory.FormatTime(m.ExpiresAt)
		out.ExpiresAt = &expires
	}
	return out
}

func memoriesOf(list []memory.Memory) []abi.Memory {
	out := make([]abi.Memory, len(list))
	for i := range list {
		out[i] = *memoryOf(&list[i])
	}
	return out
}

// dated adds when a memory was created; nothing to a staged one.
func dated(out *abi.Memory, m *memory.Memory) {
	if m != nil && !m.Created.IsZero() {
		out.Created = memory.FormatTime(m.Created)
	}
}

// listed converts a page of a listing, with what the request asks for beside.
func listed(list []memory.Memory, r abi.MemoryListRequest) []abi.Memory {
	out := memoriesOf(list)
	if r.Created {
		for i := range list {
			dated(&out[i], &list[i])
		}
	}
	return out
}

// pointers returns pointers to the elements of a list.
func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// count adds counters to the memories that are not nil.
func (call *Call) count(ctx context.Context, namespace string, list []*abi.Memory) error {
	present := slices.DeleteFunc(slices.Clone(list), func(m *abi.Memory) bool { return m == nil })
	keys := make([]string, len(present))
	for i, m := range present {
		keys[i] = m.Key
	}
	counted, err := call.Stage.Counters(ctx, namespace, keys)
	if err != nil {
		return err
	}
	for i, c := range counted {
		present[i].Counters = &abi.Counters{Accesses: int(c.Accesses), Health: c.Health}
		if !c.LastAccess.IsZero() {
			present[i].Counters.LastAccess = memory.FormatTime(c.LastAccess)
		}
	}
	return nil
}

func memoryGet(call *Call, ctx context.Context, r abi.MemoryGetRequest) (out abi.MemoryGetResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.Powers.Check(abi.CanMemoryRead, namespace); err != nil {
		return out, err
	}
	found, err := call.get(ctx, namespace, r)
	if err != nil {
		return out, err
	}
	out.Memories = make([]*abi.Memory, len(found))
	for i, m := range found {
		out.Memories[i] = memoryOf(m)
		if r.Created {
			dated(out.Memories[i], m)
		}
	}
	if r.Counters {
		err = call.count(ctx, namespace, out.Memories)
	}
	return out, err
}

// asOf reads a moment of the past.
func (call *Call) asOf(asOf string) (memory.AsOf, error) {
	at, err := memory.ParseAsOf(asOf, call.Stage.Now())
	var e *memory.Error
	if errors.As(err, &e) {
		named := *e
		named.Message = "as_of: " + e.Message
		return at, &named
	}
	return at, err
}

// get reads memories at the stage's version, or as of another moment.
func (call *Call) get(ctx context.Context, namespace string, r abi.MemoryGetRequest) (found []*memory.Memory, err error) {
	at, err := call.asOf(r.AsOf)
	if err != nil {
		return nil, err
	}
	if r.Expired {
		stage, err := call.stageAt(ctx, r.AsOf)
		if err != nil {
			return nil, err
		}
		err = stage.WithExpiry(memory.WithExpired, func() error {
			found, err = stage.Get(ctx, namespace, r.Keys)
			return err
		})
		return found, err
	}
	keys := r.Keys
	if at.IsNow() {
		return call.Stage.Get(ctx, namespace, keys)
	}
	if len(keys) > call.host.Space.Limits().Batch {
		return nil, invalid("%d keys: at most %d are allowed", len(keys), call.host.Space.Limits().Batch)
	}
	found = make([]*memory.Memory, len(keys))
	for i, key := range keys {
		if found[i], err = call.space().Recall(ctx, memory.Location{Branch: call.Stage.Branch(), Namespace: namespace}, key, at); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func memoryStates(call *Call, ctx context.Context, r abi.MemoryStatesRequest) (out abi.MemoryStatesResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.Powers.Check(abi.CanMemoryRead, namespace); err != nil {
		return out, err
	}
	found, err := call.Stage.Get(ctx, namespace, r.Keys)
	if err != nil {
		return out, err
	}
	out.States = make([]string, len(found))
	if r.Values {
		out.Values = make([]json.RawMessage, len(found))
	}
	for i, m := range found {
		if m == nil {
			continue
		}
		out.States[i] = string(m.State)
		if r.Values {
			out.Values[i] = m.Value
		}
	}
	return out, nil
}

// defaultPage is the default length of a page.
const defaultPage = 100

func memoryList(call *Call, ctx context.Context, r abi.MemoryListRequest) (out abi.MemoryListResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.Powers.Check(abi.CanMemoryRead, namespace); err != nil {
		return out, err
	}
	if out, err = call.list(ctx, namespace, r, cmp.Or(r.Limit, defaultPage)); err != nil {
		return out, err
	}
	if r.Counters {
		err = call.count(ctx, namespace, pointers(out.Memories))
	}
	return out, err
}

func (call *Call) list(ctx context.Context, namespace string, r abi.MemoryListRequest, limit int) (out abi.MemoryListResponse, err error) {
	if !isPlain(r) {
		return call.selected(ctx, namespace, r)
	}
	at, err := call.asOf(r.AsOf)
	if err != nil {
		return out, err
	}
	if at.IsNow() {
		list, next, err := call.Stage.List(ctx, namespace, r.Prefix, r.After, limit)
		return abi.MemoryListResponse{Memories: listed(list, r), Next: next}, err
	}
	list, next, err := call.space().List(ctx, memory.Location{Branch: call.Stage.Branch(), Namespace: namespace}, r.Prefix, r.After, at, limit)
	return abi.MemoryListResponse{Memories: listed(list, r), Next: next}, err
}

func memoryNamespaces(call *Call, ctx context.Context, _ abi.MemoryNamespacesRequest) (out abi.MemoryNamespacesResponse, err error) {
	out.Namespaces, err = call.readableNamespaces(ctx)
	return out, err
}

// readableNamespaces returns the namespaces with memories that the call may read, sorted.
func (call *Call) readableNamespaces(ctx context.Context) ([]string, error) {
	found, err := call.Stage.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	readable := []string{}
	for _, name := range found {
		if call.Powers.Allows(abi.CanMemoryRead, name) {
			readable = append(readable, name)
		}
	}
	return readable, nil
}

func memoryHistory(call *Call, ctx context.Context, r abi.MemoryHistoryRequest) (out abi.MemoryHistoryResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.Powers.Check(abi.CanMemoryRead, namespace); err != nil {
		return out, err
	}
	from := call.Stage.Version()
	if r.Before > 0 {
		from = min(from, r.Before)
	}
	versions, next, err := call.Stage.History(ctx, namespace, r.Key, from, cmp.Or(r.Limit, defaultPage))
	return abi.MemoryHistoryResponse{Versions: memoriesOf(versions), Next: next}, err
}

// searchOf converts a search of a request, without a namespace.
func (call *Call) searchOf(r abi.MemorySearchRequest) (memory.Search, error) {
	q := memory.Search{Text: r.Query, K: r.K, Offset: r.Offset, Tags: r.Tags, Types: r.Types, Features: r.Features,
		Mode: memory.Mode(r.Mode), Vector: r.Vector, Order: memory.Order(r.Order), Writers: r.Writers, MinImportance: r.MinImportance}
	for _, state := range r.States {
		q.States = append(q.States, memory.State(state))
	}
	var err error
	if q.AsOf, err = call.asOf(r.AsOf); err != nil {
		return q, err
	}
	if q.Since, err = call.moment(r.Since); err != nil {
		return q, err
	}
	q.Until, err = call.moment(r.Until)
	return q, err
}

// moment parses an instant; empty is the zero time.
func (call *Call) moment(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return memory.ParseTime(text, call.Stage.Now())
}

func memorySearch(call *Call, ctx context.Context, r abi.MemorySearchRequest) (out abi.MemorySearchResponse, err error) {
	q, err := call.searchOf(r)
	if err != nil {
		return out, err
	}
	if q.Namespaces, err = call.among(abi.CanMemoryRead, r.Namespaces); err != nil {
		return out, err
	}
	found, err := call.Stage.Search(ctx, q)
	if err != nil {
		return out, err
	}
	out = abi.MemorySearchResponse{Hits: make([]abi.MemoryHit, len(found.Hits)), Total: found.Total}
	for i := range found.Hits {
		h := &found.Hits[i]
		out.Hits[i] = abi.MemoryHit{Memory: *memoryOf(&h.Memory), Score: h.Score, Snippet: h.Snippet(), SupersededBy: h.SupersededBy, Features: h.Features}
	}
	return out, nil
}

// itemOf converts a memory to be staged.
func (call *Call) itemOf(i abi.MemoryItem) (memory.Item, error) {
	it := memory.Item{Key: i.Key, Value: i.Value, Tags: i.Tags, Importance: i.Importance, Metadata: i.Metadata, State: memory.State(i.State),
		Supersedes: i.Supersedes, Links: i.Links, IfVersion: i.IfVersion}
	if i.Type != nil {
		it.Type = *i.Type
	}
	expires, err := call.expires(i.ExpiresAt)
	if expires != nil {
		it.ExpiresAt = *expires
	}
	return it, err
}

// expires parses an expiry; nil if the request has none, and the zero time for never.
func (call *Call) expires(text *string) (*time.Time, error) {
	if text == nil {
		return nil, nil
	}
	if *text == "" {
		return &time.Time{}, nil
	}
	at, err := memory.ParseExpiry(*text, call.Stage.Now())
	return &at, err
}

func memoryPut(call *Call, ctx context.Context, r abi.MemoryPutRequest) (out abi.MemoryPutResponse, err error) {
	out.Stored = make([]abi.MemoryID, len(r.Items))
	for i, item := range r.Items {
		namespace := call.in(item.Namespace)
		if err := call.mayChange(abi.CanMemoryWrite, namespace); err != nil {
			return out, err
		}
		it, err := call.itemOf(item)
		if err != nil {
			return out, err
		}
		keys, err := call.Stage.Put(ctx, namespace, []memory.Item{it})
		if err != nil {
			return out, err
		}
		out.Stored[i] = abi.MemoryID{Namespace: namespace, Key: keys[0]}
	}
	return out, nil
}

// patchOf converts a change of a request.
func (call *Call) patchOf(p abi.MemoryPatch) (memory.Patch, error) {
	expires, err := call.expires(p.ExpiresAt)
	return memory.Patch{Key: p.Key, Value: p.Value, Tags: p.Tags, AddTags: p.AddTags, RemoveTags: p.RemoveTags, Type: p.Type, Importance: p.Importance,
		Metadata: p.Metadata, State: memory.State(p.State), Supersedes: p.Supersedes, Links: p.Links, ExpiresAt: expires, Clear: p.Clear, IfVersion: p.IfVersion}, err
}

func memoryPatch(call *Call, ctx context.Context, r abi.MemoryPatchRequest) (out abi.MemoryPatchResponse, err error) {
	out.Missing = []string{}
	for _, p := range r.Patches {
		namespace := call.in(p.Namespace)
		if err := call.mayChange(abi.CanMemoryWrite, namespace); err != nil {
			return out, err
		}
		patch, err := call.patchOf(p)
		if err != nil {
			return out, err
		}
		err = call.Stage.WithExpiry(expiryOf(r.Expired), func() error {
			missing, err := call.Stage.Patch(ctx, namespace, []memory.Patch{patch})
			out.Missing = append(out.Missing, missing...)
			return err
		})
		if err != nil {
			return out, err
		}
	}
	out.Patched = len(r.Patches) - len(out.Missing)
	return out, nil
}

func memoryDelete(call *Call, ctx context.Context, r abi.MemoryDeleteRequest) (out abi.MemoryDeleteResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.mayChange(abi.CanMemoryWrite, namespace); err != nil {
		return out, err
	}
	err = call.Stage.WithExpiry(expiryOf(r.Expired), func() error {
		out.Deleted, err = call.Stage.Delete(ctx, namespace, r.Keys)
		return err
	})
	return out, err
}

func memoryTouch(call *Call, ctx context.Context, r abi.MemoryTouchRequest) (out abi.MemoryTouchResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.Powers.Check(abi.CanMemoryCount, namespace); err != nil {
		return out, err
	}
	accesses := 1
	switch {
	case r.Accesses != nil:
		accesses = *r.Accesses
	case r.Health != 0:
		accesses = 0
	}
	out.Touched, err = call.Stage.Touch(ctx, namespace, r.Keys, int64(accesses), r.Health)
	return out, err
}
