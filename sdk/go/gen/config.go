package gen

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/types"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// setting is a key of the configuration and the field that it sets.
type setting struct {
	field
	key string
	// of a map or an array whose keys have a pattern: what stands for the star, in each of its keys.
	element types.Type
	of      string
	index   string // of it in the map or the array, as Go code
	initial string // JSON
}

// configFields are the keys of the configuration.
func (f *family) configFields() ([]setting, error) {
	if f.config == nil {
		return nil, nil
	}
	return f.configOf(f.config, "", "*")
}

// configOf are the keys of a struct; pattern has a star for their names.
func (f *family) configOf(t types.Type, path, pattern string) (list []setting, err error) {
	fields, err := f.fields(t)
	if err != nil {
		return nil, err
	}
	for _, x := range fields {
		x.path = path + x.path
		key := x.name
		if x.key != "" {
			key = x.key
		}
		key = strings.Replace(pattern, "*", key, 1)
		switch u := x.typ.Underlying().(type) {
		case *types.Map:
			more, err := f.mapSettings(x, key, u.Elem())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.label, err)
			}
			list = append(list, more...)
		case *types.Array:
			more, err := f.arraySettings(x, key, u)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.label, err)
			}
			list = append(list, more...)
		case *types.Struct:
			if !strings.Contains(key, "*") {
				return nil, fmt.Errorf("%s: give the keys of its fields a pattern, as in `alcove:\"key=weight_*\"`", x.label)
			}
			more, err := f.configOf(x.typ, x.path+".", key)
			if err != nil {
				return nil, err
			}
			for i := range more {
				if more[i].described == "" {
					more[i].described = strings.ReplaceAll(x.described, "*", more[i].field.name)
				}
				more[i].shared = more[i].shared || x.shared
				more[i].category = cmp.Or(more[i].category, x.category)
			}
			list = append(list, more...)
		default:
			initial, err := f.initial(x.typ, x.values)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.label, err)
			}
			list = append(list, setting{field: x, key: key, initial: initial})
		}
	}
	return list, nil
}

// mapSettings are the keys of a map: each name that its default gives a value is one.
func (f *family) mapSettings(x field, key string, element types.Type) (list []setting, err error) {
	text := x.values["default"]
	if !strings.Contains(key, "*") || text == "" {
		return nil, errors.New("a map has a pattern for its keys and a default for each, as in `alcove:\"key=weight_*,default=plan:0.6 other:0.5\"`")
	}
	for _, pair := range strings.Fields(text) {
		name, value, _ := strings.Cut(pair, ":")
		one := x
		one.typ, one.values = element, withDefault(x.values, value)
		one.described = strings.ReplaceAll(x.described, "*", name)
		initial, err := f.initial(element, one.values)
		if err != nil {
			return nil, err
		}
		list = append(list, setting{field: one, key: strings.Replace(key, "*", name, 1), element: element, of: name, index: strconv.Quote(name), initial: initial})
	}
	return list, nil
}

func withDefault(values map[string]string, value string) map[string]string {
	all := map[string]string{"default": value}
	for name, v := range values {
		if name != "default" {
			all[name] = v
		}
	}
	return all
}

// initial is the default of a setting as JSON.
func (f *family) initial(t types.Type, values map[string]string) (string, error) {
	if text, ok := values["default"]; ok {
		value, err := f.literal(t, text)
		if err != nil {
			return "", fmt.Errorf("default=%w", err)
		}
		return value, nil
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return "[]", nil
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return `""`, nil
		case u.Info()&types.IsBoolean != 0:
			return "false", nil
		case u.Info()&types.IsNumeric != 0:
			return "0", nil
		}
	}
	return "", fmt.Errorf("%s cannot be a setting", types.TypeString(t, nil))
}

// settings are the configuration as the manifest has it.
func (f *family) settings() ([]abi.Setting, error) {
	fields, err := f.configFields()
	if err != nil {
		return nil, err
	}
	var list []abi.Setting
	for _, s := range fields {
		plain := s.field
		plain.described, plain.values = "", map[string]string{}
		for name, value := range s.values {
			if name != "default" {
				plain.values[name] = value
			}
		}
		schema, err := f.fieldSchema(plain, toGuest, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.label, err)
		}
		if s.category != "" && !s.shared {
			return nil, fmt.Errorf("%s: category= is for shared settings", s.label)
		}
		setting := abi.Setting{Key: s.key, Description: s.described, Shared: s.shared, Category: s.category, Default: json.RawMessage(s.initial)}
		if len(schema) > 1 || schema[0].value != "boolean" && schema[0].value != "string" {
			if setting.Schema, err = json.Marshal(schema); err != nil {
				return nil, err
			}
		}
		list = append(list, setting)
	}
	return list, nil
}

// configReader writes the function that reads the configuration.
func (c *coder) configReader() {
	list, err := c.configFields()
	if err != nil {
		c.fail(err)
		return
	}
	c.printf("\n// readConfig reads the configuration of a call.\nfunc readConfig(c *alcove.Call) (cfg %s, err error) {\n", c.name(c.config))
	for _, s := range list {
		if text, ok := s.values["default"]; ok && s.of == "" {
			c.printf("cfg.%s = %s\n", s.path, c.constant(s.typ, text, s.label))
		}
	}
	c.configLists(list)
	c.printf("err = alcove.Decode(c.Config, \"configuration\", func(s *%s.Scanner) {\nfor key := range s.Fields() {\nswitch key {\n", c.scan())
	for _, s := range list {
		c.printf("case %q:\n", s.key)
		if s.of == "" {
			c.read(s.typ, "cfg."+s.path, 0, false)
			continue
		}
		c.printf("var v0 %s\n", c.name(s.element))
		c.read(s.element, "v0", 1, false)
		c.printf("cfg.%s[%s] = v0\n", s.path, s.index)
	}
	c.printf("default:\ns.Skip()\n}\n}\n})\nreturn cfg, err\n}\n")
}

// configLists makes the maps and arrays of the configuration with their defaults.
func (c *coder) configLists(list []setting) {
	for i := 0; i < len(list); {
		s, n := list[i], 1
		if s.of == "" {
			i++
			continue
		}
		for i+n < len(list) && list[i+n].path == s.path {
			n++
		}
		kind := "map[string]"
		if s.index == "0" {
			kind = "[...]"
		}
		c.printf("cfg.%s = %s%s{\n", s.path, kind, c.name(s.element))
		for _, one := range list[i : i+n] {
			c.printf("%s: %s,\n", one.index, c.constant(one.element, one.values["default"], one.label))
		}
		c.printf("}\n")
		i += n
	}
}
