package tool

import (
	"encoding/json"
)

// Prepared is the arguments of a call, read as the tool's Spec says.
type Prepared struct {
	Arguments *Arguments      // under the names of the tool's parameters
	JSON      json.RawMessage // the same as an object that fits Input; nil when the tool is Lenient

	// What the arguments say beside the tool's own parameters; empty: nothing.
	Branch, Namespace string
	AsOf              string
	DryRun            bool
}

// Prepare reads the arguments of a call: an object, or the text of one. It gives them the names of the tool's parameters
// and, unless the tool is Lenient, makes them what its schema asks for, where that is plain, and checks them.
func (t *Tool) Prepare(raw json.RawMessage) (Prepared, error) {
	a, err := parseArguments(t.Name, raw)
	if err != nil {
		return Prepared{}, err
	}
	a.passes = !t.Lenient && !t.parameters.closed
	a.rename(t.parameters)
	a.fill(t.preset)
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

// Notes say which of the arguments given so far the tool does not know. Those in lists and objects are known once the
// handler has read them.
func (p Prepared) Notes() []string { return NotesOf(p.Arguments.unknownNote()) }

// fill adds arguments that are not given.
func (a *Arguments) fill(preset map[string]json.RawMessage) {
	for name, value := range preset {
		if given, ok := a.members[name]; !ok || absent(given) {
			a.members[name] = value
		}
	}
}

// separate takes some parameters away, for them to be read apart from the others.
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
