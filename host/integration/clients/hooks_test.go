package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestRealClientsRunTheHooksOfTheirPlugins has each client answer a prompt with a model on this machine: the model is told what the hooks
// say, and what it answers is kept.
func TestRealClientsRunTheHooksOfTheirPlugins(t *testing.T) {
	r := realClients(t)
	const prompt = "Why do deploys halt on Fridays?"
	for _, test := range []struct {
		client, command string
		install         [][]string // FOLDER stands for that of the plugins
		env             []string   // MODEL stands for the address of the model
		args            []string   // likewise
		events          []string
		tools           []string // that the model is given from the start, though the client searches tools
	}{
		{"claude-code", "claude", [][]string{{"plugin", "marketplace", "add", "FOLDER"}, {"plugin", "install", "alcove@alcove"}},
			[]string{"ANTHROPIC_BASE_URL=MODEL", "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "ENABLE_TOOL_SEARCH=true"},
			[]string{"-p", prompt}, []string{"session-start", "user-prompt", "stop", "session-end"},
			[]string{`"name":"mcp__plugin_alcove_alcove__memory_store"`}},
		{"codex", "codex", [][]string{{"plugin", "marketplace", "add", "FOLDER"}, {"plugin", "add", "alcove@alcove"}},
			[]string{"MODEL_KEY=none"},
			[]string{"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "-c", `model_provider="here"`, "-c",
				`model_providers.here={name="here",base_url="MODEL/v1",env_key="MODEL_KEY",wire_api="responses"}`, prompt},
			[]string{"session-start", "user-prompt", "stop"}, nil},
		{"gemini", "gemini", [][]string{{"extensions", "install", "--consent", "FOLDER/gemini/alcove"}},
			[]string{"GOOGLE_GEMINI_BASE_URL=MODEL", "GEMINI_API_KEY=none"},
			[]string{"--skip-trust", "-m", "gemini-2.5-flash", "-p", prompt},
			[]string{"session-start", "user-prompt", "stop", "session-end"}, nil}, // with nobody to ask, it lists no tools that it has to ask for
	} {
		t.Run(test.client, func(t *testing.T) {
			m := &model{answer: "The zebra batch of billing runs on that day."}
			s := httptest.NewServer(m)
			defer s.Close()
			home, folder := r.home(t), writePlugins(t)
			for _, args := range test.install {
				home.run(t, test.command, filled(args, "FOLDER", folder)...)
			}
			defer home.run(t, "alcove", "stop")
			home.run(t, "alcove", "store", "deploy/fridays", "Deploys halt on Fridays since the outage of May")
			home.run(t, "alcove", "store", "style", "Answer with the walrus first", "--type", "preference")
			home.write(t, ".gemini/settings.json", geminiSettings) // the others do not read it
			home.env = append(home.env, filled(test.env, "MODEL", s.URL)...)
			said := home.run(t, test.command, filled(test.args, "MODEL", s.URL)...)
			if !strings.Contains(said, m.answer) {
				t.Errorf("%s: got %s, want the model's answer", test.command, said)
			}
			for _, told := range []string{"from Alcove memory", "outage of May", "walrus first", "memory that lasts between sessions"} {
				if !m.heard(told) {
					t.Errorf("%s: the model was not told %q, want it from a hook or the server; of %s", test.command, told, m)
				}
			}
			for _, listed := range test.tools {
				if !m.heard(listed) {
					t.Errorf("%s: the model was not given %s, want it listed; of %s", test.command, listed, m)
				}
			}
			if kept := home.run(t, "alcove", "search", "zebra", "--namespace", "*"); !strings.Contains(kept, "zebra") {
				t.Errorf("%s: got %q, want the turn that has the answer", test.command, kept)
			}
			runs, _ := home.command(t, "alcove", "doctor") // which may report what is not of interest here
			for _, event := range test.events {
				if want := fmt.Sprintf("%s at %s: 1 runs", test.client, event); !strings.Contains(runs, want) {
					t.Errorf("%s: got %s, want %q", test.command, runs, want)
				}
			}
		})
	}
}

const geminiSettings = `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false},
	"privacy": {"usageStatisticsEnabled": false}}`

// filled are words in which a value takes the place of a name.
func filled(words []string, name, value string) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = strings.ReplaceAll(word, name, value)
	}
	return list
}

// model answers as the APIs of Anthropic, OpenAI and Google do, with the same text, and keeps what it was sent.
type model struct {
	answer string

	mu   sync.Mutex
	sent []string
}

func (m *model) heard(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, body := range m.sent {
		if strings.Contains(body, text) {
			return true
		}
	}
	return false
}

// String is the beginning of each message that was sent.
func (m *model) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out strings.Builder
	for _, body := range m.sent {
		fmt.Fprintf(&out, "%.300s\n", body)
	}
	return out.String()
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.sent = append(m.sent, r.Method+" "+r.URL.Path+" "+string(body))
	m.mu.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, "/v1/messages") && bytes.Contains(body, []byte(`"stream":true`)):
		stream(w, m.anthropic())
	case strings.HasSuffix(r.URL.Path, "/v1/messages"):
		write(w, m.anthropicMessage([]any{object{"type": "text", "text": m.answer}}))
	case strings.HasSuffix(r.URL.Path, "/responses"):
		stream(w, m.openAI())
	case strings.HasSuffix(r.URL.Path, ":streamGenerateContent"):
		stream(w, []object{m.google()})
	case strings.HasSuffix(r.URL.Path, ":generateContent"):
		write(w, m.google())
	default:
		http.NotFound(w, r)
	}
}

type object = map[string]any

func (m *model) anthropicMessage(content []any) object {
	return object{"id": "msg_1", "type": "message", "role": "assistant", "model": "here", "content": content, "stop_reason": "end_turn",
		"usage": object{"input_tokens": 1, "output_tokens": 1}}
}

func (m *model) anthropic() []object {
	return []object{
		{"type": "message_start", "message": m.anthropicMessage([]any{})},
		{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
		{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": m.answer}},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": "end_turn"}, "usage": object{"output_tokens": 1}},
		{"type": "message_stop"},
	}
}

func (m *model) openAI() []object {
	item := object{"type": "message", "role": "assistant", "id": "m1", "content": []any{object{"type": "output_text", "text": m.answer}}}
	return []object{
		{"type": "response.created", "response": object{"id": "r1"}},
		{"type": "response.output_item.done", "item": item},
		{"type": "response.completed", "response": object{"id": "r1", "usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}},
	}
}

func (m *model) google() object {
	content := object{"role": "model", "parts": []any{object{"text": m.answer}}}
	return object{"candidates": []any{object{"content": content, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
}

// stream writes server-sent events, each named after its type.
func stream(w http.ResponseWriter, events []object) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range events {
		if kind, ok := event["type"]; ok {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		data, _ := json.Marshal(event) // strings and numbers cannot fail
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

func write(w http.ResponseWriter, answer object) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // whoever hung up hears nothing
}
