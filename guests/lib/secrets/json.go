package secrets

import (
	"errors"
	"strings"

	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// JSON redacts the strings of a JSON value, names of members included, and returns what they were. A string or a number is also a secret if the
// name of its member tells. Everything else stays byte for byte; without a secret, the value is returned as it is.
func JSON(raw []byte) (out []byte, kinds []Kind, err error) {
	w := walker{raw: raw}
	if err := w.walk(); err != nil {
		return nil, nil, err
	}
	if len(w.kinds) == 0 {
		return raw, nil, nil
	}
	return append(w.out, raw[w.copied:]...), w.kinds, nil
}

var errJSON = errors.New("it is no JSON")

// walker reads a JSON value from left to right. What it does not replace is copied.
type walker struct {
	raw, out []byte
	copied   int // of raw, into out
	kinds    []Kind
	name     string // of the member whose value is next; empty: none
}

func (w *walker) walk() error {
	for at := 0; at < len(w.raw); {
		var err error
		switch c := w.raw[at]; {
		case c == '"':
			at, err = w.text(at)
		case c == '-' || class[c]&digit != 0:
			at = w.number(at)
		case c == ':' || c <= ' ':
			at++
		default: // what begins or ends a value that is no string
			w.name = ""
			at++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// text redacts the string at a place, and returns where it ends.
func (w *walker) text(at int) (int, error) {
	end := at + 1
	for end < len(w.raw) && w.raw[end] != '"' {
		if w.raw[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(w.raw) {
		return 0, errJSON
	}
	end++
	s := scan.New(w.raw[at:end])
	text := s.String()
	if s.End() != nil {
		return 0, errJSON
	}
	next := end
	for next < len(w.raw) && w.raw[next] <= ' ' {
		next++
	}
	isName := next < len(w.raw) && w.raw[next] == ':'
	name := w.name
	if w.name = ""; isName {
		w.name = text
		name = ""
	}
	redacted, kinds, err := redact(text, func(text string) ([]Found, error) { return findNamed(name, text) })
	if err != nil {
		return 0, err
	}
	return end, w.replace(at, end, redacted, kinds)
}

// number redacts a number whose name tells.
func (w *walker) number(at int) int {
	end := at
	for end < len(w.raw) && strings.IndexByte("+-.eE0123456789", w.raw[end]) >= 0 {
		end++
	}
	text, name := string(w.raw[at:end]), w.name
	w.name = ""
	if m := meaningOf(name); m.strength == password && len(text) >= 6 && isNamed(name, text, m) {
		w.replace(at, end, m.kind.Mark(), []Kind{m.kind}) //nolint:errcheck // one is not too many
	}
	return end
}

func (w *walker) replace(at, end int, text string, kinds []Kind) error {
	if len(kinds) == 0 {
		return nil
	}
	if w.kinds = append(w.kinds, kinds...); len(w.kinds) > Most {
		return ErrTooMany
	}
	w.out = scan.AppendString(append(w.out, w.raw[w.copied:at]...), text)
	w.copied = end
	return nil
}

// findNamed finds the secrets of a text that is the value of a name; empty: of none.
func findNamed(name, text string) ([]Found, error) {
	if m := meaningOf(strings.NewReplacer("-", "_", " ", "_").Replace(name)); m.strength != nothing && isNamed(name, text, m) {
		kind := m.kind
		if k, end := tokenAt(text, 0); end == len(text) {
			kind = k
		}
		return []Found{{kind, 0, len(text)}}, nil
	}
	return Find(text)
}

// isNamed reports whether a text is a secret because of its name.
func isNamed(name, text string, m meaning) bool {
	if text == "" || len(text) > longestValue || strings.IndexByte(text, '\n') >= 0 {
		return false
	}
	f := finder{text: name + `: "` + text + `"`}
	start := len(name) + len(`: "`)
	return f.isSecret(text, m.strength, site{at: start, after: colon, quote: '"', line: true}, start+len(text))
}
