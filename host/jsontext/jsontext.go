// Package jsontext works on JSON as text: its depth, its strings, and its compact and canonical forms.
package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	return encode(v)
}

// Encode writes a value as compact JSON in which <, > and & stay as they are.
func Encode(v any) ([]byte, error) {
	out, err := encode(v)
	return bytes.TrimSuffix(out, []byte("\n")), err
}

func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return out.Bytes(), nil
}

// Strings lists the strings in a value in their order, without field names and empty strings. Of invalid JSON it lists those before
// the fault.
func Strings(value []byte) []string {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var found []string
	var inObject []bool // per open bracket: is it an object?
	name := false       // the next string is a field's name
	for {
		token, err := dec.Token()
		if err != nil {
			return found
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				inObject = append(inObject, t == '{')
				name = t == '{'
				continue
			}
			inObject = inObject[:len(inObject)-1]
		case string:
			if name {
				name = false
				continue
			}
			if t != "" {
				found = append(found, t)
			}
		}
		name = len(inObject) > 0 && inObject[len(inObject)-1]
	}
}
