package alcove

import (
	"unsafe"

	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// ID is the namespace and key of a memory or a record. As text it is namespace#key, or a key alone in the call's namespace.
type ID struct{ Namespace, Key string }

// ParseID reads an id. Text before a # that cannot be a namespace is part of the key.
func ParseID(text string) ID {
	for i := range len(text) {
		if text[i] == '#' && i+1 < len(text) && isNamespace(text[:i]) {
			return ID{text[:i], text[i+1:]}
		}
		if text[i] == '#' {
			break
		}
	}
	return ID{Key: text}
}

func isNamespace(text string) bool {
	for i := range len(text) {
		c := text[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '/' && c != '-' {
			return false
		}
	}
	return text != ""
}

// String is the id as ParseID reads it.
//
//go:noinline
func (id ID) String() string {
	if id.Namespace == "" {
		return id.Key
	}
	return id.Namespace + "#" + id.Key
}

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id == ID{} }

// EncodeJSON writes the id as text.
//
//go:noinline
func (id ID) EncodeJSON(w *scan.Writer) {
	if id.Namespace == "" {
		w.Text(id.Key)
		return
	}
	text := append(append(append(make([]byte, 0, usualID), id.Namespace...), '#'), id.Key...)
	w.Text(unsafe.String(unsafe.SliceData(text), len(text))) // which it copies
}

// usualID is as long as most ids are, in bytes.
const usualID = 128

// DecodeJSON reads the text of an id.
func (id *ID) DecodeJSON(s *scan.Scanner) { *id = ParseID(s.String()) }

// CodeJSON reads or writes the text of the id.
func (id *ID) CodeJSON(c *scan.Coder) { scan.CodeSelf(id, c) }

// MarshalText lets encoding/json write the id, in tests.
//
//go:noinline
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText lets encoding/json read the id, in tests.
//
//go:noinline
func (id *ID) UnmarshalText(text []byte) error {
	*id = ParseID(string(text))
	return nil
}

// ID is the id of a key in the call's namespace.
func (c *Call) ID(key string) ID { return ID{c.Namespace, key} }

// ID is the id of the memory.
func (m *Memory) ID() ID { return ID{m.Namespace, m.Key} }

// name is how an operation on the call's namespace names an id: by its key, with the namespace only where that is another.
func (c *Call) name(id ID) string {
	if id.Namespace == c.Namespace {
		return id.Key
	}
	return id.String()
}

// names are those of ids, without the zero ones; nil for none.
func (c *Call) names(ids []ID) []string {
	var names []string
	for _, id := range ids {
		if !id.IsZero() {
			names = append(names, c.name(id))
		}
	}
	return names
}
