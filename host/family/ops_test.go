package family

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/registry"
)

func TestWithoutItsCapabilityEveryOperationIsDenied(t *testing.T) {
	var steps []step
	var asked []abi.Op
	for op, needs := range abi.Ops() {
		if needs != "" {
			steps, asked = append(steps, step{string(op), `{}`}), append(asked, op)
		}
	}
	m := aFamily("bare")
	m.Capabilities = nil
	w := open(t, nil).with(m, script{steps: steps})
	got, _ := w.do("bare")
	for i, r := range got {
		if r.Error == nil || r.Error.Code != abi.CodeDenied || !strings.Contains(r.Error.Message, string(abi.Ops()[asked[i]])) {
			t.Errorf("%s: %+v, want it denied by name", asked[i], r)
		}
	}
}

func TestRequestsBeyondABoundAreRefusedByItsName(t *testing.T) {
	cases := []struct{ op, request, says string }{
		{"memory.get", strings.Repeat("[", 600), "nested 600 deep: at most"},
		{"memory.get", `{"keys":["there"],"namespace":"a b"}`, "may hold only letters"},
		{"caller.progress", `{"done":1,"message":"` + strings.Repeat("x", 1001) + `"}`, "at most 1000 are allowed"},
		{"job.enqueue", `{"job":"sweep","payload":"` + strings.Repeat("x", jobs.PayloadLimit) + `"}`, "at most 65536 are allowed"},
		{"job.enqueue", `{"job":"sweep","after_s":1e9}`, "after_s is 1000000000: it must be from 0 to 31622400"},
	}
	m := aFamily("tries")
	m.Hooks.Jobs = []abi.Job{{Name: "sweep"}}
	var steps []step
	for _, c := range cases {
		steps = append(steps, step{c.op, c.request})
	}
	got, _ := open(t, nil).with(m, script{steps: steps}).do("tries")
	for i, c := range cases {
		if got[i].Error == nil || !strings.Contains(got[i].Error.Message, c.says) {
			t.Errorf("%s of %.60s = %s, %v, want an error that says %q", c.op, c.request, got[i].OK, got[i].Error, c.says)
		}
	}
}

func TestARequiredForkThatFailsFailsTheCall(t *testing.T) {
	for required, fails := range map[string]bool{``: false, `,"required":true`: true} {
		w := open(t, nil).with(aFamily("forks"), script{steps: []step{{"branch.fork", `{"name":"default"` + required + `}`}}})
		r, err := w.call(given{Tool: "forks_do"})
		if fails != (err != nil) || fails == (len(r.Notes) > 0) {
			t.Errorf("fork with %q: %v, notes %q, want an error: %t, else a note", required, err, r.Notes, fails)
		}
	}
}

func TestASearchDoesNotSeeWhatIsStagedAndAListDoes(t *testing.T) {
	w := open(t, nil).with(aFamily("tidy"), script{steps: []step{
		{"memory.put", `{"items":[{"key":"a","value":"green boat"}]}`}, {"memory.search", `{"query":"boat"}`}, {"memory.list", `{}`}}})
	got, _ := w.do("tidy")
	if !strings.Contains(string(got[1].OK), `"total":0`) || !strings.Contains(string(got[2].OK), `green boat`) {
		t.Errorf("search = %s, list = %s, want the boat listed alone", got[1].OK, got[2].OK)
	}
}

// outsider is an Outside that answers with what it was asked.
type outsider struct{}

func (outsider) Complete(_ context.Context, e registry.Endpoint, c abi.LLMCompleteRequest, _ ops.Leaving) (abi.LLMCompleteResponse, error) {
	return abi.LLMCompleteResponse{Text: e.URL + " " + c.Prompt, Model: e.Model}, nil
}
func (outsider) Fetch(_ context.Context, e registry.Endpoint, f abi.HTTPFetchRequest, _ ops.Leaving) (abi.HTTPFetchResponse, error) {
	return abi.HTTPFetchResponse{Status: 200, Body: e.URL + f.Path}, nil
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
	if _, err := w.Grant(grants.Request{Family: "asks", Capabilities: []registry.Capability{{Name: abi.CanLLM, Scope: []string{"mine"}}, {Name: abi.CanHTTP, Scope: []string{"web"}}}}); err != nil {
		t.Fatal(err)
	}
	got, _ := w.do("asks")
	if !strings.Contains(string(got[0].OK), `http://mine x`) || got[1].Error == nil || got[2].Error == nil || !strings.Contains(string(got[3].OK), "http://web/a") || got[4].Error == nil {
		t.Errorf("answers %+v, want those of mine and web, and the others refused", got)
	}
}

// embedder makes vectors of the lengths of texts.
type embedder struct{}

func (embedder) Rebuildable() (string, int, error) { return "lengths", 3, nil }

func (embedder) Rebuild(context.Context, string) error { return nil }

func (embedder) Embed(_ context.Context, texts []string, purpose string) (string, [][]float32, error) {
	var vectors [][]float32
	for _, text := range texts {
		vectors = append(vectors, []float32{float32(len(text)), float32(len(purpose))})
	}
	return "lengths", vectors, nil
}

func TestAFamilyHasTextsEmbedded(t *testing.T) {
	w := open(t, func(o *Options) { o.Embedder = embedder{} }).with(aFamily("asks"), script{steps: []step{{"embed.texts", `{"texts":["tea","green"],"purpose":"query"}`}}})
	if got, _ := w.do("asks"); string(got[0].OK) != `{"model":"lengths","dimensions":2,"vectors":[[3,5],[5,5]]}` {
		t.Errorf("embed.texts = %s, %v, want two vectors of lengths", got[0].OK, got[0].Error)
	}
}

func vectorsText(n, d uint32, values ...float32) string {
	return floatsText(append([]float32{math.Float32frombits(n), math.Float32frombits(d)}, values...)...)
}

func TestAFamilyThatEmbedsIsAnEmbedder(t *testing.T) {
	m := aFamily("embeds")
	m.Hooks.Embed = &abi.EmbedHook{Model: "tiny", Dimensions: 2}
	w := open(t, nil).with(m, script{says: vectorsText(2, 2, 1, 2, 3, 4)})
	if _, ok := w.Hooks().EmbedderOf("embeds"); ok {
		t.Error("its hook is not on")
	}
	if _, err := w.Grant(grants.Request{Family: "embeds", Hooks: map[abi.Hook]registry.On{abi.HookEmbed: {}}}); err != nil {
		t.Fatal(err)
	}
	e, ok := w.Hooks().EmbedderOf("embeds")
	if !ok || e.Model != "tiny" || e.Dimensions != 2 {
		t.Fatalf("EmbedderOf(embeds) = %+v, %t, want tiny with 2 dimensions", e, ok)
	}
	vectors, err := e.Embed(t.Context(), []string{"a", "b"}, "document")
	if err != nil || fmt.Sprint(vectors) != "[[1 2] [3 4]]" {
		t.Errorf("Embed = %v, %v, want [1 2] and [3 4]", vectors, err)
	}
	if _, err := e.Embed(t.Context(), []string{"a"}, "document"); err == nil {
		t.Error("two vectors of one text are taken")
	}
}
