// Package front reads and writes the front matter of Markdown files: a subset of YAML, in which each value is one text or a list of texts.
//
// What is written has a field a line, with values as JSON writes them. What is read may also be as editors write it: plain and
// single-quoted texts, and lists with an element a line. All else, such as nested values, is marked and not read.
package front

import (
	"strings"

	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Note is a Markdown file.
type Note struct {
	Fields []Field
	Body   string // what follows the front matter
}

// Field is a field of the front matter.
type Field struct {
	Name   string
	Values []string
	List   bool // it is a list, whatever the number of its values
	Bad    bool // its value is none of the subset; it has no values
}

const fence = "---"

// Find returns a field; nil if there is none. Of equal names the first counts.
func (n *Note) Find(name string) *Field {
	for i := range n.Fields {
		if n.Fields[i].Name == name {
			return &n.Fields[i]
		}
	}
	return nil
}

// Text is the value of a field; empty if there is none, or several.
func (n *Note) Text(name string) string {
	if f := n.Find(name); f != nil && len(f.Values) == 1 {
		return f.Values[0]
	}
	return ""
}

// List are the values of a field, without empty ones.
func (n *Note) List(name string) (list []string) {
	if f := n.Find(name); f != nil {
		for _, v := range f.Values {
			if v != "" {
				list = append(list, v)
			}
		}
	}
	return list
}

// Parse reads a file. One without front matter is a body alone. Its lines may end as those of Windows do.
func Parse(text string) (n Note) {
	text = strings.TrimPrefix(text, "\ufeff")
	first, rest, more := strings.Cut(text, "\n")
	if strings.HasSuffix(first, "\r") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		first, rest, more = strings.Cut(text, "\n")
	}
	if !more || strings.TrimRight(first, " \t") != fence {
		return Note{Body: text}
	}
	for more {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		if end := strings.TrimRight(line, " \t"); end == fence || end == "..." {
			n.Body = rest
			return n
		}
		n.line(line)
	}
	return Note{Body: text} // it never ends
}

// line reads a line of the front matter.
func (n *Note) line(line string) {
	trimmed := strings.TrimSpace(line)
	var last *Field
	if len(n.Fields) > 0 {
		last = &n.Fields[len(n.Fields)-1]
	}
	if trimmed == "" || trimmed[0] == '#' {
		return
	}
	if item, is := strings.CutPrefix(trimmed+" ", "- "); is {
		last.item(strings.TrimSpace(item))
		return
	}
	name, value, is := field(line)
	if !is {
		last.spoil()
		return
	}
	f := Field{Name: name}
	f.read(value)
	n.Fields = append(n.Fields, f)
}

// field splits a line into the name and the value of a field.
func field(line string) (name, value string, ok bool) {
	i := strings.IndexByte(line, ':')
	if i <= 0 || i+1 < len(line) && line[i+1] != ' ' && line[i+1] != '\t' {
		return "", "", false
	}
	name = strings.TrimRight(line[:i], " \t")
	return name, strings.TrimSpace(line[i+1:]), IsName(name)
}

// IsName reports whether a field can have a name.
func IsName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && (c != '-' && c != '.' || i == 0) {
			return false
		}
	}
	return name != ""
}

func (f *Field) spoil() {
	if f != nil {
		f.Bad, f.Values = true, nil
	}
}

// item adds an element of a list that has one a line.
func (f *Field) item(text string) {
	if f == nil || f.Bad {
		return
	}
	if !f.List && len(f.Values) > 0 {
		f.spoil()
		return
	}
	value, rest, ok := one(text, "")
	if !ok || rest != "" {
		f.spoil()
		return
	}
	f.List = true
	f.Values = append(f.Values, value)
}

// read reads the value behind the name of a field.
func (f *Field) read(text string) {
	switch {
	case text == "" || text[0] == '#':
	case text[0] == '[' && !strings.HasPrefix(text, "[["):
		f.list(text[1:])
	default:
		value, rest, ok := one(text, "")
		if !ok || rest != "" {
			f.spoil()
			return
		}
		f.Values = []string{value}
	}
}

// list reads the elements of a list within brackets.
func (f *Field) list(text string) {
	f.List = true
	for text = strings.TrimSpace(text); ; {
		if rest, end := strings.CutPrefix(text, "]"); end {
			if rest = strings.TrimSpace(rest); rest != "" && rest[0] != '#' {
				f.spoil()
			}
			return
		}
		value, rest, ok := one(text, ",]")
		if !ok || rest == "" {
			f.spoil()
			return
		}
		f.Values = append(f.Values, value)
		if next, more := strings.CutPrefix(rest, ","); more {
			rest = strings.TrimSpace(next)
		}
		text = rest
	}
}

// one reads a text, up to one of the signs behind it. The rest has no blanks at its beginning, and is no comment.
func one(text, signs string) (value, rest string, ok bool) {
	switch {
	case text == "":
		return "", "", signs == ""
	case text[0] == '"':
		end := closing(text)
		if end < 0 {
			return "", "", false
		}
		s := scan.New([]byte(text[:end]))
		value = s.String()
		rest, ok = text[end:], s.End() == nil
	case text[0] == '\'':
		value, rest, ok = single(text[1:])
	case strings.HasPrefix(text, "[["):
		end := strings.Index(text, "]]")
		if end < 0 {
			return "", "", false
		}
		value, rest, ok = text[:end+2], text[end+2:], true
	case strings.IndexByte("[]{}&*!|>%@`,", text[0]) >= 0:
		return "", "", false
	default:
		value, rest = plain(text, signs)
		ok = true
	}
	rest = strings.TrimSpace(rest)
	if signs == "" && strings.HasPrefix(rest, "#") {
		rest = ""
	}
	if ok && rest != "" && (signs == "" || strings.IndexByte(signs, rest[0]) < 0) {
		return "", "", false
	}
	return value, rest, ok
}

// closing is the index behind the quote that ends a text; negative if there is none.
func closing(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// single reads a text up to a single quote that is not doubled.
func single(text string) (value, rest string, ok bool) {
	for {
		i := strings.IndexByte(text, '\'')
		if i < 0 {
			return "", "", false
		}
		value += text[:i]
		if text = text[i+1:]; !strings.HasPrefix(text, "'") {
			return value, text, true
		}
		value, text = value+"'", text[1:]
	}
}

// plain reads a text without quotes.
func plain(text, signs string) (value, rest string) {
	end := len(text)
	for i := range len(text) {
		if strings.IndexByte(signs, text[i]) >= 0 || text[i] == '#' && i > 0 && (text[i-1] == ' ' || text[i-1] == '\t') {
			end = i
			break
		}
	}
	value = strings.TrimSpace(text[:end])
	if rest = text[end:]; strings.HasPrefix(rest, "#") {
		rest = ""
	}
	return value, rest
}

// Write is the text of a file, as Parse reads it. Fields without values, and those that could not be read, are left out.
func Write(n Note) string {
	out := []byte(fence + "\n")
	for _, f := range n.Fields {
		if f.Bad || !f.List && len(f.Values) != 1 {
			continue
		}
		out = append(out, f.Name...)
		out = append(out, ": "...)
		if f.List {
			out = append(out, '[')
		}
		for i, v := range f.Values {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = scan.AppendString(out, v)
		}
		if f.List {
			out = append(out, ']')
		}
		out = append(out, '\n')
	}
	out = append(out, fence+"\n"...)
	return string(append(out, n.Body...))
}
