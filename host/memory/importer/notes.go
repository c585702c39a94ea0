package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/alcove-memory/alcove/host/memory/portable"
	"github.com/alcove-memory/alcove/host/regular"
)

// notes are Markdown files.
type notes struct {
	dir   string
	names []string // relative to dir, sorted
	under string   // what the names in keys begin with: the folder of a file alone, so that those of several projects differ
}

// notes lists the notes of the input: a folder, or a file alone.
func (in Input) notes() (notes, error) {
	info, err := os.Stat(in.Path)
	if err != nil {
		return notes{}, err
	}
	if info.IsDir() {
		names, err := listNotes(in.Path)
		return notes{dir: in.Path, names: names}, err
	}
	path, err := filepath.Abs(in.Path)
	if err != nil {
		return notes{}, err
	}
	under := filepath.ToSlash(filepath.Base(filepath.Dir(path))) + "/"
	return notes{filepath.Dir(in.Path), []string{filepath.Base(in.Path)}, strings.TrimLeft(under, "/.")}, nil
}

// name is a note's name in keys.
func (n notes) name(file string) string { return n.under + strings.TrimSuffix(file, path.Ext(file)) }

// listNotes returns the Markdown files below a folder, relative to it, sorted. Symbolic links that leave the folder are
// not followed, and hidden folders are skipped.
func listNotes(dir string) ([]string, error) {
	var notes []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && p != dir:
			return filepath.SkipDir
		case d.Type().IsRegular() && strings.EqualFold(filepath.Ext(p), ".md"):
			if notes = append(notes, relative(dir, p)); len(notes) > maxNotes {
				return fmt.Errorf("there are more than %d notes in %s", maxNotes, dir)
			}
		}
		return nil
	})
	slices.Sort(notes)
	return notes, err
}

func readNote(dir, note string) ([]byte, error) {
	text, err := regular.Read(filepath.Join(dir, filepath.FromSlash(note)), maxNote)
	if errors.Is(err, regular.ErrTooLong) {
		err = &LimitError{"bytes in a note", maxNote, "split it"}
	}
	return bytes.ToValidUTF8(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\uFFFD")), err
}

// frontMatter splits a note into the text between two lines of --- at its start, and the rest.
func frontMatter(text []byte) (front, body []byte) {
	rest, ok := bytes.CutPrefix(text, []byte("---\n"))
	if !ok {
		return nil, text
	}
	if front, body, ok = bytes.Cut(rest, []byte("\n---\n")); ok {
		return front, body
	}
	if front, ok = bytes.CutSuffix(rest, []byte("\n---")); ok {
		return front, nil
	}
	return nil, text
}

// note is a parsed note.
type note struct {
	path  string // as in keys, without .md
	front map[string]any
	body  string
}

func (in Input) eachNote(do func(note) error) error {
	all, err := in.notes()
	if err != nil {
		return err
	}
	for _, name := range all.names {
		n, err := all.parse(name)
		if err == nil {
			err = do(n)
		}
		if err != nil {
			file, place := filepath.Join(all.dir, filepath.FromSlash(name)), ""
			if wrong := new(frontError); errors.As(err, &wrong) && wrong.line > 0 {
				place = fmt.Sprintf("line %d", wrong.line+1) // line 1 is ---
			}
			if err := in.wrong(file, place, err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n notes) parse(name string) (note, error) {
	text, err := readNote(n.dir, name)
	if err != nil {
		return note{}, err
	}
	front, body := frontMatter(text)
	parsed := note{path: n.name(name), body: strings.TrimSpace(string(body))}
	if parsed.front, err = parseFront(front); err != nil {
		return note{}, fmt.Errorf("its front matter: %w", err)
	}
	return parsed, nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func (n note) text(name string) string {
	s, _ := n.front[name].(string)
	return s
}

// tags returns the tags of the front matter: a list, or words separated by commas or blanks.
func (n note) tags() []string {
	var tags once
	add := func(tag string) {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "#"); tag != "" {
			tags.add(tag)
		}
	}
	switch t := n.front["tags"].(type) {
	case []any:
		for _, tag := range t {
			add(fmt.Sprint(tag))
		}
	case string:
		for _, tag := range strings.FieldsFunc(t, func(r rune) bool { return r == ',' || r == ' ' }) {
			add(tag)
		}
	}
	return tags.list
}

// allTags returns the tags of the front matter, and those in the text such as #work, as many as a memory may have.
func (n note) allTags() []string {
	var tags once
	for _, tag := range n.tags() {
		tags.add(tag)
	}
	for _, found := range tagInText().FindAllStringSubmatch(code().ReplaceAllString(n.body, " "), -1) {
		tag := strings.Trim(found[1], "/")
		if len(tags.list) < mostTags && len(tag) <= longestTag && strings.ContainsFunc(tag, unicode.IsLetter) {
			tags.add(tag)
		}
	}
	return tags.list
}

// code matches blocks of code, the last of which may have no end, and code within a line.
var code = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?ms)^[ \t]*```.*?(?:^[ \t]*```|\\z)|^[ \t]*~~~.*?(?:^[ \t]*~~~|\\z)|`[^`\n]*`")
})

// once returns texts in order, without duplicates.
type once struct {
	list []string
	has  map[string]bool
}

func (o *once) add(s string) {
	if o.has[s] {
		return
	}
	if o.has == nil {
		o.has = map[string]bool{}
	}
	o.has[s] = true
	o.list = append(o.list, s)
}

// created is when the front matter says that the note was made; nil: it does not.
func (n note) created() *time.Time {
	for _, name := range []string{"created", "created_at", "date created", "date"} {
		if at, ok := instant(n.text(name)); ok {
			return &at
		}
	}
	return nil
}

// metadata returns the front matter without the fields that a memory has itself.
func (n note) memory(k string, own ...string) portable.Memory {
	m := portable.Memory{Key: key(k), Tags: n.tags(), Type: n.text("type")}
	own = append(own, "tags", "type")
	pairs := []any{}
	for name, value := range n.front {
		if !slices.Contains(own, name) {
			pairs = append(pairs, name, value)
		}
	}
	m.Metadata, m.Created = meta(pairs...), n.created()
	return m
}

var wikiLink = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[\[([^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]`) })

// targets returns the link targets of a text, in order.
func targets(text string) []string {
	var list once
	for _, found := range wikiLink().FindAllStringSubmatch(text, -1) {
		if target := strings.TrimSpace(found[1]); target != "" {
			list.add(target)
		}
	}
	return list.list
}

// names resolves link targets to notes.
type names map[string]string

func (n names) add(name, k string) {
	if name = strings.ToLower(name); name != "" && n[name] == "" {
		n[name] = k
	}
}

// keys returns the keys of the linked notes; an unresolved link keeps its text.
func (n names) keys(links []string) []string {
	var keys once
	for _, link := range links {
		k := n[strings.ToLower(strings.TrimSuffix(link, ".md"))]
		if k == "" {
			k = key(link)
		}
		keys.add(k)
	}
	return keys.list
}

func readMarkdown(in Input, yield Yield) error {
	known := names{}
	all, err := in.notes()
	if err != nil {
		return err
	}
	for _, n := range all.names {
		known.add(strings.TrimSuffix(n, path.Ext(n)), key(all.name(n)))
	}
	for _, n := range all.names {
		known.add(path.Base(all.name(n)), key(all.name(n)))
	}
	return in.eachNote(func(n note) error {
		m := n.memory(n.path)
		m.Value, m.Links, m.Tags = encode(n.body), known.keys(targets(n.body)), n.allTags()
		return yield(m)
	})
}

// observation is a line such as: - [category] text #tag (context)
type observation struct {
	Category string   `json:"category"`
	Text     string   `json:"text"`
	Tags     []string `json:"tags,omitempty"`
	Context  string   `json:"context,omitempty"`
}

var (
	observationLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^- \[([^\[\]]+)\] (.+)$`) })
	contextAtEnd    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s*\(([^()]*)\)$`) })
	tagInText       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)#([\pL\pN_/-]+)`) })
	relationLine    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^- ([^\[\]]*?)\s*\[\[([^\[\]]+)\]\]`) })
)

func parseObservation(line string) (observation, bool) {
	found := observationLine().FindStringSubmatch(line)
	if found == nil || found[1] == " " || found[1] == "x" { // task list boxes
		return observation{}, false
	}
	o := observation{Category: found[1], Text: strings.TrimSpace(found[2])}
	if c := contextAtEnd().FindStringSubmatch(o.Text); c != nil {
		o.Context, o.Text = c[1], strings.TrimSpace(contextAtEnd().ReplaceAllString(o.Text, ""))
	}
	for _, tag := range tagInText().FindAllStringSubmatch(o.Text, -1) {
		o.Tags = append(o.Tags, tag[1])
	}
	o.Text = strings.TrimSpace(tagInText().ReplaceAllString(o.Text, ""))
	return o, true
}

// facts returns the observations and relations of a note, and its text without them.
func facts(body string) (observations []observation, relations []relation, text string) {
	var rest []string
	for _, line := range strings.Split(body, "\n") {
		trimmed := strings.TrimSpace(line)
		if o, ok := parseObservation(trimmed); ok {
			observations = append(observations, o)
			continue
		}
		if found := relationLine().FindStringSubmatch(trimmed); found != nil {
			kind := found[1]
			if kind == "" {
				kind = "links_to"
			}
			relations = append(relations, relation{To: found[2], Type: kind})
			continue
		}
		rest = append(rest, line)
	}
	return observations, relations, strings.TrimSpace(strings.Join(rest, "\n"))
}

func readBasicMemory(in Input, yield Yield) error {
	known, remembered := names{}, index{}
	err := in.quietly().eachNote(func(n note) error {
		own := []string{n.text("permalink"), n.text("title"), n.path, path.Base(n.path)}
		for _, name := range own {
			known.add(name, n.permalink())
		}
		return in.remember(&remembered, own...)
	})
	if err != nil {
		return err
	}
	return in.eachNote(func(n note) error {
		observations, relations, text := facts(n.body)
		m := n.memory(n.permalink(), "permalink", "title")
		m.Value = encode(struct {
			Title        string        `json:"title,omitempty"`
			Text         string        `json:"text,omitempty"`
			Observations []observation `json:"observations,omitempty"`
		}{n.text("title"), text, observations})
		if len(relations) > 0 {
			m.Metadata = joined(m.Metadata, meta("relations", relations))
		}
		links := targets(text)
		for _, r := range relations {
			links = append(links, strings.TrimSpace(strings.Split(r.To, "|")[0]))
		}
		m.Links = known.keys(links)
		return yield(m)
	})
}

func (n note) permalink() string {
	if p := n.text("permalink"); p != "" {
		return key(p)
	}
	return key(n.path)
}
