// Package capture keeps the turns of conversations that clients' transcripts record.
//
// A transcript is what a client writes of a session: Claude Code, Codex and Gemini CLI a file of JSON lines, older Gemini CLI one JSON
// document, opencode a database, and before that a tree of small documents. A Source says where a client's transcripts are and decodes
// them into turns; a Reader reads on from a Cursor; a Collector takes the new turns of all transcripts to a Sink.
//
// What is kept are the words of user and agent, and a line for each call of a tool: its name, its file or command, and whether it failed.
// Outputs of tools, reasoning, what a client or hook added to a prompt, summaries of compactions, and the talk of subagents are not.
// Text between <private> tags is removed, and keys, tokens and passwords are replaced by [redacted:KIND], in one place, Turn.kept, through which
// every turn passes.
//
// The key of a turn derives from client, session and the message's id, so whatever is read twice is stored once. A cursor only saves
// work: without it, or after a crash between a store and the cursor's write, turns are read again and change nothing.
//
// # Formats
//
// None of the formats is promised by its maker; unknown lines and fields are ignored. Certain, from published source code: Codex's
// envelope (timestamp, type, payload) and its items, Gemini CLI's records, with $set and $rewindTo, and opencode's messages and parts, in
// documents and, since version 1.2, in the tables session, message and part of a database.
// Known from public descriptions and samples alone: Claude Code's lines, Codex's lines before the envelope, the outcome in Codex's outputs
// of commands.
package capture

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory/portable"
	"github.com/alcove-memory/alcove/sdk/secrets"
)

// Client is a program that writes transcripts.
type Client string

// The clients.
const (
	ClaudeCode Client = "claude-code"
	Codex      Client = "codex"
	Gemini     Client = "gemini"
	OpenCode   Client = "opencode"
)

// Speakers of turns.
const (
	User      = "user"
	Assistant = "assistant"
	Tool      = "tool" // the turn is the line of a call
)

// Types and tag of the memories that turns become.
const (
	Message  = "message"
	ToolCall = "tool_call"
	Captured = "captured" // the tag of all
)

// Turn is what was said at once, or the call of a tool.
type Turn struct {
	Client  Client
	Session string
	ID      string // in the session; empty: told by Seq and content
	Seq     int64  // counts the session's turns, and those that are not kept
	Speaker string
	Text    string
	Caption string    // of its pictures and files
	At      time.Time // zero: unknown
	Folder  string    // in which the session worked
	Project string    // namespace of the folder's repository, if the transcript has its URL
	Branch  string    // of Git
}

// kept is the turn as it may be stored; ok is false if nothing of it may. Every turn passes here.
func (t Turn) kept() (_ Turn, ok bool) {
	t.Text = strings.TrimSpace(mayBeKept(strings.ToValidUTF8(t.Text, "\uFFFD")))
	t.Caption = strings.TrimSpace(mayBeKept(strings.ToValidUTF8(t.Caption, "\uFFFD")))
	if t.Text == "" && t.Caption != "" {
		t.Text = "[" + t.Caption + "]"
	}
	return t, t.Text != ""
}

// mayBeKept is what of a text may be stored. A text that cannot be redacted is left out.
func mayBeKept(text string) string {
	out, _, err := secrets.Redact(withoutPrivate(text))
	if err != nil {
		return fmt.Sprintf("[not kept: %v]", err)
	}
	return out
}

// memories are the turn as a memory, or a long one as several, in the form of conversations.
func (t Turn) memories(namespace string) []portable.Memory {
	m := portable.Memory{
		Namespace: namespace, Type: Message, Tags: []string{Captured, string(t.Client)}, Metadata: t.metadata(),
		Key: fmt.Sprintf("%s/%s/%s", t.Client, named(t.Session), t.name()),
	}
	if t.Speaker == Tool {
		m.Type = ToolCall
	}
	if !t.At.IsZero() {
		m.Created = &t.At
	}
	var list []portable.Memory
	for i, piece := range pieces(t.Text) {
		part := m
		part.Value = encode(piece)
		if i > 0 {
			part.Key = fmt.Sprintf("%s/part %d", m.Key, i+1)
		}
		list = append(list, part)
	}
	return list
}

func (t Turn) metadata() map[string]json.RawMessage {
	m := map[string]json.RawMessage{
		"client": encode(string(t.Client)), "session": encode(named(t.Session)), "seq": encode(t.Seq), "speaker": encode(t.Speaker),
	}
	if !t.At.IsZero() {
		m["ts"] = encode(t.At.Format(time.RFC3339Nano))
	}
	for name, text := range map[string]string{"caption": t.Caption, "folder": t.Folder, "git_branch": t.Branch} {
		if text = shortened(mayBeKept(text), longestField); text != "" {
			m[name] = encode(text)
		}
	}
	return m
}

// name is what the turn is called in its session.
func (t Turn) name() string {
	if t.ID != "" {
		return named(t.ID)
	}
	return fmt.Sprintf("%06d-%s", t.Seq, hash(t.Speaker, t.At.String(), t.Text)[:8])
}

// named is an id that may be part of a key: one with other characters than ids have, or too long, is replaced by its hash.
func named(id string) string {
	isOther := func(r rune) bool { return r == utf8.RuneError || r == '/' || !unicode.IsGraphic(r) }
	if id == "" || len(id) > longestID || strings.ContainsFunc(id, isOther) {
		return hash(id)[:32]
	}
	return id
}

func hash(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// pieces splits a text so that each fits a memory. What exceeds the longest turn is cut, and the last piece says so.
func pieces(text string) []string {
	rest := 0
	if len(text) > longestTurn {
		whole := len(text)
		text = text[:boundary(text, longestTurn)]
		rest = whole - len(text)
	}
	var list []string
	for len(text) > longestPiece {
		end := boundary(text, longestPiece)
		list = append(list, text[:end])
		text = text[end:]
	}
	if rest > 0 {
		text += fmt.Sprintf("\n[%d more bytes were cut]", rest)
	}
	return append(list, text)
}

// boundary is the greatest end of a rune that is at most so many bytes into the text.
func boundary(text string, most int) int {
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return most
}

// shortened is a text in one line, of valid UTF-8, cut to so many bytes.
func shortened(text string, most int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) <= most {
		return text
	}
	return text[:boundary(text, most-len("…"))] + "…"
}

func encode(v any) json.RawMessage {
	if text, ok := v.(string); ok && !strings.ContainsFunc(text, isEscaped) {
		return json.RawMessage(`"` + text + `"`)
	}
	out, err := jsontext.Encode(v)
	if err != nil {
		return json.RawMessage("null") // texts and numbers always encode
	}
	return out
}

// isEscaped reports whether a text with a character may not be encoded as it is.
func isEscaped(r rune) bool { return r < ' ' || r >= utf8.RuneSelf-1 || r == '"' || r == '\\' }
