package request

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
)

func absent(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null" || string(raw) == `""`
}

func stringOf(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1:]; len(inner) > 0 && bytes.IndexByte(inner, '"') == len(inner)-1 && bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner[:len(inner)-1]), true
	}
	var text string
	return text, json.Unmarshal(raw, &text) == nil
}

// halfPair reports whether a JSON string escapes an unpaired surrogate. All of these decode to the same replacement
// character, so different keys would become equal.
func halfPair(raw []byte) bool {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++ // the escaped character
		first := unit(raw[i-1:])
		if !utf16.IsSurrogate(first) {
			continue
		}
		i += len(`u0000`)
		if i >= len(raw) || utf16.DecodeRune(first, unit(raw[i:])) == utf8.RuneError {
			return true
		}
		i += len(`u0000`)
	}
	return false
}

// unit returns the code unit of the escape at the start of text, or 0 if there is none.
func unit(text []byte) rune {
	if len(text) < len(`\u0000`) || text[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

// Text returns the text of a string or number.
func Text(raw json.RawMessage) (string, bool) {
	if halfPair(raw) {
		return "", false
	}
	if len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
		return string(raw), true
	}
	return stringOf(raw)
}

// Flag returns the truth in true or "true".
func Flag(raw json.RawMessage) (flag, ok bool) {
	text, isText := stringOf(raw)
	if !isText {
		text = string(raw)
	}
	word := strings.ToLower(strings.TrimSpace(text))
	return word == "true", word == "true" || word == "false"
}

// listOf splits a list, or the text of one.
func listOf(raw json.RawMessage) ([]json.RawMessage, bool) {
	if text, ok := stringOf(raw); ok {
		raw = json.RawMessage(text)
	}
	var items []json.RawMessage
	if len(bytes.TrimSpace(raw)) == 0 || bytes.TrimSpace(raw)[0] != '[' || jsontext.Depth(raw) > MostNesting || json.Unmarshal(raw, &items) != nil {
		return nil, false
	}
	return items, true
}

// textsOf returns the texts in a list.
func textsOf(raw json.RawMessage) ([]string, bool) {
	items, ok := listOf(raw)
	texts := make([]string, 0, len(items))
	for _, item := range items {
		text, good := Text(item)
		ok = ok && good
		texts = append(texts, text)
	}
	return texts, ok
}

// numeral returns the digits of a number or a text, which may not be a number.
func numeral(raw json.RawMessage) string {
	text, ok := Text(raw)
	if !ok {
		return ""
	}
	return strings.TrimSpace(text)
}

// Whole returns the whole number in 10, 10.0, 1e1 or "10".
func Whole(raw json.RawMessage) (int64, bool) {
	digits := numeral(raw)
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// Within returns a whole number, whose bounds a mistake names.
func Within(raw json.RawMessage, least, most int64) (int64, error) {
	n, ok := Whole(raw)
	if !ok || n < least || n > most {
		return 0, Expected(fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return n, nil
}

// got returns a wrong argument, shortened for an error.
func got(raw json.RawMessage) string { return Clip(string(raw), gotLength) }

// Clip shortens text to a number of characters.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	if runes := []rune(text[:min(len(text), 4*limit+4)]); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}

// Coerced converts an argument to its type from an equivalent form: "10" for 10, "tag" for ["tag"].
func Coerced(raw json.RawMessage, kind any) json.RawMessage {
	if kind == "string" {
		if len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
			return json.RawMessage(`"` + string(raw) + `"`)
		}
		return raw
	}
	text, isText := stringOf(raw)
	text = strings.TrimSpace(text)
	switch kind {
	case "integer", "number":
		if isText && json.Valid([]byte(text)) && numeral(json.RawMessage(text)) == text {
			return json.RawMessage(text)
		}
	case "boolean":
		if word := strings.ToLower(text); isText && (word == "true" || word == "false") {
			return json.RawMessage(word)
		}
	case "object":
		if isText && strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	case "array":
		if isText && strings.HasPrefix(text, "[") && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
		if len(raw) > 0 && raw[0] != '[' && string(raw) != "null" {
			return slices.Concat(json.RawMessage("["), raw, json.RawMessage("]"))
		}
	}
	return raw
}
