package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

func decodeTOML(text []byte) (any, error) {
	tree := map[string]any{}
	err := toml.Unmarshal(text, &tree)
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return nil, &SyntaxError{line, strings.TrimPrefix(wrong.Error(), "toml: ")}
	}
	return tree, err
}

// span is a part of a text.
type span struct{ from, to int }

// assignment is a key and its value.
type assignment struct {
	key   string // the first part
	parts int    // of the key
	span         // of the whole
	value int    // where it begins
}

// table is a table of a TOML text, with its assignments.
type table struct {
	keys []string
	span // from the line of the header to the end of the last line that is the table's
	sets []assignment
}

// tablesOf are the tables of a text. What comes before the first header is a table without a name.
func tablesOf(text []byte) ([]table, error) {
	var p unstable.Parser
	p.Reset(text)
	list := []table{{}}
	for p.NextExpression() {
		e := p.Expression()
		keys, first, last := keysOf(e)
		t := &list[len(list)-1]
		if e.Kind == unstable.KeyValue {
			raw := span{int(e.Raw.Offset), int(e.Raw.Offset + e.Raw.Length)}
			value := last + bytes.IndexByte(text[last:], '=') + 1
			value += len(text[value:]) - len(bytes.TrimLeft(text[value:], " \t"))
			t.sets = append(t.sets, assignment{keys[0], len(keys), raw, value})
			t.to = lineEnd(text, raw.to)
			continue
		}
		list = append(list, table{keys: keys, span: span{lineStart(text, first), lineEnd(text, last)}})
	}
	return list, p.Error()
}

// keysOf are the parts of an expression's key, where they begin and where they end.
func keysOf(e *unstable.Node) (keys []string, first, last int) {
	for it := e.Key(); it.Next(); {
		raw := it.Node().Raw
		if len(keys) == 0 {
			first = int(raw.Offset)
		}
		keys, last = append(keys, string(it.Node().Data)), int(raw.Offset+raw.Length)
	}
	return keys, first, last
}

func lineStart(text []byte, i int) int { return bytes.LastIndexByte(text[:i], '\n') + 1 }

// lineEnd is where the line ends, before blanks at its end.
func lineEnd(text []byte, i int) int {
	line, _, _ := bytes.Cut(text[i:], []byte("\n"))
	return i + len(bytes.TrimRight(line, blank))
}

// entryOf is the table of the path, and those below it; nil: it has none.
func entryOf(text []byte, path []string) (own *table, below []table, err error) {
	list, err := tablesOf(text)
	if err != nil {
		return nil, nil, err
	}
	for i, t := range list {
		switch {
		case len(t.keys) < len(path) || !slices.Equal(t.keys[:len(path)], path):
		case len(t.keys) > len(path):
			below = append(below, t)
		case own != nil: // an array of tables
			return nil, nil, fmt.Errorf("%s is several tables: %w", strings.Join(path, "."), ErrForm)
		default:
			own = &list[i]
		}
	}
	return own, below, nil
}

func setTOML(text []byte, path []string, value json.RawMessage) ([]byte, int, error) {
	tree, err := decodeTOML(text)
	if err != nil {
		return nil, 0, err
	}
	existing, made := tree, 0
	for i, name := range path {
		next, ok := child(existing, name)
		if !ok {
			existing, made = nil, len(path)-i
			break
		}
		existing = next
	}
	var wanted any
	if err := decodeJSON(value, &wanted); err != nil {
		return nil, 0, err
	}
	if made == 0 && same(existing, wanted) {
		return text, 0, nil
	}
	own, below, err := entryOf(text, path)
	if err != nil {
		return nil, 0, err
	}
	if made == 0 && own == nil && below == nil {
		return nil, 0, fmt.Errorf("%s is not a table of its own: %w", strings.Join(path, "."), ErrForm)
	}
	members, err := membersOf(value)
	if err != nil {
		return nil, 0, fmt.Errorf("read the value of %s: %w", strings.Join(path, "."), err)
	}
	if own == nil && below == nil {
		return appended(text, header(path, members, newlineOf(text))), made, nil
	}
	if own == nil {
		return nil, 0, fmt.Errorf("%s has tables below it, but none of its own: %w", strings.Join(path, "."), ErrForm)
	}
	return updateTOML(text, own, below, members, existing.(map[string]any)), 0, nil
}

// header is a table with its assignments.
func header(path []string, members []member, newline string) string {
	lines := make([]string, 0, len(members)+1)
	keys := make([]string, len(path))
	for i, name := range path {
		keys[i] = tomlKey(name)
	}
	lines = append(lines, "["+strings.Join(keys, ".")+"]")
	for _, m := range members {
		lines = append(lines, tomlKey(m.name)+" = "+tomlValue(m.value))
	}
	return strings.Join(lines, newline)
}

// appended is a text with a table at its end. What ends the text still does.
func appended(text []byte, table string) []byte {
	newline := newlineOf(text)
	body := bytes.TrimRight(text, blank)
	tail := text[len(body):]
	if len(body) == 0 {
		return slices.Concat([]byte(table+newline), tail)
	}
	return slices.Concat(body, []byte(newline+newline+table), tail)
}

// change is a part of a text and what takes its place.
type change struct {
	span
	text string
}

// updateTOML changes the assignments of a table that differ.
func updateTOML(text []byte, own *table, below []table, members []member, existing map[string]any) []byte {
	newline := newlineOf(text)
	var changes []change
	written := map[string]bool{} // keys that are as they should be
	for _, m := range members {
		var v any
		written[m.name] = decodeJSON(m.value, &v) == nil && existing[m.name] != nil && same(existing[m.name], v)
	}
	end := own.to
	for _, a := range own.sets {
		i := slices.IndexFunc(members, func(m member) bool { return m.name == a.key })
		switch {
		case i >= 0 && written[a.key]:
		case i >= 0 && a.parts == 1:
			changes, written[a.key] = append(changes, change{span{a.value, a.to}, tomlValue(members[i].value)}), true
		default:
			from := lineStart(text, a.from)
			changes = append(changes, change{span{from - lengthBefore(text, from, 1), lineEnd(text, a.to)}, ""})
		}
	}
	for _, t := range below {
		if key := t.keys[len(own.keys)]; !written[key] {
			changes = append(changes, change{removal(text, t.span), ""})
		}
	}
	added := ""
	for _, m := range members {
		if !written[m.name] {
			added += newline + tomlKey(m.name) + " = " + tomlValue(m.value)
		}
	}
	changes = append(changes, change{span{end, end}, added})
	return changed(text, changes)
}

// changed applies changes, which do not overlap.
func changed(text []byte, changes []change) []byte {
	slices.SortStableFunc(changes, func(a, b change) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, c := range changes {
		from := max(at, c.from)
		out = append(append(out, text[at:from]...), c.text...)
		at = max(from, c.to)
	}
	return append(out, text[at:]...)
}

// lengthBefore is how many bytes the line endings before an offset have, of which at most so many are counted.
func lengthBefore(text []byte, at, most int) int {
	from := at
	for ; most > 0 && from > 0 && text[from-1] == '\n'; most-- {
		from--
		if from > 0 && text[from-1] == '\r' {
			from--
		}
	}
	return at - from
}

// removal is what goes with a table: the blank line before it, or its own line ending where it begins the text.
func removal(text []byte, s span) span {
	if before := lengthBefore(text, s.from, 2); before > 0 {
		return span{s.from - before, s.to}
	}
	rest := text[s.to:]
	return span{s.from, s.to + len(rest) - len(bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("\r")), []byte("\n")))}
}

func removeTOML(text []byte, path []string) ([]byte, error) {
	own, below, err := entryOf(text, path)
	if err != nil {
		return nil, err
	}
	if own != nil {
		below = append(below, *own)
	}
	changes := make([]change, len(below))
	for i, t := range below {
		changes[i] = change{removal(text, t.span), ""}
	}
	return changed(text, changes), nil
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(name string) string {
	if bareKey.MatchString(name) {
		return name
	}
	return tomlString(name)
}

// tomlString is a basic string. It has the escapes of JSON, and one more.
func tomlString(s string) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // strings cannot fail
	return strings.ReplaceAll(strings.TrimSuffix(out.String(), "\n"), "\x7f", `\u007f`)
}

// tomlValue is a value on one line.
func tomlValue(value json.RawMessage) string {
	trimmed := bytes.TrimSpace(value)
	switch {
	case len(trimmed) == 0:
		return `""`
	case trimmed[0] == '"':
		var s string
		_ = json.Unmarshal(trimmed, &s) // callers give valid JSON
		return tomlString(s)
	case trimmed[0] == '[':
		var list []json.RawMessage
		_ = json.Unmarshal(trimmed, &list) // as above
		values := make([]string, len(list))
		for i, v := range list {
			values[i] = tomlValue(v)
		}
		return "[" + strings.Join(values, ", ") + "]"
	case trimmed[0] == '{':
		members, _ := membersOf(trimmed) // as above
		values := make([]string, len(members))
		for i, m := range members {
			values[i] = tomlKey(m.name) + " = " + tomlValue(m.value)
		}
		return "{ " + strings.Join(values, ", ") + " }"
	}
	return string(trimmed)
}
