package gen

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// otherNames are the other names of a tool's parameters, and of the tool with the values that each presets.
func (f *family) otherNames(p part) (parameters map[string]string, aliases []abi.Alias, err error) {
	list, err := f.fields(p.typ)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range list {
		for _, alias := range x.aliases {
			if parameters == nil {
				parameters = map[string]string{}
			}
			parameters[alias] = x.name
		}
	}
	for _, d := range p.doc.directives {
		if d.name != "alias" {
			continue
		}
		alias, err := f.alias(list, d.rest)
		if err != nil {
			return nil, nil, fmt.Errorf("//alcove:alias %s: %w", d.rest, err)
		}
		aliases = append(aliases, alias)
	}
	return parameters, aliases, nil
}

// alias reads NAME PARAMETER=VALUE …: values as tags have defaults, in quotes where there are blanks.
func (f *family) alias(parameters []field, rest string) (a abi.Alias, err error) {
	said, err := quotedWords(rest)
	if err != nil {
		return a, err
	}
	if len(said) == 0 || strings.Contains(said[0], "=") {
		return a, errors.New("write the other name of the tool, then PARAMETER=VALUE for what it presets")
	}
	a.Name = said[0]
	for _, w := range said[1:] {
		name, value, _ := strings.Cut(w, "=")
		i := slices.IndexFunc(parameters, func(x field) bool { return x.name == name })
		if i < 0 {
			return a, fmt.Errorf("the tool has no parameter %s", name)
		}
		preset, err := f.literal(parameters[i].typ, value)
		if err != nil {
			return a, fmt.Errorf("%s: %w", name, err)
		}
		if a.Arguments == nil {
			a.Arguments = map[string]json.RawMessage{}
		}
		a.Arguments[name] = json.RawMessage(preset)
	}
	return a, nil
}

// quotedWords are the words of a text that blanks separate, except between quotes, which are left out.
func quotedWords(text string) (list []string, err error) {
	var word []byte
	inWord, quoted := false, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"':
			quoted, inWord = !quoted, true
		case c == ' ' && !quoted:
			if inWord {
				list = append(list, string(word))
			}
			word, inWord = nil, false
		default:
			word, inWord = append(word, c), true
		}
	}
	if quoted {
		return nil, errors.New("a quote is missing")
	}
	if inWord {
		list = append(list, string(word))
	}
	return list, nil
}
