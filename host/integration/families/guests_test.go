//go:build guests

package families_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/planted"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
)

// model is a language model that always answers the same, in the protocols of OpenAI and of Ollama.
func model(t *testing.T, says string) (address string, prompts *[]string) {
	t.Helper()
	prompts = new([]string)
	answer := func(w http.ResponseWriter, r *http.Request, whole func(text string) any) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("asked with %s: %v", r.Method, err)
		}
		*prompts = append(*prompts, string(body))
		if err := json.NewEncoder(w).Encode(whole(says)); err != nil {
			t.Error(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, func(text string) any {
			return map[string]any{"model": "small", "choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": text}}}}
		})
	})
	mux.HandleFunc("/api/chat", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, func(text string) any {
			return map[string]any{"model": "small", "message": map[string]string{"role": "assistant", "content": text}}
		})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, prompts
}

func suggest(t *testing.T, f *family.Families) (tags []string, source string) {
	t.Helper()
	result, err := server.CallTool(t.Context(), f, "memory_suggest_tags", `{"text":"We moved the billing database to Lisbon"}`)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Tags   []struct{ Tag string }
		Source string
	}
	if err := json.Unmarshal(result.Output, &out); err != nil {
		t.Fatal(err)
	}
	for _, tag := range out.Tags {
		tags = append(tags, tag.Tag)
	}
	return tags, out.Source
}

func TestAutoTagAsksALanguageModelOnlyWhenOneIsConfiguredAndGranted(t *testing.T) {
	t.Parallel()
	for kind, below := range map[string]string{"openai": "/v1", "ollama": ""} {
		_, f := server.Parts(t, t.TempDir(), server.Cache())
		address, prompts := model(t, `{"tags":["data-stores","relocation"],"type":"decision","importance":0.7}`)
		if tags, source := suggest(t, f); source != "text" || !slices.Contains(tags, "lisbon") {
			t.Errorf("%s: without a model it suggests %q from %s", kind, tags, source)
		}
		if err := f.SetEndpoint("small", &registry.Endpoint{Kind: kind, URL: address + below, Model: "small"}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Configure(t.Context(), "auto-tag", map[string]json.RawMessage{"llm_endpoint": json.RawMessage(`"small"`)}); err != nil {
			t.Fatal(err)
		}
		if _, source := suggest(t, f); source != "text" || len(*prompts) != 0 {
			t.Errorf("%s: it asked a model that it was not granted", kind)
		}
		if _, err := f.Grant(grants.Request{Family: "auto-tag", Capabilities: []registry.Capability{{Name: abi.CanLLM, Scope: []string{"small"}}}}); err != nil {
			t.Fatal(err)
		}
		tags, source := suggest(t, f)
		if source != "llm" || !slices.Contains(tags, "relocation") || len(*prompts) != 1 || !strings.Contains((*prompts)[0], "billing database") {
			t.Errorf("%s: with a model it suggests %q from %s after %d prompts", kind, tags, source, len(*prompts))
		}
	}
}

func TestConsolidationOfTenThousandMemoriesIsAProposalAndUndoneByDroppingIt(t *testing.T) {
	t.Parallel()
	s, f := server.Parts(t, t.TempDir(), server.Cache())
	set := planted.Make(planted.Options{Memories: 10_000, Duplicates: 500, Contradictions: 50, Seed: 3})
	for part := range slices.Chunk(set.Memories, 500) {
		var items []memory.Item
		for _, m := range part {
			value, err := json.Marshal(m.Text)
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, memory.Item{Key: m.Key, Value: value})
		}
		if _, err := server.As(s, "").Store(t.Context(), memory.Location{}, items, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Load(t.Context(), "consolidation"); err != nil {
		t.Fatal(err)
	}
	before, err := server.As(s, "").Extent(t.Context(), memory.Default)
	if err != nil {
		t.Fatal(err)
	}
	var ended *sandbox.Result
	began := time.Now()
	result, err := server.CallTool(family.WithEnded(t.Context(), func(r *sandbox.Result) { ended = r }), f, "memory_consolidate", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Merged         []struct{ Keys []string }
		Contradictions []struct{ A, B string }
		Totals         map[string]int
	}
	if err := json.Unmarshal(result.Output, &out); err != nil {
		t.Fatal(err)
	}
	t.Logf("consolidated in %v, of which the guest ran %v with %d MB: %v, on %s", time.Since(began).Round(time.Millisecond), ended.CPU.Round(time.Millisecond), ended.Memory>>20, out.Totals, result.Proposal)
	if result.Proposal == "" || out.Totals["duplicates"] < 450 || out.Totals["contradictions"] < 40 {
		t.Errorf("proposed %v on %q", out.Totals, result.Proposal)
	}
	diff, err := server.As(s, "").Diff(t.Context(), memory.DiffQuery{Source: result.Proposal, Target: memory.Default})
	if err != nil || diff.Changed+diff.Added < 500 || diff.Clashes != 0 {
		t.Errorf("the proposal differs by %d and %d, with %d clashes: %v", diff.Added, diff.Changed, diff.Clashes, err)
	}
	changes, err := server.As(s, "").Feed(t.Context(), memory.Default, nil, before.LatestVersion, 0)
	if err != nil || len(changes.Notices) != 0 {
		t.Errorf("%d changes on the branch itself, %v", len(changes.Notices), err)
	}
	if err := server.As(s, "").Delete(t.Context(), memory.Deletion{Branch: result.Proposal, Force: true, Final: true}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	for _, m := range set.Memories[:200] {
		got, err := server.As(s, "").Recall(t.Context(), memory.Location{}, m.Key, memory.AsOf{})
		if err != nil || got == nil || got.State != memory.Active {
			t.Fatalf("%s is %+v after the proposal was dropped, %v", m.Key, got, err)
		}
	}
}
