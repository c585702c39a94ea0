package configfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The limits of a file.
const (
	Limit    = 1 << 20 // bytes
	deepest  = 16      // maps and lists in each other
	mostText = 1 << 16 // bytes of what a reference stands for
)

// LineError is what is wrong in a line of the file.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

func wrong(at *yaml.Node, format string, args ...any) error {
	return &LineError{at.Line, fmt.Errorf(format, args...)}
}

// decoder reads nodes into Go values. What a value has no place for is an error.
type decoder struct {
	resolve Resolver
}

// Value is a scalar of the section server, for a flag of the same name.
type Value struct {
	Text string
	Line int
}

func (d decoder) decode(n *yaml.Node, to reflect.Value, depth int) error {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return wrong(n, "anchors and aliases are not read: write the value where it is used")
	case depth > deepest:
		return wrong(n, "more than %d maps and lists in each other", deepest)
	case to.Kind() == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return d.decode(n, to.Elem(), depth)
	case to.Type() == reflect.TypeFor[json.RawMessage]():
		value, err := d.plain(n, depth)
		if err != nil {
			return err
		}
		text, err := json.Marshal(value)
		to.SetBytes(text)
		return err
	case to.Type() == reflect.TypeFor[Value]():
		text, err := d.scalar(n)
		to.Set(reflect.ValueOf(Value{text, n.Line}))
		return err
	}
	switch to.Kind() {
	case reflect.Struct:
		return d.members(n, to, depth)
	case reflect.Map:
		return d.entries(n, to, depth)
	case reflect.Slice:
		return d.list(n, to, depth)
	default:
		return d.text(n, to)
	}
}

// pairs returns the values of a map by name. A name that is there twice is an error.
func pairs(n *yaml.Node) (map[string]*yaml.Node, []*yaml.Node, error) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil, nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, nil, wrong(n, "it is not a map: write each member as name: value")
	}
	found, names := map[string]*yaml.Node{}, []*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if name.Kind != yaml.ScalarNode || name.Anchor != "" {
			return nil, nil, wrong(name, "a name is a text, without anchors and aliases")
		}
		if found[name.Value] != nil {
			return nil, nil, wrong(name, "%.80q is there twice", name.Value)
		}
		found[name.Value] = n.Content[i+1]
		names = append(names, name)
	}
	return found, names, nil
}

func (d decoder) members(n *yaml.Node, to reflect.Value, depth int) error {
	found, names, err := pairs(n)
	if err != nil {
		return err
	}
	fields := map[string]reflect.Value{}
	fieldsOf(to, fields)
	for _, name := range names {
		field, known := fields[name.Value]
		if !known {
			return wrong(name, "unknown member %.80q: it can be %s", name.Value, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		if err := d.decode(found[name.Value], field, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// fieldsOf collects the fields of a struct by their names in JSON, with those of structs that it embeds.
func fieldsOf(of reflect.Value, fields map[string]reflect.Value) {
	for i := range of.NumField() {
		f := of.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			fieldsOf(of.Field(i), fields)
		case f.IsExported() && name != "-" && name != "":
			fields[name] = of.Field(i)
		}
	}
}

func (d decoder) entries(n *yaml.Node, to reflect.Value, depth int) error {
	found, names, err := pairs(n)
	if err != nil {
		return err
	}
	to.Set(reflect.MakeMap(to.Type()))
	for _, name := range names {
		value := reflect.New(to.Type().Elem()).Elem()
		if err := d.decode(found[name.Value], value, depth+1); err != nil {
			return err
		}
		to.SetMapIndex(reflect.ValueOf(name.Value).Convert(to.Type().Key()), value)
	}
	return nil
}

func (d decoder) list(n *yaml.Node, to reflect.Value, depth int) error {
	if n.Kind != yaml.SequenceNode {
		return wrong(n, "it is not a list: write [one, two], or each in a line after -")
	}
	to.Set(reflect.MakeSlice(to.Type(), len(n.Content), len(n.Content)))
	for i, element := range n.Content {
		if err := d.decode(element, to.Index(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// text reads a scalar, with what its references stand for.
func (d decoder) text(n *yaml.Node, to reflect.Value) error {
	text, err := d.scalar(n)
	if err != nil {
		return err
	}
	switch to.Kind() {
	case reflect.String:
		to.SetString(text)
		return nil
	case reflect.Bool:
		if text != "true" && text != "false" {
			return wrong(n, "%.80q is neither true nor false", text)
		}
		to.SetBool(text == "true")
		return nil
	case reflect.Int, reflect.Int64:
		value, err := strconv.ParseInt(text, 10, to.Type().Bits())
		if err != nil {
			return wrong(n, "%.80q is not a whole number", text)
		}
		to.SetInt(value)
		return nil
	case reflect.Float64:
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			return wrong(n, "%.80q is not a number", text)
		}
		to.SetFloat(value)
		return nil
	}
	return wrong(n, "a %s cannot be written here", to.Type())
}

// scalar is the text of a scalar, or of the file that {file: path} names.
func (d decoder) scalar(n *yaml.Node) (string, error) {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return "", wrong(n, "anchors and aliases are not read: write the value where it is used")
	}
	if path, ok := fileReference(n); ok {
		name, err := d.scalar(path)
		if err != nil {
			return "", err
		}
		text, err := d.resolve.file(name)
		if err != nil {
			return "", wrong(n, "%w", err)
		}
		return text, nil
	}
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return "", wrong(n, "a text, a number or true or false has to be here, or {file: PATH}")
	}
	text, err := d.resolve.text(n.Value)
	if err != nil {
		return "", wrong(n, "%w", err)
	}
	return text, nil
}

func fileReference(n *yaml.Node) (path *yaml.Node, ok bool) {
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 || n.Content[0].Value != "file" {
		return nil, false
	}
	return n.Content[1], true
}

// plain is a node as JSON has it.
func (d decoder) plain(n *yaml.Node, depth int) (any, error) {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return nil, wrong(n, "anchors and aliases are not read: write the value where it is used")
	}
	if depth > deepest {
		return nil, wrong(n, "more than %d maps and lists in each other", deepest)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return d.plainMap(n, depth)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, element := range n.Content {
			var err error
			if list[i], err = d.plain(element, depth+1); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	if strings.Contains(n.Value, "${") {
		return d.scalar(n)
	}
	return plainScalar(n)
}

func (d decoder) plainMap(n *yaml.Node, depth int) (any, error) {
	found, names, err := pairs(n)
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	for _, name := range names {
		if object[name.Value], err = d.plain(found[name.Value], depth+1); err != nil {
			return nil, err
		}
	}
	return object, nil
}

func plainScalar(n *yaml.Node) (any, error) {
	switch n.Tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		return n.Value == "true", checkBool(n)
	case "!!int", "!!float":
		if !json.Valid([]byte(n.Value)) {
			return nil, wrong(n, "%.80q is not a number of JSON: write it in digits, or in quotes", n.Value)
		}
		return json.Number(n.Value), nil
	case "!!str", "!!timestamp":
		return n.Value, nil
	}
	return nil, wrong(n, "the tag %.80q is not read", n.Tag)
}

func checkBool(n *yaml.Node) error {
	if n.Value != "true" && n.Value != "false" {
		return wrong(n, "%.80q is neither true nor false", n.Value)
	}
	return nil
}
