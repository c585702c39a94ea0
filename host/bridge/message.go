package bridge

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// span is where a value is in a line; the zero span is no value.
type span struct{ from, to int }

func (s span) of(line []byte) []byte { return line[s.from:s.to] }

// message is a JSON-RPC message, of which only the envelope was looked at. Everything else stays the
// bytes that were sent, so numbers of any size arrive as they left.
type message struct {
	line   []byte
	id     span
	method string
	named  bool // it has a method, be it text or not
	params span
	result span
	failed bool // it is an error
}

// parse looks at the envelope of a line that holds one JSON object; false when it does not.
func parse(line []byte) (message, bool) {
	m := message{line: line}
	start := skipSpace(line, 0)
	end, ok := members(line, start, func(key string, value span) {
		switch key {
		case "id":
			m.id = value
		case "method":
			m.method, m.named = text(value.of(line)), true
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.failed = true
		}
	})
	return m, ok && skipSpace(line, end) == len(line)
}

// isRequest reports whether the message wants an answer.
func (m message) isRequest() bool { return m.method != "" && m.id != span{} }

// fault is what is wrong with the envelope; empty for nothing. A message that is neither a request nor an answer, or
// whose id no answer could carry, would leave its sender waiting.
func (m message) fault() string {
	switch {
	case m.id != span{} && m.plainID() == nil:
		return "the id of a request must be text or a number"
	case m.named && m.method == "":
		return "the method must be text, and not empty"
	case !m.named && m.result == span{} && !m.failed:
		return "the message has no method"
	}
	return ""
}

// plainID is the id if it is text or a number, and nil otherwise.
func (m message) plainID() []byte {
	id := m.id.of(m.line)
	if len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9') {
		return id
	}
	return nil
}

// isAnswer reports whether the message answers a request.
func (m message) isAnswer() bool { return m.method == "" && m.id != span{} }

// key names the request that a message is, or answers. It is the same for every way to write an id.
func (m message) key() string { return idKey(m.id.of(m.line)) }

// field is a member of the object at s, and where it is; the zero span when there is none.
func (m message) field(s span, name string) span {
	var found span
	if s != (span{}) && m.line[s.from] == '{' {
		members(m.line, s.from, func(key string, value span) {
			if key == name {
				found = value
			}
		})
	}
	return found
}

// word is the string in a member of the object at s; empty when there is none.
func (m message) word(s span, name string) string { return text(m.field(s, name).of(m.line)) }

// words are the strings in a member of the object at s; false when it is no list of strings.
func (m message) words(s span, name string) ([]string, bool) {
	list := m.field(s, name)
	var words []string
	if list == (span{}) || json.Unmarshal(list.of(m.line), &words) != nil || words == nil {
		return nil, false
	}
	return words, true
}

func idKey(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		return "s" + text(raw)
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return "n" + strconv.FormatInt(n, 10)
	}
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return "n" + strconv.FormatInt(int64(f), 10)
	}
	return "n" + string(raw)
}

// text decodes a JSON string; anything else is empty.
func text(raw []byte) string {
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

// members calls f with each member of the object that starts at data[at], and returns where it ends.
// It checks no more than it needs to find its way; false says that it lost it.
func members(data []byte, at int, f func(key string, value span)) (end int, ok bool) {
	if at >= len(data) || data[at] != '{' {
		return at, false
	}
	i := skipSpace(data, at+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, true
	}
	for i < len(data) && data[i] == '"' {
		keyEnd := skipString(data, i)
		colon := skipSpace(data, keyEnd)
		if colon >= len(data) || data[colon] != ':' {
			return colon, false
		}
		from := skipSpace(data, colon+1)
		to := skipValue(data, from)
		if to == from || to > len(data) {
			return to, false
		}
		f(text(data[i:keyEnd]), span{from, to})
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

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\n' || data[i] == '\r') {
		i++
	}
	return i
}

// skipString returns where the string that starts at i ends, or the end of data when it does not.
func skipString(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

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
