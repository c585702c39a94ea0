//go:build guests

package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// The views of answers, in a page that is an MCP client with the host's side of MCP Apps.

func TestViews(t *testing.T) { scenarios(t, "views", viewed(t)) }

func TestLooksOfViews(t *testing.T) { scenarios(t, "viewslooks", viewed(t)) }

func TestViewsThatChangeSomething(t *testing.T) { scenarios(t, "viewsacts", viewed(t)) }

// viewed is a server with what views show.
func viewed(t *testing.T) given {
	t.Helper()
	s := started(t)
	ann := s.Issue("ann", server.EveryRight, "work")
	a := s.Agent(ann, owner.Hello{})
	for i := range 12 {
		a.Ask("memory_store", map[string]any{"key": fmt.Sprintf("note/%d", i), "value": fmt.Sprintf("step %d of the works at the harbour is done", i)}, nil)
	}
	for _, said := range [][2]string{{"plan", "The harbour gets a crane"}, {"plan", "The harbour gets two cranes"}, {"pier", "a pier of wood"}, {"quay", "a quay of wood"}} {
		a.Ask("memory_store", map[string]any{"key": said[0], "value": said[1]}, nil)
	}
	for _, id := range []string{"harbour", "crane"} {
		a.Ask("memory_link_entity", map[string]any{"entityId": id, "name": strings.ToUpper(id[:1]) + id[1:], "type": "concept"}, nil)
	}
	a.Ask("memory_link", map[string]any{"source_id": "plan", "target_id": "harbour", "relation": "related_to"}, nil)
	a.Ask("memory_link", map[string]any{"source_id": "harbour", "target_id": "crane", "relation": "depends_on"}, nil)
	for branch, said := range map[string][2]string{"try/pier": {"pier", "a pier of stone"}, "try/gone": {"only here", "of this branch"}, "try/clash": {"quay", "a quay of brick"}} {
		a.Ask("memory_branch", map[string]any{"action": "fork", "name": branch}, nil)
		a.Ask("memory_store", map[string]any{"key": said[0], "value": said[1], "branch": branch}, nil)
	}
	return given{Address: s.URL(), Browser: browser(t), Key: ann.Secret,
		Keys: map[string]string{"reader": s.Issue("reader", []operator.Right{"read"}, "work").Secret}}
}

func TestHostileViews(t *testing.T) {
	s := started(t)
	ann := s.Issue("ann", server.EveryRight, "work")
	a := s.Agent(ann, owner.Hello{Agent: `<script>window.pwned='agent'</script>`})
	a.Ask("memory_branch", map[string]any{"action": "fork", "name": "hostile"}, nil)
	var keys []string
	for i, text := range hostileTexts() {
		key := fmt.Sprintf("%d %.40s", i, strings.ToValidUTF8(strings.ReplaceAll(text, "\u0000", ""), ""))
		keys = append(keys, key)
		a.Ask("memory_store", map[string]any{"key": key, "value": "before", "tags": []string{fmt.Sprintf("%.20s", text)}, "type": fmt.Sprintf("%.20s", text)}, nil)
		a.Ask("memory_store", map[string]any{"key": key, "value": text}, nil)
		a.Ask("memory_store", map[string]any{"key": key, "value": map[string]any{fmt.Sprintf("%.200s", text): text[:min(len(text), 5000)]}, "branch": "hostile"}, nil)
	}
	a.Ask("memory_link_entity", map[string]any{"entityId": "evil", "name": `<img src=x onerror="window.pwned=1">`, "type": "concept"}, nil)
	a.Ask("memory_link_entity", map[string]any{"entityId": "long", "name": strings.Repeat("w", 200), "type": "concept"}, nil)
	a.Ask("memory_link", map[string]any{"source_id": "evil", "target_id": "long", "relation": "related_to"}, nil)
	scenarios(t, "viewshostile", given{Address: s.URL(), Browser: browser(t), Key: ann.Secret, Facts: map[string]any{"keys": keys}})
}
