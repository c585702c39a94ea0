package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Spread is what an alias stands for whose value is an object of further parameters.
const Spread = "..."

// The parameters that every tool takes unless it has its own of that name, which means what the tool says.
const (
	branchParameter    = "branch"
	namespaceParameter = "namespace"
	asOfParameter      = "as_of"
	dryRunParameter    = "dry_run"
)

// parameters are the names that the arguments of a tool may have.
type parameters struct {
	types  map[string]property // of the properties of the schema
	common map[string]bool     // parameters that every tool takes, and this one has not itself
	known  map[string]string   // what a folded spelling stands for
	closed bool                // the schema refuses what it does not name
	free   bool                // the schema names nothing: anything goes
}

// fold makes spellings equal that differ by case, _ and -.
func fold(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return r
	}, name))
}

func parametersOf(s Spec) parameters {
	p := parameters{
		types: propertiesOf(s.Input), common: map[string]bool{}, known: map[string]string{},
		closed: refusesMore(s.Input),
	}
	p.free = len(p.types) == 0 && !p.closed && !s.Lenient || describesMore(s.Input)
	ambiguous := map[string]bool{}
	for name := range p.types {
		if _, twice := p.known[fold(name)]; twice {
			ambiguous[fold(name)] = true
		}
		p.known[fold(name)] = name
	}
	for spelling := range ambiguous { // the tool tells them apart
		delete(p.known, spelling)
	}
	for alias, name := range s.Parameters {
		if _, taken := p.known[fold(alias)]; !taken && !ambiguous[fold(alias)] {
			p.known[fold(alias)] = name
		}
	}
	p.addCommon(s, ambiguous)
	return p
}

// addCommon adds the parameters that every tool takes. A lenient tool names in its schema all that it takes, so that only
// those are left that change how it is called.
func (p *parameters) addCommon(s Spec, ambiguous map[string]bool) {
	for _, name := range []string{branchParameter, namespaceParameter, asOfParameter, dryRunParameter} {
		_, taken := p.known[fold(name)]
		where := name == branchParameter || name == namespaceParameter
		if taken || ambiguous[fold(name)] || s.Lenient && (where || name == asOfParameter && s.Annotations.ReadOnly) {
			continue
		}
		p.known[fold(name)], p.common[name] = name, true
	}
}

// lookup gives the parameter that a name stands for.
func (p parameters) lookup(name string) (string, bool) {
	if _, exact := p.types[name]; exact {
		return name, true
	}
	parameter, known := p.known[fold(name)]
	return parameter, known
}

// rename gives all arguments the names of their parameters. Those that the tool does not know keep their names; they are
// listed, and dropped where the tool's schema refuses them.
func (a *Arguments) rename(p parameters) {
	given := a.members
	a.members = make(map[string]json.RawMessage, len(given))
	a.add(p, given, "")
}

// Rename gives the members of an object in a list the names of what such an object has, which some parameters of the tool
// may have, too: then their other spellings count here. Others are listed as unknown.
func (a *Arguments) Rename(t *Tool, names ...string) {
	p := parameters{types: map[string]property{}, known: map[string]string{}}
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

// add puts arguments under the names of their parameters; within is how the object that they were in is named.
func (a *Arguments) add(p parameters, given map[string]json.RawMessage, within string) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		parameter, known := p.lookup(name)
		switch raw := given[name]; {
		case !known:
			a.unknown(p, within+name, raw)
		case parameter == Spread:
			a.spread(p, raw, within+name)
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

// put gives a parameter its value, which only one of its spellings may have.
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

// spread takes the members of an object for arguments.
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

// label is a parameter as the caller spelled it.
func (a *Arguments) label(parameter string) string {
	if name, ok := a.spelled[parameter]; ok {
		return name
	}
	return parameter
}

// mostUnknown is how many unknown parameters a note names.
const mostUnknown = 10

// unknownNote says which arguments the tool does not know; empty: it knows all of them.
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
