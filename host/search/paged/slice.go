package paged

import (
	"reflect"
	"unsafe"
)

// Slice is a slice that is stored like an Array. It is read into memory whole, and its changed pages are found by their checksums. Values must
// have no pointers.
type Slice[T any] struct {
	pages
	Values []T
}

func (s *Slice[T]) valueSize() int { return int(reflect.TypeFor[T]().Size()) }

func (s *Slice[T]) bytes(page int) []byte {
	from := page * PageSize
	values := s.Values[from:min(len(s.Values), from+PageSize)]
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*s.valueSize())
}

// fresh marks the pages whose content differs from what is stored.
func (s *Slice[T]) fresh() {
	s.length = uint32(len(s.Values))
	count := (len(s.Values) + PageSize - 1) / PageSize
	for len(s.states) < count {
		s.states = append(s.states, state{})
	}
	s.states = s.states[:count]
	for i := range s.states {
		st := &s.states[i]
		st.whole = st.whole || st.from.values == 0 || sum(s.bytes(i)) != st.from.sum
	}
}

func (s *Slice[T]) grown(int) {}

func (s *Slice[T]) move(int) {}

// read reads the values of all pages.
func (s *Slice[T]) read() {
	s.Values = make([]T, s.length)
	for i := range s.states {
		copy(s.bytes(i), s.states[i].from.bytes())
	}
}

func (s *Slice[T]) isLoaded(int) bool { return true }
