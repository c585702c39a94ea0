package alcove

import (
	"errors"

	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Raw is any JSON value, as it is written.
type Raw []byte

// EncodeJSON writes the value; an empty one is null.
func (r Raw) EncodeJSON(w *scan.Writer) { w.Raw(r) }

// DecodeJSON reads a value of any form.
func (r *Raw) DecodeJSON(s *scan.Scanner) { *r = s.Raw() }

// MarshalJSON lets encoding/json write the value as it is, in tests.
func (r Raw) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON lets encoding/json read the value as it is, in tests.
func (r *Raw) UnmarshalJSON(data []byte) error {
	*r = append((*r)[:0], data...)
	return nil
}

// Text is the value if it is a string.
func (r Raw) Text() (text string, ok bool) {
	s := scan.New(r)
	if len(r) == 0 || r[0] != '"' {
		return "", false
	}
	text = s.String()
	return text, s.End() == nil
}

// Metadata are the metadata of a memory.
type Metadata = map[string]Raw

// JSON encodes a value for a field that holds any JSON: text, a number, true or false, nil, a list or map of any, or what
// encodes itself, as the types do that alcove family gen wrote a codec for. It panics for any other: the changes that a panicking
// handler staged are thrown away.
func JSON(v any) Raw {
	data, err := marshal(v)
	if err != nil {
		panic("alcove.JSON: " + err.Error())
	}
	return data
}

func marshal(v any) (Raw, error) {
	if text, ok := v.(string); ok {
		return scan.AppendString(make([]byte, 0, len(text)+len(`""`)), text), nil
	}
	w := &scan.Writer{}
	w.Any(v)
	return w.Bytes()
}

func marshalMap(values map[string]any) (map[string]Raw, error) {
	raw := make(map[string]Raw, len(values))
	for key, v := range values {
		data, err := marshal(v)
		if err != nil {
			return nil, errors.New(key + ": " + err.Error())
		}
		raw[key] = data
	}
	return raw, nil
}

// Null reports whether a value is absent or null.
func (r Raw) Null() bool { return len(r) == 0 || string(r) == "null" }
