// Package query plans queries of families' records by the indexes of their fields, and encodes the fields so that they sort.
package query

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/fault"
	"github.com/alcove-memory/alcove/host/memory/record"
)

// Type is the type by which an indexed field is compared.
type Type string

// The types of indexed fields.
const (
	String Type = "string"
	Number Type = "number" // as 64-bit floating point
	Bool   Type = "bool"
	Time   Type = "time" // RFC 3339 text, to the microsecond
)

// Field is a field by which an index sorts records.
type Field struct {
	Path string `json:"path"` // names of nested fields, separated by dots
	Type Type   `json:"type"`
}

// Index sorts the records of a collection by one or more fields. A field that is absent, null or of another type counts as
// null, which sorts first.
type Index []Field

// Equal reports whether two indexes have equal fields.
func (x Index) Equal(other Index) bool {
	if len(x) != len(other) {
		return false
	}
	for i := range x {
		if x[i] != other[i] {
			return false
		}
	}
	return true
}

func (x Index) String() string {
	paths := make([]string, len(x))
	for i, f := range x {
		paths[i] = f.Path
	}
	return "[" + strings.Join(paths, ", ") + "]"
}

// indexedString bounds the text of an indexed field, in bytes.
const indexedString = 1 << 10

// An encoded value begins with its class. Encoded values sort as the values do, and none is a prefix of another.
const (
	classNull  byte = 1
	classValue byte = 2
)

// Append appends a value of a field; one of another type becomes null, and ok is false.
func (f Field) Append(to []byte, value json.RawMessage) (encoded []byte, ok bool) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || string(value) == "null" {
		return append(to, classNull), true
	}
	typed := append(to, classValue)
	switch f.Type {
	case String:
		typed, ok = appendString(typed, value)
	case Number:
		typed, ok = appendNumber(typed, value)
	case Bool:
		typed, ok = appendBool(typed, value)
	case Time:
		typed, ok = appendTime(typed, value)
	}
	if !ok {
		return append(to, classNull), false
	}
	return typed, true
}

func appendString(to []byte, value json.RawMessage) ([]byte, bool) {
	var text string
	if value[0] != '"' || json.Unmarshal(value, &text) != nil || len(text) > indexedString {
		return to, false
	}
	return append(appendText(to, text), 0, 1), true
}

// appendText appends text with zero bytes escaped by 255, so that 0 1 can terminate it.
func appendText(to []byte, text string) []byte {
	for i := range len(text) {
		to = append(to, text[i])
		if text[i] == 0 {
			to = append(to, 255)
		}
	}
	return to
}

// AppendEnded appends text and its terminator.
func AppendEnded(to []byte, text string) []byte { return append(appendText(to, text), 0, 1) }

// CutText is the inverse of AppendEnded.
func CutText(from string) (text, rest string, ok bool) {
	for i := 0; i+1 < len(from); i++ {
		if from[i] != 0 {
			continue
		}
		if from[i+1] == 1 {
			return strings.ReplaceAll(from[:i], "\x00\xff", "\x00"), from[i+2:], true
		}
		i++
	}
	return "", "", false
}

func appendNumber(to []byte, value json.RawMessage) ([]byte, bool) {
	if c := value[0]; c != '-' && (c < '0' || c > '9') {
		return to, false
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return to, false
	}
	bits := math.Float64bits(n + 0) // -0 is 0
	if n == 0 {
		bits = 0
	}
	if bits>>63 == 1 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(to, bits), true
}

func appendBool(to []byte, value json.RawMessage) ([]byte, bool) {
	switch string(value) {
	case "false":
		return append(to, 0), true
	case "true":
		return append(to, 1), true
	}
	return to, false
}

func appendTime(to []byte, value json.RawMessage) ([]byte, bool) {
	var text string
	if value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return to, false
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return to, false
	}
	return binary.BigEndian.AppendUint64(to, uint64(at.UnixMicro())^1<<63), true
}

// Cut splits off an encoded value of a field.
func (f Field) Cut(from string) (value, rest string, ok bool) {
	if from == "" {
		return "", "", false
	}
	size := 1
	switch {
	case from[0] == classNull:
	case from[0] != classValue:
		return "", "", false
	case f.Type == String:
		_, rest, ok := CutText(from[1:])
		return from[:len(from)-len(rest)], rest, ok
	case f.Type == Bool:
		size = 2
	default:
		size = 9
	}
	if len(from) < size {
		return "", "", false
	}
	return from[:size], from[size:], true
}

// Values reads fields of a record's value, parsing each level once.
type Values struct {
	value  json.RawMessage
	levels map[string]map[string]json.RawMessage // by the object's path, with a trailing dot
}

// ValuesOf returns the values of a record; nil has none.
func ValuesOf(r *record.Record) *Values {
	if r == nil {
		return &Values{}
	}
	return &Values{value: r.Value}
}

// at returns the value of a field; nil: absent.
func (f *Values) at(path string) json.RawMessage {
	cut := strings.LastIndexByte(path, '.') + 1
	return f.level(path[:cut])[path[cut:]]
}

func (f *Values) level(path string) map[string]json.RawMessage {
	if level, read := f.levels[path]; read {
		return level
	}
	value := f.value
	if path != "" {
		value = f.at(path[:len(path)-1])
	}
	var level map[string]json.RawMessage
	if json.Unmarshal(value, &level) != nil {
		level = nil // not an object
	}
	if f.levels == nil {
		f.levels = map[string]map[string]json.RawMessage{}
	}
	f.levels[path] = level
	return level
}

// Name returns a record's name in an index: the values of its fields, and the record's key.
func (x Index) Name(key string, of *Values) string {
	var out []byte
	for _, f := range x {
		out, _ = f.Append(out, of.at(f.Path))
	}
	return string(append(out, key...))
}

// CutKey returns the record's key from a name of the index.
func (x Index) CutKey(name string) (key string, ok bool) {
	for _, f := range x {
		if _, name, ok = f.Cut(name); !ok {
			return "", false
		}
	}
	return name, name != ""
}

// Check refuses a value with too long a text for its index.
func (x Index) Check(of *Values) error {
	for _, f := range x {
		value := of.at(f.Path)
		if f.Type != String || len(value) <= indexedString {
			continue
		}
		var text string
		if json.Unmarshal(value, &text) == nil && len(text) > indexedString {
			return fault.Invalid("field %s is indexed and has %d bytes: at most %d are allowed", f.Path, len(text), indexedString)
		}
	}
	return nil
}

// after returns the first name after all those with a prefix; empty: none.
func after(prefix string) string {
	for end := len(prefix); end > 0; end-- {
		if prefix[end-1] != 255 {
			return prefix[:end-1] + string([]byte{prefix[end-1] + 1})
		}
	}
	return ""
}
