// Package jsontext works on JSON as text: its depth, its strings, and its compact and canonical forms.
package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"unicode/utf8"
)

// Depth is how deep brackets are nested outside strings. It reads invalid JSON too, so that nothing recursive ever sees a hostile
// depth.
func Depth(value []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// Members goes through the members of an object, which must be valid JSON: names with their quotes and escapes, and values, as they
// are written.
func Members(object []byte) iter.Seq2[json.RawMessage, json.RawMessage] {
	return func(yield func(name, value json.RawMessage) bool) {
		var name json.RawMessage
		for part := range parts(object) {
			if name == nil {
				name = part
				continue
			}
			if !yield(name, part) {
				return
			}
			name = nil
		}
	}
}

// Elements goes through the elements of a list, which must be valid JSON.
func Elements(list []byte) iter.Seq[json.RawMessage] { return parts(list) }

// parts are what the outermost brackets of a value have between their commas and colons, without white space around it.
func parts(value []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		value = bytes.TrimSpace(value)
		depth, from := 0, 1
		for i := 0; i < len(value); i++ {
			switch c := value[i]; c {
			case '"':
				i = EndOfString(value, i)
			case '{', '[':
				depth++
			case ',', ':', '}', ']':
				if depth == 1 {
					if part := bytes.TrimSpace(value[from:i]); len(part) > 0 && !yield(part) {
						return
					}
					from = i + 1
				}
				if c == '}' || c == ']' {
					depth--
				}
			}
		}
	}
}

// EndOfString returns the index of the quote that closes the string that opens at an index, or the length of value if none does.
func EndOfString(value []byte, at int) int {
	for {
		next := bytes.IndexByte(value[at+1:], '"')
		if next < 0 {
			return len(value)
		}
		at += 1 + next
		if !escaped(value, at) {
			return at
		}
	}
}

// escaped reports whether the byte at an index within a string is escaped: an odd number of backslashes is before it.
func escaped(value []byte, at int) bool {
	before := at
	for before > 0 && value[before-1] == '\\' {
		before--
	}
	return (at-before)%2 == 1
}

// Compact drops white space between tokens and keeps everything else byte for byte.
func Compact(value []byte) (json.RawMessage, error) {
	var out bytes.Buffer
	if err := json.Compact(&out, value); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Canonical writes a value with sorted field names and a line feed at its end, so that equal values have equal bytes.
func Canonical(value []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return encode(nil, v)
}

// Encode writes a value as compact JSON in which <, > and & stay as they are.
func Encode(v any) ([]byte, error) { return Append(nil, v) }

// Append is Encode, and appends to bytes.
func Append(to []byte, v any) ([]byte, error) {
	out, err := encode(to, v)
	return bytes.TrimSuffix(out, []byte("\n")), err
}

func encode(to []byte, v any) ([]byte, error) {
	out := bytes.NewBuffer(to)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return out.Bytes(), nil
}

// Strings lists the strings in a value in their order, without field names and empty strings. In invalid JSON, a quoted text
// counts unless a colon follows it.
func Strings(value []byte) (found []string) {
	for from := 0; ; {
		at := bytes.IndexByte(value[from:], '"')
		if at < 0 {
			return found
		}
		end := EndOfString(value, from+at)
		if end >= len(value) {
			return found
		}
		quoted := value[from+at : end+1]
		from = end + 1
		if isFieldName(value[from:]) {
			continue
		}
		if text := unquote(quoted); text != "" {
			found = append(found, text)
		}
	}
}

// isFieldName reports whether the string before the rest of a value is a field's name.
func isFieldName(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// unquote returns the text of a string with its quotes, or nothing if it is invalid.
func unquote(quoted []byte) (text string) {
	if inside := quoted[1 : len(quoted)-1]; bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside)
	}
	if json.Unmarshal(quoted, &text) != nil {
		return ""
	}
	return text
}
