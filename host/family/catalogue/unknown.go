package catalogue

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
)

// unknown returns the error for an unknown name. The caller holds mu.
func (f *Catalogue) unknown(what, name string) error {
	return NotFound(what, name, slices.Collect(maps.Keys(f.known)))
}

// unknownTool returns the error for a tool that does not exist for a caller. The caller holds mu.
func (f *Catalogue) unknownTool(c memory.Caller, name string) error {
	var names []string
	for tool, x := range f.tools {
		if c.Rights.May(memory.ToUse(x.Name)) {
			names = append(names, tool)
		}
	}
	return NotFound("tool", name, names)
}

// NotFound returns the error for a name that is not among the known ones.
func NotFound(what, name string, known []string) error {
	slices.Sort(known)
	list := strings.Join(known, ", ")
	if list == "" {
		list = "none"
	}
	return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no %s %.100q: there are %s", what, name, list)}
}
