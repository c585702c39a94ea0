package redaction

import (
	"errors"
	"strings"

	"github.com/alcove-memory/alcove/sdk/go/scan"
	"github.com/alcove-memory/alcove/sdk/secrets"
)

// walker redacts the strings of a JSON value from left to right, names of members included. A string or a number is also a secret if the name of
// its member tells. What it does not replace is copied byte for byte.
type walker struct {
	redactor secrets.Redactor
	raw, out []byte
	copied   int // of raw, into out
	kinds    []secrets.Kind
	name     string // of the member whose value is next; empty: none
}

// inJSON redacts a JSON value that has a name, and returns what was replaced. Without a secret, the value is returned as it is.
func inJSON(r secrets.Redactor, name string, raw []byte) (out []byte, kinds []secrets.Kind, err error) {
	w := walker{redactor: r, raw: raw, name: name}
	if err := w.walk(); err != nil || len(w.kinds) == 0 {
		return raw, nil, err
	}
	return append(w.out, raw[w.copied:]...), w.kinds, nil
}

var errJSON = errors.New("it is no JSON")

func (w *walker) walk() error {
	for at := 0; at < len(w.raw); {
		var err error
		switch c := w.raw[at]; {
		case c == '"':
			at, err = w.text(at)
		case c == '-' || '0' <= c && c <= '9':
			at, err = w.number(at)
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
	name := w.name
	w.name = ""
	if w.isName(end) {
		w.name, name = text, ""
	}
	return end, w.redact(name, text, at, end)
}

// isName reports whether the string that ends at a place is the name of a member.
func (w *walker) isName(end int) bool {
	for end < len(w.raw) && w.raw[end] <= ' ' {
		end++
	}
	return end < len(w.raw) && w.raw[end] == ':'
}

// shortestNumber is how many digits a number has that may be a password.
const shortestNumber = 6

// number redacts the number at a place, if its name tells, and returns where it ends.
func (w *walker) number(at int) (int, error) {
	end := at
	for end < len(w.raw) && strings.IndexByte("+-.eE0123456789", w.raw[end]) >= 0 {
		end++
	}
	name := w.name
	w.name = ""
	if name == "" || end-at < shortestNumber {
		return end, nil
	}
	return end, w.redact(name, string(w.raw[at:end]), at, end)
}

// redact replaces the value from at to end, whose text is given, if it has secrets.
func (w *walker) redact(name, text string, at, end int) error {
	text, kinds, err := w.redactor.Redact(name, text)
	if err != nil || len(kinds) == 0 {
		return err
	}
	if w.kinds = append(w.kinds, kinds...); len(w.kinds) > secrets.Most {
		return secrets.ErrTooMany
	}
	w.out = scan.AppendString(append(w.out, w.raw[w.copied:at]...), text)
	w.copied = end
	return nil
}
