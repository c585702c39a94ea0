package family

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/policy"
	"github.com/alcove-memory/alcove/registry"
)

func TestEveryOperationOfTheABIIsServed(t *testing.T) {
	for op := range abi.Ops() {
		if operations()[op] == nil {
			t.Errorf("%s is not", op)
		}
	}
	if len(operations()) != len(abi.Ops()) {
		t.Errorf("%d are served, of %d", len(operations()), len(abi.Ops()))
	}
}

func TestWithoutItsCapabilityEveryOperationIsDenied(t *testing.T) {
	var steps []step
	var ops []abi.Op
	for op, needs := range abi.Ops() {
		if needs != "" {
			steps, ops = append(steps, step{string(op), `{}`}), append(ops, op)
		}
	}
	m := aFamily("bare")
	m.Capabilities = nil
	w := open(t, nil).with(m, script{steps: steps})
	got, _ := w.do("bare")
	for i, r := range got {
		if r.Error == nil || r.Error.Code != abi.CodeDenied || !strings.Contains(r.Error.Message, string(abi.Ops()[ops[i]])) {
			t.Errorf("%s: %+v", ops[i], r)
		}
	}
}

// TestOperationsAnswerAsTheSpecificationSays makes calls, one after the other, in one space.
func TestOperationsAnswerAsTheSpecificationSays(t *testing.T) {
	cases := []struct{ op, request, want string }{ // want is a part of the response, or of the error
		{"memory.get", `{"keys":["there"]}`, `"key":"there","value":{"text":"green tea"},"tags":["drink"],"type":"fact","importance":0.5,"state":"active"`},
		{"memory.get", `{"keys":["there"],"counters":true}`, `"counters":{"accesses":0,"health":0}`},
		{"memory.get", `{"keys":[]}`, `give from 1 to 1000`},
		{"memory.get", `{"keys":["there"],"namespace":"a b"}`, `may hold only letters`},
		{"memory.get", `{"keys":["there"],"as_of":"v1"}`, `{"memories":[null]}`},
		{"memory.get", `{"keys":["there"],"as_of":"soon"}`, `invalid_argument`},
		{"memory.get", `{"keys":7}`, `the request is not what the operation takes`},
		{"memory.get", strings.Repeat("[", 600), `nested 600 deep`},
		{"memory.list", `{"limit":1}`, `"next":"other"`},
		{"memory.list", `{"limit":1001}`, `it goes from 1 to 1000`},
		{"memory.list", `{"prefix":"th"}`, `"key":"there"`},
		{"memory.namespaces", `{}`, `{"namespaces":["default"]}`},
		{"memory.history", `{"key":"there"}`, `{"versions":[{"namespace":"default","key":"there"`},
		{"memory.search", `{"query":"tea","features":true}`, `"features":{"accesses":0,"age":`},
		{"memory.search", `{"query":"tea","namespaces":["*"]}`, `"total":1`},
		{"memory.search", `{"query":""}`, `query is empty`},
		{"memory.search", `{"query":"tea","mode":"magic"}`, `it is lexical, semantic or hybrid`},
		{"memory.put", `{"items":[{"key":"new","value":"x","if_version":7}]}`, `conflict`},
		{"memory.put", `{"items":[{"key":"new","value":"x","importance":7}]}`, `it goes from 0 to 1`},
		{"memory.put", `{"items":[{"key":"new","value":"x"}]}`, `{"stored":[{"namespace":"default","key":"new"}]}`},
		{"memory.put", `{"items":[]}`, `give from 1 to 1000`},
		{"memory.patch", `{"patches":[{"key":"new","add_tags":["t"],"expires_at":"2h"},{"key":"gone","add_tags":["t"]}]}`, `{"missing":["gone"],"patched":1}`},
		{"memory.touch", `{"keys":["there"],"health":0.25}`, `{"touched":1}`},
		{"memory.touch", `{"keys":["there"],"health":7}`, `health by -1 to 1`},
		{"memory.delete", `{"keys":["new","gone"]}`, `{"deleted":1}`},
		{"record.put", `{"collection":"notes","items":[{"key":"k","value":{"text":"a boat","n":12345678901234567890}}]}`, `{"stored":1}`},
		{"record.get", `{"collection":"notes","keys":["k","none"]}`, `"value":{"text":"a boat","n":12345678901234567890}`},
		{"record.get", `{"collection":"elsewhere","keys":["k"]}`, `declares no collection`},
		{"record.list", `{"collection":"notes"}`, `{"records":[{"namespace":"default","key":"k"`},
		{"record.append", `{"collection":"list","values":[1,2]}`, `{"sequences":[1,2]}`},
		{"record.append", `{"collection":"notes","values":[1]}`, `{"sequences":[1]}`},
		{"record.delete", `{"collection":"notes","keys":["k"]}`, `{"deleted":1}`},
		{"record.search", `{"collection":"notes","query":"boat"}`, `{"hits":[],"total":0}`},
		{"record.search", `{"collection":"list","query":"boat"}`, `not searchable`},
		{"log.append", `{"event":"e","data":{"a":1}}`, `{}`},
		{"log.append", `{"event":"","data":{}}`, `event is empty`},
		{"log.read", `{}`, `{"events":[]}`},
		{"feed.read", `{"limit":5}`, `"kind":"memory_stored"`},
		{"feed.emit", `{"kind":"done","payload":{"n":1}}`, `{}`},
		{"feed.emit", `{"kind":"not a name"}`, `may hold only letters`},
		{"branch.list", `{}`, `"name":"default"`},
		{"branch.diff", `{"source":"none"}`, `there is no branch`},
		{"branch.fork", `{"name":"trial"}`, `{"from":"default","name":"trial"}`},
		{"branch.merge", `{"source":"default","target":"default","preview":true}`, `itself`},
		{"link.add", `{"key":"there","to":["other"]}`, `{"added":1}`},
		{"link.list", `{"key":"other"}`, `{"linked_from":["there"],"links":[]}`},
		{"link.list", `{"key":"there"}`, `{"linked_from":[],"links":["other"]}`},
		{"link.remove", `{"key":"there","to":["other","none"]}`, `{"removed":1}`},
		{"link.add", `{"key":"none","to":["other"]}`, `not_found`},
		{"config.get", `{}`, `{"config":{"speed":1}}`},
		{"config.set", `{"values":{"speed":2}}`, `{"config":{"speed":2}}`},
		{"config.set", `{"values":{"speed":"fast"}}`, `not valid`},
		{"config.set", `{"values":{"height":1}}`, `no configuration key`},
		{"config.set", `{"values":{"speed":null}}`, `{"config":{"speed":1}}`},
		{"caller.get", `{}`, `"caller":"me","capabilities":[{"name":"memory.read","scope":["*"]}`},
		{"caller.progress", `{"done":1,"total":2}`, `{}`},
		{"caller.progress", `{"done":1,"message":"` + strings.Repeat("x", 1001) + `"}`, `at most 1000 are allowed`},
		{"text.analyze", `{"texts":["Green teas", ""]}`, `{"terms":[["green","tea"],[]]}`},
		{"text.analyze", `{"texts":[]}`, `give from 1 to 256`},
		{"text.count", `{"terms":["tea","nothing"]}`, `{"counts":[1,0],"documents":2}`},
		{"embed.texts", `{"texts":["tea"]}`, `no embedder is configured`},
		{"llm.complete", `{"prompt":"x"}`, `no endpoint of the kind openai or ollama`},
		{"llm.complete", `{}`, `the prompt is empty`},
		{"http.fetch", `{"endpoint":"e"}`, `no endpoint of the kind http`},
		{"job.status", `{"id":"none"}`, `not_found`},
		{"no.such", `{}`, `there is no operation`},
	}
	m := aFamily("tries")
	m.Collections = []abi.Collection{{Name: "notes", Searchable: []string{"text"}}, {Name: "list", Per: "space"}}
	m.Config = []abi.Setting{{Key: "speed", Default: json.RawMessage(`1`)}}
	var steps []step
	for _, c := range cases {
		steps = append(steps, step{c.op, c.request})
	}
	w := open(t, nil).with(m, script{steps: steps})
	half := .5
	items := []memory.Item{{Key: "there", Value: json.RawMessage(`{"text":"green tea"}`), Tags: []string{"drink"}, Type: "fact", Importance: &half}, {Key: "other", Value: json.RawMessage(`1`)}}
	if _, err := w.space.Store(t.Context(), memory.Place{}, items, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	result, err := w.call(Call{Tool: "tries_do", Caller: policy.Caller{Agent: "me"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range responses(t, result.Output) {
		got := string(r.OK)
		if r.Error != nil {
			got = r.Error.Error()
		}
		if !strings.Contains(got, cases[i].want) {
			t.Errorf("%s %.60s: %s, not %s", cases[i].op, cases[i].request, got, cases[i].want)
		}
	}
	if branches, err := w.space.Branches(t.Context()); err != nil || len(branches) != 2 {
		t.Errorf("the fork is not there: %v, %v", branches, err)
	}
	feed, err := w.space.Feed(t.Context(), "", nil, 0, 0)
	if err != nil || len(feed.Notices) == 0 {
		t.Fatal(err)
	}
	if last := feed.Notices[len(feed.Notices)-1]; !hasNotice(feed.Notices, "tries.done", `{"n":1}`) {
		t.Errorf("the feed ends with %+v", last)
	}
}

func hasNotice(list []memory.Notice, kind memory.Kind, payload string) bool {
	for _, n := range list {
		if n.Kind == kind && string(n.Payload) == payload {
			return true
		}
	}
	return false
}

func TestASearchDoesNotSeeWhatIsStagedAndAListDoes(t *testing.T) {
	w := open(t, nil).with(aFamily("tidy"), script{steps: []step{
		{"memory.put", `{"items":[{"key":"a","value":"green boat"}]}`}, {"memory.search", `{"query":"boat"}`}, {"memory.list", `{}`}}})
	got, _ := w.do("tidy")
	if !strings.Contains(string(got[1].OK), `"total":0`) || !strings.Contains(string(got[2].OK), `green boat`) {
		t.Errorf("%s; %s", got[1].OK, got[2].OK)
	}
}

// outsider is an Outside that answers with what it was asked.
type outsider struct{}

func (outsider) Complete(_ context.Context, e registry.Endpoint, c Completion, _ Leaving) (Completed, error) {
	return Completed{Text: e.URL + " " + c.Prompt, Model: e.Model}, nil
}
func (outsider) Fetch(_ context.Context, e registry.Endpoint, f Fetch, _ Leaving) (Fetched, error) {
	return Fetched{Status: 200, Body: e.URL + f.Path}, nil
}

func TestAFamilyReachesOnlyEndpointsThatItWasGranted(t *testing.T) {
	m := aFamily("asks")
	w := open(t, func(o *Options) { o.Outside = outsider{} })
	for _, name := range []string{"mine", "theirs"} {
		if err := w.SetEndpoint(name, &registry.Endpoint{Kind: "openai", URL: "http://" + name, Model: "m"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetEndpoint("web", &registry.Endpoint{Kind: "http", URL: "http://web"}); err != nil {
		t.Fatal(err)
	}
	w.with(m, script{steps: []step{{"llm.complete", `{"prompt":"x"}`}, {"llm.complete", `{"prompt":"x","endpoint":"theirs"}`}, {"llm.complete", `{"prompt":"x","endpoint":"web"}`},
		{"http.fetch", `{"endpoint":"web","path":"/a"}`}, {"http.fetch", `{"endpoint":"mine"}`}}})
	if _, err := w.Grant(GrantRequest{Family: "asks", Capabilities: []registry.Capability{{Name: abi.CanLLM, Scope: []string{"mine"}}, {Name: abi.CanHTTP, Scope: []string{"web"}}}}); err != nil {
		t.Fatal(err)
	}
	got, _ := w.do("asks")
	if !strings.Contains(string(got[0].OK), `http://mine x`) || got[1].Error == nil || got[2].Error == nil || !strings.Contains(string(got[3].OK), "http://web/a") || got[4].Error == nil {
		t.Errorf("%+v", got)
	}
}

// embedder makes vectors of the lengths of texts.
type embedder struct{}

func (embedder) Embed(_ context.Context, texts []string, purpose string) (string, [][]float32, error) {
	var vectors [][]float32
	for _, text := range texts {
		vectors = append(vectors, []float32{float32(len(text)), float32(len(purpose))})
	}
	return "lengths", vectors, nil
}

func TestAFamilyHasTextsEmbedded(t *testing.T) {
	w := open(t, func(o *Options) { o.Embedder = embedder{} }).with(aFamily("asks"), script{steps: []step{{"embed.texts", `{"texts":["tea","green"],"purpose":"query"}`}}})
	if got, _ := w.do("asks"); string(got[0].OK) != `{"dimensions":2,"model":"lengths","vectors":[[3,5],[5,5]]}` {
		t.Errorf("%s, %v", got[0].OK, got[0].Error)
	}
}

func vectorsText(n, d uint32, values ...float32) string {
	return floatsText(append([]float32{math.Float32frombits(n), math.Float32frombits(d)}, values...)...)
}

func TestAFamilyThatEmbedsIsAnEmbedder(t *testing.T) {
	m := aFamily("embeds")
	m.Hooks.Embed = &abi.EmbedHook{Model: "tiny", Dimensions: 2}
	w := open(t, nil).with(m, script{says: vectorsText(2, 2, 1, 2, 3, 4)})
	if _, ok := w.EmbedderOf("embeds"); ok {
		t.Error("its hook is not on")
	}
	if _, err := w.Grant(GrantRequest{Family: "embeds", Hooks: map[abi.Hook]registry.On{abi.HookEmbed: {}}}); err != nil {
		t.Fatal(err)
	}
	e, ok := w.EmbedderOf("embeds")
	if !ok || e.Model != "tiny" || e.Dimensions != 2 {
		t.Fatalf("%+v, %t", e, ok)
	}
	vectors, err := e.Embed(t.Context(), []string{"a", "b"}, "document")
	if err != nil || fmt.Sprint(vectors) != "[[1 2] [3 4]]" {
		t.Errorf("%v, %v", vectors, err)
	}
	if _, err := e.Embed(t.Context(), []string{"a"}, "document"); err == nil {
		t.Error("two vectors of one text are taken")
	}
}
