package declare

import (
	"fmt"
	"slices"
	"strings"
)

// Directive is a comment of the form //alcove:NAME REST.
type Directive struct{ Name, Rest string }

// DirectiveOf is the directive that a line of a comment is, without the line's own marks.
func DirectiveOf(line string) (d Directive, ok bool) {
	text, ok := strings.CutPrefix(line, "alcove:")
	name, rest, _ := strings.Cut(text, " ")
	return Directive{name, strings.TrimSpace(rest)}, ok
}

// Find is the first directive of a name, if there is one.
func Find(list []Directive, name string) (d Directive, ok bool) {
	for _, d := range list {
		if d.Name == name {
			return d, true
		}
	}
	return Directive{}, false
}

// NameIn is the first word of a directive that is neither a setting nor known; empty: there is none.
func NameIn(rest string, known []string) string {
	for _, w := range strings.Fields(rest) {
		if !strings.Contains(w, "=") && !slices.Contains(known, w) {
			return w
		}
	}
	return ""
}

// Words are those of a directive, and its settings of the form name=value: any where known is nil, and no others than those that are
// known.
func Words(name, rest string, known, settable []string) (flags []string, settings map[string]string, err error) {
	settings = map[string]string{}
	for _, w := range strings.Fields(rest) {
		key, value, set := strings.Cut(w, "=")
		switch {
		case set && slices.Contains(settable, key) && value != "":
			settings[key] = value
		case !set && slices.Contains(known, w):
			flags = append(flags, w)
		default:
			return nil, nil, fmt.Errorf("//alcove:%s says %q: known are %s", name, w, strings.Join(append(slices.Clone(known), suffixed(settable)...), ", "))
		}
	}
	return flags, settings, nil
}

func suffixed(names []string) (list []string) {
	for _, name := range names {
		list = append(list, name+"=")
	}
	return list
}
