// Package alcovetest runs a family's handlers in a go test, with a host in memory instead of a guest in a sandbox.
//
// Requests are held to the fields and bounds of their operation, as by a real host: a field that it does not know is an error
// that names it. Otherwise it is simpler: search matches words, nothing is denied but what Space.Ops denies, conditions on
// versions are met, a memory has one version, and there is one branch. What a request stages is kept when it succeeds and thrown
// away when it fails, as with a real one.
package alcovetest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"testing"
	"time"

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
	// Ops carry operations out, in place of the host; an error of theirs reaches the family as a host's does. Their requests
	// are well-formed, and responses are best of the types that package alcove has for them.
	Ops map[alcove.Op]func(request []byte) (response any, err error)

	Calls    []alcove.Op // that were made, in order
	Logged   []string    // log lines
	Progress []string    // as done/total message
	Queue    []Job       // jobs that wait; RunJobs runs them
	Events   []alcove.Event

	guest    Guest
	tools    map[string]bool
	defaults map[string]any // of the configuration
	kept     state
	staged   state
	version  uint64

	requests int
}

// Job is one that was queued.
type Job struct {
	ID, Name string
	Payload  json.RawMessage
}

// state is what is stored.
type state struct {
	memories map[place]*alcove.Memory
	records  map[place]*alcove.Record
}

type place struct{ collection, namespace, key string }

// New makes a space for a guest with this manifest, whose configuration is that of the manifest.
func New(t testing.TB, guest Guest, manifest []byte) *Space {
	t.Helper()
	var m struct {
		Tools  []struct{ Name string }
		Config []struct {
			Key     string
			Default any
		}
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		t.Fatalf("read the manifest: %v", err)
	}
	s := &Space{
		Now: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), Caller: "tester", Namespace: "default", Config: map[string]any{},
		Ops: map[alcove.Op]func([]byte) (any, error){}, guest: guest, tools: map[string]bool{}, defaults: map[string]any{},
		kept: state{map[place]*alcove.Memory{}, map[place]*alcove.Record{}},
	}
	for _, tool := range m.Tools {
		s.tools[tool.Name] = true
	}
	for _, setting := range m.Config {
		s.Config[setting.Key], s.defaults[setting.Key] = setting.Default, setting.Default
	}
	return s
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
		if m.Timestamp == "" {
			m.Timestamp = s.Now.Format(time.RFC3339Nano)
		}
		s.version++
		m.Version = s.version
		s.kept.memories[place{"memory", m.Namespace, m.Key}] = &m
	}
}

// Memory is a memory of the space's namespace; nil when it is not there.
func (s *Space) Memory(key string) *alcove.Memory {
	return s.kept.memories[place{"memory", s.Namespace, key}]
}

// Record is a record of the space's namespace; nil when it is not there.
func (s *Space) Record(collection, key string) *alcove.Record {
	return s.kept.records[place{collection, s.Namespace, key}]
}

// PutRecord stores a record in the space's namespace.
func (s *Space) PutRecord(collection, key string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a record that is no JSON: %v", err))
	}
	s.version++
	s.kept.records[place{collection, s.Namespace, key}] = &alcove.Record{Namespace: s.Namespace, Key: key, Value: data, Version: s.version, Timestamp: s.Now.Format(time.RFC3339Nano)}
}

// Tool calls a tool, and reads its result into result unless that is nil.
func (s *Space) Tool(name string, arguments, result any) error {
	if !s.tools[name] {
		return fmt.Errorf("the manifest has no tool %s", name)
	}
	return s.ask(alcove.KindTool, map[string]any{"tool": name, "arguments": arguments}, result)
}

// Job runs a job, and reads its result into result unless that is nil.
func (s *Space) Job(name string, payload, result any) error {
	return s.ask(alcove.KindHook, map[string]any{"hook": "job", "job": name, "payload": payload}, result)
}

// RunJobs runs what waits in the queue, and what that queues, until nothing waits.
func (s *Space) RunJobs() error {
	for len(s.Queue) > 0 {
		job := s.Queue[0]
		s.Queue = s.Queue[1:]
		if err := s.Job(job.Name, job.Payload, nil); err != nil {
			return fmt.Errorf("job %s: %w", job.Name, err)
		}
	}
	return nil
}

// Store runs the store hook. An error that is an *alcove.Refusal is the hook's decision that nothing is stored; any other is a
// failure of the hook, whatever its code.
func (s *Space) Store(entries ...alcove.Entry) ([]*alcove.Change, error) {
	var out struct {
		Entries []*alcove.Change
		Refuse  *string
	}
	before := s.kept
	err := s.ask(alcove.KindHook, map[string]any{"hook": "store", "entries": entries}, &out)
	switch {
	case err != nil:
		return nil, err
	case out.Refuse != nil:
		s.kept = before
		return nil, alcove.Refuse(*out.Refuse)
	case len(out.Entries) != 0 && len(out.Entries) != len(entries):
		s.kept = before
		return nil, fmt.Errorf("the store hook answered about %d entries; it was asked about %d", len(out.Entries), len(entries))
	}
	return out.Entries, nil
}

// Stored runs the stored hook.
func (s *Space) Stored(entries ...alcove.Entry) error {
	return s.ask(alcove.KindHook, map[string]any{"hook": "stored", "entries": entries}, nil)
}

// Rank runs the rank hook over columns in the order of the manifest.
func (s *Space) Rank(query string, columns ...[]float32) ([]float32, error) {
	params, err := json.Marshal(map[string]any{"config": s.Config, "now": s.Now, "query": query})
	if err != nil {
		return nil, err
	}
	n := 0
	if len(columns) > 0 {
		n = len(columns[0])
	}
	request := binary.LittleEndian.AppendUint32(nil, uint32(n))
	request = binary.LittleEndian.AppendUint32(request, uint32(len(columns)))
	request = binary.LittleEndian.AppendUint32(request, uint32(len(params)))
	request = append(append(request, params...), make([]byte, -len(params)&3)...)
	for _, column := range columns {
		for _, v := range column {
			request = binary.LittleEndian.AppendUint32(request, math.Float32bits(v))
		}
	}
	result, err := s.handle(alcove.KindScore, request)
	return floats(result), err
}

// Embed runs the embed hook.
func (s *Space) Embed(purpose string, texts ...string) ([][]float32, error) {
	request, err := json.Marshal(map[string]any{"texts": texts, "purpose": purpose, "config": s.Config})
	if err != nil {
		return nil, err
	}
	result, err := s.handle(alcove.KindEmbed, request)
	if err != nil || len(result) < 8 {
		return nil, err
	}
	d := int(binary.LittleEndian.Uint32(result[4:]))
	var vectors [][]float32
	for rest := floats(result[8:]); len(rest) >= d && d > 0; rest = rest[d:] {
		vectors = append(vectors, rest[:d])
	}
	return vectors, nil
}

func floats(data []byte) []float32 {
	values := make([]float32, len(data)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return values
}

// ask sends a request of JSON with the context and the configuration added.
func (s *Space) ask(kind alcove.Kind, request map[string]any, result any) error {
	s.requests++
	request["config"] = s.Config
	request["context"] = alcove.Context{Caller: s.Caller, Namespace: s.Namespace, Branch: "default", Now: s.Now.Format(time.RFC3339Nano), RequestID: fmt.Sprintf("request-%d", s.requests), DryRun: s.DryRun}
	data, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	out, err := s.handle(kind, data)
	if err != nil || result == nil || len(out) == 0 {
		return err
	}
	return json.Unmarshal(out, result)
}

// handle runs a request and keeps what it staged if it succeeds.
func (s *Space) handle(kind alcove.Kind, request []byte) ([]byte, error) {
	s.staged = state{maps.Clone(s.kept.memories), maps.Clone(s.kept.records)}
	out, err := s.guest.Handle((*host)(s), kind, request)
	if err != nil || s.DryRun {
		return out, err
	}
	s.version++
	for _, m := range s.staged.memories {
		if m.Version == 0 {
			m.Version, m.Timestamp = s.version, s.Now.Format(time.RFC3339Nano)
		}
	}
	for _, r := range s.staged.records {
		if r.Version == 0 {
			r.Version, r.Timestamp = s.version, s.Now.Format(time.RFC3339Nano)
		}
	}
	s.kept = s.staged
	return out, nil
}
