package jsonrpc

import (
	"bytes"
	"encoding/json"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
)

// Span is a value's byte range in a line; the zero Span is no value.
type Span struct{ From, To int }

// Of returns the value; nil for the zero Span.
func (s Span) Of(line []byte) []byte {
	if s == (Span{}) {
		return nil
	}
	return line[s.From:s.To:s.To]
}

// Text decodes a JSON string; empty for any other value.
func Text(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// Members calls visit with each member of the object that starts at data[at], and returns where it ends. It checks no
// more than it needs to find its way; false says that it lost it.
func Members(data []byte, at int, visit func(name string, value Span)) (end int, ok bool) {
	if at >= len(data) || data[at] != '{' {
		return at, false
	}
	i := skipSpace(data, at+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, true
	}
	for i < len(data) && data[i] == '"' {
		nameEnd := skipString(data, i)
		colon := skipSpace(data, nameEnd)
		if colon >= len(data) || data[colon] != ':' {
			return colon, false
		}
		from := skipSpace(data, colon+1)
		to := skipValue(data, from)
		if to == from || to > len(data) {
			return to, false
		}
		visit(Text(data[i:nameEnd]), Span{from, to})
		i = skipSpace(data, to)
		if i < len(data) && data[i] == '}' {
			return i + 1, true
		}
		if i >= len(data) || data[i] != ',' {
			return i, false
		}
		i = skipSpace(data, i+1)
	}
	return i, false
}

// Without returns data without the member of the object at s, and changes data. An object that then has no members stays.
func Without(data []byte, object Span, name string) []byte {
	end := object.From + 1 // of what is before the member
	var cut Span
	Members(data, object.From, func(given string, value Span) {
		if given == name {
			cut = Span{end, value.To}
		}
		end = value.To
	})
	if cut == (Span{}) {
		return data
	}
	if after := skipSpace(data, cut.To); cut.From == object.From+1 && data[after] == ',' { // the first of several
		cut.To = after + 1
	}
	return append(data[:cut.From], data[cut.To:]...)
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\n' || data[i] == '\r') {
		i++
	}
	return i
}

// skipString returns where the string that starts at i ends, or the end of data when it does not.
func skipString(data []byte, i int) int { return min(jsontext.EndOfString(data, i)+1, len(data)) }

// skipValue returns where the value that starts at i ends.
func skipValue(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		switch data[i] {
		case '"':
			i = skipString(data, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// Length is how many elements the list has that starts at the first byte. Of what is not valid JSON it counts as far as
// it finds its way.
func Length(list []byte) (n int) {
	for i := skipSpace(list, 1); i < len(list) && list[i] != ']'; {
		end := skipValue(list, i)
		if end == i {
			return n
		}
		n++
		i = skipSpace(list, end)
		if i < len(list) && list[i] == ',' {
			i = skipSpace(list, i+1)
		}
	}
	return n
}

// Twice names a member that some object within a valid JSON value has twice, as in "filter.tags": readers differ in
// which of the two they take. Empty when there is none.
func Twice(value []byte) string { return twiceAt(value, skipSpace(value, 0), "") }

func twiceAt(data []byte, at int, path string) (twice string) {
	if at >= len(data) {
		return ""
	}
	switch data[at] {
	case '{':
		seen := map[string]bool{}
		Members(data, at, func(name string, value Span) {
			switch within := join(path, name); {
			case twice != "":
			case seen[name]:
				twice = within
			default:
				seen[name] = true
				twice = twiceAt(data, value.From, within)
			}
		})
	case '[':
		for i := skipSpace(data, at+1); i < len(data) && data[i] != ']' && twice == ""; {
			twice = twiceAt(data, i, path)
			end := skipValue(data, i)
			if end == i {
				return twice // it is not valid JSON
			}
			i = skipSpace(data, end)
			if i < len(data) && data[i] == ',' {
				i = skipSpace(data, i+1)
			}
		}
	}
	return twice
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
