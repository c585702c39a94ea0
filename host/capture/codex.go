package capture

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/capture/project"
)

// codexSource is that of Codex: ~/.codex/sessions/YYYY/MM/DD/rollout-TIME-SESSION.jsonl, and ~/.codex/archived_sessions.
func codexSource() Source {
	return Source{
		Client: Codex,
		named: []string{
			"rollout-*.jsonl", "*/rollout-*.jsonl", "*/*/rollout-*.jsonl", "*/*/*/rollout-*.jsonl",
			"sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl",
		},
		knows: func(_ string, start []byte) bool {
			return begins(start, '{') &&
				(has(start, "session_meta", "payload") || has(start, "record_type") || has(start, "id", "timestamp", "instructions"))
		},
		lines: func() decoder { return codex{} },
	}
}

// codex decodes Codex's lines: items in an envelope, or bare, as early versions wrote them.
type codex struct{}

type codexLine struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`

	// of the first line of early versions
	ID           string   `json:"id"`
	Instructions *string  `json:"instructions"`
	Git          codexGit `json:"git"`
}

type codexGit struct {
	Branch string `json:"branch"`
	Remote string `json:"repository_url"`
}

func (codex) decode(raw []byte, out *output) error {
	var l codexLine
	if err := decodeObject(raw, &l); err != nil {
		return err
	}
	at, p := instant(l.Timestamp), out.place
	switch l.Type {
	case "session_meta":
		p.begin(l.Payload)
	case "turn_context":
		var context struct {
			Folder string `json:"cwd"`
		}
		_ = decodeObject(l.Payload, &context)
		p.follow("", context.Folder, "")
	case "response_item":
		l.item(l.Payload, at, out)
	case "event_msg":
		l.event(out)
	case "": // the first line, or a state
		if l.ID != "" && p.Session == "" {
			p.Session, p.Branch, p.Project = l.ID, l.Git.Branch, project.OfRemote(l.Git.Remote)
		}
	default:
		if len(l.Payload) == 0 {
			l.item(raw, at, out)
		}
	}
	return nil
}

// begin takes what the first line says of the session. A fork has its parent's first line, too.
func (p *place) begin(raw json.RawMessage) {
	var meta struct {
		ID     string          `json:"id"`
		Folder string          `json:"cwd"`
		Git    codexGit        `json:"git"`
		Source json.RawMessage `json:"source"`
	}
	if p.Session != "" || decodeObject(raw, &meta) != nil {
		return
	}
	p.Session, p.Folder, p.Branch, p.Project = meta.ID, meta.Folder, meta.Git.Branch, project.OfRemote(meta.Git.Remote)
	p.Skip = begins(meta.Source, '{') && bytes.Contains(bytes.ToLower(meta.Source), []byte(`"subagent"`))
}

type codexItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	CallID    string          `json:"call_id"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
	Status    string          `json:"status"`
	Action    json.RawMessage `json:"action"`
}

func (l codexLine) item(raw json.RawMessage, at time.Time, out *output) {
	var i codexItem
	if decodeObject(raw, &i) != nil || out.place.Skip {
		return
	}
	call := func(name string, input json.RawMessage) {
		out.call(i.CallID, out.place.turn(Codex, Tool, i.CallID, callLine(name, input), at))
	}
	switch i.Type {
	case "message":
		i.say(at, out)
	case "function_call":
		call(i.Name, json.RawMessage(i.Arguments))
	case "custom_tool_call":
		call(i.Name, encode(i.Input))
	case "local_shell_call":
		call("shell", i.Action)
	case "web_search_call":
		call("web_search", i.Action)
	case "function_call_output", "custom_tool_call_output":
		out.outcome(i.CallID, outcomeOf(hasFailed(i.Output)))
	}
}

func (i codexItem) say(at time.Time, out *output) {
	if i.Role != User && i.Role != Assistant {
		return
	}
	parts := partsOf(i.Content)
	if i.Role == User {
		for n := range parts {
			parts[n].Text = saidToCodex(parts[n].Text)
		}
	}
	text, caption := words(parts, "\n")
	if text == "" && caption == "" {
		return
	}
	t := out.place.turn(Codex, i.Role, "", text, at)
	t.Caption = caption
	out.say(t)
}

// event takes the outcome of a command, which only its event has as a number.
func (l codexLine) event(out *output) {
	var e struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Exit   *int   `json:"exit_code"`
	}
	if decodeObject(l.Payload, &e) == nil && e.Type == "exec_command_end" && e.Exit != nil {
		out.outcome(e.CallID, outcomeOf(*e.Exit != 0))
	}
}

// saidToCodex is what a user wrote; what the client adds to a conversation is nothing.
func saidToCodex(text string) string {
	added := startsWithAny(strings.TrimSpace(text),
		"<environment_context>", "<user_instructions>", "<permissions instructions>", "<INSTRUCTIONS>", "<turn_aborted>", "<skill>",
		"<skills", "<collaboration_mode>", "<personality", "<subagent_notification>", "<user_shell_command>",
		"# AGENTS.md instructions for ", "<image", "</image>")
	if added {
		return ""
	}
	return text
}

var exitCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:Exit code:|Process exited with code) *(-?\d+)`)
})

// hasFailed reports whether an output says that its call failed.
func hasFailed(output json.RawMessage) bool {
	var result struct {
		Success  *bool `json:"success"`
		Metadata struct {
			Exit *int `json:"exit_code"`
		} `json:"metadata"`
	}
	text := ""
	if json.Unmarshal(output, &text) == nil {
		output = json.RawMessage(text) // some tools give JSON in a text
	}
	if begins(output, '{') {
		_ = json.Unmarshal(output, &result)
	}
	if code := result.Metadata.Exit; code != nil {
		return *code != 0
	}
	if result.Success != nil {
		return !*result.Success
	}
	found := exitCode().FindStringSubmatch(text[:min(len(text), 1<<10)])
	return len(found) == 2 && found[1] != "0"
}
