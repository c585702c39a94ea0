package capture

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/host/capture/sqlite"
	"github.com/alcove-memory/alcove/host/memory/importer"
	"github.com/alcove-memory/alcove/host/regular"
)

// openCodeSource is that of opencode: below ~/.local/share/opencode/storage a document for each session (session/PROJECT/SESSION.json),
// message (message/SESSION/MESSAGE.json) and part of one (part/MESSAGE/PART.json); since version 1.2 one database for all, opencode.db, or
// opencode-CHANNEL.db; or the files of "opencode export".
func openCodeSource() Source {
	return Source{
		Client: OpenCode,
		named:  []string{"storage/session/*/*.json", "session/*/*.json", "opencode.db", "opencode-*.db"},
		loose:  []string{"*.json"},
		knows: func(name string, start []byte) bool {
			if isOpenDatabase(name) {
				return strings.HasPrefix(string(start), sqlite.Magic)
			}
			return begins(start, '{') &&
				(has(start, "projectID", "title") || has(start, "info", "directory") && strings.Contains(string(start), `"ses_`))
		},
		parts: openParts,
		tables: func(path string) tables {
			if isOpenDatabase(path) {
				return openTables
			}
			return nil
		},
		whole: readOpenCode,
	}
}

// openParts are the documents of a session's messages and parts, or the log of a database.
func openParts(file string) (list []string) {
	if isOpenDatabase(file) {
		return []string{sqlite.Log(file)}
	}
	storage := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	messages, _ := os.ReadDir(filepath.Join(storage, "message", stem(file))) // none of an export
	for _, m := range messages {
		list = append(list, filepath.Join(storage, "message", stem(file), m.Name()))
		parts, _ := os.ReadDir(filepath.Join(storage, "part", stem(m.Name())))
		for _, p := range parts {
			list = append(list, filepath.Join(storage, "part", stem(m.Name()), p.Name()))
		}
	}
	return list
}

type openSession struct {
	ID       string `json:"id"`
	ParentID string `json:"parentID"` // a subagent's
	Folder   string `json:"directory"`
}

type openMessage struct {
	ID   string `json:"id"`
	Role string `json:"role"`
	Time struct {
		Created float64 `json:"created"`
	} `json:"time"`
}

type openPart struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"`
	Ignored   bool   `json:"ignored"`
	CallID    string `json:"callID"`
	Tool      string `json:"tool"`
	State     struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
	} `json:"state"`
	MIME string `json:"mime"`
	File string `json:"filename"`
}

// openDocument is a document of a session, as it was read.
type openDocument struct {
	path string
	raw  []byte
}

// openTree has the documents of a session in their order.
type openTree struct {
	size     int
	content  []string // of all, for their sum
	session  openDocument
	messages []openDocument
	parts    map[string][]openDocument // by the message's name
}

func readOpenCode(file string) (document, error) {
	tree := openTree{parts: map[string][]openDocument{}}
	raw, err := tree.read(file)
	if err != nil {
		return document{}, err
	}
	tree.session = openDocument{file, raw}
	storage := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if tree.messages, err = tree.folder(filepath.Join(storage, "message", stem(file))); err != nil {
		return document{}, err
	}
	for _, m := range tree.messages {
		if tree.parts[stem(m.path)], err = tree.folder(filepath.Join(storage, "part", stem(m.path))); err != nil {
			return document{}, err
		}
	}
	return document{hash(tree.content...), tree.decode}, nil
}

// read reads a document. Together they have a limit.
func (t *openTree) read(file string) ([]byte, error) {
	raw, err := regular.Read(file, int64(longestWhole-t.size))
	if errors.Is(err, regular.ErrTooLong) {
		return nil, tooLong("bytes in a session", longestWhole)
	}
	if err != nil {
		return nil, err
	}
	t.size += len(raw)
	t.content = append(t.content, file, string(raw))
	return raw, nil
}

// folder reads the documents of a folder, sorted by name: names ascend with time. A folder that is not there has none.
func (t *openTree) folder(dir string) (list []openDocument, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || path.Ext(e.Name()) != ".json" {
			continue
		}
		file := filepath.Join(dir, e.Name())
		raw, err := t.read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, &importer.InputError{Path: file, Err: err}
		}
		if list = append(list, openDocument{file, raw}); len(t.content)/2 > mostTurns {
			return nil, tooLong("documents of a session", mostTurns)
		}
	}
	return list, err
}

// openReader decodes a session's documents.
type openReader struct {
	place place
	wrong func(path, place string, err error) error
	yield func(Turn) error
}

func (t *openTree) decode(wrong func(path, place string, err error) error, yield func(Turn) error) error {
	r := openReader{wrong: wrong, yield: yield}
	var export struct {
		openSession
		Info     openSession `json:"info"`
		Messages []struct {
			Info  openMessage `json:"info"`
			Parts []openPart  `json:"parts"`
		} `json:"messages"`
	}
	if err := decodeObject(t.session.raw, &export); err != nil {
		return wrong(t.session.path, "", err)
	}
	session := export.openSession
	if export.Info.ID != "" {
		session = export.Info
	}
	if session.ParentID != "" {
		return nil
	}
	if r.place.follow(session.ID, session.Folder, ""); session.ID == "" {
		r.place.Session = stem(t.session.path)
	}
	for _, m := range export.Messages {
		if err := r.message(m.Info, m.Parts); err != nil {
			return err
		}
	}
	return r.files(t)
}

// files decodes the messages that are documents of their own.
func (r *openReader) files(t *openTree) error {
	for _, file := range t.messages {
		var m openMessage
		if err := decodeObject(file.raw, &m); err != nil {
			if err := r.wrong(file.path, "", err); err != nil {
				return err
			}
			continue
		}
		var parts []openPart
		for _, file := range t.parts[stem(file.path)] {
			var p openPart
			if err := decodeObject(file.raw, &p); err != nil {
				if err := r.wrong(file.path, "", err); err != nil {
					return err
				}
				continue
			}
			parts = append(parts, p)
		}
		if err := r.message(m, parts); err != nil {
			return err
		}
	}
	return nil
}

// message yields what a message says, up to each call, and the calls.
func (r *openReader) message(m openMessage, parts []openPart) error {
	if m.Role != User && m.Role != Assistant {
		return nil
	}
	var said []part
	id, depth, at := "", 0, millis(m.Time.Created)
	say := func() error {
		text, caption := words(said, "\n")
		said = nil
		if text == "" && caption == "" {
			return nil
		}
		t := r.place.turn(OpenCode, m.Role, id, text, at)
		t.Caption = caption
		return r.yield(t)
	}
	for _, p := range parts {
		if len(said) == 0 {
			id = p.ID
		}
		switch {
		case p.Type == "text" && !p.Synthetic && !p.Ignored:
			p.Text, depth = publicFrom(p.Text, depth) // what is private may go on after a call
			said = append(said, part{Text: p.Text})
		case p.Type == "file":
			said = append(said, part{Type: "document", Source: mediaType{strings.TrimSpace(p.File + " " + p.MIME)}})
		case p.Type == "tool":
			if err := say(); err != nil {
				return err
			}
			outcome := map[string]string{"completed": succeeded, "error": failed}[p.State.Status]
			call := r.place.turn(OpenCode, Tool, p.CallID, withOutcome(callLine(p.Tool, p.State.Input), outcome), at)
			if err := r.yield(call); err != nil {
				return err
			}
		}
	}
	return say()
}
