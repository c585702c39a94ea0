package alcove

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Metadata are the metadata of a memory.
type Metadata = map[string]json.RawMessage

// encoder is a message that writes itself as a JSON object.
type encoder interface{ write(w *writer) }

// decoder is a message that reads itself from a JSON object. It skips unknown fields.
type decoder interface{ read(s *scan.Scanner) }

// exchange runs an operation. A nil request is an empty object; with a nil response, the host's answer is ignored.
func (c *Call) exchange(op Op, request encoder, response decoder) error {
	body, err := encode(request)
	if err != nil {
		return Errorf(InvalidArgument, "write the request of %s: %v", op, err)
	}
	answer, err := c.host.Call(op, body)
	if err != nil || response == nil {
		return err
	}
	if err := decode(answer, response); err != nil {
		return fmt.Errorf("read the response of %s: %w", op, err)
	}
	return nil
}

func encode(message encoder) ([]byte, error) {
	if message == nil {
		return []byte("{}"), nil
	}
	w := &writer{}
	message.write(w)
	return w.data, w.err
}

func decode(data []byte, into decoder) error {
	s := scan.New(data)
	into.read(s)
	return s.End()
}

// writer writes JSON without reflection, and keeps the first error.
type writer struct {
	data  []byte
	field string // of the next value, for errors
	err   error
}

func (w *writer) open()  { w.data = append(w.data, '{') }
func (w *writer) close() { w.data = append(w.data, '}') }

func (w *writer) key(name string) { w.data, w.field = scan.AppendKey(w.data, name), name }

func (w *writer) text(v string)         { w.data = scan.AppendString(w.data, v) }
func (w *writer) texts(v []string)      { w.data = scan.AppendStrings(w.data, v) }
func (w *writer) bool(v bool)           { w.data = strconv.AppendBool(w.data, v) }
func (w *writer) int(v int64)           { w.data = strconv.AppendInt(w.data, v, 10) }
func (w *writer) uint(v uint64)         { w.data = strconv.AppendUint(w.data, v, 10) }
func (w *writer) number(v float64)      { w.float(v, 64) }
func (w *writer) number32(v float32)    { w.float(float64(v), 32) }
func (w *writer) raw(v json.RawMessage) { w.data = append(w.data, w.valid(v)...) }

func (w *writer) float(v float64, bits int) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.fail(fmt.Errorf("%s is %v, which JSON has no number for", w.field, v))
		return
	}
	w.data = strconv.AppendFloat(w.data, v, 'g', -1, bits)
}

// valid returns v, or null if it is empty. Anything but one JSON value is an error: its rest would become part of the request.
func (w *writer) valid(v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("null")
	}
	s := scan.New(v)
	s.Skip()
	if err := s.End(); err != nil {
		w.fail(fmt.Errorf("%s is not one JSON value: %w", w.field, err))
	}
	return v
}

// any writes details of errors, the only values of any type.
func (w *writer) any(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		w.fail(fmt.Errorf("%s: %w", w.field, err))
	}
	w.data = append(w.data, data...)
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) list(n int, element func(i int)) {
	w.data = append(w.data, '[')
	for i := range n {
		if i > 0 {
			w.data = append(w.data, ',')
		}
		element(i)
	}
	w.data = append(w.data, ']')
}

// writeMap writes an object with its keys in order, so that equal maps are equal bytes.
func writeMap[T any](w *writer, m map[string]T, value func(v T)) {
	w.open()
	for _, key := range slices.Sorted(maps.Keys(m)) {
		w.key(key)
		value(m[key])
	}
	w.close()
}

// readable is a pointer to a message that reads itself.
type readable[T any] interface {
	*T
	decoder
}

// readAny reads details of errors as encoding/json does.
func readAny(s *scan.Scanner) (v any) {
	if raw := s.Raw(); s.Err() == nil {
		json.Unmarshal(raw, &v) // cannot fail: the scanner has checked it
	}
	return v
}

func readObject[T any, P readable[T]](s *scan.Scanner) (x T) {
	P(&x).read(s)
	return x
}

func readNullable[T any, P readable[T]](s *scan.Scanner) *T {
	if s.Null() {
		return nil
	}
	x := readObject[T, P](s)
	return &x
}

func readPointer[T any](s *scan.Scanner, read func() T) *T {
	if s.Null() {
		return nil
	}
	x := read()
	return &x
}

func readList[T any](s *scan.Scanner, read func() T) []T {
	if s.Null() {
		return nil
	}
	list := []T{}
	for range s.Elements() {
		list = append(list, read())
	}
	return list
}

func readMap[T any](s *scan.Scanner, read func() T) map[string]T {
	if s.Null() {
		return nil
	}
	m := map[string]T{}
	for key := range s.Fields() {
		m[key] = read()
	}
	return m
}
