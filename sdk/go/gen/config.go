package gen

import (
	"cmp"
	"errors"
	"fmt"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/sdk/go/gen/declare"
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
		key := x.Name
		if x.Key != "" {
			key = x.Key
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
				if more[i].Described == "" {
					more[i].Described = strings.ReplaceAll(x.Described, "*", more[i].field.Name)
				}
				more[i].Shared = more[i].Shared || x.Shared
				more[i].Category = cmp.Or(more[i].Category, x.Category)
			}
			list = append(list, more...)
		default:
			initial, err := f.initial(x.typ, x.Values)
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
	text := x.Values["default"]
	if !strings.Contains(key, "*") || text == "" {
		return nil, errors.New("a map has a pattern for its keys and a default for each, as in `alcove:\"key=weight_*,default=plan:0.6 other:0.5\"`")
	}
	for _, pair := range strings.Fields(text) {
		name, value, _ := strings.Cut(pair, ":")
		one := x
		one.typ, one.Values = element, withDefault(x.Values, value)
		one.Described = strings.ReplaceAll(x.Described, "*", name)
		initial, err := f.initial(element, one.Values)
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
		one, err := f.fieldOf(s.field, map[types.Type]*declare.Type{})
		if err != nil {
			return nil, err
		}
		setting, err := one.Setting(s.initial)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.label, err)
		}
		setting.Key = s.key
		list = append(list, setting)
	}
	return list, nil
}

// settings is the function that reads the configuration into a variable.
func (c *coder) settings(name string) string {
	if c.isOwn(c.config) {
		return name + ".CodeSettings"
	}
	return fmt.Sprintf("%s.Of(&%s, codeSettings).CodeJSON", c.scan(), name)
}

// configReader writes the function that reads the configuration, by its keys.
func (c *coder) configReader() {
	list, err := c.configFields()
	if err != nil {
		c.fail(err)
		return
	}
	if c.isOwn(c.config) {
		c.printf("\nfunc (x *%s) CodeSettings(c *%s.Coder) {\n", c.name(c.config), c.scan())
	} else {
		c.printf("\nfunc codeSettings(x *%s, c *%s.Coder) {\n", c.name(c.config), c.scan())
	}
	for _, s := range list {
		if text, ok := s.Values["default"]; ok && s.of == "" {
			c.printf("x.%s = %s\n", s.path, c.constant(s.typ, text, s.label))
		}
	}
	groups := grouped(list)
	for _, g := range groups {
		c.elements(g)
	}
	c.reading = true
	c.printf("c.Object([]%s.Field{\n", c.scan())
	for _, s := range list {
		at, of := "x."+s.path, s.typ
		if g, i := within(groups, s); g != nil {
			at, of = fmt.Sprintf("%s[%d]", g.variable, i), s.element
		}
		c.printf("{Name: %q, Value: %s},\n", s.key, c.value(of, at, false))
	}
	c.printf("})\n")
	c.reading = false
	for _, g := range groups {
		c.maps(g)
	}
	c.printf("}\n")
}

// group are the settings that are the elements of an array, or of a map: these are read into an array first.
type group struct {
	variable string // the array, as Go code
	settings []setting
}

func (g *group) isMap() bool { return strings.HasPrefix(g.settings[0].index, `"`) }

func grouped(list []setting) (groups []*group) {
	for _, s := range list {
		switch last := len(groups) - 1; {
		case s.of == "":
		case last >= 0 && groups[last].settings[0].path == s.path:
			groups[last].settings = append(groups[last].settings, s)
		default:
			g := &group{variable: "x." + s.path, settings: []setting{s}}
			if g.isMap() {
				g.variable = fmt.Sprintf("map%d", len(groups))
			}
			groups = append(groups, g)
		}
	}
	return groups
}

// within is the group of a setting and its index there; nil for one that is in none.
func within(groups []*group, s setting) (g *group, i int) {
	for _, g := range groups {
		if i := slices.IndexFunc(g.settings, func(o setting) bool { return o.key == s.key }); i >= 0 {
			return g, i
		}
	}
	return nil, 0
}

// elements sets an array to the defaults of its elements.
func (c *coder) elements(g *group) {
	var list []string
	for _, s := range g.settings {
		list = append(list, c.constant(s.element, s.Values["default"], s.label))
	}
	assign := map[bool]string{true: ":=", false: "="}[g.isMap()]
	c.printf("%s %s [...]%s{%s}\n", g.variable, assign, c.name(g.settings[0].element), strings.Join(list, ", "))
}

// maps makes a map of the array of its elements.
func (c *coder) maps(g *group) {
	if !g.isMap() {
		return
	}
	var list []string
	for i, s := range g.settings {
		list = append(list, fmt.Sprintf("%s: %s[%d]", s.index, g.variable, i))
	}
	c.printf("x.%s = map[string]%s{%s}\n", g.settings[0].path, c.name(g.settings[0].element), strings.Join(list, ", "))
}
