package declare

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Options are what the tags of a field say.
type Options struct {
	Name      string // in JSON; empty: made of the field's
	Skip      bool   // json:"-"
	Omit      bool   // left out where it is zero
	Required  bool
	Clear     bool   // null takes away what there is
	Many      bool   // the schema says that one will do for a list of one
	Opaque    bool   // the schema says of an object nothing but that it is one
	Shared    bool   // a setting that all families have that declare it
	Advanced  bool   // rarely needed: memory_capabilities shows it, and short lists of tools do not
	Writeonly bool   // of an argument: its values are in no log
	Committed bool   // of a result: the host sets it to the version of the commit
	Category  string // of a shared setting
	Key       string
	Values    map[string]string // default, min, max, above, below
	Items     map[string]string // min, max, above, below of the elements of a list
	Enum      []string
	Aliases   []string
	Described string
}

// ParseOptions reads the tags alcove and json of a field.
func ParseOptions(tag string) (o Options, err error) {
	o.Values, o.Items = map[string]string{}, map[string]string{}
	if name, rest, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); name == "-" && rest == "" {
		o.Skip = true
	} else {
		o.Name, o.Omit = name, strings.Contains(rest, "omit")
	}
	text := reflect.StructTag(tag).Get("alcove")
	if text == "" {
		return o, nil
	}
	for _, part := range strings.Split(text, ",") {
		name, value, has := strings.Cut(strings.TrimSpace(part), "=")
		flag, known := map[string]*bool{"required": &o.Required, "clear": &o.Clear, "many": &o.Many, "opaque": &o.Opaque, "shared": &o.Shared, "omit": &o.Omit, "advanced": &o.Advanced, "writeonly": &o.Writeonly, "committed": &o.Committed}[name]
		switch {
		case known && !has:
			*flag = true
		case !has || value == "" && name != "default":
			return o, unknown(part)
		case name == "name":
			o.Name = value
		case name == "key":
			o.Key = value
		case name == "category":
			o.Category = value
		case name == "enum":
			o.Enum = strings.Split(value, "|")
		case name == "alias":
			o.Aliases = strings.Split(value, "|")
		case name == "default" || slices.Contains(boundNames(), name):
			o.Values[name] = value
		case strings.HasPrefix(name, "items.") && slices.Contains(boundNames(), name[len("items."):]):
			o.Items[name[len("items."):]] = value
		default:
			return o, unknown(part)
		}
	}
	o.Omit = o.Omit || o.Committed
	return o, nil
}

// Say reads the directives of a field: //alcove:default is a default that is too long for a tag, in as many lines as it takes.
func (o *Options) Say(list []Directive) error {
	var words []string
	for _, d := range list {
		if d.Name != "default" || d.Rest == "" {
			return fmt.Errorf("//alcove:%s %s is no directive of a field: known is default VALUE", d.Name, d.Rest)
		}
		words = append(words, d.Rest)
	}
	if words == nil {
		return nil
	}
	if _, twice := o.Values["default"]; twice {
		return errors.New("it has a default in its tag and one in its comment")
	}
	o.Values["default"] = strings.Join(words, " ")
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

// Snake is a name of Go in the form of JSON: FactID is fact_id, and FactIDs fact_ids.
func Snake(name string) string {
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

// Camel is a name of Go in the other form of JSON: FactID is factId.
func Camel(name string) string {
	words := strings.Split(Snake(name), "_")
	for i, w := range words[1:] {
		words[i+1] = Upper(w)
	}
	return strings.Join(words, "")
}
