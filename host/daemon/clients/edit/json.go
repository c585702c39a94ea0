package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

const blank = " \t\r\n"

// parseJSON reads a text; nil: it is empty.
func parseJSON(text []byte) (*hujson.Value, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	if at := tooDeep(text); at >= 0 {
		return nil, &SyntaxError{lineAt(text, at), fmt.Sprintf("more than %d objects and arrays are inside one another", deepest)}
	}
	doc, err := hujson.Parse(slices.Concat(text, []byte("\n"))) // a comment may end the text
	if err != nil {
		return nil, syntaxError(err, lineAt(text, len(text)))
	}
	return &doc, nil
}

var position = regexp.MustCompile(`^hujson: line (\d+), column \d+: `)

func syntaxError(err error, last int) error {
	found := position.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	line, _ := strconv.Atoi(found[1]) // digits
	return &SyntaxError{min(line, last), strings.TrimPrefix(err.Error(), found[0])}
}

// tooDeep is where a text opens more objects and arrays than are read; -1: nowhere.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i += commentLength(text[i:])
		case '{', '[':
			if depth++; depth > deepest {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// commentLength is how many bytes of a comment follow its first.
func commentLength(text []byte) int {
	end := ""
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		end = "\n"
	case bytes.HasPrefix(text, []byte("/*")):
		end = "*/"
	default:
		return 0
	}
	n := bytes.Index(text[2:], []byte(end))
	if n < 0 {
		return len(text)
	}
	return 1 + n + len(end)
}

// style is how a JSON text is laid out.
type style struct {
	lines   bool // it has several
	newline string
	unit    string // of indentation
}

func styleOf(text []byte, doc *hujson.Value) style {
	s := style{newline: newlineOf(text), unit: "  "}
	b := blockOf(doc)
	if b == nil || b.size() == 0 {
		s.lines = true
		return s
	}
	s.lines = bytes.Contains(text, []byte("\n")) && (b.hasLines() || bytes.Contains(bytes.TrimSpace(text), []byte("\n")))
	if unit := indentation(*b.before(0)); unit != "" {
		s.unit = unit
	}
	return s
}

// indentation is the blank at the end of a text that begins a line.
func indentation(extra hujson.Extra) string {
	i := bytes.LastIndexByte(extra, '\n')
	if i < 0 {
		return ""
	}
	return string(extra[i+1+len(bytes.TrimRight(extra[i+1:], " \t")):])
}

func setJSON(text []byte, path []string, value json.RawMessage) ([]byte, int, error) {
	doc, err := parseJSON(text)
	if err != nil {
		return nil, 0, err
	}
	if doc == nil {
		doc = &hujson.Value{Value: &hujson.Object{}, AfterExtra: hujson.Extra("\n\n")} // of which one is that of parseJSON
		text = append(slices.Clone(text), '\n')
	}
	s, at, indent := styleOf(text, doc), doc, ""
	for depth, name := range path {
		b := blockOf(at)
		if b == nil || b.isArray() != (name == Append || b.isArray() && isIndex(name)) {
			return nil, 0, fmt.Errorf("%s is not an object: %w", strings.Join(path[:depth], "."), ErrForm)
		}
		i, err := b.find(name)
		if err != nil {
			return nil, 0, err
		}
		if i < 0 {
			b.add(name, nested(path[depth+1:], value), s, indent)
			return packed(doc), len(path) - depth, nil
		}
		if own := *b.before(i); bytes.Contains(own, []byte("\n")) {
			indent = indentation(own)
		}
		at = b.value(i)
	}
	if err := update(at, value, s, indent); err != nil {
		return nil, 0, err
	}
	return packed(doc), 0, nil
}

func isIndex(name string) bool {
	i, err := strconv.Atoi(name)
	return err == nil && i >= 0
}

func packed(doc *hujson.Value) []byte { return bytes.TrimSuffix(doc.Pack(), []byte("\n")) }

// nested is a value inside the objects and arrays of a path.
func nested(path []string, value json.RawMessage) json.RawMessage {
	for _, name := range slices.Backward(path) {
		if name == Append {
			value = slices.Concat([]byte("["), value, []byte("]"))
			continue
		}
		quoted, _ := json.Marshal(name) // strings cannot fail
		value = slices.Concat([]byte("{"), quoted, []byte(":"), value, []byte("}"))
	}
	return value
}

// update gives an existing value another. Of two objects, only the members that differ change.
func update(at *hujson.Value, value json.RawMessage, s style, indent string) error {
	if equalJSON(at, value) {
		return nil
	}
	b := blockOf(at)
	if b == nil || b.isArray() || !bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")) {
		at.Value = rendered(value, s, indent)
		return nil
	}
	members, err := membersOf(value)
	if err != nil {
		return err
	}
	for i := b.size() - 1; i >= 0; i-- {
		if !slices.ContainsFunc(members, func(m member) bool { return m.name == b.name(i) }) {
			b.cut(i)
		}
	}
	for _, m := range members {
		i, err := b.find(m.name)
		if err != nil {
			return err
		}
		if i < 0 {
			b.add(m.name, m.value, s, indent)
			continue
		}
		own := indent
		if bytes.Contains(*b.before(i), []byte("\n")) {
			own = indentation(*b.before(i))
		}
		if err := update(b.value(i), m.value, s, own); err != nil {
			return err
		}
	}
	return nil
}

func equalJSON(at *hujson.Value, value json.RawMessage) bool {
	own := at.Clone()
	own.Standardize()
	var a, b any
	return decodeJSON(own.Pack(), &a) == nil && decodeJSON(value, &b) == nil && same(a, b)
}

// member is a member of an object.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf are the members of an object in their order.
func membersOf(object json.RawMessage) (list []member, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: fmt.Sprint(name)}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// rendered is a value as the text lays values out; the line that it is on has the indentation.
func rendered(value json.RawMessage, s style, indent string) hujson.ValueTrimmed {
	var out bytes.Buffer
	if s.lines {
		_ = json.Indent(&out, value, indent, s.unit) // callers give valid JSON
	} else {
		_ = json.Compact(&out, value)
	}
	v, err := hujson.Parse(bytes.ReplaceAll(out.Bytes(), []byte("\n"), []byte(s.newline)))
	if err != nil {
		return hujson.Literal("null") // which is not what was meant: checked finds it
	}
	return v.Value
}

func removeJSON(text []byte, path []string, made int) ([]byte, int, error) {
	doc, err := parseJSON(text)
	if err != nil || doc == nil {
		return text, 0, err
	}
	at, blocks, indexes := doc, []*block{}, []int{}
	for _, name := range path {
		b := blockOf(at)
		if b == nil {
			return text, 0, nil
		}
		i, err := b.find(name)
		if i < 0 || err != nil {
			return text, 0, err
		}
		blocks, indexes, at = append(blocks, b), append(indexes, i), b.value(i)
	}
	last, around := len(path)-1, 0
	for ; around+1 < made && around < last && blocks[last-around].size() == 1; around++ {
	}
	blocks[last-around].cut(indexes[last-around])
	return packed(doc), around, nil
}
