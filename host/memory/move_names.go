package memory

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// renaming renames a namespace in texts.
type renaming struct{ from, to string }

// key renames the key of a record in the target's namespace. Bars separate the parts of a key. After the first bar, names in the record's own
// namespace omit it, like the links of the graph.
func (n renaming) key(key string) string {
	if !strings.Contains(key, "#") {
		return key
	}
	parts := strings.Split(key, "|")
	for i, part := range parts {
		parts[i] = n.text(part)
		if i > 0 {
			parts[i] = strings.TrimPrefix(parts[i], n.to+"#")
		}
	}
	return strings.Join(parts, "|")
}

// text renames a text that is the namespace, or that begins with it as the namespace of a key.
func (n renaming) text(text string) string {
	if rest, named := strings.CutPrefix(text, n.from); named && (rest == "" || rest[0] == '#') {
		return n.to + rest
	}
	return text
}

// texts is text for each of a list.
func (n renaming) texts(list []string) []string {
	list = slices.Clone(list)
	for i, text := range list {
		list[i] = n.text(text)
	}
	return list
}

// value returns a JSON value with each of its texts and names of members renamed. Everything else keeps its bytes.
func (n renaming) value(value json.RawMessage) json.RawMessage {
	if !bytes.Contains(value, []byte(n.from)) {
		return value
	}
	out := make([]byte, 0, len(value)+len(n.to))
	for len(value) > 0 {
		start := bytes.IndexByte(value, '"')
		if start < 0 {
			break
		}
		end := start + 1
		for end < len(value) && value[end] != '"' {
			if value[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(value))
		out = append(append(out, value[:start+1]...), n.text(string(value[start+1:end]))...)
		value = value[end:]
		if len(value) > 0 { // the closing quote
			out, value = append(out, value[0]), value[1:]
		}
	}
	return append(out, value...)
}
