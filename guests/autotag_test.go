package guests_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

const decided = `"We decided to use PostgreSQL for the billing service, because transactions matter. PostgreSQL 16 runs in Frankfurt."`

func TestAutoTagInTheSandboxTagsWhatIsStored(t *testing.T) {
	s, g := space(t, "auto-tag")
	s.PutRecord("tag-vocabulary", "*", map[string]string{"learned": "2026-06-01T12:00:00Z"}) // else a store asks for it to be learned
	changes, err := s.Store(alcove.Entry{Namespace: "default", Collection: "memory", Key: "db", Value: alcove.Raw(decided), Tags: []string{"billing"}})
	must.Do(t, err)
	c := changes[0]
	if c.Type == nil || *c.Type != "decision" || c.Importance == nil || c.Tags[0] != "billing" || !slices.Contains(c.Tags, "postgresql") {
		t.Errorf("the change is %+v", c)
	}
	if g.last.HostCalls != 1 {
		t.Errorf("a store waits for %d host calls", g.last.HostCalls)
	}
}

func TestAutoTagInTheSandboxTagsANamespace(t *testing.T) {
	s, _ := space(t, "auto-tag")
	for i := range 450 {
		s.Put(alcove.Memory{Key: fmt.Sprintf("m%03d", i), Value: alcove.Raw(fmt.Sprintf(`"Alice deployed number %d to Kubernetes in Hamburg"`, i))})
	}
	var started struct{ Job string }
	must.Do(t, s.Tool("memory_retag", map[string]any{}, &started))
	must.Do(t, s.RunJobs())
	if m := s.Memory("m449"); !slices.Contains(m.Tags, "kubernetes") || m.Type != "observation" {
		t.Errorf("the last memory has the tags %q and the type %q", m.Tags, m.Type)
	}
	if started.Job == "" || len(s.Progress) < 3 {
		t.Errorf("job %q, progress %q", started.Job, s.Progress)
	}
}

// storeRequest is what the host sends for one memory of a usual length.
func storeRequest(t testing.TB) []byte {
	t.Helper()
	request, err := json.Marshal(map[string]any{
		"hook":    "store",
		"entries": []abi.Entry{{Namespace: "default", Collection: "memory", Key: "db", Value: json.RawMessage(decided)}},
		"config":  defaults(t, "auto-tag"),
		"context": abi.Context{Family: "auto-tag", Caller: "ada", Namespace: "default", Branch: "default", Now: "2026-06-01T12:00:00Z", RequestID: "r"},
	})
	must.Do(t, err)
	return request
}

// defaults is a family's configuration when nothing was set.
func defaults(t testing.TB, family string) map[string]json.RawMessage {
	t.Helper()
	m, err := sandbox.ParseManifest(manifest(t, family))
	must.Do(t, err)
	config := map[string]json.RawMessage{}
	for _, setting := range m.Config {
		config[setting.Key] = setting.Default
	}
	return config
}

// answers is a host that gives the same answer to each operation.
type answers map[abi.Op]string

func (a answers) Call(_ context.Context, op abi.Op, _ []byte) ([]byte, error) {
	if answer, ok := a[op]; ok {
		return []byte(answer), nil
	}
	return nil, &abi.Error{Code: abi.CodeDenied, Message: string(op)}
}

// vocabulary is a host that has some records of tags, by their keys, and nothing else.
type vocabulary map[string]string

func (v vocabulary) Call(_ context.Context, op abi.Op, request []byte) ([]byte, error) {
	var asked abi.RecordGetRequest
	if op != abi.OpRecordGet {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: string(op)}
	}
	if err := abi.DecodeRequest(request, &asked); err != nil {
		return nil, err
	}
	found := make([]string, len(asked.Keys))
	for i, key := range asked.Keys {
		found[i] = "null"
		if value, ok := v[key]; ok {
			found[i] = fmt.Sprintf(`{"key":%q,"value":%s}`, key, value)
		}
	}
	return []byte(`{"records":[` + strings.Join(found, ",") + `]}`), nil
}

// learned is the vocabulary of a namespace.
func learned() vocabulary {
	return vocabulary{
		"*":          `{"learned":"2026-06-01T00:00:00Z","documents":1000,"common":["user","project","server"]}`,
		"postgresql": `{"tag":"postgres","uses":12}`,
	}
}

// called measures one request, and fails on any other outcome than a result. The best of all is what it takes on a machine
// that does nothing else.
func called(b *testing.B, m *sandbox.Module, r sandbox.Request) {
	b.Helper()
	b.ReportAllocs()
	best := time.Hour
	for b.Loop() {
		result, err := m.Call(context.Background(), r)
		if err != nil || result.Class != abi.ClassOK {
			b.Fatalf("Call = %+v, %v, want class %s", result, err, abi.ClassOK)
		}
		best = min(best, result.Time)
	}
	b.ReportMetric(float64(best.Nanoseconds())/1000, "best-µs/op")
}

// BenchmarkStoreHook is what auto-tag adds to a store, without what the host takes to answer its one question: at most
// 1 ms.
func BenchmarkStoreHook(b *testing.B) {
	called(b, admitted(b, "auto-tag"), sandbox.Request{Kind: abi.KindHook, Payload: storeRequest(b), Host: learned()})
}
