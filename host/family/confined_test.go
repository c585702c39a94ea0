package family

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// atHome is a caller who knows of no other namespace than home.
func atHome() memory.Caller {
	return memory.Caller{Agent: "ann", Client: "editor", Session: "s1", Rights: memory.RightsTo(nil, []string{"home"})}
}

// curious reads what it can of the namespace work, and of all.
func curious() []step {
	return []step{
		{"memory.get", `{"keys":["k"],"namespace":"work"}`}, {"memory.get", `{"keys":["k"],"namespace":"work","as_of":"v3"}`}, {"memory.list", `{"namespace":"work"}`},
		{"memory.history", `{"key":"k","namespace":"work"}`}, {"memory.search", `{"query":"lantern","namespaces":["*"]}`}, {"memory.search", `{"query":"lantern","namespaces":["work"]}`},
		{"memory.namespaces", `{}`}, {"log.read", `{"namespace":"work"}`}, {"feed.read", `{"namespaces":["*"]}`}, {"branch.diff", `{"source":"draft"}`},
		{"branch.merge", `{"source":"draft","preview":true}`}, {"record.list", `{"collection":"own","namespace":"work"}`}, {"record.search", `{"collection":"own","query":"lantern","namespaces":["*"]}`},
		{"memory.get", `{"keys":["k"],"namespace":"home"}`},
	}
}

// lit is a space with a lantern in the namespace work: in a memory, an event, a record of the family nosy and on the branch draft.
func lit(t *testing.T) *world {
	t.Helper()
	w, all, work := open(t, nil), owner(""), memory.Location{Namespace: "work"}
	keep := func(p memory.Location, value string) {
		t.Helper()
		if _, err := w.space.As(all).Store(t.Context(), p, []memory.Item{{Key: "k", Value: json.RawMessage(value)}}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	keep(memory.Location{Namespace: "home"}, `"tea at home"`)
	keep(work, `"a lantern at work"`)
	if _, err := w.space.As(all).Append(t.Context(), work, "lit", json.RawMessage(`"a lantern"`), memory.Write{}); err != nil {
		t.Fatal(err)
	}
	stage, err := w.space.As(all).Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	own := memory.Collection{Name: "nosy/own", Fields: []string{"text"}}
	if err := stage.PutRecord(t.Context(), own, "work", "r", json.RawMessage(`{"text":"a lantern"}`), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Commit(t.Context(), memory.Commit{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.space.As(all).Fork(t.Context(), "", "draft", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	keep(memory.Location{Branch: "draft", Namespace: "work"}, `"two lanterns"`)
	return w
}

func nosy() *abi.Manifest {
	m := aFamily("nosy")
	m.Collections = []abi.Collection{{Name: "own", Searchable: []string{"text"}}}
	return m
}

// wantShown compares what a hook of nosy was shown for the owner, and for a caller at home.
func wantShown(t *testing.T, toOwner, toCaller string) {
	t.Helper()
	if n := strings.Count(toOwner, "lantern"); n < 10 {
		t.Errorf("the owner's hook was shown %d lanterns: %s", n, toOwner)
	}
	if strings.Contains(toCaller, "lantern") || !strings.Contains(toCaller, "tea at home") || !strings.Contains(toCaller, `"namespaces":["home"]`) {
		t.Errorf("the caller's hook was shown %s", toCaller)
	}
}

func TestAStoreHookReadsWhatTheCallerMayRead(t *testing.T) {
	m := nosy()
	m.Hooks.Store = &abi.StoreHook{}
	w := lit(t).with(m, script{steps: curious(), around: [2]string{`{"entries":[{"metadata":{"saw":`, `}}]}`}})
	saw := func(c memory.Caller) string {
		t.Helper()
		place := memory.Location{Namespace: "home"}
		if _, err := w.space.As(c).Store(t.Context(), place, []memory.Item{{Key: c.Agent + "s", Value: json.RawMessage(`1`)}}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
		stored, err := w.space.As(c).Recall(t.Context(), place, c.Agent+"s", memory.AsOf{})
		if err != nil {
			t.Fatal(err)
		}
		return string(stored.Metadata["saw"])
	}
	caller := saw(atHome()) // before the owner, to whom more is shown, and stored at home
	wantShown(t, saw(owner("bob")), caller)
}

func TestARankHookReadsWhatTheCallerMayRead(t *testing.T) {
	m := nosy()
	m.Hooks.Rank = &abi.RankHook{Features: []string{"score"}}
	w := lit(t).with(m, script{steps: curious(), around: [2]string{`{"code":"unavailable","message":"not today","details":{"saw":`, `}}`}, status: 1})
	saw := func(c memory.Caller) string {
		t.Helper()
		r := memory.Ranking{Branch: memory.Default, Caller: c, Query: "tea", Now: w.o.Clock(), Hits: 1, Types: []string{""}, Column: func(string) []float32 { return []float32{1} }}
		rank, _ := w.Hooks().Ranker(t.Context(), r)
		_, _, err := rank(t.Context(), r)
		var failed *memory.Error
		if !errors.As(err, &failed) {
			t.Fatalf("it said %v", err)
		}
		data, err := json.Marshal(failed.Details["saw"])
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	wantShown(t, saw(owner("")), saw(atHome()))
}

func TestACommitIsFoundUnderItsCallAndItsFamily(t *testing.T) {
	w := open(t, nil).with(nosy(), script{steps: []step{{"memory.put", `{"items":[{"key":"a","value":1}]}`}, {"branch.fork", `{"name":"idea"}`}}})
	c := atHome()
	c.Rights = memory.FullRights()
	if _, err := w.call(given{Tool: "nosy_do", Caller: c, RequestID: "r1"}); err != nil {
		t.Fatal(err)
	}
	list, _, err := w.space.As(owner("")).Commits(t.Context(), memory.CommitQuery{Call: "r1"})
	if err != nil || len(list) != 2 {
		t.Fatalf("Commits = %+v (%v), want 2", list, err)
	}
	for _, done := range list {
		by := done.Caller
		if by.Agent != "ann" || by.Client != "editor" || by.Session != "s1" || by.Family != "nosy" || by.Call != "r1" {
			t.Errorf("version %d is %+v's", done.Version, by)
		}
	}
}

func TestAConfinedCallersRequestIsAnsweredTwiceAndDoneOnce(t *testing.T) {
	w := open(t, nil).with(nosy(), script{steps: []step{{"log.append", `{"event":"e","namespace":"home","data":1}`}}})
	for range 2 {
		if _, err := w.call(given{Tool: "nosy_do", Location: memory.Location{Namespace: "home"}, Caller: atHome(), RequestID: "r1"}); err != nil {
			t.Fatal(err)
		}
	}
	said, err := w.space.As(atHome()).Events(t.Context(), memory.Location{Namespace: "home"}, memory.AsOf{}, 0, 0)
	if err != nil || len(said) != 1 {
		t.Errorf("%d events (%v)", len(said), err)
	}
}
