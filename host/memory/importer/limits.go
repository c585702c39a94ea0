package importer

import (
	"fmt"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
)

// Input limits. Each is checked before decoding, which takes many times the memory.
const (
	maxLine    = 16 << 20 // bytes of a line
	maxElement = 64 << 20 // bytes of an element of an array, such as a conversation
	maxDepth   = 512      // nested lists and objects, in a line or element
	maxValues  = 500_000  // values and names of members, in a line or element

	maxParts = 100_000       // files of an export
	maxPart  = 2_000_000_000 // bytes of a file in a zip, unpacked
	detected = 64 << 10      // bytes by which a format is told

	maxText = 256 << 10 // bytes of an attached text in one memory

	maxNote  = 1 << 20 // bytes
	maxNotes = 1_000_000

	mostTags   = 64  // from a note's text, as a memory may have
	longestTag = 128 // bytes

	maxFront         = 64 << 10  // bytes of a note's front matter
	maxFrontNodes    = 10_000    // keys, values, lists and maps of it
	maxFrontDepth    = 32        // nested lists and maps
	maxFrontExpanded = 256 << 10 // bytes with aliases expanded

	maxIndex      = 5_000_000 // names kept in memory
	maxIndexBytes = 256 << 20 // bytes of them
)

// LimitError means that an input exceeds a limit.
type LimitError struct {
	Limit string // as in "nested lists and objects"
	Most  int
	Do    string
}

func (e *LimitError) Error() string { return fmt.Sprintf("more than %d %s: %s", e.Most, e.Limit, e.Do) }

// CheckJSON bounds JSON before it is decoded; it does not validate.
func CheckJSON(raw []byte) error {
	if jsontext.Depth(raw) > maxDepth {
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

// remember counts names. Exceeding the limit ends Read.
func (in Input) remember(x *index, names ...string) error {
	if err := x.add(names...); err != nil {
		return &stopError{err}
	}
	return nil
}

// index counts the names that are kept until the end of the input.
type index struct{ names, bytes int }

// add counts names.
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
