package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Spread is the target of an alias whose value is an object of further parameters.
const Spread = "..."

// Common parameters, which every tool accepts. A tool's own parameter of the same name takes precedence.
const (
	branchParameter    = "branch"
	namespaceParameter = "namespace"
	asOfParameter      = "as_of"
	dryRunParameter    = "dry_run"
	scopeParameter     = "scopeId" // another name of namespace
)

// parameters describes the argument names that a tool accepts.
type parameters struct {
	types  map[string]property // the schema's properties
	common map[string]bool     // common parameters that the tool does not define
	known  map[string]string   // folded spelling → parameter
	closed bool                // the schema refuses unnamed members
	free   bool                // the schema names no members: all are allowed
	beside []string            // see Spec.Beside
	first  map[string]string   // folded spelling → parameter, of an alias of the tool: before all others
}

// fold normalizes spellings that differ by case, _ and - only.
func fold(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return r
	}, name))
}

func parametersOf(s Spec) parameters {
	described := describedBy(s.Input)
	p := parameters{
		types: described.types(), common: map[string]bool{}, known: map[string]string{},
		closed: described.refuseMore(), beside: s.Beside,
	}
	p.free = len(p.types) == 0 && !p.closed && !s.Lenient || described.describeMore()
	ambiguous := map[string]bool{}
	for name := range p.types {
		if _, twice := p.known[fold(name)]; twice {
			ambiguous[fold(name)] = true
		}
		p.known[fold(name)] = name
	}
	for spelling := range ambiguous { // the tool distinguishes them
		delete(p.known, spelling)
	}
	for alias, name := range s.Parameters {
		if _, taken := p.known[fold(alias)]; !taken && !ambiguous[fold(alias)] {
			p.known[fold(alias)] = name
		}
	}
	if name := soleID(described.Required); name != "" && p.known[idMember] == "" && !ambiguous[idMember] {
		p.known[idMember] = name
	}
	p.addCommon(s, ambiguous)
	return p
}

// addCommon adds the common parameters. A lenient tool names all that it reads in its schema, so it gets only those that
// change how it is called.
func (p *parameters) addCommon(s Spec, ambiguous map[string]bool) {
	for _, name := range []string{branchParameter, namespaceParameter, asOfParameter, dryRunParameter} {
		_, taken := p.known[fold(name)]
		where := name == branchParameter || name == namespaceParameter
		if taken || ambiguous[fold(name)] || s.Lenient && (where || name == asOfParameter && s.Annotations.ReadOnly) {
			continue
		}
		p.known[fold(name)], p.common[name] = name, true
	}
	if _, taken := p.known[fold(scopeParameter)]; !taken && p.common[namespaceParameter] {
		p.known[fold(scopeParameter)] = namespaceParameter
	}
}

// lookup returns the parameter that a name stands for.
func (p parameters) lookup(name string) (string, bool) {
	if len(p.first) > 0 {
		if parameter, meant := p.first[fold(name)]; meant {
			return parameter, true
		}
	}
	if _, exact := p.types[name]; exact {
		return name, true
	}
	parameter, known := p.known[fold(name)]
	return parameter, known
}

// rename renames all arguments to their parameters. Unknown arguments keep their names; they are recorded, and dropped if
// the tool's schema refuses them.
func (a *Arguments) rename(p parameters) {
	given := a.members
	a.members = make(map[string]json.RawMessage, len(given))
	a.add(p, given, "")
}

// Rename renames the members of a nested object to names. Aliases of the tool's parameters with the same names apply, too.
// Other members are recorded as unknown.
func (a *Arguments) Rename(t *Tool, names ...string) {
	if a.onlyHas(names) {
		return // which is the case of a thousand items that a program wrote
	}
	p := parameters{types: map[string]property{}, known: map[string]string{}, beside: t.parameters.beside}
	for spelling, name := range t.parameters.known {
		if slices.Contains(names, name) {
			p.known[spelling] = name
		}
	}
	for _, name := range names {
		p.types[name], p.known[fold(name)] = property{}, name
	}
	a.rename(p)
}

// onlyHas reports whether each member has one of the names.
func (a *Arguments) onlyHas(names []string) bool {
	for name := range a.members {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

// add stores arguments by parameter; within is the prefix for the object that they come from.
func (a *Arguments) add(p parameters, given map[string]json.RawMessage, within string) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		parameter, known := p.lookup(name)
		switch raw := given[name]; {
		case !known:
			a.unknown(p, within+name, raw)
		case parameter == Spread:
			a.spread(p, raw, within+name)
		case slices.Contains(p.beside, name) && !absent(given[parameter]):
			a.unknown(p, within+name, raw)
		default:
			a.put(parameter, within+name, raw)
		}
	}
}

func (a *Arguments) unknown(p parameters, name string, raw json.RawMessage) {
	if !p.free && !absent(raw) {
		a.problems.unknown = append(a.problems.unknown, a.within+name)
	}
	if _, taken := a.members[name]; !p.closed && !taken {
		a.members[name] = raw
	}
}

// TakeUnknown takes out the unknown arguments that are chosen by name. They are no longer noted.
func (a *Arguments) TakeUnknown(chosen func(name string) bool) map[string]json.RawMessage {
	taken := map[string]json.RawMessage{}
	a.problems.unknown = slices.DeleteFunc(a.problems.unknown, func(path string) bool {
		name, here := strings.CutPrefix(path, a.within)
		raw, there := a.members[name]
		if !here || !there || !chosen(name) {
			return false
		}
		taken[name] = raw
		delete(a.members, name)
		return true
	})
	return taken
}

// Takes reports whether the tool has a parameter of a name, in any spelling.
func (t *Tool) Takes(name string) bool {
	_, known := t.parameters.lookup(name)
	return known
}

// put sets a parameter, of which only one spelling may have a value.
func (a *Arguments) put(parameter, name string, raw json.RawMessage) {
	before, twice := a.members[parameter]
	if twice && !absent(before) {
		if !absent(raw) {
			a.Fault(parameter, fmt.Sprintf("%s%s and %s%s are the same parameter: give one of them", a.within, a.label(parameter), a.within, name))
		}
		return
	}
	a.members[parameter] = raw
	delete(a.spelled, parameter)
	if name != parameter {
		if a.spelled == nil {
			a.spelled = map[string]string{}
		}
		a.spelled[parameter] = name
	}
}

// spread adds the members of an object as arguments.
func (a *Arguments) spread(p parameters, raw json.RawMessage, name string) {
	if absent(raw) {
		return
	}
	object := raw
	if text, isText := stringOf(raw); isText {
		object = json.RawMessage(text)
	}
	members, err := a.inside(object)
	var twice *twiceError
	switch {
	case errors.As(err, &twice):
		a.Fault(name, a.within+name+": "+twice.Error())
	case err != nil:
		a.wrong(name, "an object", raw)
	default:
		a.add(p, members, name+".")
	}
}

// label returns a parameter's name as the caller spelled it.
func (a *Arguments) label(parameter string) string {
	if name, ok := a.spelled[parameter]; ok {
		return name
	}
	return parameter
}

// mostUnknown bounds the unknown parameters that a note names.
const mostUnknown = 10

// notes returns the notes on arguments so far, of which at most some are named.
func (a *Arguments) notes() []string {
	taken := a.problems.notes
	if len(taken) > mostUnknown {
		taken = append(slices.Clone(taken[:mostUnknown]), fmt.Sprintf("So were %d more.", len(taken)-mostUnknown))
	}
	return slices.Concat(NotesOf(a.unknownNote()), taken)
}

// unknownNote returns a note that names the unknown arguments, or "" if there are none.
func (a *Arguments) unknownNote() string {
	names := a.problems.unknown
	if len(names) == 0 {
		return ""
	}
	var quoted []string
	for _, name := range names[:min(len(names), mostUnknown)] {
		quoted = append(quoted, fmt.Sprintf("%q", Clip(name, gotLength)))
	}
	if more := len(names) - len(quoted); more > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", more))
	}
	noun, fate := "parameter", "it was ignored"
	switch several := len(names) > 1; {
	case several && a.passes:
		noun, fate = "parameters", "the tool may have ignored them"
	case several:
		noun, fate = "parameters", "they were ignored"
	case a.passes:
		fate = "the tool may have ignored it"
	}
	return fmt.Sprintf("%s has no %s %s: %s.", a.tool, noun, strings.Join(quoted, ", "), fate)
}
