package rights_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/guest"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/sdk/client"
)

// The holders of two keys for everything are connected over MCP. What ann keeps in a scope is bob's to see while he is a member, by no
// tool before and after, from the call on that ann's change answered.
func TestAScopeIsSeenByItsMembersAloneOverMCP(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	k.Asking(abi.CanScopeWrite, map[string]string{
		"opens": `scope.put {"namespace":"crew","name":"The crew"}`, "adds": `scope.members {"namespace":"crew","add":["bob"]}`,
		"removes": `scope.members {"namespace":"crew","remove":["bob"]}`,
	})
	k.Asking(abi.CanScopeRead, map[string]string{"scopes": `scope.list {}`, "scope": `scope.get {"namespace":"crew"}`})
	k.Asking(abi.CanFeedRead, map[string]string{"feeds": `feed.read {"namespaces":["*"],"limit":1000}`})
	k.Asking(abi.CanMemoryRead, map[string]string{"names": `namespace.list {"counts":true}`})
	all := []operator.Right{"read", "write", "branch", "family:*"}
	ann, err := k.Connect(owner.Hello{Key: k.Issue("ann", all, "*").Secret})
	if err != nil {
		t.Fatal(err)
	}
	issued := k.Issue("bob", all, "*")
	bob, err := k.Connect(owner.Hello{Key: issued.Secret})
	if err != nil {
		t.Fatal(err)
	}
	must := func(tool string, arguments map[string]any) {
		t.Helper()
		if _, err := ann.Call(t.Context(), tool, arguments); err != nil {
			t.Fatalf("call %s: %v", tool, err)
		}
	}
	must("opens_ask", nil)
	must("memory_store", map[string]any{"key": "plan", "value": "the kumquat heist", "namespace": "crew"})
	must("memory_log", map[string]any{"event": "planned", "data": "kumquat", "namespace": "crew"})
	must("memory_branch", map[string]any{"action": "fork", "name": "draft"})
	must("memory_store", map[string]any{"key": "plan", "value": "the kumquat heist, again", "namespace": "crew", "branch": "draft"})
	looks := []struct {
		tool      string
		arguments map[string]any
	}{
		{"memory_search", map[string]any{"query": "kumquat"}}, {"memory_search", map[string]any{"query": "kumquat", "namespace": "crew"}},
		{"memory_recall", map[string]any{"key": "plan", "namespace": "crew"}}, {"memory_recall", map[string]any{"key": "plan", "namespace": "crew", "as_of": "now"}},
		{"memory_history", map[string]any{"key": "plan", "namespace": "crew"}}, {"memory_branch", map[string]any{"action": "diff", "source": "draft"}},
		{"memory_branch", map[string]any{"action": "merge", "source": "draft", "preview": true}},
		{"memory_status", map[string]any{"namespace": "crew"}}, {"scopes_ask", nil}, {"scope_ask", nil}, {"feeds_ask", nil}, {"names_ask", nil},
	}
	shows := func(c *client.Session, when string, want bool) {
		t.Helper()
		for _, look := range looks {
			text := server.AnswerText(c, look.tool, look.arguments)
			seen := !strings.HasPrefix(text, "error: ") && (strings.Contains(text, "kumquat") || strings.Contains(text, "crew") || strings.Contains(text, "plan"))
			if seen != want {
				t.Errorf("%s: %s of %v = %s, want the scope seen: %t", when, look.tool, look.arguments, text, want)
			}
			if !want && strings.Contains(text, "kumquat") {
				t.Errorf("%s, %s tells: %s", when, look.tool, text)
			}
		}
		if c != bob {
			return
		}
		if _, body := k.Post(issued.Secret, "", "memory_search", `{"query":"kumquat"}`); strings.Contains(body, "heist") != want {
			t.Errorf("%s, over HTTP: %s", when, body)
		}
	}
	shows(bob, "before", false)
	if text := server.AnswerText(bob, "adds_ask", nil); !strings.HasPrefix(text, "error: ") {
		t.Errorf("bob adds himself: %s", text)
	}
	for range 2 {
		must("adds_ask", nil)
		shows(bob, "as a member", true)
		if text := server.AnswerText(bob, "removes_ask", nil); !strings.Contains(text, "scope.admin") {
			t.Errorf("a member changes the scope: %s", text)
		}
		must("removes_ask", nil)
		shows(bob, "afterwards", false)
		if text := server.AnswerText(bob, "memory_store", map[string]any{"key": "plan", "value": 1, "namespace": "crew"}); !strings.HasPrefix(text, "error: ") {
			t.Errorf("a former member writes: %s", text)
		}
	}
	shows(ann, "the creator", true)
}

func TestADelegatedKeyIsShownOnceAndEndsWithItsParent(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	k.Asking(abi.CanIdentityDelegate, map[string]string{
		"spawns":  `identity.delegate {"name":"task","namespaces":["team/a"],"rights":["read"],"expires_s":3600}`,
		"exceeds": `identity.delegate {"name":"other","namespaces":["home"],"expires_s":3600}`,
	})
	issued := k.Issue("ann", []operator.Right{"read", "write", "family:*"}, "team/*")
	ann, err := k.Connect(owner.Hello{Key: issued.Secret})
	if err != nil {
		t.Fatal(err)
	}
	if text := server.AnswerText(ann, "exceeds_ask", nil); !strings.Contains(text, "home") || !strings.HasPrefix(text, "error: ") {
		t.Errorf("beyond the caller's rights: %s", text)
	}
	var made struct{ Key, ID, Agent string }
	if err := json.Unmarshal([]byte(server.AnswerText(ann, "spawns_ask", nil)), &made); err != nil {
		t.Fatal(err)
	}
	task, err := k.Connect(owner.Hello{Key: made.Key})
	if err != nil {
		t.Fatal(err)
	}
	if text := server.AnswerText(task, "memory_search", map[string]any{"query": "tea"}); !strings.Contains(text, "of the team") || strings.Contains(text, "of others") || strings.Contains(text, "home") {
		t.Errorf("it finds %s", text)
	}
	if text := server.AnswerText(task, "memory_store", map[string]any{"key": "k", "value": 1, "namespace": "team/a"}); !strings.HasPrefix(text, "error: ") {
		t.Errorf("it writes: %s", text)
	}
	list, err := operator.Query(t.Context(), k.Acts, operator.ListKeys)
	if err != nil || len(list.Keys) != 2 || list.Keys[1].ID != made.ID || list.Keys[1].By.Parent != issued.ID || made.Agent != "ann/task" {
		t.Errorf("the keys are %+v (%v), for %+v", list.Keys, err, made)
	}
	if _, err := operator.Call(t.Context(), k.Acts, operator.RevokeKey, operator.KeyID{ID: issued.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Connect(owner.Hello{Key: made.Key}); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("after the end of its parent: %v", err)
	}
	await.That(t, "its connection ended", func() bool { return strings.HasPrefix(server.AnswerText(task, "memory_status", nil), "error: ") })
}

func TestTheEndOfASessionReachesFamilies(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	m := abi.Manifest{Name: "ends", Tools: []abi.Tool{guest.Tool("ends_ask", `{}`)}, Hooks: abi.Hooks{SessionEnd: &abi.SessionHook{}},
		Capabilities: []abi.Request{{Name: abi.CanLogAppend, Scope: []string{"*"}, Reason: "Is tested."}}}
	_, err := operator.Call(t.Context(), k.Acts, operator.InstallFamily, operator.InstallRequest{Module: guest.Pack(t, m, guest.Relay(`log.append {"event":"ended","namespace":"home"}`))})
	must.Do(t, err)
	_, err = operator.Call(t.Context(), k.Acts, operator.GrantFamily, operator.GrantRequest{Family: m.Name, All: true, Hooks: map[abi.Hook]registry.On{abi.HookSessionEnd: {}}})
	must.Do(t, err)
	c, err := server.Session(t.Context(), func(ctx context.Context, _ bridge.SessionState) (io.ReadWriteCloser, error) {
		return owner.Connect(ctx, k.At.Socket, owner.Hello{Agent: "ann"})
	})
	must.Do(t, err)
	if text := server.AnswerText(c, "memory_status", nil); strings.HasPrefix(text, "error: ") {
		t.Fatalf("memory_status = %s, want an answer", text)
	}
	c.Close()
	await.That(t, "the family is told of the client that left", func() bool {
		events, err := server.Owner(k.Host, "").Events(t.Context(), memory.Location{Namespace: "home"}, memory.AsOf{}, 0, 0)
		return err == nil && len(events) == 1
	})
}
