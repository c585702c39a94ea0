package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/nodejs"
)

// functions is a scripted model behind the API that the examples speak: it stores, loads a family, goes on by memory_operation, and searches.
type functions struct {
	t     *testing.T
	mu    sync.Mutex
	turn  int
	tools []string
	heard []string // the answers of tools
}

// wanted are its calls, one a turn.
func wanted() [][2]string {
	return [][2]string{
		{"memory_store", `{"key":"tea","value":"Ann likes green tea"}`},
		{"memory_load_family", `{"family":"settings"}`},
		{"memory_operation", `{"method":"memory_status","params":{}}`},
		{"memory_search", `{"query":"which tea"}`},
	}
}

func (m *functions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct {
			Role, Content string
		}
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/v1/chat/completions" {
		m.t.Errorf("the model was asked at %s with what cannot be read: %v", r.URL.Path, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tools = nil
	for _, each := range asked.Tools {
		m.tools = append(m.tools, each.Function.Name)
	}
	if last := asked.Messages[len(asked.Messages)-1]; last.Role == "tool" {
		m.heard = append(m.heard, last.Content)
	}
	message := map[string]any{"role": "assistant", "content": "Ann likes green tea."}
	if m.turn < len(wanted()) {
		next := wanted()[m.turn]
		message = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{
			map[string]any{"id": fmt.Sprint("call", m.turn), "type": "function", "function": map[string]string{"name": next[0], "arguments": next[1]}}}}
	}
	m.turn++
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": message}}})
}

func TestAgentsWithoutMCPCallFunctions(t *testing.T) {
	node := install(t)
	program := build(t, "-tags", "guests")
	dir := serve(t, program)
	list, err := command(t, runWithin, program, "tools", "--format", "openai").Output()
	if err != nil {
		t.Fatalf("alcove tools: %v", err)
	}
	tools := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(tools, list, 0o600); err != nil {
		t.Fatal(err)
	}
	for language, words := range map[string][]string{
		"Go": {"go", "run", "../../../sdk/examples/agent"}, "Python": {"python3", "../../../sdk/examples/agent/agent.py"},
		"TypeScript": {node, "../../../sdk/examples/agent/agent.ts"},
	} {
		t.Run(language, func(t *testing.T) {
			name, err := exec.LookPath(words[0])
			if err != nil {
				nodejs.Lacking(t, "this needs %s: %v", words[0], err)
			}
			m := &functions{t: t}
			api := httptest.NewServer(m)
			defer api.Close()
			c := command(t, runWithin, name, append(words[1:], "Which tea does Ann like?")...)
			c.Env = append(os.Environ(), "MODEL_URL="+api.URL+"/v1", "ALCOVE_URL="+address(t, dir), "ALCOVE_TOKEN_FILE="+filepath.Join(dir, "token"), "TOOLS="+tools)
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "Ann likes green tea.") {
				t.Errorf("the example ended with %v: got %s, want the model's answer", err, out)
			}
			m.heardAll(len(wanted()))
		})
	}
}

// heardAll checks what the tools answered.
func (m *functions) heardAll(n int) {
	m.t.Helper()
	if len(m.tools) < 11 {
		m.t.Errorf("the model got the tools %s, want those of the core", m.tools)
	}
	if len(m.heard) != n {
		m.t.Fatalf("the tools answered %d times, want %d: %s", len(m.heard), n, m.heard)
	}
	for i, want := range []string{`"key":"tea"`, `"inputSchema"`, `"branch":"default"`, "Ann likes green tea"} {
		if got := strings.ReplaceAll(m.heard[i], `": `, `":`); !strings.Contains(got, want) {
			m.t.Errorf("%s answered %.500s, want %s in it", wanted()[i][0], got, want)
		}
	}
}

// address is the URL of a directory's server.
func address(t *testing.T, dir string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "owner.json"))
	if err != nil {
		t.Fatal(err)
	}
	var record struct{ HTTP string }
	if err := json.Unmarshal(raw, &record); err != nil || record.HTTP == "" {
		t.Fatalf("owner.json is %s (%v), want an address", raw, err)
	}
	return "http://" + record.HTTP
}
