package week_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/alcove-memory/alcove/host/capture/hook"
)

// transcript writes what a client writes of a session, in its form.
type transcript struct {
	client  hook.Client
	session string
	folder  string // of the project
	path    string
	count   int              // of messages
	chat    []map[string]any // Gemini CLI's, which is written anew
}

// newTranscript begins a transcript in the client's folder of a home.
func (w *week) newTranscript(c hook.Client, session, folder string) *transcript {
	w.Helper()
	t := &transcript{client: c, session: session, folder: folder}
	switch c {
	case hook.ClaudeCode:
		t.path = filepath.Join(w.home, ".claude", "projects", filepath.Base(folder), session+".jsonl")
	case hook.Codex:
		t.path = filepath.Join(w.home, ".codex", "sessions", "2026", "03", "02", "rollout-2026-03-02T09-00-00-"+session+".jsonl")
		defer w.codex(t, "session_meta", map[string]any{"id": session, "cwd": folder, "source": "cli"})
	case hook.Gemini:
		dir := filepath.Join(w.home, ".gemini", "tmp", filepath.Base(folder))
		t.path = filepath.Join(dir, "chats", "session-2026-03-02T09-00-"+session+".json")
		defer w.write(filepath.Join(dir, ".project_root"), folder)
	}
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		w.Fatal(err)
	}
	return t
}

func (w *week) write(path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// line appends a line of JSON.
func (w *week) line(t *transcript, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		w.Fatal(err)
	}
	f, err := os.OpenFile(t.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%s\n", data); err != nil {
		w.Fatal(err)
	}
}

func (w *week) codex(t *transcript, kind string, payload map[string]any) {
	w.line(t, map[string]any{"timestamp": w.now.Format(time.RFC3339), "type": kind, "payload": payload})
}

func (w *week) claude(t *transcript, kind string, message map[string]any, more map[string]any) {
	line := map[string]any{
		"type": kind, "sessionId": t.session, "uuid": fmt.Sprintf("%s-%d", t.session, t.count), "parentUuid": nil, "cwd": t.folder,
		"timestamp": w.now.Format(time.RFC3339), "message": message,
	}
	for name, v := range more {
		line[name] = v
	}
	w.line(t, line)
}

// say writes what the user or the agent said, and expects it to be kept.
func (w *week) say(t *transcript, namespace, speaker, text string) {
	w.Helper()
	t.count++
	w.wanted(namespace, text)
	switch t.client {
	case hook.ClaudeCode:
		w.claude(t, speaker, map[string]any{"role": speaker, "content": []any{map[string]any{"type": "text", "text": text}}}, nil)
	case hook.Codex:
		kind := map[string]string{"user": "input_text", "assistant": "output_text"}[speaker]
		w.codex(t, "response_item", map[string]any{"type": "message", "role": speaker, "content": []any{map[string]any{"type": kind, "text": text}}})
	case hook.Gemini:
		kind := map[string]string{"user": "user", "assistant": "gemini"}[speaker]
		w.gemini(t, map[string]any{"type": kind, "content": text})
	}
}

// gemini adds a message and writes the chat anew.
func (w *week) gemini(t *transcript, message map[string]any) {
	message["id"], message["timestamp"] = fmt.Sprintf("m%d", t.count), w.now.Format(time.RFC3339)
	t.chat = append(t.chat, message)
	data, err := json.Marshal(map[string]any{"sessionId": t.session, "projectHash": "h", "messages": t.chat})
	if err != nil {
		w.Fatal(err)
	}
	w.write(t.path, string(data))
}

// call writes a call of a command and its output, of which a line is kept.
func (w *week) call(t *transcript, namespace, command string) {
	w.Helper()
	t.count++
	id, output := fmt.Sprintf("call-%d", t.count), "4711 lines of output"
	switch t.client {
	case hook.ClaudeCode:
		w.wanted(namespace, "Bash: "+command+" (ok)")
		w.claude(t, "assistant", map[string]any{"role": "assistant", "content": []any{
			map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": command}}}}, nil)
		t.count++
		w.claude(t, "user", map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": id, "content": output}}}, nil)
	case hook.Codex:
		w.wanted(namespace, "shell: "+command+" (ok)")
		arguments := fmt.Sprintf(`{"command":["bash","-lc",%q]}`, command)
		w.codex(t, "response_item", map[string]any{"type": "function_call", "name": "shell", "call_id": id, "arguments": arguments})
		w.codex(t, "response_item", map[string]any{"type": "function_call_output", "call_id": id, "output": `{"output":"` + output + `","metadata":{"exit_code":0}}`})
	case hook.Gemini:
		w.wanted(namespace, "run_shell_command: "+command+" (ok)")
		w.gemini(t, map[string]any{"type": "gemini", "content": "", "toolCalls": []any{map[string]any{
			"id": id, "name": "run_shell_command", "args": map[string]any{"command": command}, "status": "success"}}})
	}
}

// compact writes a summary, which nobody said.
func (w *week) compact(t *transcript) {
	t.count++
	switch t.client {
	case hook.ClaudeCode:
		w.claude(t, "user", map[string]any{"role": "user", "content": "This session goes on from an earlier one: a summary."}, map[string]any{"isCompactSummary": true})
	case hook.Codex:
		w.codex(t, "compacted", map[string]any{"message": "a summary"})
	case hook.Gemini:
		w.gemini(t, map[string]any{"type": "info", "content": "the chat was compressed"})
	}
}

// message is what the client sends to a hook.
func (w *week) message(t *transcript, e hook.Event, prompt, source string) string {
	w.Helper()
	form, known := w.messages[string(t.client)+" "+string(e)]
	if !known {
		return ""
	}
	quoted := func(text string) string {
		data, err := json.Marshal(text)
		if err != nil {
			w.Fatal(err)
		}
		return string(data[1 : len(data)-1])
	}
	values := map[string]string{
		"SESSION": t.session, "TRANSCRIPT": quoted(t.path), "FOLDER": quoted(t.folder), "PROMPT": quoted(prompt), "SOURCE": source,
	}
	return os.Expand(form, func(name string) string { return values[name] })
}
