package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/capture"
)

// Event is the moment of a client's session that a message is about.
type Event string

// The events that are answered.
const (
	SessionStart Event = "session-start" // a session began, was resumed, cleared or compacted
	UserPrompt   Event = "user-prompt"   // the user wrote a prompt, and the agent has not read it yet
)

// The events at which the turns of the session's transcript are kept.
const (
	PreCompact Event = "pre-compact" // the client is about to replace the conversation by a summary
	Stop       Event = "stop"        // the agent has answered
	SessionEnd Event = "session-end"
)

// EventNames returns the names of all events.
func EventNames() []string {
	return []string{string(SessionStart), string(UserPrompt), string(PreCompact), string(Stop), string(SessionEnd)}
}

// Limits of what clients send, in bytes.
const (
	LongestMessage = 4 << 20
	longestText    = 4 << 10 // of a name or path
)

// Message is a client's message about an event.
type Message struct {
	Client     Client
	Event      Event
	Session    string // the client's id of the session; empty: not known
	Folder     string // in which the client works; empty: not known
	Prompt     string // of a UserPrompt
	Compacted  bool   // of a SessionStart: the session goes on after a compaction
	Transcript string // the path of the session's transcript; empty: not known, or of another client
}

// ReadMessage reads a message of a client. An empty message is one without particulars.
func ReadMessage(r io.Reader, c Client, e Event) (Message, error) {
	m := Message{Client: c, Event: e}
	if !slices.Contains(EventNames(), string(e)) {
		return m, fmt.Errorf("there is no hook %q: known are %s", e, strings.Join(EventNames(), ", "))
	}
	data, err := io.ReadAll(io.LimitReader(r, LongestMessage+1))
	switch {
	case err != nil:
		return m, fmt.Errorf("read the message of %s: %w", c.title(), err)
	case len(data) > LongestMessage:
		return m, fmt.Errorf("the message of %s has more than %d bytes", c.title(), LongestMessage)
	case len(data) == 0:
		return m, nil
	}
	return m, m.parse(data)
}

// parse reads the members that clients use: those of Claude Code, which most others took over, and Cursor's.
func (m *Message) parse(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return fmt.Errorf("the message of %s is not a JSON object: %w", m.Client.title(), err)
	}
	first := func(names ...string) string {
		for _, name := range names {
			var text string
			if json.Unmarshal(members[name], &text) == nil && text != "" {
				return text
			}
		}
		return ""
	}
	m.Session = first("session_id", "sessionId", "conversation_id")
	m.Folder = first("cwd")
	m.Prompt = first("prompt", "user_prompt")
	m.Compacted = first("source", "trigger") == "compact"
	var roots []string
	if m.Folder == "" && json.Unmarshal(members["workspace_roots"], &roots) == nil && len(roots) > 0 {
		m.Folder = roots[0]
	}
	// Cursor and VS Code run Claude Code's hooks, too, and name transcripts of their own.
	if members["cursor_version"] == nil && members["hookEventName"] == nil {
		m.Transcript = first("transcript_path")
	}
	if len(m.Session) > longestText || len(m.Folder) > longestText || len(m.Transcript) > longestText {
		return fmt.Errorf("the message of %s names a session, folder or transcript of more than %d bytes", m.Client.title(), longestText)
	}
	if m.Event == UserPrompt && m.Prompt == "" {
		return errors.New("the message has no prompt")
	}
	return nil
}

// Client is the form of a client's messages and answers. Empty: answers are plain text.
type Client string

// Clients with a form of their own.
const (
	ClaudeCode Client = "claude-code"
	Codex      Client = "codex"
	Gemini     Client = "gemini"
	VSCode     Client = "vscode"
	Cursor     Client = "cursor"
)

func (c Client) title() string {
	if c == "" {
		return "the client"
	}
	return string(c)
}

// Serves reports whether a client's hook at an event is of use: its agent takes an answer, or its transcripts are read.
func Serves(c Client, e Event) bool {
	_, read := capture.SourceOf(capture.Client(c))
	return answers(c, e) || Keeps(e) && read
}

// Keeps reports whether turns are kept at an event.
func Keeps(e Event) bool { return e == PreCompact || e == Stop || e == SessionEnd }

// answers reports whether a client gives its agent an answer at an event.
func answers(c Client, e Event) bool {
	switch c {
	case ClaudeCode, Codex, Gemini, VSCode:
		return e == SessionStart || e == UserPrompt
	case Cursor:
		return e == SessionStart // its answer to a prompt only lets it pass or not
	}
	return false
}

// eventName is the client's name of an event, which its answers repeat.
func (c Client) eventName(e Event) string {
	switch {
	case e == SessionStart:
		return "SessionStart"
	case c == Gemini:
		return "BeforeAgent"
	}
	return "UserPromptSubmit"
}

// encode returns the answer that gives the agent a text; nil: the client takes none at the event.
func (c Client) encode(e Event, text string) ([]byte, error) {
	var answer any
	switch {
	case c == "":
		return []byte(text), nil
	case !answers(c, e):
		return nil, nil
	case c == Cursor:
		answer = map[string]any{"additional_context": text}
	default:
		answer = map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": c.eventName(e), "additionalContext": text}}
	}
	data, err := json.Marshal(answer)
	return append(data, '\n'), err
}
