package tool

import (
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/host/tool/request"
)

// Prepared is the arguments of a call, parsed according to the tool's Spec.
type Prepared struct {
	Arguments *request.Arguments // by the names of the tool's parameters
	JSON      json.RawMessage    // the same, as an object that fits Input; nil if the tool is Lenient

	// Values of common parameters; empty: not given.
	Branch, Namespace string
	AsOf              string
	DryRun            bool
}

// Prepare parses the arguments of a call: an object, or the text of one. It renames them to the tool's parameters and,
// unless the tool is Lenient, converts them to the types in its schema, where unambiguous, and validates them.
func (t *Tool) Prepare(raw json.RawMessage) (Prepared, error) { return t.prepare(raw, "") }

// prepare parses the arguments of a call that was given a namespace beside them, as an operation has it in its options; empty: none. It
// is the value of the tool's own parameter that takes the namespace, if the arguments leave that out.
func (t *Tool) prepare(raw json.RawMessage, namespace string) (Prepared, error) {
	a, err := request.Parse(t.Names(), raw)
	if err != nil {
		return Prepared{}, err
	}
	if own, takes := t.parameters.Lookup(namespaceParameter); takes && namespace != "" && !t.Lenient && !t.parameters.common[own] {
		quoted, err := Encode(namespace)
		if err != nil {
			return Prepared{}, err
		}
		a.Default(own, quoted)
	}
	p := Prepared{Arguments: a}
	common := a.Separate(t.parameters.common)
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
	a, err := request.Parse(t.Names(), raw)
	if err != nil {
		return nil
	}
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
func (p Prepared) Notes() []string { return p.Arguments.Notes() }
