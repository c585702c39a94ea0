package vault

import (
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/front"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// ImportVaultToFacts takes edits of Markdown files back into memory.
//
// Files without an id become new facts, with the #tags and the [[links]] of their text; later imports know them by their path, or by their text
// where they were renamed. report leaves what both sides changed as it is in memory; file and memory say which text counts.
// With source mirror, it reads up to vault_batch files in the order of their paths, and writes a .conflict.md beside a file with a
// conflict. What is not body, tags and entities is not taken, and named in warnings.
//
//alcove:camel
//alcove:title Import Markdown into facts
//alcove:description Take edits in Markdown back into memory.
type ImportVaultToFacts struct {
	Files      []given `alcove:"max=1000"` // path and content of each.
	Source     string  `alcove:"default=inline,enum=inline|mirror"`
	OnConflict string  `alcove:"default=report,enum=report|file|memory,alias=on_conflict"`
	Cursor     string  `alcove:"advanced"` // Of a mirror: next_cursor of the call before.
}

// given is a file as a client passes it.
//
//alcove:camel
type given struct {
	Path    string       `alcove:"required"`
	Content string       `alcove:"required"`
	there   *alcove.File // in a mirror
}

//alcove:camel
type imported struct {
	Imported   int // New facts.
	Updated    int
	Unchanged  int
	Conflicts  []conflict
	Warnings   []string
	NextCursor string `json:"next_cursor,omitzero"`
	Truncated  bool   `json:"truncated,omitzero"`
}

// conflict is what both sides changed.
//
//alcove:camel
type conflict struct {
	Path   string
	ID     alcove.ID
	Field  string // content, summary, or memory if that was deleted.
	File   string
	Memory string
}

// Limits of an answer.
const (
	mostConflicts = 100
	mostWarnings  = 100
	shownText     = 4000 // characters of each text
)

// Call imports.
func (in ImportVaultToFacts) Call(c *alcove.Call, cfg Config) (out imported, err error) {
	if (in.Source == "mirror") == (len(in.Files) > 0) {
		return out, alcove.Errorf(alcove.InvalidArgument, "give files, or source mirror, and not both")
	}
	w := &importing{c: c, cfg: cfg, rule: in.OnConflict, names: &entities{c: c}, out: &out}
	files := in.Files
	if in.Source == "mirror" {
		w.mirror = true
		if files, err = w.page(in.Cursor); err != nil {
			return out, err
		}
	}
	return out, w.all(files)
}

// page reads files of the mirror.
func (w *importing) page(cursor string) (files []given, err error) {
	list, err := w.c.FileList(alcove.FileListRequest{Root: root, After: cursor, Limit: w.cfg.Batch})
	if err != nil {
		return nil, err
	}
	w.out.NextCursor, w.out.Truncated = list.Next, list.Next != ""
	if list.Refused > 0 && cursor == "" {
		w.warn("", strconv.Itoa(list.Refused)+" files are left out: symbolic links, files with several names, or names that no file should have")
	}
	var paths []string
	for _, e := range list.Files {
		switch {
		case !strings.HasSuffix(e.Path, suffix) || strings.HasSuffix(e.Path, conflictSuffix):
		case e.Bytes > w.cfg.MaxFile:
			w.tooLong(e.Path, e.Bytes)
		default:
			paths = append(paths, e.Path)
		}
	}
	for len(paths) > 0 {
		n := min(len(paths), together)
		read, err := readFiles(w.c, paths[:n])
		if err != nil {
			return nil, err
		}
		for _, f := range read {
			if f != nil {
				files = append(files, given{f.Path, f.Content, f})
			}
		}
		paths = paths[n:]
	}
	return files, nil
}

// importing is an import at work.
type importing struct {
	c      *alcove.Call
	cfg    Config
	rule   string // what counts of a conflict: report, file or memory
	mirror bool
	names  *entities
	out    *imported
	writes []alcove.FileItem // to the mirror, at the end
}

func (w *importing) warn(path, text string) {
	if path != "" {
		text = path + ": " + text
	}
	if len(w.out.Warnings) < mostWarnings {
		w.out.Warnings = append(w.out.Warnings, text)
	}
}

func (w *importing) tooLong(path string, bytes int) {
	w.warn(path, "it has "+strconv.Itoa(bytes)+" bytes, and at most vault_max_file_bytes, "+strconv.Itoa(w.cfg.MaxFile)+", are imported")
}

// all imports files.
func (w *importing) all(files []given) error {
	var notes []note
	present := map[string]*alcove.File{}
	for _, f := range files {
		if err := checkPath(f.Path); err != nil {
			return err
		}
		if len(f.Content) > w.cfg.MaxFile {
			w.tooLong(f.Path, len(f.Content))
			continue
		}
		n, err := read(f.Path, f.Content)
		if err != nil {
			w.warn(f.Path, err.Error())
			continue
		}
		present[f.Path] = f.there
		notes = append(notes, n)
	}
	memories, err := w.find(notes)
	if err != nil {
		return err
	}
	seen := map[alcove.ID]string{}
	for i := range notes {
		n := &notes[i]
		if err := w.one(n, memories[n.id], seen, present); err != nil {
			return err
		}
	}
	if w.mirror {
		_, err = writeFiles(w.c, w.writes)
	}
	return err
}

// checkPath refuses paths that would lead out of a vault.
func checkPath(path string) error {
	bad := path == "" || len(path) > 1024 || path[0] == '/' || strings.ContainsAny(path, "\x00\\")
	for _, name := range strings.Split(path, "/") {
		bad = bad || name == ".."
	}
	if bad || len(path) > 1 && path[1] == ':' {
		return alcove.Errorf(alcove.InvalidArgument, "the path %q is no path below the vault", path[:min(len(path), 200)])
	}
	return nil
}

// find reads the memories of notes, by their ids as the notes have them.
func (w *importing) find(notes []note) (map[alcove.ID]*alcove.Memory, error) {
	keys, found := map[string][]string{}, map[alcove.ID]*alcove.Memory{}
	for i := range notes {
		id := &notes[i].id
		if id.IsZero() {
			continue
		}
		if id.Namespace == "" {
			id.Namespace = w.c.Namespace
		}
		if _, there := found[*id]; !there {
			keys[id.Namespace] = append(keys[id.Namespace], id.Key)
			found[*id] = nil
		}
	}
	for namespace, list := range keys {
		memories, err := w.c.GetMemories(namespace, list)
		if err != nil {
			return nil, err
		}
		for i, m := range memories {
			found[alcove.ID{Namespace: namespace, Key: list[i]}] = m
		}
	}
	return found, nil
}

// one imports a note. m is its memory; nil: there is none.
func (w *importing) one(n *note, m *alcove.Memory, seen map[alcove.ID]string, present map[string]*alcove.File) error {
	if n.id.IsZero() {
		return w.unnamed(n, present)
	}
	if m == nil && n.version == 0 {
		return w.create(n, present[n.path])
	}
	if n.edited.digest() == n.digest {
		w.out.Unchanged++
		w.ignored(n, m)
		return nil
	}
	if other := seen[n.id]; other != "" {
		w.warn(n.path, "it is not imported: "+other+" is a file of the same fact")
		return nil
	}
	seen[n.id] = n.path
	if m == nil {
		return w.gone(n)
	}
	w.ignored(n, m)
	return w.merge(n, m)
}

// unnamed imports a note without an id.
func (w *importing) unnamed(n *note, present map[string]*alcove.File) error {
	m, copied, err := w.known(n, present)
	switch {
	case err != nil:
		return err
	case copied:
		w.out.Unchanged++
		return nil
	case m == nil:
		return w.create(n, present[n.path])
	}
	if err := w.again(n, m); err != nil {
		return err
	}
	return w.named(n, present[n.path])
}

// ignored warns of changed fields that people do not edit.
func (w *importing) ignored(n *note, m *alcove.Memory) {
	known := map[string]string{}
	if m != nil && m.Version == n.version {
		for _, f := range described(m, edited{}) {
			if !f.List && len(f.Values) == 1 {
				known[f.Name] = f.Values[0]
			}
		}
	}
	var changed []string
	for _, f := range n.front.Fields {
		switch f.Name {
		case "id", "version", "digest", "updatedAt", "tags", "entities", "aliases", "timestamp":
		case "factType", "scopeId", "createdBy", "importanceScore", "lifecycleState":
			if was, ok := known[f.Name]; ok && n.front.Text(f.Name) != was {
				changed = append(changed, f.Name)
			}
		default:
			changed = append(changed, f.Name)
		}
	}
	if len(changed) > 0 {
		w.warn(n.path, "ignored: "+strings.Join(changed, ", "))
	}
}

// gone handles an edited note whose memory was deleted.
func (w *importing) gone(n *note) error {
	if w.rule == "file" {
		return w.store(n, w.c.Store(n.content).In(n.id.Namespace).Key(n.id.Key))
	}
	if w.rule == "report" {
		w.conflict(n, "memory", n.content, "")
	} else {
		w.out.Unchanged++
	}
	return nil
}

func (w *importing) conflict(n *note, field, file, memory string) {
	if len(w.out.Conflicts) == mostConflicts {
		w.warn(n.path, "both sides changed its "+field)
		return
	}
	w.out.Conflicts = append(w.out.Conflicts, conflict{n.path, n.id, field, cut(file), cut(memory)})
	if w.mirror {
		body := "\n# " + field + " in the file\n\n" + file + "\n\n# " + field + " in memory\n\n" + memory + "\n"
		text := front.Write(front.Note{Fields: []front.Field{{Name: "conflict", Values: []string{n.id.String()}}}, Body: body})
		w.writes = append(w.writes, alcove.FileItem{Path: strings.TrimSuffix(n.path, suffix) + conflictSuffix, Content: text})
	}
}

// create stores a note without a memory as a new fact.
func (w *importing) create(n *note, there *alcove.File) error {
	if trimmed(n.content) == "" {
		w.warn(n.path, "it is empty")
		return nil
	}
	if scope := n.front.Text("scopeId"); scope != "" && scope != w.c.Namespace && n.id.IsZero() {
		w.warn(n.path, "ignored: scopeId")
	}
	n.content = trimmed(n.content)
	d := w.c.Store(n.content)
	if !n.id.IsZero() {
		d.In(n.id.Namespace).Key(n.id.Key)
	}
	if n.id.IsZero() {
		w.origin(n, func(name string, value any) { d.Metadata(name, value) })
	}
	if err := w.store(n, d); err != nil {
		return err
	}
	return w.named(n, there)
}

// named writes the id of a note's fact into its file, if that is in a mirror.
func (w *importing) named(n *note, there *alcove.File) error {
	if w.mirror && there != nil {
		return w.name(n, there)
	}
	return nil
}

// store stages a new fact.
func (w *importing) store(n *note, d *alcove.Draft) error {
	kind := n.front.Text("factType")
	if kind == "" {
		kind = typeIn(n.path)
	}
	d.Type(kind).Tags(n.tags...)
	if v, err := strconv.ParseFloat(n.front.Text("importanceScore"), 64); err == nil && v >= 0 && v <= 1 {
		d.Importance(v)
	}
	if n.summary != "" {
		d.Metadata("summary", n.summary)
	}
	if len(n.entities) > 0 {
		ids, err := w.names.ids(nil, n.entities)
		if err != nil {
			return err
		}
		d.Metadata("entityIds", ids)
	}
	item, err := d.IfVersion(0).Item()
	if err != nil {
		return err
	}
	stored, err := w.c.PutMemories([]alcove.MemoryItem{item})
	if alcove.CodeOf(err) == alcove.Conflict { // a fact of the same content
		item.IfVersion, item.Tags, item.Type, item.Importance, item.Metadata = nil, nil, nil, nil, nil
		stored, err = w.c.PutMemories([]alcove.MemoryItem{item})
		if err == nil {
			w.out.Unchanged++
			return w.adopt(n, alcove.ID(stored[0]))
		}
	}
	if err != nil {
		return err
	}
	w.out.Imported++
	n.id = alcove.ID(stored[0])
	return nil
}

// name writes the id of a new fact into its file, so that later edits are edits of the fact.
func (w *importing) name(n *note, there *alcove.File) error {
	head := []front.Field{{Name: "id", Values: []string{n.id.String()}}, {Name: "digest", Values: []string{n.plain().digest()}}}
	for _, f := range n.front.Fields {
		if f.Name == "id" || f.Name == "digest" || f.Name == "version" {
			continue
		}
		if f.Bad { // it would be lost
			w.warn(n.path, "its id is not written into it, because "+f.Name+" cannot be read")
			return nil
		}
		head = append(head, f)
	}
	text := front.Write(front.Note{Fields: head, Body: n.front.Body})
	if text != there.Content {
		w.writes = append(w.writes, alcove.FileItem{Path: n.path, Content: text, IfDigest: &there.Digest})
	}
	return nil
}
