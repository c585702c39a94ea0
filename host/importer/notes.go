package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/alcove-memory/alcove/host/memory"
)

// listNotes are the Markdown files below a folder, relative to it, sorted. Links to elsewhere are not followed, and
// hidden folders are passed over.
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
	file := filepath.Join(dir, filepath.FromSlash(note))
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxNote {
		return nil, at(file, "", fmt.Errorf("it has %d bytes, and a note may have %d: split it", info.Size(), maxNote))
	}
	text, err := os.ReadFile(file)
	return bytes.ToValidUTF8(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\uFFFD")), err
}

// frontMatter parts what stands between two lines of --- at the start from the rest.
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

// note is a note that was taken apart.
type note struct {
	path  string // relative, without .md
	front map[string]any
	body  string
}

func eachNote(dir string, do func(note) error) error {
	notes, err := listNotes(dir)
	if err != nil {
		return err
	}
	for _, name := range notes {
		text, err := readNote(dir, name)
		if err != nil {
			return err
		}
		front, body := frontMatter(text)
		n := note{path: strings.TrimSuffix(name, path.Ext(name)), body: strings.TrimSpace(string(body)), front: map[string]any{}}
		if err := yaml.Unmarshal(front, &n.front); err != nil {
			return at(filepath.Join(dir, name), "its front matter", errors.New(firstLine(err)))
		}
		if err := do(n); err != nil {
			return at(filepath.Join(dir, name), "", err)
		}
	}
	return nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func (n note) text(name string) string {
	s, _ := n.front[name].(string)
	return s
}

// tags are those of the front matter: a list, or words with commas or blanks between.
func (n note) tags() []string {
	var tags []string
	add := func(tag string) {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "#"); tag != "" && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
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
	return tags
}

// metadata is the front matter without what has a place of its own.
func (n note) memory(k string, own ...string) memory.PortableMemory {
	m := memory.PortableMemory{Key: key(k), Tags: n.tags(), Type: n.text("type")}
	own = append(own, "tags", "type")
	pairs := []any{}
	for name, value := range n.front {
		if !slices.Contains(own, name) {
			pairs = append(pairs, name, value)
		}
	}
	m.Metadata = meta(pairs...)
	return m
}

var wikiLink = regexp.MustCompile(`\[\[([^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]`)

// targets are what a text links to, in order.
func targets(text string) []string {
	var list []string
	for _, found := range wikiLink.FindAllStringSubmatch(text, -1) {
		if target := strings.TrimSpace(found[1]); target != "" && !slices.Contains(list, target) {
			list = append(list, target)
		}
	}
	return list
}

// names finds notes by what links call them.
type names map[string]string

func (n names) add(name, k string) {
	if name = strings.ToLower(name); name != "" && n[name] == "" {
		n[name] = k
	}
}

// keys are those of the linked notes; a link that leads nowhere yet keeps its text.
func (n names) keys(links []string) []string {
	var keys []string
	for _, link := range links {
		k := n[strings.ToLower(strings.TrimSuffix(link, ".md"))]
		if k == "" {
			k = key(link)
		}
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

func readMarkdown(_ context.Context, dir string, yield Yield) error {
	known := names{}
	notes, err := listNotes(dir)
	if err != nil {
		return err
	}
	for _, n := range notes {
		p := strings.TrimSuffix(n, path.Ext(n))
		known.add(p, key(p))
	}
	for _, n := range notes {
		p := strings.TrimSuffix(n, path.Ext(n))
		known.add(path.Base(p), key(p))
	}
	return eachNote(dir, func(n note) error {
		m := n.memory(n.path)
		m.Value, m.Links = encode(n.body), known.keys(targets(n.body))
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
	observationLine = regexp.MustCompile(`^- \[([^\[\]]+)\] (.+)$`)
	contextAtEnd    = regexp.MustCompile(`\s*\(([^()]*)\)$`)
	tagInText       = regexp.MustCompile(`(?:^|\s)#([\pL\pN_/-]+)`)
	relationLine    = regexp.MustCompile(`^- ([^\[\]]*?)\s*\[\[([^\[\]]+)\]\]`)
)

func parseObservation(line string) (observation, bool) {
	found := observationLine.FindStringSubmatch(line)
	if found == nil || found[1] == " " || found[1] == "x" { // boxes of lists of tasks
		return observation{}, false
	}
	o := observation{Category: found[1], Text: strings.TrimSpace(found[2])}
	if c := contextAtEnd.FindStringSubmatch(o.Text); c != nil {
		o.Context, o.Text = c[1], strings.TrimSpace(contextAtEnd.ReplaceAllString(o.Text, ""))
	}
	for _, tag := range tagInText.FindAllStringSubmatch(o.Text, -1) {
		o.Tags = append(o.Tags, tag[1])
	}
	o.Text = strings.TrimSpace(tagInText.ReplaceAllString(o.Text, ""))
	return o, true
}

// facts are the observations and relations of a note, and its text without them.
func facts(body string) (observations []observation, relations []relation, text string) {
	var rest []string
	for _, line := range strings.Split(body, "\n") {
		trimmed := strings.TrimSpace(line)
		if o, ok := parseObservation(trimmed); ok {
			observations = append(observations, o)
			continue
		}
		if found := relationLine.FindStringSubmatch(trimmed); found != nil {
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

func readBasicMemory(_ context.Context, dir string, yield Yield) error {
	known := names{}
	err := eachNote(dir, func(n note) error {
		for _, name := range []string{n.text("permalink"), n.text("title"), n.path, path.Base(n.path)} {
			known.add(name, n.permalink())
		}
		return nil
	})
	if err != nil {
		return err
	}
	return eachNote(dir, func(n note) error {
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
