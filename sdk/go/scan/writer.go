package scan

import (
	"errors"
	"math"
	"strconv"
)

// Writer writes JSON without reflection, and keeps its first error. The zero Writer is ready.
//
// Its methods are not inlined: generated code calls them thousands of times, and a call is 100 bytes of a guest less than the method.
type Writer struct {
	data  []byte
	field string // of the next value, for errors
	err   error
	coder Coder // by which values write
}

// Bytes is what was written, and the first error.
func (w *Writer) Bytes() ([]byte, error) { return w.data, w.err }

// Open begins an object.
//
//go:noinline
func (w *Writer) Open() {
	if w.data == nil {
		w.data = make([]byte, 0, usual)
	}
	w.data = append(w.data, '{')
}

// usual has room for most messages, in bytes.
const usual = 512

// Close ends an object.
//
//go:noinline
func (w *Writer) Close() { w.data = append(w.data, '}') }

// Key writes the key of the next value.
//
//go:noinline
func (w *Writer) Key(name string) { w.data, w.field = AppendKey(w.data, name), name }

// Text writes a string.
//
//go:noinline
func (w *Writer) Text(v string) { w.data = AppendString(w.data, v) }

// Texts writes a list of strings; a nil one is empty.
//
//go:noinline
func (w *Writer) Texts(v []string) { w.data = AppendStrings(w.data, v) }

// Bool writes true or false.
//
//go:noinline
func (w *Writer) Bool(v bool) { w.data = strconv.AppendBool(w.data, v) }

// Int writes a whole number.
//
//go:noinline
func (w *Writer) Int(v int64) { w.data = strconv.AppendInt(w.data, v, 10) }

// Uint writes a whole number that is not negative.
//
//go:noinline
func (w *Writer) Uint(v uint64) { w.data = strconv.AppendUint(w.data, v, 10) }

// Number writes a number, which must be finite.
//
//go:noinline
func (w *Writer) Number(v float64) { w.float(v, 64) }

// Number32 writes a number of half the precision, which must be finite.
//
//go:noinline
func (w *Writer) Number32(v float32) { w.float(float64(v), 32) }

// Null writes null.
//
//go:noinline
func (w *Writer) Null() { w.data = append(w.data, "null"...) }

func (w *Writer) float(v float64, bits int) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.fail(w.field + " is " + strconv.FormatFloat(v, 'g', -1, 64) + ", which JSON has no number for")
		return
	}
	if bits == 64 {
		w.data = AppendNumber(w.data, v)
		return
	}
	w.data = strconv.AppendFloat(w.data, v, 'g', -1, bits)
}

// Raw writes one JSON value, or null if it is empty. Anything else is an error: its rest would become part of what is written.
func (w *Writer) Raw(v []byte) {
	if len(v) == 0 {
		w.Null()
		return
	}
	if !isSimple(v) {
		s := New(v)
		s.Skip()
		if err := s.End(); err != nil {
			w.fail(w.field + " is not one JSON value: " + err.Error())
		}
	}
	w.data = append(w.data, v...)
}

// isSimple reports whether a value is a string of ordinary characters.
func isSimple(v []byte) bool {
	last := len(v) - 1
	return last > 0 && v[0] == '"' && ordinary(v[1:]) == last-1 && v[last] == '"'
}

// Any writes a value of a few types: what Scanner.Any reads, whole numbers, lists of strings, and what encodes itself.
func (w *Writer) Any(v any) {
	switch v := v.(type) {
	case nil:
		w.Null()
	case string:
		w.Text(v)
	case bool:
		w.Bool(v)
	case int:
		w.Int(int64(v))
	case int64:
		w.Int(v)
	case uint64:
		w.Uint(v)
	case float64:
		w.Number(v)
	case []string:
		w.Texts(v)
	case []any:
		w.List(len(v), func(i int) { w.Any(v[i]) })
	case map[string]any:
		WriteMap(w, v, w.Any)
	case Encoder:
		v.EncodeJSON(w)
	case interface{ MarshalJSON() ([]byte, error) }:
		data, err := v.MarshalJSON()
		if err != nil {
			w.fail(w.field + ": " + err.Error())
		}
		w.Raw(data)
	default:
		w.fail(w.field + " has a type that cannot be written without reflection: give text, numbers, lists or maps of any, or what encodes itself")
	}
}

func (w *Writer) fail(message string) {
	if w.err == nil {
		w.err = errors.New(message)
	}
}

// List writes a list of n elements; element writes each.
func (w *Writer) List(n int, element func(i int)) {
	w.data = append(w.data, '[')
	for i := range n {
		if i > 0 {
			w.data = append(w.data, ',')
		}
		element(i)
	}
	w.data = append(w.data, ']')
}

// WriteMap writes an object with its keys in order, so that equal maps are equal bytes.
func WriteMap[T any](w *Writer, m map[string]T, value func(v T)) {
	w.Open()
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sortTexts(keys)
	for _, key := range keys {
		w.Key(key)
		value(m[key])
	}
	w.Close()
}

// sortTexts sorts by Shell's method: package slices would be 40 kB of a guest.
func sortTexts(list []string) {
	for gap := len(list) / 2; gap > 0; gap /= 2 {
		for i := gap; i < len(list); i++ {
			for j := i; j >= gap && list[j] < list[j-gap]; j -= gap {
				list[j], list[j-gap] = list[j-gap], list[j]
			}
		}
	}
}

// Encoder writes itself as one JSON value.
type Encoder interface{ EncodeJSON(w *Writer) }

// Decoder reads itself from one JSON value. Unknown fields are skipped.
type Decoder interface{ DecodeJSON(s *Scanner) }

// Encode gives a value as JSON.
func Encode(v Encoder) ([]byte, error) {
	w := &Writer{}
	v.EncodeJSON(w)
	return w.Bytes()
}

// Decode reads one JSON value, and nothing behind it.
func Decode(data []byte, into Decoder) error {
	s := New(data)
	into.DecodeJSON(s)
	return s.End()
}
