package capture

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/importer"
)

// place is what a decoder knows from the lines before, kept in cursors: no text that was said.
type place struct {
	Session string `json:"session,omitempty"`
	Folder  string `json:"folder,omitempty"`
	Project string `json:"project,omitempty"`
	Branch  string `json:"branch,omitempty"`
	Seq     int64  `json:"seq,omitempty"`  // of the next turn
	Skip    bool   `json:"skip,omitempty"` // the transcript is a subagent's
}

// turn is the next turn at the place.
func (p *place) turn(client Client, speaker, id, text string, at time.Time) Turn {
	t := Turn{
		Client: client, Session: p.Session, ID: id, Seq: p.Seq, Speaker: speaker, Text: text, At: at,
		Folder: p.Folder, Project: p.Project, Branch: p.Branch,
	}
	p.Seq++
	return t
}

// decoder decodes the lines of a transcript, in order.
type decoder interface {
	decode(line []byte, out *output) error
}

// output takes what a line says.
type output struct {
	place *place
	say   func(Turn)
	// call is a tool's call, which waits for its outcome under an id.
	call func(id string, t Turn)
	// outcome ends the wait of a call.
	outcome func(id, outcome string)
}

// Outcomes of calls.
const (
	succeeded = "ok"
	failed    = "failed"
)

func outcomeOf(isFailed bool) string {
	if isFailed {
		return failed
	}
	return succeeded
}

// decodeObject reads an object as far as its members have the types that are expected.
func decodeObject(raw []byte, into any) error {
	if err := importer.CheckJSON(raw); err != nil {
		return err
	}
	err := json.Unmarshal(raw, into)
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) && begins(raw, '{') {
		return nil // the other members were read
	}
	return err
}

// part is a part of a message, in the forms of all clients.
type part struct {
	Type string `json:"type"`
	Text string `json:"text"`

	// Claude Code
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Source    mediaType       `json:"source"`

	// Gemini CLI
	Inline struct {
		MIME string `json:"mimeType"`
	} `json:"inlineData"`
	File struct {
		MIME string `json:"mimeType"`
		URI  string `json:"fileUri"`
	} `json:"fileData"`
}

type mediaType struct {
	MediaType string `json:"media_type"`
}

// caption describes a picture or file; empty: the part is none.
func (p part) caption() string {
	switch {
	case p.Type == "image" || p.Type == "document":
		return strings.TrimSpace(p.Type + " " + p.Source.MediaType)
	case p.Type == "input_image":
		return "image"
	case p.Inline.MIME != "":
		return "file " + p.Inline.MIME
	case p.File.URI != "":
		return strings.TrimSpace("file " + p.File.URI + " " + p.File.MIME)
	}
	return ""
}

// partsOf are the parts of a message's content, without what is private: a tag may begin in one and end in another.
func partsOf(content json.RawMessage) []part {
	parts, depth := listed(content), 0
	for i := range parts {
		parts[i].Text, depth = publicFrom(parts[i].Text, depth)
	}
	return parts
}

// listed are the parts of a content: a text, a part, or a list of either.
func listed(raw json.RawMessage) []part {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		var text string
		_ = json.Unmarshal(raw, &text)
		return []part{{Type: "text", Text: text}}
	case '{':
		var one part
		_ = json.Unmarshal(raw, &one) // what has another type is left out
		return []part{one}
	case '[':
		var parts []part
		if json.Unmarshal(raw, &parts) == nil {
			return parts
		}
		var list []json.RawMessage // some are texts, or have other types
		_ = json.Unmarshal(raw, &list)
		parts = nil
		for _, one := range list {
			if !begins(one, '[') {
				parts = append(parts, listed(one)...)
			}
		}
		return parts
	}
	return nil
}

// words are the text of parts, with a separator between them, and the captions.
func words(parts []part, separator string) (text, caption string) {
	var texts, captions []string
	for _, p := range parts {
		if strings.TrimSpace(p.Text) != "" {
			texts = append(texts, p.Text)
		}
		if c := p.caption(); c != "" {
			captions = append(captions, c)
		}
	}
	return strings.Join(texts, separator), strings.Join(captions, ", ")
}

// callLine is the line of a call: the tool's name and its file or command.
func callLine(name string, input json.RawMessage) string {
	name = cmp.Or(shortened(name, longestID), "tool")
	if target := target(input); target != "" {
		return name + ": " + target
	}
	return name
}

// target is the file, command or other value that tells a call from others of its tool.
func target(input json.RawMessage) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil {
		var text string
		_ = json.Unmarshal(input, &text)
		return ofPatch(text)
	}
	names := [...]string{
		"file_path", "filePath", "absolute_path", "notebook_path", "command", "cmd", "pattern", "query", "url",
		"path", "dir_path", "key", "name", "description", "input", "patch", "patchText",
	}
	for _, name := range names {
		if text := textOf(members[name]); text != "" {
			return ofPatch(text)
		}
	}
	return ""
}

// textOf is a text, or the words of a command; of a shell's command what the shell runs.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	if len(list) == 3 && (list[1] == "-c" || list[1] == "-lc") {
		return list[2]
	}
	return strings.Join(list, " ")
}

// ofPatch is a text in short, or the names of the files that it patches.
func ofPatch(text string) string {
	if !strings.HasPrefix(strings.TrimSpace(text), "*** Begin Patch") {
		return shortened(mayBeKept(text), longestCall)
	}
	var files []string
	for line := range strings.Lines(text) {
		for _, what := range [...]string{"*** Update File: ", "*** Add File: ", "*** Delete File: "} {
			if name, ok := strings.CutPrefix(line, what); ok {
				files = append(files, strings.TrimSpace(name))
			}
		}
	}
	return shortened(strings.Join(files, " "), longestCall)
}

// withOutcome is the line of a call that ended.
func withOutcome(line, outcome string) string {
	if outcome == "" {
		return line
	}
	return fmt.Sprintf("%s (%s)", line, outcome)
}

// instant reads a moment of a transcript; zero: it is none.
func instant(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.Year() < 1970 || at.Year() > 9999 {
		return time.Time{}
	}
	return at.UTC().Truncate(time.Microsecond)
}

// millis reads a moment in milliseconds since the epoch.
func millis(n float64) time.Time {
	const most = 253402300799000 // the year 9999
	if !(n > 0 && n <= most) {
		return time.Time{}
	}
	return time.UnixMilli(int64(n)).UTC()
}

// startsWithAny reports whether a text begins with one of some words.
func startsWithAny(text string, words ...string) bool {
	for _, w := range words {
		if strings.HasPrefix(text, w) {
			return true
		}
	}
	return false
}

// withoutElements removes elements that a client added to a text. One that is not closed goes to the end.
func withoutElements(text string, names ...string) string {
	for _, name := range names {
		for {
			before, rest, found := strings.Cut(text, "<"+name+">")
			if !found {
				break
			}
			_, after, _ := strings.Cut(rest, "</"+name+">")
			text = before + after
		}
	}
	return text
}

// element is what an element of a text has; ok is false if the text has no such element.
func element(text, name string) (_ string, ok bool) {
	_, rest, found := strings.Cut(text, "<"+name+">")
	if !found {
		return "", false
	}
	inside, _, _ := strings.Cut(rest, "</"+name+">")
	return strings.TrimSpace(inside), true
}
