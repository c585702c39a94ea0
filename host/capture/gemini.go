package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/importer"
	"github.com/alcove-memory/alcove/host/regular"
)

// geminiSource is that of Gemini CLI: ~/.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl, or .json of earlier versions, or, where there are
// no chats, logs.json with the user's words alone.
func geminiSource() Source {
	var named []string
	for _, folder := range []string{"tmp/*/", "*/", ""} {
		named = append(named, folder+"chats/session-*.json", folder+"chats/session-*.jsonl", folder+"logs.json")
	}
	return Source{
		Client: Gemini,
		named:  append(named, "session-*.json", "session-*.jsonl"),
		knows: func(name string, start []byte) bool {
			return has(start, "sessionId", "projectHash") || name == logsName && begins(start, '[') && has(start, "sessionId", "messageId")
		},
		beside: hasFuller,
		whole:  readGemini,
	}
}

const logsName = "logs.json"

// hasFuller reports whether another file has what a file has: a chat that was moved to lines, or the chats beside a log.
func hasFuller(path string) bool {
	other := path + "l"
	if filepath.Base(path) == logsName {
		other = filepath.Join(filepath.Dir(path), "chats")
	}
	_, err := os.Stat(other)
	return err == nil
}

// geminiRecord is a line of a chat, or a whole chat of earlier versions.
type geminiRecord struct {
	geminiMessage
	SessionID string          `json:"sessionId"`
	Kind      string          `json:"kind"`
	Messages  []geminiMessage `json:"messages"`
	Set       struct {
		SessionID string          `json:"sessionId"`
		Messages  []geminiMessage `json:"messages"`
	} `json:"$set"`
}

type geminiMessage struct {
	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	Display   json.RawMessage `json:"displayContent"` // what the user saw, without files that were added
	Calls     []struct {
		ID     string          `json:"id"`
		Name   string          `json:"name"`
		Args   json.RawMessage `json:"args"`
		Status string          `json:"status"`
	} `json:"toolCalls"`
}

func readGemini(path string) (document, error) {
	content, err := regular.Read(path, longestWhole)
	if errors.Is(err, regular.ErrTooLong) {
		err = tooLong("bytes in a chat", longestWhole)
	}
	if err != nil {
		return document{}, err
	}
	return document{hash(string(content)), func(wrong func(path, place string, err error) error, yield func(Turn) error) error {
		g := gemini{path: path, wrong: wrong, at: map[string]int{}}
		g.place.Folder = geminiFolder(path)
		if filepath.Base(path) == logsName {
			return g.log(content, yield)
		}
		if err := g.read(content); err != nil || g.place.Skip {
			return err
		}
		return g.each(yield)
	}}, nil
}

// geminiFolder is the folder of the project whose chats a file is with; empty: it is not noted.
func geminiFolder(path string) string {
	dir := filepath.Dir(path)
	if filepath.Base(dir) == "chats" {
		dir = filepath.Dir(dir)
	}
	folder, err := regular.Read(filepath.Join(dir, ".project_root"), longestField)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(folder))
}

// gemini is a chat. A message that is written again, with its calls, replaces the earlier one; one that was rewound was said, too.
type gemini struct {
	path     string
	wrong    func(path, place string, err error) error
	place    place
	messages []geminiMessage
	at       map[string]int // by id
}

// read reads a document, or lines.
func (g *gemini) read(content []byte) error {
	if json.Valid(content) {
		return g.record(content, "")
	}
	for n := 1; len(content) > 0; n++ {
		line, rest, ended := bytes.Cut(content, []byte("\n"))
		content = rest
		if len(bytes.TrimSpace(line)) == 0 || !ended && !isWhole(line) {
			continue
		}
		if err := g.record(line, fmt.Sprintf("line %d", n)); err != nil {
			return err
		}
	}
	return nil
}

func (g *gemini) record(raw []byte, where string) error {
	var r geminiRecord
	if err := decodeObject(raw, &r); err != nil {
		if err := g.wrong(g.path, where, err); err != nil {
			return err
		}
		if raw = afterBreak(raw); raw == nil || decodeObject(raw, &r) != nil {
			return nil
		}
	}
	g.place.follow(r.SessionID, "", "")
	g.place.follow(r.Set.SessionID, "", "")
	g.place.Skip = g.place.Skip || r.Kind == "subagent"
	if r.ID != "" {
		g.add(r.geminiMessage)
	}
	for _, m := range r.Messages {
		g.add(m)
	}
	for _, m := range r.Set.Messages {
		g.add(m)
	}
	if len(g.messages) > mostTurns {
		return &importer.InputError{Path: g.path, Location: where, Err: tooLong("messages in a chat", mostTurns)}
	}
	return nil
}

func (g *gemini) add(m geminiMessage) {
	if at, known := g.at[m.ID]; known && m.ID != "" {
		g.messages[at] = m
		return
	}
	g.at[m.ID] = len(g.messages)
	g.messages = append(g.messages, m)
}

func (g *gemini) each(yield func(Turn) error) error {
	if g.place.Session == "" {
		g.place.Session = stem(g.path)
	}
	for _, m := range g.messages {
		for _, t := range m.turns(&g.place) {
			if err := yield(t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m geminiMessage) turns(p *place) (turns []Turn) {
	speaker := map[string]string{"user": User, "gemini": Assistant}[m.Type]
	if speaker == "" {
		return nil
	}
	content := m.Content
	if len(m.Display) > 0 && speaker == User {
		content = m.Display
	}
	at := instant(m.Timestamp)
	text, caption := words(partsOf(content), "") // the parts of a stream
	added := speaker == User && startsWithAny(strings.TrimSpace(text), "<session_context>", "<hook_context>")
	if (text != "" || caption != "") && !added {
		t := p.turn(Gemini, speaker, m.ID, text, at)
		t.Caption = caption
		turns = append(turns, t)
	}
	for _, c := range m.Calls {
		outcome := map[string]string{"success": succeeded, "error": failed, "cancelled": "cancelled"}[c.Status]
		turns = append(turns, p.turn(Gemini, Tool, c.ID, withOutcome(callLine(c.Name, c.Args), outcome), at))
	}
	return turns
}

// log yields the user's words in a log, which has those of all sessions.
func (g *gemini) log(content []byte, yield func(Turn) error) error {
	var entries []struct {
		SessionID string      `json:"sessionId"`
		MessageID json.Number `json:"messageId"`
		Type      string      `json:"type"`
		Message   string      `json:"message"`
		Timestamp string      `json:"timestamp"`
	}
	err := importer.CheckJSON(content)
	if err == nil {
		err = json.Unmarshal(content, &entries)
	}
	if isType := new(json.UnmarshalTypeError); err != nil && !errors.As(err, &isType) {
		return g.wrong(g.path, "", err)
	}
	places := map[string]*place{}
	for _, e := range entries {
		if e.Type != User || strings.TrimSpace(e.Message) == "" {
			continue
		}
		p := places[e.SessionID]
		if p == nil {
			p = &place{Session: e.SessionID, Folder: g.place.Folder}
			places[e.SessionID] = p
		}
		if err := yield(p.turn(Gemini, User, "log-"+e.MessageID.String(), e.Message, instant(e.Timestamp))); err != nil {
			return err
		}
	}
	return nil
}
