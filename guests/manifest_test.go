package guests_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	tiktoken_loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// parsed is a family's manifest, which fits its schema.
func parsed(t *testing.T, family string) *abi.Manifest {
	t.Helper()
	m, err := sandbox.ParseManifest(manifest(t, family))
	must.Do(t, err)
	return m
}

func TestToolsAreShort(t *testing.T) {
	tiktoken.SetBpeLoader(tiktoken_loader.NewOfflineLoader())
	encoding, err := tiktoken.GetEncoding("cl100k_base")
	must.Do(t, err)
	total, tools := 0, 0
	count := func(text string) int { return len(encoding.Encode(text, nil, nil)) }
	for _, family := range families(t) {
		before, list := total, parsed(t, family).Tools
		for _, tool := range list {
			if n := count(tool.Description); n > 50 {
				t.Errorf("%s: the description has %d tokens; at most 50", tool.Name, n)
			}
			wire, err := json.Marshal(map[string]any{"name": tool.Name, "description": tool.Description, "inputSchema": trimmed(t, tool.InputSchema)})
			must.Do(t, err)
			n := count(string(wire))
			if n > 200 {
				t.Errorf("%s: the tool has %d tokens; at most 200: %s", tool.Name, n, wire)
			}
			t.Logf("%s: %d tokens", tool.Name, n)
			total, tools = total+n, tools+1
		}
		mean := float64(total-before) / float64(len(list))
		t.Logf("%s: %.1f tokens each", family, mean)
		most := 75.
		if family == "developer" {
			most = 105 // each of its tools has the parameters of several acts
		}
		if mean > most {
			t.Errorf("the tools of %s have %.1f tokens on average; at most %.0f", family, mean, most)
		}
	}
	t.Logf("%d tools with %d tokens, %.1f each", tools, total, float64(total)/float64(tools))
	if total > 75*tools {
		t.Errorf("the tools have %.1f tokens on average; at most 75", float64(total)/float64(tools))
	}
}

// trimmed is a schema without its prose and its rarely needed arguments, as lists show it.
func trimmed(t *testing.T, schema json.RawMessage) any {
	var v any
	must.Do(t, json.Unmarshal(schema, &v))
	var trim func(v any, names bool)
	trim = func(v any, names bool) {
		switch v := v.(type) {
		case map[string]any:
			if !names {
				delete(v, "description")
			}
			for key, value := range v {
				if schema, ok := value.(map[string]any); ok && names && schema[abi.AdvancedKeyword] == true {
					delete(v, key)
					continue
				}
				trim(value, !names && key == "properties")
			}
		case []any:
			for _, value := range v {
				trim(value, false)
			}
		}
	}
	trim(v, false)
	return v
}

func TestToolsSayWhatTheyDo(t *testing.T) {
	seen := map[string]string{}
	for _, family := range families(t) {
		m := parsed(t, family)
		if m.Name != family {
			t.Errorf("%s calls itself %s", family, m.Name)
		}
		for _, tool := range m.Tools {
			a := tool.Annotations
			if a.ReadOnly == nil || a.Destructive == nil || a.Idempotent == nil || a.OpenWorld == nil || a.Title == "" {
				t.Errorf("%s: an annotation is missing", tool.Name)
			}
			if len(tool.OutputSchema) == 0 || tool.Docs == "" {
				t.Errorf("%s: it has no output schema, or no docs", tool.Name)
			}
			if !strings.HasPrefix(tool.Name, "memory_") || seen[tool.Name] != "" {
				t.Errorf("%s of %s: the name is not memory_…, or %q has it too", tool.Name, family, seen[tool.Name])
			}
			seen[tool.Name] = family
		}
	}
}

// loses says what a caller can lose by each tool that writes. Everything that is in no list here is a tool that only reads.
var loses = map[string][]string{
	"": { // it adds, or what it replaces stays in a history, or another tool takes it back
		"memory_register_agent_core", "memory_embed_capabilities", "memory_create_scope", "memory_scope_members",
		"memory_auto_tag", "memory_retag", "memory_events", "memory_subscribe", "memory_subscription_replay",
		"memory_store_fact", "memory_update", "memory_remember", "memory_learn", "memory_decide",
		"memory_namespace_set_standard", "memory_pending_approve", "memory_link_entity", "memory_link", "memory_end_link", "memory_create_theme",
		"memory_get_context", "memory_observe", "memory_register_agent", "memory_record_feedback", "memory_summarize", "memory_vault_sync",
		"memory_checkpoint", "memory_end_session", "memory_mark_facts_merged", "memory_mark_facts_pruned", "memory_archive_fact",
		"memory_archive_restore", "memory_gc", "memory_promote", "memory_set_ttl", "memory_say", "memory_hear", "memory_notify", "memory_mark_notifications_read",
		"memory_rank_feedback", "memory_tune_ranking", "memory_bump_access", "memory_record_recall", "memory_record_recall_usage",
		"memory_record_signal", "memory_session_start", "memory_close_session", "memory_create_conversation", "memory_add_to_conversation",
		"memory_record_handoff", "memory_get_handoffs", "memory_save_checkpoint", "memory_update_config", "memory_rollback_config",
		"memory_set_scope_policy", "memory_configure_semantic", "memory_regenerate_vectors", "memory_site_sync", "memory_site_connect",
		"memory_site_refresh", "memory_agent_spawn", "memory_agent_complete", "memory_export_facts_to_vault", "memory_import_vault_to_facts",
		"memory_wm_add", "memory_wm_decay", "memory_wm_consolidate", "memory_detect_boundary", "memory_process_boundary",
	},
	"it deletes what its actions made":     {"memory_kv", "memory_json", "memory_cell", "memory_vectors", "memory_namespaces"},
	"rollback drops the changes":           {"memory_transaction"},
	"import writes over, and export too":   {"memory_bundle"},
	"it deletes a record, or what it says": {"memory_delete_scope", "memory_unsubscribe", "memory_namespace_clear_standard", "memory_delete_entity", "memory_delete_theme", "memory_delete_signal", "memory_delete_recall_feedback", "memory_delete_session", "memory_delete_conversation", "memory_site_disconnect"},
	"it drops a proposed change":           {"memory_pending_reject"},
	"it changes or deletes many memories":  {"memory_consolidate", "memory_merge_tags", "memory_prune", "memory_forget_matching"},
}

func TestToolsThatCanLoseSomethingAreDestructive(t *testing.T) {
	why := map[string]string{}
	for reason, tools := range loses {
		for _, name := range tools {
			why[name] = reason
		}
	}
	for _, family := range families(t) {
		for _, tool := range parsed(t, family).Tools {
			reason, known := why[tool.Name]
			if *tool.Annotations.ReadOnly && !known {
				continue
			}
			if got, want := *tool.Annotations.Destructive, reason != ""; !known || got != want || *tool.Annotations.ReadOnly {
				t.Errorf("%s of %s has destructiveHint %t, want %t: %q (in the table: %t)", tool.Name, family, got, want, reason, known)
			}
		}
	}
}
