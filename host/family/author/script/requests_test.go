package script_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/author/script"
	"github.com/alcove-memory/alcove/host/family/author/trial"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// Families whose handlers rely on all that requests have.
const trustingJavaScript = `import { family, t } from "alcove";
const texts = (...all) => all.forEach((s) => s.toUpperCase());
const know = ({ context: { family, caller, namespace, branch, now, request_id, proposal = "" }, config: { word }, input }) => {
  texts(family, caller, namespace, branch, now, request_id, proposal, word);
  if (input) texts(...input.can, input.state ?? ""), Object.keys(input.answers ?? {});
};
const stored = (entries, c) => {
  know(c);
  for (const { namespace, collection, key, change = "", agent = "", family = "", state = "", type = "", tags = [], links = [], supersedes = [], metadata = {}, importance = 0, version = 0 } of entries) {
    texts(namespace, collection, key, change, agent, family, state, type, ...tags, ...links, ...supersedes), Object.keys(metadata), importance.toFixed(), version.toFixed();
  }
};
export default family({
  name: "trusting", description: "Relies on its requests", config: [{ key: "word", default: "tea", schema: { type: "string" } }],
  tools: { trusting_do: { description: "Does it.", input: { text: t.optional(t.string()) }, call: (input, c) => know(c) } },
  hooks: {
    store: stored, stored,
    merged({ source, target, agent = "", keys, version, count }, c) {
      know(c), texts(source, target, agent), version.toFixed(), count.toFixed(), keys.forEach(({ namespace, key }) => texts(namespace, key));
    },
    session_end({ session, agent = "", client = "", began_at, ended_at = "", namespace, branch, last_at = "", calls }, c) {
      know(c), texts(session, agent, client, began_at, ended_at, namespace, branch, last_at), calls.toFixed();
    },
    rank: { features: ["score", "age"], call: ({ count, columns: { score, age }, query, now }, c) => (know(c), texts(query, now), Array.from({ length: count }, (_, i) => (score.at(i) || 0) + (age.at(i) || 0))) },
    embed: { model: "x", dimensions: 2, call: (all, c, purpose) => (know(c), texts(purpose, ...all), all.map(({ length }) => [length, 1])) },
  },
  jobs: { tidy: (payload, c) => know(c) },
});
`

const trustingPython = `import alcove
alcove.family(name="trusting", description="Relies on its requests", config=[{"key": "word", "default": "tea", "schema": {"type": "string"}}])


def texts(*all):
    for s in all:
        s.upper()


def know(c):
    for name in ("family", "caller", "namespace", "branch", "now", "request_id"):
        texts(c.context[name])
    texts(c.context.get("proposal", ""), c.config["word"])
    if c.input:
        texts(*c.input["can"]), texts(c.input.get("state", "")), c.input.get("answers", {}).keys()


@alcove.tool(description="Does it.", input={"text": alcove.t.optional(alcove.t.string())})
def trusting_do(c, text=""):
    know(c)


def stored(c, entries):
    know(c)
    for e in entries:
        texts(e["namespace"], e["collection"], e["key"])
        for name in ("change", "agent", "family", "state", "type"):
            texts(e.get(name, ""))
        for name in ("tags", "links", "supersedes"):
            texts(*e.get(name, []))
        e.get("metadata", {}).keys(), e.get("importance", 0) + e.get("version", 0)


alcove.hook("store")(stored)
alcove.hook("stored")(stored)


@alcove.hook("merged")
def merged(c, merge):
    know(c)
    texts(merge["source"], merge["target"], merge.get("agent", "")), merge["version"] + merge["count"]
    for one in merge["keys"]:
        texts(one["namespace"], one["key"])


@alcove.hook("session_end")
def session_end(c, session):
    know(c)
    for name in ("session", "began_at", "namespace", "branch"):
        texts(session[name])
    for name in ("agent", "client", "ended_at", "last_at"):
        texts(session.get(name, ""))
    session["calls"] + 1


@alcove.hook("rank", features=["score", "age"])
def rank(c, ranking):
    know(c)
    texts(ranking.query, ranking.now)
    columns = [[x if x == x else 0 for x in ranking.columns[name]] for name in ("score", "age")]
    return [columns[0][i] + columns[1][i] for i in range(ranking.count)]


@alcove.hook("embed", model="x", dimensions=2)
def embed(c, all, purpose):
    know(c)
    texts(purpose, *all)
    return [[len(text), 1] for text in all]


@alcove.job
def tidy(c, payload):
    know(c)
`

// whole are requests that have each member, by their names.
func whole(t *testing.T) map[string]asked {
	t.Helper()
	context := abi.Context{Family: "trusting", Caller: "ann", Namespace: "default", Branch: "default", Now: "2026-01-02T03:04:05Z", RequestID: "r1", DryRun: true, Operator: true, Proposal: "proposals/x"}
	config, importance := json.RawMessage(`{"word":"tea"}`), 0.5
	entry := abi.Entry{Namespace: "default", Collection: "memory", Key: "a", Change: "state", Version: 4, Deleted: true, Agent: "ann", Family: "notes", State: "merged", Value: json.RawMessage(`"tea"`), Tags: []string{"t"},
		Type: "note", Importance: &importance, Metadata: map[string]json.RawMessage{"n": json.RawMessage("1")}, Links: []string{"b"}, Supersedes: []string{"c"}}
	merge := abi.MergeNotice{Source: "b", Target: "default", Version: 4, Agent: "ann", Count: 1, Keys: []abi.MergeKey{{Namespace: "default", Key: "a", Deleted: true}}}
	session := abi.Session{Session: "s", Agent: "ann", Client: "x", BeganAt: "2026-01-02T03:04:05Z", Calls: 3, EndedAt: "2026-01-02T03:04:05Z", Namespace: "default", Branch: "default", LastAt: "2026-01-02T03:04:05Z"}
	all := map[string]asked{}
	for name, r := range map[string]struct {
		kind    abi.Kind
		message any
	}{
		"tool":        {abi.KindTool, abi.ToolRequest{Tool: "trusting_do", Arguments: json.RawMessage(`{"text":"x"}`), Config: config, Input: &abi.Input{Can: []string{"user"}, Answers: map[string]json.RawMessage{"q": json.RawMessage("1")}, State: "s"}, Context: context}},
		"store":       {abi.KindHook, abi.HookRequest{Hook: abi.HookStore, Entries: []abi.Entry{entry}, Config: config, Context: context}},
		"stored":      {abi.KindHook, abi.HookRequest{Hook: abi.HookStored, Entries: []abi.Entry{entry}, Config: config, Context: context}},
		"merged":      {abi.KindHook, abi.HookRequest{Hook: abi.HookMerged, Merge: &merge, Config: config, Context: context}},
		"session_end": {abi.KindHook, abi.HookRequest{Hook: abi.HookSessionEnd, Session: &session, Config: config, Context: context}},
		"job":         {abi.KindHook, abi.HookRequest{Hook: abi.HookJob, Job: "tidy", Payload: json.RawMessage(`{"n":1}`), Config: config, Context: context}},
		"rank":        {abi.KindScore, abi.ScoreParams{Config: config, Now: "2026-01-02T03:04:05Z", Query: "tea", Context: context}},
		"embed":       {abi.KindEmbed, abi.EmbedRequest{Texts: []string{"tea"}, Purpose: "query", Config: config, Context: context}},
	} {
		data, err := json.Marshal(r.message)
		must.Do(t, err)
		var message map[string]any
		must.Do(t, json.Unmarshal(data, &message))
		all[name] = asked{r.kind, message}
	}
	return all
}

// asked is a request of a kind.
type asked struct {
	kind    abi.Kind
	message any
}

// payload is its bytes; a ranking has one candidate with two features.
func (a asked) payload(t *testing.T) []byte {
	t.Helper()
	data, err := json.Marshal(a.message)
	must.Do(t, err)
	if a.kind == abi.KindScore {
		return abi.AppendScoring(nil, abi.Scoring{Params: data, Candidates: 1, Columns: [][]float32{{0.5}, {2}}})
	}
	return data
}

// free are the members whose form is no part of a request: any JSON, and objects with members of any name.
var free = []string{"arguments", "config", "value", "metadata", "payload", "answers"}

// spoiled goes through a value with one member or element of it missing, null, or of another type; last is its name.
func spoiled(value any) iter.Seq2[string, any] {
	return func(yield func(last string, value any) bool) {
		switch v := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				with := func(one any) map[string]any {
					changed := maps.Clone(v)
					changed[name] = one
					return changed
				}
				without := maps.Clone(v)
				delete(without, name)
				if !yield(name, without) {
					return
				}
				for _, other := range others(v[name]) {
					if !yield(name, with(other)) {
						return
					}
				}
				if slices.Contains(free, name) {
					continue
				}
				for last, below := range spoiled(v[name]) {
					if !yield(last, with(below)) {
						return
					}
				}
			}
		case []any:
			for _, other := range append(others(v[0]), nil) {
				if !yield("[0]", []any{other}) {
					return
				}
			}
			for last, below := range spoiled(v[0]) {
				if !yield(last, []any{below}) {
					return
				}
			}
		}
	}
}

// others are null and values of each other type.
func others(value any) (all []any) {
	for _, other := range []any{nil, true, 1.5, "text", []any{1.0}, map[string]any{"toString": 1.0}} {
		if other == nil || reflect.TypeOf(other) != reflect.TypeOf(value) {
			all = append(all, other)
		}
	}
	return all
}

// trusting are families whose handlers rely on their requests, by their files.
func trusting() map[string]string {
	return map[string]string{"family.js": trustingJavaScript, "family.py": trustingPython}
}

// packed is a family with its manifest, and a sandbox for it.
func packed(t *testing.T, file, text string) ([]byte, *sandbox.Sandbox) {
	t.Helper()
	raw := module(t, project(t, file, text))
	manifest, err := script.Manifest(t.Context(), sandbox.Config{Interpret: true}, raw)
	must.Do(t, err)
	packed, err := sandbox.Pack(raw, manifest)
	must.Do(t, err)
	box, err := sandbox.New(sandbox.Config{Cache: sandbox.UserCache()})
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, box.Close()) })
	return packed, box
}

func admitted(t *testing.T, file, text string) *sandbox.Module {
	t.Helper()
	packed, box := packed(t, file, text)
	m, err := box.Admit(t.Context(), packed, sandbox.Options{})
	must.Do(t, err)
	return m
}

// What alcove family test sends is no fault of a family whose handlers rely on their requests.
func TestFamiliesInJavaScriptAndPythonKeepTheirContract(t *testing.T) {
	for file, text := range trusting() {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			packed, box := packed(t, file, text)
			report, err := trial.Test(t.Context(), trial.Conformance{Sandbox: box, Module: packed, Seed: 1, Inputs: 3})
			must.Do(t, err)
			subjects := map[string]bool{}
			for _, c := range report.Checks {
				subjects[c.Subject] = true
				for _, p := range c.Problems {
					t.Errorf("%s of %s: got %s with %s, want none", c.Name, c.Subject, p.Message, p.Case)
				}
			}
			for _, kind := range []string{"hook requests", "score requests", "embed requests"} {
				if !subjects[kind] {
					t.Errorf("got checks of %v, want %s", slices.Sorted(maps.Keys(subjects)), kind)
				}
			}
		})
	}
}

func TestWhatIsWrongWithARequestIsNotToldAsAnErrorOfItsHandler(t *testing.T) {
	for file, text := range trusting() {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			m := admitted(t, file, text)
			ask := func(kind abi.Kind, payload []byte) *sandbox.Result {
				t.Helper()
				r, err := m.Call(t.Context(), sandbox.Request{Kind: kind, Payload: payload})
				must.Do(t, err)
				return r
			}
			for name, request := range whole(t) {
				if r := ask(request.kind, request.payload(t)); r.Error != nil {
					t.Errorf("%s: got %v, want an answer", name, r.Error)
				}
				for last, changed := range spoiled(request.message) {
					payload := asked{request.kind, changed}.payload(t)
					if r := ask(request.kind, payload); !tells(r, last) {
						t.Errorf("%s, spoiled in %s: got %v, want an answer or an error that names it: %s", name, last, r.Error, payload)
					}
				}
			}
			ranked := whole(t)["rank"].payload(t)
			for what, payload := range map[string][]byte{
				"no bytes": nil, "half a head": ranked[:11], "half a column": ranked[:len(ranked)-3], "a column less": narrower(ranked), "no JSON": []byte("\x00\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00{\x00\x00\x00"),
				"more than there is": append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, ranked[8:]...),
			} {
				if r := ask(abi.KindScore, payload); r.Error == nil || r.Error.Code != abi.CodeInvalidArgument {
					t.Errorf("a ranking of %s: got %v, want invalid_argument", what, r.Error)
				}
			}
			for _, hook := range []string{"rank", "embed", "constructor", "none"} {
				request := fmt.Sprintf(`{"hook":%q,"config":{},"context":%s}`, hook, about)
				if r := ask(abi.KindHook, []byte(request)); r.Error == nil || r.Error.Code != abi.CodeNotFound {
					t.Errorf("hook %s in JSON: got %v, want not_found", hook, r.Error)
				}
			}
		})
	}
}

// tells reports whether a spoiled request has an answer, or an error that says what is wrong with it.
func tells(r *sandbox.Result, last string) bool {
	switch {
	case r.Error == nil || r.Error.Code == abi.CodeNotFound: // as an absent job
		return true
	}
	return r.Error.Code == abi.CodeInvalidArgument && strings.Contains(r.Error.Message, last)
}

// narrower is a ranking with a column less.
func narrower(ranked []byte) []byte {
	less := slices.Clone(ranked[:len(ranked)-4])
	binary.LittleEndian.PutUint32(less[4:], 1)
	return less
}

// Lists that are empty are null where a host in Go left them nil.
func TestAListThatIsNullIsEmpty(t *testing.T) {
	for file, text := range trusting() {
		m := admitted(t, file, text)
		for _, texts := range []string{"", `"texts":null,`, `"texts":[],`} {
			payload := fmt.Sprintf(`{%s"purpose":"query","config":{"word":"tea"},"context":%s}`, texts, about)
			r, err := m.Call(t.Context(), sandbox.Request{Kind: abi.KindEmbed, Payload: []byte(payload)})
			must.Do(t, err)
			if r.Error != nil || !slices.Equal(r.Output, make([]byte, 8)) {
				t.Errorf("%s, %s: got % x, %v, want no vectors", file, payload, r.Output, r.Error)
			}
		}
	}
}
