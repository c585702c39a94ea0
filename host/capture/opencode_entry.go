package capture

import (
	"encoding/json"
	"fmt"
)

// openEntry is a message of the table session_message, which has its parts in itself.
type openEntry struct {
	ID   string
	Type string // user, assistant, or shell: a command of the user's own
	openContent
}

type openContent struct {
	Time struct {
		Created float64 `json:"created"`
	} `json:"time"`
	Text  string `json:"text"` // a user's
	Files []struct {
		MIME string `json:"mime"`
		Name string `json:"name"`
	} `json:"files"`
	Content []openSpoken    `json:"content"` // an assistant's
	Command json.RawMessage `json:"command"` // of a shell
	Exit    *float64        `json:"exit"`
}

// openSpoken is what an assistant says, thinks or calls.
type openSpoken struct {
	openPart        // without ids of texts, which are no message's own
	ID       string `json:"id"` // of a call
	Name     string `json:"name"`
}

// message is the entry as a message with parts.
func (e openEntry) message() (m openMessage, parts []openPart) {
	m = openMessage{ID: e.ID, Role: Assistant, Time: e.Time}
	switch e.Type {
	case "user":
		m.Role = User
		parts = append(parts, openPart{ID: e.ID, Type: "text", Text: e.Text})
		for _, f := range e.Files {
			parts = append(parts, openPart{ID: e.ID, Type: "file", MIME: f.MIME, File: f.Name})
		}
	case "assistant":
		for i, s := range e.Content {
			p := s.openPart
			p.ID, p.CallID, p.Tool = fmt.Sprintf("%s.%d", e.ID, i), s.ID, s.Name
			if p.State.Status == "streaming" || p.State.Status == "pending" {
				p.State.Input = nil // half of it
			}
			parts = append(parts, p)
		}
	case "shell":
		p := openPart{ID: e.ID, Type: "tool", CallID: e.ID, Tool: "shell"}
		p.State.Input, p.State.Status = json.RawMessage(`{"command":`+string(e.Command)+`}`), e.status()
		parts = append(parts, p)
	}
	return m, parts
}

// status is how a command ended, in the words for calls; empty: nobody knows.
func (e openEntry) status() string {
	switch {
	case e.Exit == nil:
		return ""
	case *e.Exit == 0:
		return "completed"
	}
	return "error"
}
