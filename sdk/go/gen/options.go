package gen

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// options are what the tags of a field say.
type options struct {
	name      string // in JSON; empty: made of the field's
	skip      bool   // json:"-"
	omit      bool   // left out where it is zero
	required  bool
	clear     bool   // null takes away what there is
	many      bool   // the schema says that one will do for a list of one
	opaque    bool   // the schema says of an object nothing but that it is one
	shared    bool   // a setting that all families have that declare it
	advanced  bool   // rarely needed: memory_capabilities shows it, and short lists of tools do not
	writeonly bool   // of an argument: its values are in no log
	committed bool   // of a result: the host sets it to the version of the commit
	category  string // of a shared setting
	key       string
	values    map[string]string // default, min, max, above, below
	items     map[string]string // min, max, above, below of the elements of a list
	enum      []string
	aliases   []string
	described string
}

// parseOptions reads the tags alcove and json of a field.
func parseOptions(tag string) (o options, err error) {
	o.values, o.items = map[string]string{}, map[string]string{}
	if name, rest, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); name == "-" && rest == "" {
		o.skip = true
	} else {
		o.name, o.omit = name, strings.Contains(rest, "omit")
	}
	text := reflect.StructTag(tag).Get("alcove")
	if text == "" {
		return o, nil
	}
	for _, part := range strings.Split(text, ",") {
		name, value, has := strings.Cut(strings.TrimSpace(part), "=")
		flag, known := map[string]*bool{"required": &o.required, "clear": &o.clear, "many": &o.many, "opaque": &o.opaque, "shared": &o.shared, "omit": &o.omit, "advanced": &o.advanced, "writeonly": &o.writeonly, "committed": &o.committed}[name]
		switch {
		case known && !has:
			*flag = true
		case !has || value == "" && name != "default":
			return o, unknown(part)
		case name == "name":
			o.name = value
		case name == "key":
			o.key = value
		case name == "category":
			o.category = value
		case name == "enum":
			o.enum = strings.Split(value, "|")
		case name == "alias":
			o.aliases = strings.Split(value, "|")
		case name == "default" || slices.Contains(boundNames(), name):
			o.values[name] = value
		case strings.HasPrefix(name, "items.") && slices.Contains(boundNames(), name[len("items."):]):
			o.items[name[len("items."):]] = value
		default:
			return o, unknown(part)
		}
	}
	o.omit = o.omit || o.committed
	return o, nil
}

// say reads the directives of a field: //alcove:default is a default that is too long for a tag, in as many lines as it takes.
func (o *options) say(list []directive) error {
	var words []string
	for _, d := range list {
		if d.name != "default" || d.rest == "" {
			return fmt.Errorf("//alcove:%s %s is no directive of a field: known is default VALUE", d.name, d.rest)
		}
		words = append(words, d.rest)
	}
	if words == nil {
		return nil
	}
	if _, twice := o.values["default"]; twice {
		return errors.New("it has a default in its tag and one in its comment")
	}
	o.values["default"] = strings.Join(words, " ")
	return nil
}

func boundNames() []string { return []string{"min", "max", "above", "below"} }

func unknown(part string) error {
	return fmt.Errorf("the tag has %q: known are required, clear, many, opaque, shared, omit, advanced, writeonly, committed, name=, key=, category=, default=, min=, max=, above=, below=, the last four with items. in front, enum=a|b and alias=a|b", part)
}

// number is a value of a tag as JSON.
func number(name, value string) (string, error) {
	if _, err := strconv.ParseFloat(value, 64); err != nil {
		return "", fmt.Errorf("%s=%s is no number", name, value)
	}
	return value, nil
}

// snake is a name of Go in the form of JSON: FactID is fact_id, and FactIDs fact_ids.
func snake(name string) string {
	var out []rune
	runes := []rune(name)
	for i, r := range runes {
		last := i+1 == len(runes) || runes[i+1] == 's' && (i+2 == len(runes) || unicode.IsUpper(runes[i+2])) // of an acronym
		starts := unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || !last && unicode.IsLower(runes[i+1]))
		if starts {
			out = append(out, '_')
		}
		out = append(out, unicode.ToLower(r))
	}
	return string(out)
}

// camel is a name of Go in the other form of JSON: FactID is factId.
func camel(name string) string {
	words := strings.Split(snake(name), "_")
	for i, w := range words[1:] {
		words[i+1] = upper(w)
	}
	return strings.Join(words, "")
}

// words are those of a directive, and its settings of the form name=value: any where known is nil, and no others than those that are
// known.
func words(name, rest string, known, settable []string) (flags []string, settings map[string]string, err error) {
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
