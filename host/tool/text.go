package tool

import (
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool/request"
)

// Clip shortens text to a number of characters.
func Clip(text string, limit int) string { return request.Clip(text, limit) }

// Invalid returns the error of a request that its caller must change.
func Invalid(details map[string]any, format string, values ...any) *memory.Error {
	return request.Invalid(details, format, values...)
}

const (
	namedInNotes = 5  // names that a note lists
	gotLength    = 60 // characters of a name or a value quoted in an error
)

// Quoted lists some names for a note.
func Quoted(names []string) string {
	var list []string
	for i, name := range names {
		if i == namedInNotes {
			list = append(list, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		list = append(list, fmt.Sprintf("%q", Clip(name, 64)))
	}
	return strings.Join(list, ", ")
}
