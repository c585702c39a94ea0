package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const (
	demoWidth = 108 // characters in a line of an answer
	demoRows  = 16  // lines of an answer
	demoWraps = 3   // lines of a member
)

// answerLines lays an answer out for reading: on one line if it fits, else one member or element a line.
func answerLines(text []byte) []string {
	if !json.Valid(text) {
		return limited(strings.Split(string(text), "\n"))
	}
	one := compact(text)
	if utf8.RuneCountInString(one) <= demoWidth {
		return []string{one}
	}
	return limited(rows(text, ""))
}

// rows lists the members of an object, or the elements of an array; what is itself too long for a line is
// laid out below its name.
func rows(raw []byte, indent string) []string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	open, err := decoder.Token()
	if err != nil {
		return wrapped(compact(raw), indent)
	}
	if open != json.Delim('{') && open != json.Delim('[') {
		return wrapped(compact(raw), indent)
	}
	var lines []string
	for decoder.More() {
		name := ""
		if open == json.Delim('{') {
			token, err := decoder.Token()
			if err != nil {
				return lines
			}
			name, _ = token.(string)
			name += ": "
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return lines
		}
		one := name + compact(value)
		if nested := value[0] == '[' || name != "" && value[0] == '{'; nested && utf8.RuneCountInString(indent+one) > demoWidth {
			lines = append(append(lines, indent+strings.TrimSpace(name)), rows(value, indent+"  ")...)
			continue
		}
		lines = append(lines, wrapped(one, indent)...)
	}
	return lines
}

// wrapped breaks a long text over several lines, at spaces, and shortens what would be too many.
func wrapped(s, indent string) []string {
	var lines []string
	for len(lines) < demoWraps-1 && utf8.RuneCountInString(indent+s) > demoWidth {
		runes := []rune(s)
		at := demoWidth - len(indent)
		for i := at; i > at/2; i-- {
			if runes[i] == ' ' {
				at = i
				break
			}
		}
		lines = append(lines, indent+string(runes[:at]))
		s = strings.TrimLeft(string(runes[at:]), " ")
		if len(lines) == 1 {
			indent += "  "
		}
	}
	if runes := []rune(s); len(indent)+len(runes) > demoWidth {
		s = string(runes[:demoWidth-len(indent)-1]) + "…"
	}
	return append(lines, indent+s)
}

func limited(lines []string) []string {
	if len(lines) <= demoRows {
		return lines
	}
	return append(lines[:demoRows-1], "…")
}

// compact is JSON on one line, with a little air.
func compact(raw []byte) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return string(raw)
	}
	var spaced strings.Builder
	quoted, escaped := false, false
	for _, r := range out.String() {
		spaced.WriteRune(r)
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = r == '\\', r != '"'
		case r == '"':
			quoted = true
		case r == ',' || r == ':':
			spaced.WriteByte(' ')
		}
	}
	return spaced.String()
}
