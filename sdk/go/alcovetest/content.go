package alcovetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// ask runs an operation for the test, which may do everything, in a request of its own that is committed.
func (s *Space) ask(op abi.Op, request, response any) error {
	if err := s.begin(); err != nil {
		return asError(err)
	}
	return s.askNow(op, request, response)
}

// askNow is ask at the instant that the host's clock shows.
func (s *Space) askNow(op abi.Op, request, response any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("write the request of %s: %w", op, err)
	}
	ctx, owner := s.t.Context(), memory.Caller{Agent: s.Caller, Rights: memory.FullRights()}
	stage, err := s.space.As(owner).Stage(ctx, s.Branch)
	if err != nil {
		return asError(err)
	}
	jobs, err := s.families.JobsOn(stage, s.manifest.Name, owner, s.Namespace)
	if err != nil {
		return asError(err)
	}
	var all []abi.Request
	var grants []policy.Grant
	for _, c := range abi.Capabilities() {
		r := abi.Request{Name: c}
		if c.Scope() != "none" {
			r.Scope = []string{"*"}
		}
		all, grants = append(all, r), append(grants, policy.Grant{Name: c, Scope: r.Scope})
	}
	call := s.host.Begin(ops.Request{
		Manifest: s.manifest, Stage: stage, Caller: owner, Powers: policy.Of(s.manifest.Name, all, grants, owner.Rights), Namespace: s.Namespace, RequestID: s.name(),
		Jobs: jobs,
	})
	answer, err := call.Call(ctx, op, body)
	if err != nil {
		return asError(err)
	}
	if stage.Changes() > 0 {
		if _, err := stage.Commit(ctx, memory.Commit{}); err != nil {
			return asError(err)
		}
	}
	if response == nil {
		return nil
	}
	return json.Unmarshal(answer, response)
}

// Put stores memories, without hooks. An empty namespace is the space's. One with a timestamp is stored at that instant, and what is
// stored later has a later one; counters are counted then, too, at their last access.
func (s *Space) Put(memories ...alcove.Memory) {
	s.t.Helper()
	s.must(s.begin())
	list := slices.Clone(memories)
	now := memory.FormatTime(s.Now)
	at := func(m alcove.Memory) string { return cmp.Or(m.Timestamp, now) }
	slices.SortStableFunc(list, func(a, b alcove.Memory) int { return cmp.Compare(at(a), at(b)) })
	for len(list) > 0 {
		n := 1
		for n < len(list) && n < 1000 && at(list[n]) == at(list[0]) {
			n++
		}
		s.put(at(list[0]), list[:n])
		list = list[n:]
	}
	for _, m := range memories {
		if c := m.Counters; c != nil {
			s.count(m, *c)
		}
	}
	s.clock.set(s.Now)
}

// hooks are those of the families, unless they are off.
func (s *Space) hooks() memory.Hooks {
	if s.unhooked {
		return nil
	}
	return s.proxy.Hooks()
}

func (s *Space) put(at string, memories []alcove.Memory) {
	s.t.Helper()
	instant, err := time.Parse(time.RFC3339Nano, at)
	s.must(err)
	s.clock.set(instant)
	r := alcove.MemoryPutRequest{}
	for _, m := range memories {
		item := alcove.MemoryItem{
			Key: m.Key, Namespace: m.Namespace, Value: m.Value, Tags: m.Tags, Importance: m.Importance, Metadata: m.Metadata, State: m.State, Supersedes: m.Supersedes, Links: m.Links,
		}
		if m.Type != "" {
			item.Type = &m.Type
		}
		if m.ExpiresAt != "" {
			item.ExpiresAt = &m.ExpiresAt
		}
		r.Items = append(r.Items, item)
	}
	s.unhooked = true
	err = s.askNow(abi.OpMemoryPut, r, nil)
	s.unhooked = false
	s.must(err)
}

func (s *Space) count(m alcove.Memory, c alcove.Counters) {
	s.t.Helper()
	if c.LastAccess != "" {
		instant, err := time.Parse(time.RFC3339Nano, c.LastAccess)
		s.must(err)
		s.clock.set(instant)
	}
	s.must(s.askNow(abi.OpMemoryTouch, alcove.MemoryTouchRequest{Keys: []string{m.Key}, Namespace: m.Namespace, Accesses: &c.Accesses, Health: c.Health}, nil))
}

// Memory is a memory of the space's namespace, with its counters; nil when there is none.
func (s *Space) Memory(key string) *alcove.Memory {
	s.t.Helper()
	var out alcove.MemoryGetResponse
	s.must(s.ask(abi.OpMemoryGet, alcove.MemoryGetRequest{Keys: []string{key}, Counters: true}, &out))
	return out.Memories[0]
}

// Memories are all memories of the space's namespace that have not expired, by their keys, with their counters.
func (s *Space) Memories() map[string]*alcove.Memory {
	s.t.Helper()
	all := map[string]*alcove.Memory{}
	for r := (alcove.MemoryListRequest{Limit: 1000, Counters: true}); ; {
		var out alcove.MemoryListResponse
		s.must(s.ask(abi.OpMemoryList, r, &out))
		for i := range out.Memories {
			all[out.Memories[i].Key] = &out.Memories[i]
		}
		if r.After = out.Next; r.After == "" {
			return all
		}
	}
}

// Record is a record of the space's namespace; nil when there is none.
func (s *Space) Record(collection, key string) *alcove.Record {
	s.t.Helper()
	var out alcove.RecordGetResponse
	s.must(s.ask(abi.OpRecordGet, alcove.RecordGetRequest{Collection: collection, Keys: []string{key}}, &out))
	return out.Records[0]
}

// PutRecord stores a record in the space's namespace. The value is one for encoding/json, or has a codec that alcove
// family gen wrote.
func (s *Space) PutRecord(collection, key string, value any) {
	s.t.Helper()
	data, err := marshal(value)
	s.must(err)
	s.must(s.ask(abi.OpRecordPut, alcove.RecordPutRequest{Collection: collection, Items: []alcove.RecordItem{{Key: key, Value: data}}}, nil))
}

// Forget deletes memories of the space's namespace.
func (s *Space) Forget(keys ...string) {
	s.t.Helper()
	s.must(s.ask(abi.OpMemoryDelete, alcove.MemoryDeleteRequest{Keys: keys}, nil))
}

// PutRecords stores any number of records in the space's namespace, as PutRecord does.
func (s *Space) PutRecords(collection string, records iter.Seq2[string, any]) {
	s.t.Helper()
	r := alcove.RecordPutRequest{Collection: collection}
	put := func() {
		if len(r.Items) > 0 {
			s.must(s.ask(abi.OpRecordPut, r, nil))
			r.Items = nil
		}
	}
	for key, value := range records {
		data, err := marshal(value)
		s.must(err)
		if r.Items = append(r.Items, alcove.RecordItem{Key: key, Value: data}); len(r.Items) == 1000 {
			put()
		}
	}
	put()
}

// Events are the events of the log of the space's namespace, the oldest first.
func (s *Space) Events() []alcove.Event {
	s.t.Helper()
	var out alcove.LogReadResponse
	s.must(s.ask(abi.OpLogRead, alcove.LogReadRequest{Limit: 1000}, &out))
	return out.Events
}
