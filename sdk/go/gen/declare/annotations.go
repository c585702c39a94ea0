package declare

import (
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// Annotate adds what a source leaves out of a tool's annotations: a hint that it does not give is false, a tool that only reads may be called
// again, and the title is the tool's short name.
func Annotate(a *abi.Annotations, short string) {
	for _, hint := range []**bool{&a.ReadOnly, &a.Destructive, &a.Idempotent, &a.OpenWorld} {
		if *hint == nil {
			*hint = new(false)
		}
	}
	if *a.ReadOnly {
		a.Idempotent = new(true)
	}
	if a.Title == "" {
		a.Title = Upper(strings.ReplaceAll(Snake(short), "_", " "))
	}
}

// Short is the name of a tool without that of its family.
func Short(family, tool string) string {
	for _, prefix := range []string{"memory_", strings.ReplaceAll(family, "-", "_") + "_"} {
		tool = strings.TrimPrefix(tool, prefix)
	}
	return tool
}
