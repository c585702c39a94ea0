package declare

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// wide is how long a line of the manifest is at most, where it can be broken.
const wide = 150

// Pretty is JSON with what fits into a line in one line.
func Pretty(data []byte) ([]byte, error) {
	var spaced bytes.Buffer
	for i, inText := 0, false; i < len(data); i++ {
		c := data[i]
		spaced.WriteByte(c)
		switch {
		case inText && c == '\\':
			i++
			spaced.WriteByte(data[i])
		case c == '"':
			inText = !inText
		case !inText && (c == ',' || c == ':'):
			spaced.WriteByte(' ')
		}
	}
	var out bytes.Buffer
	breakLines(&out, spaced.Bytes(), 0)
	out.WriteByte('\n')
	if !json.Valid(out.Bytes()) {
		return nil, errors.New("the manifest is no JSON")
	}
	return out.Bytes(), nil
}

// breakLines writes a value in one line, or its members in lines of their own.
func breakLines(out *bytes.Buffer, value []byte, depth int) {
	column := out.Len() - 1 - bytes.LastIndexByte(out.Bytes(), '\n')
	opened := value[0] == '{' || value[0] == '['
	if !opened || depth > 0 && column+len(value) < wide {
		out.Write(value)
		return
	}
	indent := "\n" + strings.Repeat("  ", depth+1)
	out.WriteByte(value[0])
	for i, m := range members(value[1 : len(value)-1]) {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(indent)
		if n := nameLength(m); value[0] == '{' {
			out.Write(m[:n])
			m = m[n:]
		}
		breakLines(out, m, depth+1)
	}
	out.WriteString(indent[:len(indent)-2])
	out.WriteByte(value[len(value)-1])
}

// members are the members of an object or a list, without its brackets.
func members(inner []byte) (list [][]byte) {
	depth, from, inText := 0, 0, false
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth == 0:
			list = append(list, bytes.TrimSpace(inner[from:i]))
			from = i + 1
		}
	}
	if last := bytes.TrimSpace(inner[from:]); len(last) > 0 {
		list = append(list, last)
	}
	return list
}

// nameLength is how long the name of a member is, with its colon and the blank.
func nameLength(m []byte) int {
	for i, inText := 0, false; i < len(m); i++ {
		switch c := m[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case !inText && c == ':':
			return i + 2
		}
	}
	return 0
}
