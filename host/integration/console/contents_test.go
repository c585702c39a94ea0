//go:build guests

package console

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/nodejs"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testcert"
)

func TestMemories(t *testing.T) {
	s := started(t)
	for key, text := range map[string]string{"plan/crane": "The harbour gets a crane", "plan/pier": "The pier is built in April", "light/old": "The old lighthouse stays",
		"light/new": "A new lighthouse is lit by the sun"} {
		s.Put("default", key, text)
	}
	scenarios(t, "memories", asOperator(t, s))
}

func TestReaders(t *testing.T) {
	s := started(t)
	s.Put("work", "seen", "the reader may read this")
	s.Put("secret", "hidden", "nobody may read this")
	scenarios(t, "readers", given{Address: s.URL(), Browser: browser(t), Key: s.Issue("reader", []operator.Right{"read"}, "work").Secret})
}

func TestAReadOnlyServer(t *testing.T) {
	nodejs.Install(t, "console")
	dir := t.TempDir()
	before := server.Carrying(t, host.Options{Dir: dir})
	before.Put("default", "kept", "the text that stays")
	before.Stop()
	scenarios(t, "readonly", asOperator(t, server.Carrying(t, host.Options{Dir: dir, ReadOnly: true})))
}

func TestAServerWithTLSThatRequiresKeys(t *testing.T) {
	nodejs.Install(t, "console")
	files, _ := testcert.Write(t, t.TempDir())
	required := true
	s := server.StartOn(t, host.Options{Families: server.Families(), Cache: server.Cache()}, host.Listen{HTTP: "127.0.0.1:0", TLSCert: files.Cert, TLSKey: files.Key, RequireKeys: &required})
	scenarios(t, "tls", given{Address: "https://" + s.At.HTTP, Browser: browser(t), Admin: s.At.Admin, Key: s.Issue("ann", server.EveryRight, "work").Secret})
}

func TestBranches(t *testing.T) {
	s := started(t)
	a := s.Agent(operator.IssuedKey{}, owner.Hello{})
	s.Put("default", "plan", "a crane")
	s.Put("default", "pier", "a pier of wood")
	for _, name := range []string{"try/pier", "try/gone", "try/many"} {
		a.Ask("memory_branch", map[string]any{"action": "fork", "name": name}, nil)
	}
	a.Ask("memory_store", map[string]any{"key": "pier", "value": "a pier of stone", "branch": "try/pier"}, nil)
	s.Put("default", "pier", "a pier of brick")
	many := make([]map[string]any, 120)
	for i := range many {
		many[i] = map[string]any{"key": fmt.Sprintf("plank/%03d", i), "value": fmt.Sprintf("plank %d is oak", i)}
	}
	a.Ask("memory_store", map[string]any{"items": many, "branch": "try/many"}, nil)
	a.Ask("memory_store", map[string]any{"key": "only here", "value": "of this branch", "branch": "try/gone"}, nil)
	if _, err := operator.Call(t.Context(), s.Acts, operator.SetPosture, operator.PostureRequest{Posture: "careful"}); err != nil {
		t.Fatal(err)
	}
	s.Put("default", "kumquat", "The kumquat ship comes on Monday")
	a.Ask("memory_archive_fact", map[string]any{"factId": "kumquat", "reason": "the ship has left"}, nil)
	scenarios(t, "branches", asOperator(t, s))
}

func TestTime(t *testing.T) {
	s := started(t)
	s.Put("default", "buoy", "red")
	s.Put("default", "tide", "low at six")
	s.Put("default", "tide", "high at noon")
	scenarios(t, "time", asOperator(t, s))
}

func TestConversations(t *testing.T) {
	nodejs.Install(t, "console")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String() // the browser finds the server there again
	free.Close()
	s := server.StartOn(t, host.Options{Families: server.Families(), Cache: server.Cache()}, host.Listen{HTTP: address})
	s.Issue("ann", server.EveryRight, "work")
	for i, said := range []struct{ speaker, text string }{
		{"user", "Why does the build fail?"}, {"assistant", "I look at the log first."}, {"tool", "Bash: go build ./... (failed)"}, {"tool", "Read: main.go (ok)"},
		{"user", "Here is a picture of it."}, {"assistant", "The variable x is not declared.\nI declare it."}, {"tool", "Edit: main.go"}, {"assistant", "Now it builds with go."},
	} {
		turn(t, s, fmt.Sprintf("claude-code/s1/m%d", i), said.text, map[string]any{"client": "claude-code", "session": "s1", "seq": i, "speaker": said.speaker, "ts": fmt.Sprintf("2026-03-01T10:00:%02dZ", i)})
	}
	turn(t, s, "codex/s2/m0", "Hello", map[string]any{"client": "codex", "session": "s2", "seq": 0, "speaker": "user", "ts": "2026-03-02T10:00:00Z"})
	control := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { s.Restart() }))
	defer control.Close()
	g := asOperator(t, s)
	g.Control = control.URL
	scenarios(t, "sessions", g)
}

func turn(t *testing.T, s *server.Server, key, text string, metadata map[string]any) {
	t.Helper()
	s.Agent(operator.IssuedKey{}, owner.Hello{}).Ask("memory_store", map[string]any{"key": key, "value": text, "tags": []string{"captured", key[:strings.Index(key, "/")]}, "type": "message",
		"metadata": metadata, "namespace": "project/acme/app"}, nil)
}

func TestGraph(t *testing.T) {
	s := started(t)
	a := s.Agent(operator.IssuedKey{}, owner.Hello{})
	for id, name := range map[string]string{"harbour": "Harbour", "ada": "Ada", "crane": "Crane"} {
		a.Ask("memory_link_entity", map[string]any{"entityId": id, "name": name, "type": "concept"}, nil)
	}
	a.Ask("memory_store", map[string]any{"key": "plan", "value": "The harbour gets a crane"}, nil)
	for _, l := range [][3]string{{"plan", "harbour", "related_to"}, {"harbour", "crane", "depends_on"}, {"harbour", "ada", "created_by"}} {
		a.Ask("memory_link", map[string]any{"source_id": l[0], "target_id": l[1], "relation": l[2]}, nil)
	}
	scenarios(t, "graph", asOperator(t, s))
}

// hostileTexts would be more than text if a page took them for it.
func hostileTexts() []string {
	return []string{
		`<script>window.pwned=1</script>`, `<img src=x onerror="window.pwned=1">`, `"><svg onload=window.pwned=1>`, `javascript:window.pwned=1`, `<iframe srcdoc="<script>parent.pwned=1</script>">`,
		`</title><script>window.pwned=1</script>`, `{{constructor.constructor('window.pwned=1')()}}`, `<style>*{display:none}</style>`, `<form action="http://evil.example"><input name=q>`,
		"\u202egnp.exe\u202c is not a picture", "\u2066\u2067\u2068 turned \u2069", "bell \a and \x1b[31mred\x1b[0m and \u0000 null", "zero\u200bwidth\ufeffhere", strings.Repeat("\u0301", 300) + "a",
		strings.Repeat("w", 1<<20-100), strings.Repeat("<b>", 1<<16), "]]><!--", "%3Cscript%3Ewindow.pwned=1%3C/script%3E", "../../../etc/passwd", "💥\U000e0041\U000e0042 tags",
	}
}

func TestHostileContent(t *testing.T) {
	s := started(t)
	a := s.Agent(operator.IssuedKey{}, owner.Hello{Agent: `<script>window.pwned='agent'</script>`})
	texts := hostileTexts()
	var keys []string
	for i := range 200 {
		text := texts[i%len(texts)]
		key := fmt.Sprintf("%d %.40s", i, strings.ToValidUTF8(strings.ReplaceAll(text, "\u0000", ""), ""))
		value := any(text)
		if i%3 == 1 && len(text) < 1000 {
			value = map[string]any{text[:min(len(text), 200)]: []any{text, map[string]any{"__proto__": text}}}
		}
		if i < len(texts) {
			keys = append(keys, key)
		}
		a.Ask("memory_store", map[string]any{"key": key, "value": value, "tags": []string{fmt.Sprintf("%.20s", text)}, "type": fmt.Sprintf("%.20s", text)}, nil)
	}
	a.Ask("memory_link_entity", map[string]any{"entityId": "evil", "name": `<img src=x onerror="window.pwned=1">`, "type": "concept"}, nil)
	turn(t, s, "claude-code/s1/m0", `<script>window.pwned=1</script>`, map[string]any{"client": "<script>", "session": "s1", "speaker": "<script>window.pwned=1</script>", "ts": "not a moment"})
	g := asOperator(t, s)
	g.Facts = map[string]any{"keys": keys}
	scenarios(t, "hostile", g)
}
