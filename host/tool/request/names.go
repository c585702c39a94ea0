package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Spread is the target of a spelling whose value is an object of further parameters.
const Spread = "..."

// Names are the names by which the parameters of a tool are given.
type Names struct {
	Tool   string                     // as errors call it
	Types  map[string]any             // parameter → its type in the schema
	Known  map[string]string          // further spelling, folded → parameter, or Spread
	First  map[string]string          // the same, before all others
	Beside []string                   // spellings that are unknown where their parameter is given by its own name
	Preset map[string]json.RawMessage // parameters that are missing otherwise

	Closed bool // unknown arguments are dropped
	Free   bool // there are no unknown arguments
	Passes bool // unknown arguments reach the tool
}

// Fold normalizes spellings that differ by case, _ and - only.
func Fold(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return r
	}, name))
}

// Lookup returns the parameter that a name stands for.
func (n *Names) Lookup(name string) (string, bool) {
	if len(n.First) > 0 {
		if parameter, meant := n.First[Fold(name)]; meant {
			return parameter, true
		}
	}
	if _, exact := n.Types[name]; exact {
		return name, true
	}
	parameter, known := n.Known[Fold(name)]
	return parameter, known
}

// rename renames all arguments to their parameters. Unknown arguments keep their names; they are recorded, and dropped if
// the tool's schema refuses them.
func (a *Arguments) rename(n *Names) {
	given := a.members
	if n.spells(given) {
		return // which is the case of a thousand items that a program wrote
	}
	a.members = make(map[string]json.RawMessage, len(given))
	a.add(n, given, "")
}

// spells reports whether all arguments have the names of parameters.
func (n *Names) spells(given map[string]json.RawMessage) bool {
	for name := range given {
		if _, exact := n.Types[name]; !exact || len(n.First) > 0 {
			return false
		}
	}
	return given != nil
}

// add stores arguments by parameter; within is the prefix for the object that they come from.
func (a *Arguments) add(n *Names, given map[string]json.RawMessage, within string) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		parameter, known := n.Lookup(name)
		switch raw := given[name]; {
		case !known:
			a.unknown(n, within+name, raw)
		case parameter == Spread:
			a.spread(n, raw, within+name)
		case slices.Contains(n.Beside, name) && !absent(given[parameter]):
			a.unknown(n, within+name, raw)
		default:
			a.put(parameter, within+name, raw)
		}
	}
}

func (a *Arguments) unknown(n *Names, name string, raw json.RawMessage) {
	if !n.Free && !absent(raw) {
		a.problems.unknown = append(a.problems.unknown, a.within+name)
	}
	if _, taken := a.members[name]; !n.Closed && !taken {
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
func (a *Arguments) spread(n *Names, raw json.RawMessage, name string) {
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
		a.add(n, members, name+".")
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

// Notes returns the notes on arguments so far, of which at most some are named.
func (a *Arguments) Notes() []string {
	taken := a.problems.notes
	if len(taken) > mostUnknown {
		taken = append(slices.Clone(taken[:mostUnknown]), fmt.Sprintf("So were %d more.", len(taken)-mostUnknown))
	}
	return slices.Concat(a.unknownNotes(), taken)
}

// TakeNotes returns and clears the notes on arguments so far.
func (a *Arguments) TakeNotes() []string {
	notes := a.Notes()
	a.problems.unknown, a.problems.notes = nil, nil
	return notes
}

// unknownNotes returns a note that names the unknown arguments, if there are any.
func (a *Arguments) unknownNotes() []string {
	names := a.problems.unknown
	if len(names) == 0 {
		return nil
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
	return []string{fmt.Sprintf("%s has no %s %s: %s.", a.tool, noun, strings.Join(quoted, ", "), fate)}
}
