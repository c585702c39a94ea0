package importer

import (
	"fmt"

	"github.com/alcove-memory/alcove/host/memory"
)

// Limits of what is read. Each is checked before what it bounds is decoded to values, which take many times the memory.
const (
	maxLine    = 16 << 20 // bytes of a line
	maxElement = 64 << 20 // bytes of an element of an array, such as a conversation
	maxDepth   = 512      // lists and objects within each other, in a line or element
	maxValues  = 500_000  // values and names of members, in a line or element

	maxNote  = 1 << 20 // bytes
	maxNotes = 1_000_000

	maxFront         = 64 << 10  // bytes of a note's front matter
	maxFrontTokens   = 10_000    // keys, values and punctuation of it
	maxFrontDepth    = 32        // lists and maps within each other in it
	maxFrontExpanded = 256 << 10 // bytes of it with what aliases stand for in place of them

	maxIndex      = 5_000_000 // names that are remembered
	maxIndexBytes = 256 << 20 // bytes of them
)

// LimitError says which limit an input exceeds.
type LimitError struct {
	Limit string // as in "nested lists and objects"
	Most  int
	Do    string
}

func (e *LimitError) Error() string { return fmt.Sprintf("more than %d %s: %s", e.Most, e.Limit, e.Do) }

// checkJSON bounds JSON that is valid, or about to be found not to be.
func checkJSON(raw []byte) error {
	if memory.Nesting(raw) > maxDepth {
		return &LimitError{"nested lists and objects", maxDepth, "make it flatter"}
	}
	values, quoted := 1, false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case quoted:
			if c == '\\' {
				i++
			}
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '[' || c == '{' || c == ',' || c == ':':
			values++
		}
		if values > maxValues {
			return &LimitError{"values in one piece of JSON", maxValues, "split it"}
		}
	}
	return nil
}

// remember counts names. That they are too many ends the reading.
func (in Input) remember(x *index, names ...string) error {
	if err := x.add(names...); err != nil {
		return &refused{err}
	}
	return nil
}

// index counts the names that are remembered until the input was read.
type index struct{ names, bytes int }

// add counts names that are remembered.
func (x *index) add(names ...string) error {
	for _, name := range names {
		x.names++
		x.bytes += len(name)
	}
	if x.names > maxIndex {
		return &LimitError{"names and relations", maxIndex, "split the input"}
	}
	if x.bytes > maxIndexBytes {
		return &LimitError{"bytes of names and relations", maxIndexBytes, "split the input"}
	}
	return nil
}
