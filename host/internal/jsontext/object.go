package jsontext

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Object appends an object, member by member, to bytes. What it writes is what Append writes of a struct, in a fraction of the time. A member
// that is empty is left out, as by omitempty, except where a method says otherwise.
type Object struct {
	out []byte
	err error
}

// NewObject begins an object after some bytes.
func NewObject(to []byte) *Object { return &Object{out: append(to, '{')} }

// End ends the object, and returns the bytes.
func (o *Object) End() ([]byte, error) { return append(o.out, '}'), o.err }

// name begins a member. Its name needs no escapes.
func (o *Object) name(name string) {
	if o.out[len(o.out)-1] != '{' {
		o.out = append(o.out, ',')
	}
	o.out = append(append(append(o.out, '"'), name...), '"', ':')
}

// Text appends a text.
func (o *Object) Text(name, text string) {
	if text != "" {
		o.TextAt(name, &text)
	}
}

// TextAt appends a text, an empty one too; nil: there is none.
func (o *Object) TextAt(name string, text *string) {
	if text != nil {
		o.name(name)
		o.text(*text)
	}
}

// Texts appends a list of texts.
func (o *Object) Texts(name string, texts []string) {
	if len(texts) == 0 {
		return
	}
	o.name(name)
	for i, text := range texts {
		o.out = append(o.out, "[,"[min(i, 1)])
		o.text(text)
	}
	o.out = append(o.out, ']')
}

// Whole appends a whole number.
func (o *Object) Whole(name string, n uint64) {
	if n != 0 {
		o.Count(name, n)
	}
}

// Count appends a whole number, 0 too.
func (o *Object) Count(name string, n uint64) {
	o.name(name)
	o.out = strconv.AppendUint(o.out, n, 10)
}

// NumberAt appends a number, 0 too; nil: there is none.
func (o *Object) NumberAt(name string, n *float64) {
	switch {
	case n == nil:
	case *n == 0 || math.Abs(*n) >= 1e-6 && math.Abs(*n) < 1e21:
		o.name(name)
		o.out = strconv.AppendFloat(o.out, *n, 'f', -1, 64)
	default:
		o.Any(name, *n)
	}
}

// True appends true.
func (o *Object) True(name string, yes bool) {
	if yes {
		o.name(name)
		o.out = append(o.out, "true"...)
	}
}

// Value appends JSON. A text, which cannot be more compact, must be valid.
func (o *Object) Value(name string, value json.RawMessage) {
	if len(value) > 0 {
		o.name(name)
		o.value(value)
	}
}

// Values appends an object of JSON values in the order of their names.
func (o *Object) Values(name string, values map[string]json.RawMessage) {
	if len(values) == 0 {
		return
	}
	o.name(name)
	for i, member := range slices.Sorted(maps.Keys(values)) {
		o.out = append(o.out, "{,"[min(i, 1)])
		o.text(member)
		o.out = append(o.out, ':')
		o.value(values[member])
	}
	o.out = append(o.out, '}')
}

// List appends a list, an empty one too, of what is JSON already, and returns it.
func (o *Object) List(name string, elements [][]byte) (list []byte) {
	o.name(name)
	at := len(o.out)
	o.out = append(o.out, '[')
	for i, element := range elements {
		if i > 0 {
			o.out = append(o.out, ',')
		}
		o.out = append(o.out, element...)
	}
	o.out = append(o.out, ']')
	return slices.Clip(o.out[at:])
}

// Any appends what Append writes, an empty value too.
func (o *Object) Any(name string, v any) {
	o.name(name)
	o.any(v)
}

func (o *Object) any(v any) {
	out, err := Append(o.out, v)
	if err != nil {
		o.err = err
		return
	}
	o.out = out
}

func (o *Object) value(value json.RawMessage) {
	switch {
	case value == nil:
		o.out = append(o.out, "null"...)
	case len(value) > 0 && value[0] == '"':
		o.out = append(o.out, value...)
	default:
		out := bytes.NewBuffer(o.out)
		if err := json.Compact(out, value); err != nil {
			o.err = err
			return
		}
		o.out = out.Bytes()
	}
}

func (o *Object) text(text string) {
	if !isPlain(text) {
		o.any(text)
		return
	}
	o.out = append(append(append(o.out, '"'), text...), '"')
}

// isPlain reports whether a text is written without escapes.
func isPlain(text string) bool {
	ascii := true
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c == '"' || c == '\\':
			return false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return ascii || utf8.ValidString(text) && !strings.ContainsAny(text, "\u2028\u2029")
}
