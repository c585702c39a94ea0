//go:build guests

package host_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
)

// Two keys: bob sees ann's scope when ann adds him, and not from the call on that removes him, over MCP and on a WebSocket whose
// subscription stays.
func TestAMemberSeesAScopeOfTheFamilyAgentsWhileItIsOne(t *testing.T) {
	h := newHouse(t, host.Options{})
	ann := h.stdio(h.issue("ann", everyRight, "*"), owner.Hello{})
	key := h.issue("bob", everyRight, "*")
	bob, socket := h.stdio(key, owner.Hello{}), h.peer(key)
	socket.subscribe(nil)

	var created struct{ ScopeID string }
	ann.ask("memory_create_scope", map[string]any{"name": "Kumquat Heist"}, &created)
	scope := created.ScopeID
	write := func(text string) {
		ann.ask("memory_store", map[string]any{"key": "plan", "value": text, "namespace": scope}, nil)
	}
	write("kumquat, first")
	sees := func(when string, want bool) {
		t.Helper()
		for tool, arguments := range map[string]map[string]any{
			"memory_recall": {"key": "plan", "namespace": scope}, "memory_search": {"query": "kumquat"}, "memory_scope_members": {"scopeId": scope},
			"memory_poll_events": {"agentId": "bob"},
		} {
			text := bob.told(tool, arguments)
			if seen := !strings.HasPrefix(text, "error: ") && (says(text, "kumquat") || says(text, "bob\"]")); seen != want {
				t.Errorf("%s, %s over MCP: %s", when, tool, text)
			}
		}
		m := socket.operate("search", map[string]any{"query": "kumquat"}, nil)
		if seen := says(m.text, "first") || says(m.text, "heist"); seen != want {
			t.Errorf("%s, search on the WebSocket: %s", when, m.text)
		}
		if m := socket.operate("scope_members", map[string]any{"scopeId": scope}, nil); (m.Error == nil) != want {
			t.Errorf("%s, scope_members on the WebSocket: %s", when, m.text)
		}
	}
	sees("before", false)
	if text := bob.told("memory_scope_members", map[string]any{"scopeId": scope, "add": "bob"}); !strings.HasPrefix(text, "error: ") {
		t.Errorf("bob adds himself: %s", text)
	}
	ann.ask("memory_scope_members", map[string]any{"scopeId": scope, "add": "bob"}, nil)
	sees("as a member", true)
	for _, c := range []map[string]any{{"add": "eve"}, {"remove": "ann"}} {
		c["scopeId"] = scope
		if text := bob.told("memory_scope_members", c); !says(text, "error: ", "creator") {
			t.Errorf("a member changes the members with %v: %s", c, text)
		}
	}
	if m := socket.next(); m.Namespace != scope {
		t.Errorf("a member's first event is %s", m.text)
	}
	ann.ask("memory_scope_members", map[string]any{"scopeId": scope, "remove": []string{"bob"}}, nil)
	sees("afterwards", false)
	socket.pushed = nil
	write("kumquat, second")
	ann.ask("memory_store", map[string]any{"key": "open", "value": "for all", "namespace": "open"}, nil)
	if m := socket.next(); m.Namespace != "open" {
		t.Errorf("after the removal comes %s", m.text)
	}
}

func TestAnAgentRegistersOverEachKindOfClientAsItself(t *testing.T) {
	h := newHouse(t, host.Options{})
	key := h.issue("bob", everyRight, "work")
	bob, socket := h.stdio(key, owner.Hello{}), h.peer(key)
	var me struct {
		AgentID, Name, Namespace, SessionID string
		Rights                              []string
	}
	socket.ask("register", map[string]any{"name": "Bob", "role": "builder"}, nil)
	bob.ask("memory_whoami", nil, &me)
	if me.AgentID != "bob" || me.Name != "Bob" || me.Namespace != "work" || me.SessionID == "" || strings.Join(me.Rights, " ") != "read write branch" {
		t.Errorf("%+v", me)
	}
	socket.refused("E_DENIED", "register", map[string]any{"name": "Ann", "agentId": "ann"})
	if text := bob.told("memory_get_agent_context", map[string]any{"agentId": "ann"}); !says(text, "error: ", "act_as") {
		t.Errorf("the context of another: %s", text)
	}
	for name, rights := range map[string]string{"no family": "read write", "another family": "read write family:facts"} {
		other := h.issue("carl", rightsOf(rights), "work")
		if text := h.stdio(other, owner.Hello{}).told("memory_whoami", nil); !says(text, "error: ") {
			t.Errorf("a key with %s: %s", name, text)
		}
	}
}

// says reports whether a text has all of some parts.
func says(text string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}
