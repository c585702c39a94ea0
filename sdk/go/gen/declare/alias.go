package declare

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// otherNames are the other names of a tool's parameters, and of the tool with the values that each presets.
func (p Part) otherNames() (parameters map[string]string, aliases []abi.Alias, err error) {
	list := p.Tool.Arguments.Fields
	for _, x := range list {
		for _, other := range x.Aliases {
			if parameters == nil {
				parameters = map[string]string{}
			}
			parameters[other] = x.Name
		}
	}
	for _, d := range p.Said {
		if d.Name != "alias" {
			continue
		}
		one, err := alias(list, d.Rest)
		if err != nil {
			return nil, nil, fmt.Errorf("//alcove:alias %s: %w", d.Rest, err)
		}
		aliases = append(aliases, one)
	}
	return parameters, aliases, nil
}

// alias reads NAME PARAMETER=VALUE …: values as tags have defaults, in quotes where there are blanks.
func alias(parameters []Field, rest string) (a abi.Alias, err error) {
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
		i := slices.IndexFunc(parameters, func(x Field) bool { return x.Name == name })
		if i < 0 {
			return a, fmt.Errorf("the tool has no parameter %s", name)
		}
		preset, err := parameters[i].Type.Literal(value)
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
