package migrate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/guests/families/legacy/successor"
)

// tools are the tools of the families in this repository, some core tools, and aliases of other systems.
func tools(t *testing.T) Tools {
	t.Helper()
	all := Tools{Names: map[string]bool{"memory_store": true, "memory_recall": true, "memory_operation": true, "memory_search": true}, Aliases: map[string]Alias{
		"strata_store": {Tool: "memory_store"}, "strata_recall": {Tool: "memory_recall"}, "katra_operation": {Tool: "memory_operation"}, "ora.site.list": {Tool: "memory_site_list"},
		"strata_branch_diff": {Tool: "memory_branch", Arguments: map[string]json.RawMessage{"action": json.RawMessage(`"diff"`)}, Spellings: map[string]string{"branch_a": "branch", "branch_b": "compare"}},
		"strata_search":      {Tool: "memory_search", Spellings: map[string]string{"time_range": Spread, "start": "since", "end": "until"}},
		"strata_kv_put":      {Tool: "memory_kv", Arguments: map[string]json.RawMessage{"action": json.RawMessage(`"put"`)}},
	}}
	paths, err := filepath.Glob("../../../guests/families/*/manifest.json")
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no manifests", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := abi.ParseManifest(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range m.Tools {
			all.Names[tool.Name] = true
		}
	}
	return all
}

func TestCallsAreRewritten(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		// Engram's own examples, in TypeScript.
		{"a recall by query", `const result = await memory_recall({ query: "authentication decisions", limit: 10 });`, ""},
		{"a context", `await memory_get_context({ topic: "API rate limiting", profile: "planning", tokenBudget: 4000 });`,
			`await memory_operation({ batch: [{ method: "memory_search_facts", params: { topic: "API rate limiting", limit: 20 } }, ` +
				`{ method: "memory_search_entities", params: { query: "API rate limiting", limit: 10 } }, { method: "memory_search_themes", params: { query: "API rate limiting", limit: 20 } }, ` +
				`{ method: "memory_get_handoffs", params: { limit: 5 } }, { method: "memory_get_notifications", params: { limit: 10 } }] });`},
		// Calls as protocols and model APIs write them.
		{"a call of MCP", `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_observe", "arguments": {"observation": "It failed.", "emotionalContext": "sad"}}}`,
			`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_store_fact", "arguments": {"content": "It failed.", "factType": "observation", "emotionalContext": "sad"}}}`},
		{"a use of a tool", `{"type": "tool_use", "id": "t1", "name": "strata_kv_put", "input": {"key": "a", "value": 1}}`, `{"type": "tool_use", "id": "t1", "name": "memory_kv", "input": {"key": "a", "value": 1, "action": "put"}}`},
		{"arguments in a string", `{"function": {"name": "memory_prune", "arguments": "{\"olderThanDays\": 30, \"dryRun\": false}"}}`,
			`{"function": {"name": "memory_operation", "arguments": "{\"method\": \"memory_list_stale_facts\", \"params\": {\"olderThanDays\": 30}, \"then\": [{\"method\": \"memory_mark_facts_pruned\", \"params\": {\"factIds\": {\"$result\": \"/facts/*/factId\"}, \"reason\": \"stale\"}}]}"}}`},
		{"an operation", `{"method": "memory_checkpoint", "params": {"name": "noon"}}`, `{"method": "memory_save_checkpoint", "params": {"name": "noon"}}`},
		{"the shared state of Katra", `katra_operation({"method": "recall", "params": {"topic": "Casey", "limit": 5, "semantic": true}})`, `memory_operation({"method": "recall", "params": {"topic": "Casey", "limit": 5, "semantic": true}})`},
		{"lines", "{\"name\": \"memory_vault_sync\", \"arguments\": {\"direction\": \"export\"}}\n{\"name\": \"memory_status\", \"arguments\": {}}\n",
			"{\"name\": \"memory_export_facts_to_vault\", \"arguments\": {\"target\": \"mirror\"}}\n{\"name\": \"memory_status\", \"arguments\": {}}\n"},
		{"a list", `[{"name": "memory_end_session", "arguments": {"summary": "Done.", "toAgent": "ann", "conversationId": "cnv:1"}}]`,
			`[{"name": "memory_operation", "arguments": {"method": "memory_store_fact", "params": {"content": "Done.", "factType": "session_summary", "tags": ["session_summary", "handoff"], "conversationId": "cnv:1"}, ` +
				`"then": [{"method": "memory_record_handoff", "params": {"toAgent": "ann", "contextSummary": "Done.", "factIds": [{"$result": "/factId"}], "conversationId": "cnv:1"}}]}}]`},
		{"a command", `alcove call memory_register_agent '{"agentId": "indy", "name": "Indy"}'`, `alcove call memory_operation '{"method": "memory_register_agent_core", "params": {"agentId": "indy", "name": "Indy"}, "then": [{"method": "memory_embed_capabilities", "params": {"agentId": "indy"}}]}'`},
		{"feedback", `memory_record_feedback({recallId: 'rec_123', usedFactIds: ['a']})`, `memory_record_recall_usage({ recallId: "rec_123", usedFactIds: ["a"] })`},
		{"parameters that an alias spells otherwise", `{"name": "strata_branch_diff", "arguments": {"branch_a": "default", "branch_b": "try"}}`, `{"name": "memory_branch", "arguments": {"branch": "default", "compare": "try", "action": "diff"}}`},
		{"an object of parameters", `{"name": "strata_search", "arguments": {"query": "x", "time_range": {"start": 1, "end": 2}}}`, `{"name": "memory_search", "arguments": {"query": "x", "since": 1, "until": 2}}`},
		// Prompts.
		{"a name in prose", "Use strata_store to remember. Call `memory_observe` after each step, and memory_prune weekly.", "Use memory_store to remember. Call `memory_store_fact` after each step, and memory_list_stale_facts and memory_mark_facts_pruned weekly."},
		{"several in ticks", "- `memory_end_session`: at the end", "- `memory_store_fact` and `memory_record_handoff`: at the end"},
		{"an alias with an argument", "`strata_kv_put` stores, and ora.site.list lists.", "`memory_kv` with action put stores, and memory_site_list lists."},
		{"a permission", `"allow": ["mcp__engram__memory_observe"]`, `"allow": ["mcp__engram__memory_store_fact"]`},
		// What stays.
		{"a recall by key", `{"name": "memory_recall", "arguments": {"key": "editor"}}`, ""},
		{"a recall by another name", `{"name": "strata_recall", "arguments": {"key": "editor"}}`, `{"name": "memory_recall", "arguments": {"key": "editor"}}`},
		{"a schema", `{"type": "object", "properties": {"name": {"type": "string"}}}`, ""},
		{"a block of a program", "function f() { const x = { a: 1 }; return memory_store_fact({ content: x }); }", ""},
	} {
		if c.after == "" {
			c.after = c.before
		}
		r := tools(t).Rewrite(c.before)
		if r.Text != c.after {
			t.Errorf("%s becomes\n%s\nnot\n%s", c.name, r.Text, c.after)
		}
		if again := tools(t).Rewrite(r.Text); again.Text != r.Text {
			t.Errorf("%s, rewritten twice, becomes\n%s", c.name, again.Text)
		}
		if json.Valid([]byte(c.before)) && !json.Valid([]byte(r.Text)) {
			t.Errorf("%s is no longer JSON: %s", c.name, r.Text)
		}
	}
}

func TestWhatIsNotRewrittenIsListedWithTheReason(t *testing.T) {
	for text, want := range map[string]string{
		"Call memory_magic and strata_levitate.":                                   "memory_magic: there is no tool of this name; strata_levitate: there is no tool of this name",
		"`memory_recall` finds it.":                                                "",
		`{"name": "memory_summarize", "arguments": {"topic": "x"}}`:                "memory_summarize: the agent writes the summary itself: memory_search_facts, memory_store_fact and memory_mark_facts_merged",
		"memory_get_context({topic: theTopic()})":                                  "memory_get_context: its arguments cannot be read",
		"memory_prune(days)":                                                       "memory_prune: its arguments cannot be read",
		`{"name": "memory_observe", "arguments": "not JSON"}`:                      "memory_observe: its arguments cannot be read",
		`tools = ["memory_get_context"]`:                                           "memory_get_context: several tools replace it: memory_search_facts, memory_search_entities, memory_search_themes, memory_get_handoffs, memory_get_notifications, memory_mark_notifications_read",
		"memory_vector_search, memory_text_search and memory_store_fact are known": "",
	} {
		r := tools(t).Rewrite(text)
		var left []string
		for _, l := range r.Left {
			left = append(left, l.Name+": "+l.Why)
		}
		if got := strings.Join(left, "; "); got != want || r.Text != text {
			t.Errorf("%s\nbecomes %s\nand left is %s\nnot %s", text, r.Text, got, want)
		}
	}
}

func TestChangesAreListedByLine(t *testing.T) {
	r := tools(t).Rewrite("one\n{\"name\": \"memory_get_context\", \"arguments\": {\"topic\": \"x\", \"tokenBudget\": 500}}\nthen `memory_observe`\n")
	if len(r.Changes) != 2 || r.Changes[0].Line != 2 || r.Changes[0].Dropped != "tokenBudget" || r.Changes[1].Line != 3 || r.Changes[1].New != "memory_store_fact" {
		t.Errorf("changes %+v, want memory_get_context in line 2 and memory_observe in line 3", r.Changes)
	}
}

// Recipes use the tools of the table that deprecated tools answer with.
func TestRecipesAndTheTableOfSuccessorsAgree(t *testing.T) {
	arguments := `{"query":"q","agentId":"a","name":"n","topic":"t","observation":"o","recallId":"r","usedFactIds":[],"dryRun":false,"direction":"both","summary":"s","toAgent":"b"}`
	for _, old := range successor.Tools() {
		given, err := objectAt(arguments, 0)
		if err != nil {
			t.Fatal(err)
		}
		r := replacing(old, given.members)
		if r.left == "" && len(r.steps) == 0 {
			t.Errorf("%s has no recipe", old.Name)
		}
		for _, s := range r.steps {
			if !slices.Contains(old.By, s.tool) {
				t.Errorf("%s is rewritten to %s, which its answer does not name", old.Name, s.tool)
			}
		}
	}
}

func TestADifferenceShowsWhatChanges(t *testing.T) {
	before := "a\nb\nc\nd\ne\nf\n"
	for after, want := range map[string]string{
		before:                   "",
		"a\nb\nX\nd\ne\nf\n":     "--- p\n+++ p\n@@ -1,5 +1,5 @@\n a\n b\n-c\n+X\n d\n e\n",
		"a\nb\nX\nY\nd\ne\nf\n":  "--- p\n+++ p\n@@ -1,5 +1,6 @@\n a\n b\n-c\n+X\n+Y\n d\n e\n",
		"b\nc\nd\ne\nf\n":        "--- p\n+++ p\n@@ -1,3 +1,2 @@\n-a\n b\n c\n",
		"a\nb\nc\nd\ne\nf\ng\n":  "--- p\n+++ p\n@@ -5,3 +5,4 @@\n e\n f\n+g\n",
		"1\n2\n3\n4\n5\n6\n7\n8": "--- p\n+++ p\n@@ -1,7 +1,8 @@\n-a\n-b\n-c\n-d\n-e\n-f\n+1\n+2\n+3\n+4\n+5\n+6\n+7\n+8\n",
	} {
		if got := Diff("p", before, after); got != want {
			t.Errorf("to %q:\n%s\nnot\n%s", after, got, want)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{`{"name": "memory_observe", "arguments": {"observation": "x"}}`, `memory_recall({query: 'a\'b', limit: 1,})`, "`memory_prune`", `{"name":"memory_prune","arguments":"{}"}`, `{{"a":1}`, `strata_kv_put {`, "memory_get_context({topic:\"\\ud800\"})"} {
		f.Add(seed)
	}
	names := Tools{Names: map[string]bool{}, Aliases: map[string]Alias{"strata_kv_put": {Tool: "memory_kv", Arguments: map[string]json.RawMessage{"action": json.RawMessage(`"put"`)}}}}
	f.Fuzz(func(t *testing.T, text string) {
		r := names.Rewrite(text)
		if len(r.Changes) == 0 && r.Text != text {
			t.Errorf("%q becomes %q without a change", text, r.Text)
		}
		if json.Valid([]byte(text)) && !json.Valid([]byte(r.Text)) {
			t.Errorf("%q is no longer JSON: %q", text, r.Text)
		}
	})
}
