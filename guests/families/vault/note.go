package vault

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/front"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// The fields of the front matter, in their order.
var fields = [...]string{"id", "version", "digest", "factType", "scopeId", "createdBy", "timestamp", "updatedAt", "tags", "entities", "importanceScore", "lifecycleState", "aliases"}

// edited is what people edit in a note.
type edited struct {
	content  string
	summary  string
	tags     []string
	entities []string // names
}

// digest tells whether a note was edited since it was written. It is no protection against forgery. The order of tags and entities does not
// count: a merge may order them otherwise than an editor does.
func (e edited) digest() string {
	h := fnv.New64a()
	for _, part := range []string{trimmed(e.content), trimmed(e.summary), set(e.tags), set(e.entities)} {
		h.Write([]byte(part))
		h.Write([]byte{0xff})
	}
	text := strconv.FormatUint(h.Sum64(), 16)
	return strings.Repeat("0", 16-len(text)) + text
}

// set is a list as text, in whatever order its elements are.
func set(list []string) string {
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(list, "\x00")
}

// trimmed is a text as it is compared: editors end files and lines as they like.
func trimmed(text string) string {
	return strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), " \t\n")
}

// The headings of the sections behind the content.
const (
	summaryHeading = "## Summary"
	linksHeading   = "## Links"
)

// escape puts a backslash before lines that would be read as headings of sections.
func escape(text string) string {
	return eachLine(text, func(line string) string { return `\` + line })
}

// unescape takes it away again.
func unescape(text string) string {
	return eachLine(text, func(line string) string { return strings.TrimPrefix(line, `\`) })
}

// eachLine changes the lines that are headings of sections behind any number of backslashes.
func eachLine(text string, change func(string) string) string {
	if !strings.Contains(text, summaryHeading) && !strings.Contains(text, linksHeading) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if isHeading(strings.TrimLeft(line, `\`), summaryHeading) || isHeading(strings.TrimLeft(line, `\`), linksHeading) {
			lines[i] = change(line)
		}
	}
	return strings.Join(lines, "\n")
}

func isHeading(line, heading string) bool { return strings.TrimRight(line, " \t\r") == heading }

// rendered is a memory as a file.
func rendered(m *alcove.Memory, names []string) string {
	e := editedOf(m, names)
	n := front.Note{Fields: described(m, e)}
	n.Body = "\n" + escape(e.content) + "\n"
	if e.summary != "" {
		n.Body += "\n" + summaryHeading + "\n\n" + escape(e.summary) + "\n"
	}
	if links := linksOf(m); len(links) > 0 {
		n.Body += "\n" + linksHeading + "\n\n"
		for _, link := range links {
			n.Body += "- " + link + "\n"
		}
	}
	return front.Write(n)
}

// editedOf is what people may edit of a memory.
func editedOf(m *alcove.Memory, names []string) edited {
	e := edited{content: m.Text(), tags: m.Tags, entities: names}
	e.summary, _ = m.Metadata[fact.Summary].Text()
	return e
}

// linksOf are the memories that a memory refers to or replaces.
func linksOf(m *alcove.Memory) (list []string) {
	list = append(list, m.Links...)
	for _, id := range m.Supersedes {
		list = append(list, "supersedes "+id)
	}
	return list
}

// described are the fields of a memory's front matter.
func described(m *alcove.Memory, e edited) []front.Field {
	values := [len(fields)]string{m.ID().String(), strconv.FormatUint(m.Version, 10), e.digest(), m.Type, m.Namespace, m.Agent, m.Created, m.Timestamp, "", "", importanceOf(m), m.State, ""}
	list := make([]front.Field, 0, len(fields))
	for i, name := range fields {
		f := front.Field{Name: name, Values: []string{values[i]}}
		switch name {
		case "tags":
			f.Values, f.List = e.tags, true
		case "entities":
			f.Values, f.List = linked(e.entities), true
		case "aliases":
			f.Values, f.List = nil, true
			if e.summary != "" {
				f.Values = []string{e.summary}
			}
		}
		if f.List || f.Values[0] != "" {
			list = append(list, f)
		}
	}
	return list
}

func importanceOf(m *alcove.Memory) string {
	if m.Importance == nil {
		return ""
	}
	return strconv.FormatFloat(*m.Importance, 'g', -1, 64)
}

// linked are names as links of a note.
func linked(names []string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = "[[" + name + "]]"
	}
	return list
}

// unlinked are the names that links of a note lead to.
func unlinked(list []string) (names []string) {
	for _, text := range list {
		text = strings.TrimSuffix(strings.TrimPrefix(text, "[["), "]]")
		name, _, _ := strings.Cut(text, "|") // what is shown instead
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// note is a file as it is imported.
type note struct {
	path    string
	front   front.Note
	id      alcove.ID // zero: of no memory yet
	version uint64    // of the memory when it was exported; 0: not known
	digest  string    // of what people edit, then
	base    *base     // what it was when it was imported last, of one without an id; nil: not known
	edited
}

// read reads a file.
func read(path, text string) (n note, err error) {
	n = note{path: path, front: front.Parse(text)}
	if id := n.front.Text("id"); id != "" {
		n.id = alcove.ParseID(id)
	}
	if version := n.front.Text("version"); version != "" {
		if n.version, err = strconv.ParseUint(version, 10, 63); err != nil {
			return n, alcove.Errorf(alcove.InvalidArgument, "its version is no whole number")
		}
	}
	for _, name := range []string{"id", "version", "digest", "tags", "entities"} {
		if f := n.front.Find(name); f != nil && f.Bad {
			return n, alcove.Errorf(alcove.InvalidArgument, "its %s cannot be read: write a text, or a list of texts", name)
		}
	}
	n.digest = n.front.Text("digest")
	n.tags, n.entities = n.front.List("tags"), unlinked(n.front.List("entities"))
	n.body(n.front.Body)
	if n.id.IsZero() {
		tags, links := inline(n.content)
		n.tags, n.entities = addAll(n.tags, tags, len(n.tags)+mostInlineTags), addAll(n.entities, links, len(n.entities)+mostInlineLinks)
	}
	return n, nil
}

// body reads content and summary. The sections are the last ones of their names; that of the links is not read.
func (n *note) body(text string) {
	text = strings.TrimPrefix(text, "\n")
	text, _, _ = cutSection(text, linksHeading)
	text, summary, ok := cutSection(text, summaryHeading)
	if ok {
		n.summary = unescape(strings.TrimSuffix(strings.TrimPrefix(summary, "\n"), "\n"))
	}
	n.content = unescape(strings.TrimSuffix(text, "\n"))
}

// cutSection cuts a section off the end of a text, with the blank line before it.
func cutSection(text, heading string) (before, section string, ok bool) {
	for end := len(text); end >= 0; {
		begin := strings.LastIndexByte(text[:end], '\n') + 1
		if isHeading(text[begin:end], heading) {
			before = strings.TrimSuffix(text[:begin], "\n")
			if begin == 0 || !strings.HasSuffix(before, "\n") { // somebody left the blank line out
				before = text[:begin]
			}
			return before, strings.TrimPrefix(text[end:], "\n"), true
		}
		end = begin - 1
	}
	return text, "", false
}
