//go:build guests

package families_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// Two keys: bob sees ann's scope when ann adds him, and not from the call on that removes him, over MCP and on a WebSocket whose
// subscription stays.
func TestAMemberSeesAScopeOfTheFamilyAgentsWhileItIsOne(t *testing.T) {
	t.Parallel()
	h := server.Carrying(t, host.Options{})
	ann := h.Agent(h.Issue("ann", server.EveryRight, "*"), owner.Hello{})
	key := h.Issue("bob", server.EveryRight, "*")
	bob, socket := h.Agent(key, owner.Hello{}), h.Stream(key)
	socket.Subscribe(nil)

	var created struct{ ScopeID string }
	ann.Ask("memory_create_scope", map[string]any{"name": "Kumquat Heist"}, &created)
	scope := created.ScopeID
	write := func(text string) {
		ann.Ask("memory_store", map[string]any{"key": "plan", "value": text, "namespace": scope}, nil)
	}
	write("kumquat, first")
	sees := func(when string, want bool) {
		t.Helper()
		for tool, arguments := range map[string]map[string]any{
			"memory_recall": {"key": "plan", "namespace": scope}, "memory_search": {"query": "kumquat"}, "memory_scope_members": {"scopeId": scope},
			"memory_poll_events": {"agentId": "bob"},
		} {
			text := bob.AnswerText(tool, arguments)
			if seen := !strings.HasPrefix(text, "error: ") && (says(text, "kumquat") || says(text, "bob\"]")); seen != want {
				t.Errorf("%s, %s over MCP: %s", when, tool, text)
			}
		}
		m := socket.Operate("search", map[string]any{"query": "kumquat"}, nil)
		if seen := says(m.Text, "first") || says(m.Text, "heist"); seen != want {
			t.Errorf("%s, search on the WebSocket: %s", when, m.Text)
		}
		if m := socket.Operate("scope_members", map[string]any{"scopeId": scope}, nil); (m.Error == nil) != want {
			t.Errorf("%s, scope_members on the WebSocket: %s", when, m.Text)
		}
	}
	sees("before", false)
	if text := bob.AnswerText("memory_scope_members", map[string]any{"scopeId": scope, "add": "bob"}); !strings.HasPrefix(text, "error: ") {
		t.Errorf("bob adds himself: %s", text)
	}
	ann.Ask("memory_scope_members", map[string]any{"scopeId": scope, "add": "bob"}, nil)
	sees("as a member", true)
	for _, c := range []map[string]any{{"add": "eve"}, {"remove": "ann"}} {
		c["scopeId"] = scope
		if text := bob.AnswerText("memory_scope_members", c); !says(text, "error: ", "creator") {
			t.Errorf("a member changes the members with %v: %s", c, text)
		}
	}
	write("kumquat, still first") // what was stored before may have passed while bob saw nothing of it
	if m := socket.Next(); m.Namespace != scope {
		t.Errorf("a member's first event is %s, want one of %s", m.Text, scope)
	}
	ann.Ask("memory_scope_members", map[string]any{"scopeId": scope, "remove": []string{"bob"}}, nil)
	sees("afterwards", false)
	socket.Forget()
	write("kumquat, second")
	ann.Ask("memory_store", map[string]any{"key": "open", "value": "for all", "namespace": "open"}, nil)
	if m := socket.Next(); m.Namespace != "open" {
		t.Errorf("after the removal comes %s", m.Text)
	}
}

func TestAnAgentRegistersOverEachKindOfClientAsItself(t *testing.T) {
	t.Parallel()
	h := server.Carrying(t, host.Options{})
	key := h.Issue("bob", server.EveryRight, "work")
	bob, socket := h.Agent(key, owner.Hello{}), h.Stream(key)
	var me struct {
		AgentID, Name, Namespace, SessionID string
		Rights                              []string
	}
	socket.Ask("register", map[string]any{"name": "Bob", "role": "builder"}, nil)
	bob.Ask("memory_whoami", nil, &me)
	if me.AgentID != "bob" || me.Name != "Bob" || me.Namespace != "work" || me.SessionID == "" || strings.Join(me.Rights, " ") != "read write branch" {
		t.Errorf("memory_whoami = %+v, want Bob in work, who may read, write and branch", me)
	}
	socket.Refused("E_DENIED", "register", map[string]any{"name": "Ann", "agentId": "ann"})
	if text := bob.AnswerText("memory_get_agent_context", map[string]any{"agentId": "ann"}); !says(text, "error: ", "act_as") {
		t.Errorf("the context of another: %s", text)
	}
	for name, rights := range map[string]string{"no family": "read write", "another family": "read write family:facts"} {
		other := h.Issue("carl", rightsOf(rights), "work")
		if text := h.Agent(other, owner.Hello{}).AnswerText("memory_whoami", nil); !says(text, "error: ") {
			t.Errorf("a key with %s: %s", name, text)
		}
	}
}

// says reports whether a text has all of some parts.
func says(text string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

func rightsOf(list string) (rights []operator.Right) {
	for _, right := range strings.Fields(list) {
		rights = append(rights, operator.Right(right))
	}
	return rights
}
