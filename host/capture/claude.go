package capture

import (
	"encoding/json"
	"path"
	"strings"
)

// claudeSource is that of Claude Code: ~/.claude/projects/FOLDER/SESSION.jsonl.
func claudeSource() Source {
	return Source{
		Client: ClaudeCode,
		named:  []string{"projects/*/*.jsonl"},
		loose:  []string{"*.jsonl", "*/*.jsonl"},
		knows: func(name string, start []byte) bool {
			return begins(start, '{') && path.Ext(name) == ".jsonl" && !has(start, "projectHash") && !has(start, "payload") &&
				(has(start, "parentUuid") || has(start, "leafUuid") || has(start, "sessionId", "uuid") || has(start, "sessionId", "operation"))
		},
		beside: func(file string) bool {
			return strings.HasPrefix(path.Base(strings.ReplaceAll(file, `\`, "/")), "agent-")
		}, // of a subagent
		lines: func() decoder { return claude{} },
	}
}

// claude decodes Claude Code's lines.
type claude struct{}

type claudeLine struct {
	Type        string `json:"type"`
	Subtype     string `json:"subtype"`
	UUID        string `json:"uuid"`
	SessionID   string `json:"sessionId"`
	Timestamp   string `json:"timestamp"`
	Folder      string `json:"cwd"`
	Branch      string `json:"gitBranch"`
	IsSidechain bool   `json:"isSidechain"`
	IsMeta      bool   `json:"isMeta"`
	IsSummary   bool   `json:"isCompactSummary"`
	Message     struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Content json.RawMessage `json:"content"` // of lines of type system
}

func (claude) decode(raw []byte, out *output) error {
	var l claudeLine
	if err := decodeObject(raw, &l); err != nil {
		return err
	}
	if l.IsSidechain || l.IsMeta || l.IsSummary {
		return nil
	}
	out.place.follow(l.SessionID, l.Folder, l.Branch)
	switch {
	case l.Type == "user":
		l.user(partsOf(l.Message.Content), out)
	case l.Type == "assistant":
		l.assistant(partsOf(l.Message.Content), out)
	case l.Type == "system" && l.Subtype == "local_command":
		l.user(partsOf(l.Content), out)
	}
	return nil
}

// follow takes what a line says of its session.
func (p *place) follow(session, folder, branch string) {
	if session != "" {
		p.Session = session
	}
	if folder != "" {
		p.Folder = folder
	}
	if branch != "" {
		p.Branch = branch
	}
}

func (l claudeLine) user(parts []part, out *output) {
	for i := range parts {
		if parts[i].Type == "tool_result" {
			out.outcome(parts[i].ToolUseID, outcomeOf(parts[i].IsError))
			parts[i] = part{}
		}
		parts[i].Text = saidToClaude(parts[i].Text)
	}
	l.say(User, l.UUID, parts, out)
}

func (l claudeLine) assistant(parts []part, out *output) {
	var said []part
	for _, p := range parts {
		switch p.Type {
		case "text", "image":
			said = append(said, p)
		}
	}
	l.say(Assistant, l.UUID, said, out)
	for _, p := range parts {
		if p.Type == "tool_use" || p.Type == "server_tool_use" {
			out.call(p.ID, out.place.turn(ClaudeCode, Tool, p.ID, callLine(p.Name, p.Input), instant(l.Timestamp)))
		}
	}
}

func (l claudeLine) say(speaker, id string, parts []part, out *output) {
	text, caption := words(parts, "\n")
	if text == "" && caption == "" {
		return
	}
	t := out.place.turn(ClaudeCode, speaker, id, text, instant(l.Timestamp))
	t.Caption = caption
	out.say(t)
}

// saidToClaude is what a user wrote, without what the client added: a slash command is a line, its output nothing.
func saidToClaude(text string) string {
	if !strings.ContainsAny(text, "<[") {
		return text
	}
	text = strings.TrimSpace(withoutElements(text, "system-reminder", "user-prompt-submit-hook", "ide_opened_file", "ide_selection"))
	if startsWithAny(text, "<local-command-", "<bash-stdout>", "<bash-stderr>", "<task-notification>", "[Request interrupted by user") {
		return ""
	}
	if command, ok := element(text, "bash-input"); ok && strings.HasPrefix(text, "<bash-input>") {
		return "! " + command
	}
	if command, ok := element(text, "command-name"); ok && strings.HasPrefix(text, "<command-") {
		args, _ := element(text, "command-args")
		return strings.TrimSpace(command + " " + args)
	}
	return text
}
