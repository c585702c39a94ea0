//go:build guests

package families_test

import (
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
)

func TestASearchThatNamesNoScopeFindsFactsOfAll(t *testing.T) {
	f := startFresh(t, registry.Personal, nil)
	for _, scope := range []string{"billing", "delivery"} {
		f.fact("The ledger of "+scope+" takes tokens", map[string]any{"namespace": scope})
	}
	for _, c := range []struct {
		tool, query string
		with        map[string]any
		want        string // the scopes whose facts are found
	}{
		{"memory_text_search", "query", nil, "billing delivery"},
		{"memory_vector_search", "query", nil, "billing delivery"},
		{"memory_search_facts", "topic", nil, "billing delivery"},
		{"memory_text_search", "query", map[string]any{"scopeIds": []string{"billing"}}, "billing"},
		{"memory_search_facts", "topic", map[string]any{"scopeIds": "delivery"}, "delivery"},
		{"memory_search_facts", "topic", map[string]any{"namespace": "billing"}, "billing"},
		{"memory_operation", "", map[string]any{"method": "search_facts", "params": map[string]any{"topic": "ledger tokens"}, "options": map[string]any{"namespace": "billing"}}, "billing"},
	} {
		arguments := map[string]any{}
		for name, v := range c.with {
			arguments[name] = v
		}
		if c.query != "" {
			arguments[c.query] = "ledger tokens"
		}
		text := server.AnswerText(f.c, c.tool, arguments)
		var found []string
		for _, scope := range []string{"billing", "delivery"} {
			if strings.Contains(text, scope+"#") {
				found = append(found, scope)
			}
		}
		if got := strings.Join(found, " "); got != c.want {
			t.Errorf("%s %v: got facts of %q, want those of %q: %.300s", c.tool, arguments, got, c.want, text)
		}
	}
}

func TestSettingsAndRegistrationsOfANamespaceAreItsOwn(t *testing.T) {
	f := startFresh(t, registry.Personal, nil)
	in := func(namespace string, more map[string]any) map[string]any {
		arguments := map[string]any{"namespace": namespace}
		for name, v := range more {
			arguments[name] = v
		}
		return arguments
	}
	f.done(`"scopeId":"a"`, "memory_configure_semantic", in("a", map[string]any{"enabled": false}))
	f.done(`"scopeId":"a"`, "memory_update_config", in("a", map[string]any{"key": "wm_capacity", "value": 5}))
	f.done(`"scopeId":"c"`, "memory_operation", map[string]any{"method": "update_config", "params": map[string]any{"key": "wm_capacity", "value": 9},
		"options": map[string]any{"namespace": "c"}})
	f.done(`"created":true`, "memory_register", in("a", map[string]any{"name": "Ann", "role": "tester"}))
	for _, c := range []struct{ namespace, semantic, capacity, source, registered string }{
		{"a", `"enabled":false`, `"value":5`, `"source":"scope"`, `"registered":true`},
		{"b", `"enabled":true`, `"value":7`, `"source":"default"`, `"registered":false`},
		{"c", `"enabled":true`, `"value":9`, `"source":"scope"`, `"registered":false`},
	} {
		f.done(c.semantic, "memory_get_semantic_config", in(c.namespace, nil))
		text := f.done(c.capacity, "memory_get_config", in(c.namespace, map[string]any{"key": "wm_capacity"}))
		if !strings.Contains(text, c.source) {
			t.Errorf("memory_get_config in %s: got %s, want %s", c.namespace, text, c.source)
		}
		f.done(c.registered, "memory_whoami", in(c.namespace, nil))
	}
	f.fact("The ledger takes tokens", map[string]any{"namespace": "a"})
	for namespace, want := range map[string]string{"a": "turned off", "b": `"facts"`} {
		if got := server.AnswerText(f.c, "memory_vector_search", in(namespace, map[string]any{"query": "ledger"})); !strings.Contains(got, want) {
			t.Errorf("memory_vector_search in %s: got %s, want %q", namespace, got, want)
		}
	}
	f.done(`"value":null`, "memory_rollback_config", in("a", map[string]any{"key": "wm_capacity", "version": 0}))
	f.done(`"value":7`, "memory_get_config", in("a", map[string]any{"key": "wm_capacity"}))
}
