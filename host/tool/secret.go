package tool

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/host/tool/request"
)

// Secret returns the names in the arguments of a call whose values must not be kept: parameters whose schema says writeOnly, or the
// format password. Nested values are not searched: of an object with one, the parameter itself must say so.
func (t *Tool) Secret(raw json.RawMessage) []string {
	var schema struct {
		Properties map[string]struct {
			WriteOnly bool
			Format    string
		}
	}
	if json.Unmarshal(t.Input, &schema) != nil {
		return nil
	}
	a, err := request.Parse(t.Names(), raw)
	if err != nil {
		return nil
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(a.Given())) {
		if p := schema.Properties[name]; p.WriteOnly || p.Format == "password" {
			names = append(names, name)
		}
	}
	return names
}
