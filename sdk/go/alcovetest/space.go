// Package alcovetest runs a family's handlers in a go test, with a host in memory instead of a guest in a sandbox.
//
// The host answers as a real one does, by the same test vectors, and checks requests as strictly. What it lacks: it denies nothing
// and has no quotas, its searches match whole words, and there is one branch. Operations that it does not have are unavailable, unless
// Space.Ops has them. Changes are staged: they are kept when a request succeeds and discarded when it fails.
package alcovetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Guest is what serves requests: a family, or one in a sandbox.
type Guest interface {
	Handle(host alcove.Host, kind alcove.Kind, request []byte) ([]byte, error)
}

// Space is a host with memories and records in it. Its fields may be changed between requests.
type Space struct {
	Now       time.Time // default: noon of 1 June 2026
	Caller    string    // default: tester
	Namespace string    // default: default
	Config    map[string]any
	DryRun    bool
	// Ops run operations instead of the host; an error of theirs reaches the family as a host's does. Their requests are
	// well-formed, and responses are best of the types that package alcove has for them.
	Ops map[alcove.Op]func(request []byte) (response any, err error)

	Calls    []alcove.Op // that were made, in order
	Logged   []string    // log lines
	Progress []string    // as done/total message
	Queue    []Job       // jobs that wait; RunJobs runs them
	Events   []alcove.Event

	guest    Guest
	manifest abi.Manifest
	kept     state
	staged   state
	history  map[address][]alcove.Memory // every version, the oldest first
	version  uint64
	last     time.Time // of the newest version

	requests int
	queued   int
}

// Job is one that was queued.
type Job struct {
	ID, Name string
	Payload  json.RawMessage
}

// state is all memories and records.
type state struct {
	memories map[address]*alcove.Memory
	records  map[address]*alcove.Record
}

type address struct{ collection, namespace, key string }

// New makes a space for a guest with this manifest, whose configuration is that of the manifest.
func New(t testing.TB, guest Guest, manifest []byte) *Space {
	t.Helper()
	s := &Space{
		Now: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), Caller: "tester", Namespace: "default", Config: map[string]any{},
		Ops: map[alcove.Op]func([]byte) (any, error){}, guest: guest, version: 1,
		kept: state{map[address]*alcove.Memory{}, map[address]*alcove.Record{}}, history: map[address][]alcove.Memory{},
	}
	if err := json.Unmarshal(manifest, &s.manifest); err != nil {
		t.Fatalf("read the manifest: %v", err)
	}
	for _, setting := range s.manifest.Config {
		s.Config[setting.Key] = value(setting.Default)
	}
	return s
}

// value is a setting of the manifest, or nil.
func value(raw json.RawMessage) (v any) {
	if len(raw) > 0 {
		json.Unmarshal(raw, &v) // it was read as JSON before
	}
	return v
}

// Put stores memories, without hooks. An empty namespace is the space's, an empty state active, an empty time now.
func (s *Space) Put(memories ...alcove.Memory) {
	for _, m := range memories {
		if m.Namespace == "" {
			m.Namespace = s.Namespace
		}
		if m.State == "" {
			m.State = "active"
		}
		version, now := s.commit()
		m.Version = version
		if m.Timestamp == "" {
			m.Timestamp = now
		}
		at := address{"memory", m.Namespace, m.Key}
		s.kept.memories[at] = &m
		s.history[at] = append(s.history[at], m)
	}
}

// commit returns the version and the instant of a new commit. Each is later than the one before, while the clock stands still too.
func (s *Space) commit() (version uint64, now string) {
	if s.last.IsZero() {
		s.last = s.Now // when the branch was made
	}
	s.version++
	if s.last = s.last.Add(time.Microsecond); s.Now.After(s.last) {
		s.last = s.Now
	}
	return s.version, stamp(s.last)
}

// stamp writes an instant as the host does.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// Memory is a memory of the space's namespace; nil when it is not there.
func (s *Space) Memory(key string) *alcove.Memory {
	return s.kept.memories[address{"memory", s.Namespace, key}]
}

// Record is a record of the space's namespace; nil when it is not there.
func (s *Space) Record(collection, key string) *alcove.Record {
	return s.kept.records[address{collection, s.Namespace, key}]
}

// PutRecord stores a record in the space's namespace.
func (s *Space) PutRecord(collection, key string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("alcovetest.PutRecord: %v", err))
	}
	version, now := s.commit()
	s.kept.records[address{collection, s.Namespace, key}] = &alcove.Record{Namespace: s.Namespace, Key: key, Value: data, Version: version, Timestamp: now}
}

// Tool calls a tool, and reads its result into result unless that is nil.
func (s *Space) Tool(name string, arguments, result any) error {
	if !slices.ContainsFunc(s.manifest.Tools, func(t abi.Tool) bool { return t.Name == name }) {
		return fmt.Errorf("the manifest has no tool %s", name)
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		return fmt.Errorf("write the arguments: %w", err)
	}
	config, err := s.config()
	if err != nil {
		return err
	}
	out, err := s.send(alcove.KindTool, abi.ToolRequest{Tool: name, Arguments: raw, Config: config, Context: s.context(s.Caller, s.request())})
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(out, result)
}

// Job runs a job, and reads its result into result unless that is nil. A nil payload is omitted.
func (s *Space) Job(name string, payload, result any) error {
	return s.job(s.request(), name, payload, result)
}

func (s *Space) job(id, name string, payload, result any) error {
	r := abi.HookRequest{Hook: abi.HookJob, Job: name}
	if payload != nil {
		raw, err := json.Marshal(payload)
		if err != nil {
			return fmt.Errorf("write the payload: %w", err)
		}
		r.Payload = raw
	}
	out, err := s.hook(r, s.context(s.Caller, id))
	if err != nil || result == nil || len(out) == 0 {
		return err
	}
	return json.Unmarshal(out, result)
}

// RunJobs runs the jobs in the queue, and those that they queue, until there are none.
func (s *Space) RunJobs() error {
	for len(s.Queue) > 0 {
		job := s.Queue[0]
		s.Queue = s.Queue[1:]
		var payload any
		if job.Payload != nil {
			payload = job.Payload
		}
		if err := s.job(job.ID, job.Name, payload, nil); err != nil {
			return fmt.Errorf("job %s: %w", job.Name, err)
		}
	}
	return nil
}

// Store runs the store hook. An error that is an *alcove.Refusal is the hook's decision that nothing is stored; any other is a
// failure of the hook, whatever its code.
func (s *Space) Store(entries ...alcove.Entry) ([]*alcove.Change, error) {
	before := s.kept
	out, err := s.hook(abi.HookRequest{Hook: abi.HookStore, Entries: hostEntries(entries)}, s.context(s.Caller, s.request()))
	if err != nil {
		return nil, err
	}
	r, err := abi.ParseStoreResult(out, len(entries))
	if err == nil && r.Refuse != nil {
		err = alcove.Refuse(*r.Refuse)
	}
	if err != nil {
		s.kept = before
		return nil, err
	}
	var changes []*alcove.Change
	for _, c := range r.Entries {
		changes = append(changes, converted[*alcove.Change](c))
	}
	return changes, nil
}

// Stored runs the stored hook.
func (s *Space) Stored(entries ...alcove.Entry) error {
	_, err := s.hook(abi.HookRequest{Hook: abi.HookStored, Entries: hostEntries(entries)}, s.context("", ""))
	return err
}

func hostEntries(entries []alcove.Entry) (list []abi.Entry) {
	for _, e := range entries {
		list = append(list, converted[abi.Entry](e))
	}
	return list
}

// converted is a message of one side as that of the other.
func converted[T any](v any) (out T) {
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("alcovetest: %v", err))
	}
	return out
}

// Rank runs the rank hook over columns in the order of the manifest.
func (s *Space) Rank(query string, columns ...[]float32) ([]float32, error) {
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	context := s.context(s.Caller, "")
	params, err := json.Marshal(abi.ScoreParams{Config: config, Now: context.Now, Query: query, Context: context})
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	scoring := abi.Scoring{Params: params, Columns: columns}
	if len(columns) > 0 {
		scoring.Candidates = len(columns[0])
	}
	result, err := s.handle(alcove.KindScore, abi.AppendScoring(nil, scoring))
	if err != nil {
		return nil, err
	}
	return abi.ParseScores(result, scoring.Candidates)
}

// Embed runs the embed hook.
func (s *Space) Embed(purpose string, texts ...string) ([][]float32, error) {
	if s.manifest.Hooks.Embed == nil {
		return nil, fmt.Errorf("the manifest has no hook embed")
	}
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	result, err := s.send(alcove.KindEmbed, abi.EmbedRequest{Texts: texts, Purpose: purpose, Config: config, Context: s.context("", "")})
	if err != nil {
		return nil, err
	}
	return abi.ParseVectors(result, len(texts), s.manifest.Hooks.Embed.Dimensions)
}

// request is the id of the next request.
func (s *Space) request() string {
	s.requests++
	return fmt.Sprintf("request-%d", s.requests)
}

func (s *Space) context(caller, requestID string) abi.Context {
	return abi.Context{Family: s.manifest.Name, Caller: caller, Namespace: s.Namespace, Branch: "default", Now: stamp(s.Now), RequestID: requestID, DryRun: s.DryRun}
}

func (s *Space) config() (json.RawMessage, error) {
	config, err := json.Marshal(s.Config)
	if err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	return config, nil
}

// hook sends a request with the configuration and a context added.
func (s *Space) hook(r abi.HookRequest, context abi.Context) ([]byte, error) {
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	r.Config, r.Context = config, context
	return s.send(alcove.KindHook, r)
}

func (s *Space) send(kind alcove.Kind, request any) ([]byte, error) {
	data, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return s.handle(kind, data)
}

// handle runs a request and keeps what it staged if it succeeds.
func (s *Space) handle(kind alcove.Kind, request []byte) ([]byte, error) {
	s.staged = state{maps.Clone(s.kept.memories), maps.Clone(s.kept.records)}
	out, err := s.guest.Handle((*host)(s), kind, request)
	if err != nil || s.DryRun || maps.Equal(s.staged.memories, s.kept.memories) && maps.Equal(s.staged.records, s.kept.records) {
		return out, err
	}
	version, now := s.commit()
	for at := range s.kept.memories {
		if s.staged.memories[at] == nil {
			s.history[at] = append(s.history[at], alcove.Memory{Namespace: at.namespace, Key: at.key, Deleted: true, Agent: s.Caller, Version: version, Timestamp: now})
		}
	}
	for at, m := range s.staged.memories {
		if m.Version == 0 {
			m.Version, m.Timestamp = version, now
			s.history[at] = append(s.history[at], *m)
		}
	}
	for _, r := range s.staged.records {
		if r.Version == 0 {
			r.Version, r.Timestamp = version, now
		}
	}
	s.kept = s.staged
	return out, nil
}
