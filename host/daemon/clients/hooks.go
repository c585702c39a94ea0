package clients

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/daemon/clients/edit"
	"github.com/alcove-memory/alcove/host/regular"
)

// Event is a moment at which clients run hooks.
type Event string

// The events. No client has others that are used, and few have all.
const (
	SessionStart Event = "session-start"
	UserPrompt   Event = "user-prompt"
	PreCompact   Event = "pre-compact"
	Stop         Event = "stop"
	SessionEnd   Event = "session-end"
)

// hooks are those of a client: lists in the member hooks of a JSON file, one for each event.
type hooks struct {
	user    func(Machine) string
	project string // in the folder
	form    func(command string) json.RawMessage
	version int // of the file's format, which the file names; 0: it names none
	events  []hookEvent
}

// hookEvent is an event by the client's name.
type hookEvent struct {
	event Event
	name  string
}

// hookCommand is a hook as clients have it.
type hookCommand struct {
	Type    string `json:"type,omitempty"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"`
}

// flat is an element of the list for clients without groups. The time-out is in the client's unit; 0: it has none.
func flat(timeout int) func(string) json.RawMessage {
	return func(command string) json.RawMessage { return encoded(hookCommand{Command: command, Timeout: timeout}) }
}

// grouped is an element that is a group of one hook, for every tool and source.
func grouped(timeout int) func(string) json.RawMessage {
	return func(command string) json.RawMessage {
		return encoded(map[string][]hookCommand{"hooks": {{Type: "command", Command: command, Timeout: timeout}}})
	}
}

func (h *hooks) file(m Machine, s Scope) string {
	if s == Project {
		return filepath.Join(m.Folder, filepath.FromSlash(h.project))
	}
	return h.user(m)
}

// ours reports whether an element of a list of hooks runs this program for a client.
func ours(element json.RawMessage, client string) bool {
	text := string(element)
	return strings.Contains(text, " hook ") && strings.Contains(text, "--client "+client)
}

// elements are those of a list in a text.
func elements(text []byte, path []string) (list []json.RawMessage, err error) {
	raw, err := present(edit.JSON, text, path)
	if err != nil || raw == nil {
		return nil, err
	}
	return list, json.Unmarshal(raw, &list)
}

// InstalledHooks are the events for which the client runs this program, as its files say.
func (c Client) InstalledHooks(m Machine) (events []Event) {
	if c.hooks == nil {
		return nil
	}
	for _, s := range []Scope{User, Project} {
		text, err := regular.Read(c.hooks.file(m, s), edit.Most)
		if err != nil {
			continue // there is none, or it is not readable: nothing runs
		}
		for _, e := range c.hooks.events {
			list, err := elements(text, []string{"hooks", e.name})
			runs := err == nil && slices.ContainsFunc(list, func(raw json.RawMessage) bool { return ours(raw, c.Name) })
			if runs && !slices.Contains(events, e.event) {
				events = append(events, e.event)
			}
		}
	}
	return events
}

// Hooks are the events of the client for which it runs hooks.
func (c Client) Hooks() (events []Event) {
	if c.hooks != nil {
		for _, e := range c.hooks.events {
			events = append(events, e.event)
		}
	}
	return events
}

// HookLists are the client's lists of hooks by its names of the events, as its files have them. command is what an event runs; empty: nothing.
func (c Client) HookLists(command func(Event) string) map[string][]json.RawMessage {
	lists := map[string][]json.RawMessage{}
	if c.hooks == nil {
		return lists
	}
	for _, e := range c.hooks.events {
		if line := command(e.event); line != "" {
			lists[e.name] = []json.RawMessage{c.hooks.form(line)}
		}
	}
	return lists
}

// Quoted is a word quoted for the shell of a system.
func Quoted(system, word string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%=,", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !safe(r) }) {
		return word
	}
	if system == "windows" {
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
