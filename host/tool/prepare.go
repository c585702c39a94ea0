package tool

import (
	"encoding/json"
	"slices"
)

// Prepared is the arguments of a call, parsed according to the tool's Spec.
type Prepared struct {
	Arguments *Arguments      // by the names of the tool's parameters
	JSON      json.RawMessage // the same, as an object that fits Input; nil if the tool is Lenient

	// Values of common parameters; empty: not given.
	Branch, Namespace string
	AsOf              string
	DryRun            bool
}

// Prepare parses the arguments of a call: an object, or the text of one. It renames them to the tool's parameters and,
// unless the tool is Lenient, converts them to the types in its schema, where unambiguous, and validates them.
func (t *Tool) Prepare(raw json.RawMessage) (Prepared, error) {
	a, err := parseArguments(t.Name, raw)
	if err != nil {
		return Prepared{}, err
	}
	a.passes = !t.Lenient && !t.parameters.closed
	a.rename(t.parameters)
	a.fill(t.preset)
	a.tagged = t.parameters.types[tagsParameter].Type == "array"
	a.splitTags()
	p := Prepared{Arguments: a}
	common := a.separate(t.parameters.common)
	p.Branch, p.Namespace = common.Text(branchParameter), common.Text(namespaceParameter)
	p.AsOf, p.DryRun = common.Text(asOfParameter), common.Flag(dryRunParameter)
	if err := a.Err(); err != nil {
		return Prepared{}, err
	}
	if !t.Lenient {
		p.JSON, err = t.coerce(a)
	}
	return p, err
}

// Missing returns the required parameters that the arguments of a call leave out; nil if it cannot tell. Of alternatives, none of which is
// given, it returns the first.
func (t *Tool) Missing(raw json.RawMessage) []string {
	var s struct {
		Required []string
		AnyOf    []struct{ Required []string }
	}
	if json.Unmarshal(t.Input, &s) != nil {
		return nil
	}
	a, err := parseArguments(t.Name, raw)
	if err != nil {
		return nil
	}
	a.rename(t.parameters)
	a.fill(t.preset)
	complete := func(names []string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !a.Has(name) })
	}
	if len(s.AnyOf) > 0 && !slices.ContainsFunc(s.AnyOf, func(one struct{ Required []string }) bool { return complete(one.Required) }) {
		s.Required = append(s.Required, s.AnyOf[0].Required...)
	}
	return slices.DeleteFunc(s.Required, a.Has)
}

// Notes returns notes that name the unknown arguments found so far. Those in lists and objects are found when the handler
// reads them.
func (p Prepared) Notes() []string { return p.Arguments.notes() }

// fill sets missing arguments.
func (a *Arguments) fill(preset map[string]json.RawMessage) {
	for name, value := range preset {
		if given, ok := a.members[name]; !ok || absent(given) {
			a.members[name] = value
		}
	}
}

// separate moves some parameters into Arguments of their own.
func (a *Arguments) separate(names map[string]bool) *Arguments {
	apart := &Arguments{tool: a.tool, within: a.within, members: map[string]json.RawMessage{}, spelled: a.spelled, problems: a.problems}
	for name := range names {
		if raw, given := a.members[name]; given {
			apart.members[name] = raw
			delete(a.members, name)
		}
	}
	return apart
}
