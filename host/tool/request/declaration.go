package request

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
)

// Declaration is what a struct R declares of a tool's parameters. Each of its fields with a tag json is one, in the order of the schema;
// those of a struct within R that has no such tag are, too:
//
//	K int `json:"k" alcove:"alias=limit|top_k" doc:"How many results, at most {max}: {default} when left out."`
//
// The tag doc describes it. The tag need makes it required, and tells errors what its value is. The tag schema is the form that its schema
// shows, with ' for ", where callers are to know less than is accepted. The tag alcove has options:
//
//	alias=a|b    other spellings of it
//	beside=a     another spelling, which is unknown where it is given by its own name
//	spread=a|b   parameters whose value is an object of further ones; of a field of type Spreads
//	show=a|b     what its schema shows of the Limit: minimum, maximum, default and enum
//	one          calls give it, or another one with this option
//	advanced     lists do not show it
//	hidden       its schema does not show it at all
type Declaration[R any] struct {
	Input     json.RawMessage   // JSON Schema of the arguments
	Spellings map[string]string // other spelling → parameter, or Spread
	Beside    []string

	shape *shape
}

// Limit bounds a parameter.
type Limit struct {
	Min, Max, Default int64             // of a whole number
	Words             []string          // of a text, or the texts of a list
	Synonyms          map[string]string // words for others
}

// Limits are limits by parameter.
type Limits map[string]Limit

// Limited is a struct that limits parameters: by the constants that others are limited by, too, which tags could only repeat. Whole numbers
// must have a limit.
type Limited interface{ Limits() Limits }

// Words returns words as a Limit has them.
func Words[W ~string](words ...W) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = string(word)
	}
	return list
}

// Spreads is the type of a field that declares parameters whose values are objects of further ones.
type Spreads struct{}

// Form is a parameter in a form of its own, such as a moment. A mistake of the type Expected is told with the value.
type Form interface {
	ReadArgument(raw json.RawMessage, now time.Time) error
}

// Expected is the mistake of a value that is not what it says.
type Expected string

func (e Expected) Error() string { return "it must be " + string(e) }

// Checker is a struct with mistakes that no single parameter shows.
type Checker interface{ Check(a *Arguments) }

// Preparer is a struct that prepares arguments before they are read into it. An element of a list may take some from those around the list.
type Preparer interface{ Prepare(own, around *Arguments) }

// Declare returns the declaration of R. Like regexp.MustCompile, it panics if that is wrong.
func Declare[R any]() *Declaration[R] {
	c := compiler{used: map[string]bool{}, shapes: map[reflect.Type]*shape{}}
	s := c.shape(reflect.TypeFor[R]())
	for name, used := range c.used {
		if !used {
			panic(fmt.Sprintf("declare %s: there is a limit of %q, which is not a parameter with limits", s.of, name))
		}
	}
	return &Declaration[R]{Input: s.input(), Spellings: s.spellings, Beside: s.names.Beside, shape: s}
}

// shape is a compiled struct.
type shape struct {
	of        reflect.Type
	fields    []*field
	names     Names // of a nested one
	spellings map[string]string
}

// field is a parameter.
type field struct {
	name, doc, need, schema string
	options                 []string
	limit                   Limit
	index                   []int
	anything                bool // null is a value, too
	always                  bool // it is read even if it is missing
	read                    reader
}

func (f *field) has(option string) bool { return slices.Contains(f.options, option) }

// list returns the values of an option.
func (f *field) list(option string) (values []string) {
	for _, o := range f.options {
		if name, value, _ := strings.Cut(o, "="); name == option && value != "" {
			values = append(values, strings.Split(value, "|")...)
		}
	}
	return values
}

type compiler struct {
	used   map[string]bool // whether a limit by a name is used
	shapes map[reflect.Type]*shape
}

func (c *compiler) shape(t reflect.Type) *shape {
	if s, begun := c.shapes[t]; begun {
		return s
	}
	s := &shape{of: t, names: Names{Types: map[string]any{}, Known: map[string]string{}}, spellings: map[string]string{}}
	c.shapes[t] = s
	c.add(s, t, nil)
	return s
}

// add adds the fields of a struct, and of those embedded in it.
func (c *compiler) add(s *shape, t reflect.Type, within []int) {
	var limits Limits
	if l, ok := reflect.New(t).Interface().(Limited); ok {
		limits = l.Limits()
	}
	for name := range limits {
		if !c.used[name] {
			c.used[name] = false // known, so that one without a parameter is found
		}
	}
	for i := range t.NumField() {
		of := t.Field(i)
		index := append(slices.Clone(within), i)
		f := &field{name: of.Tag.Get("json"), doc: of.Tag.Get("doc"), need: of.Tag.Get("need"), index: index}
		f.options = slices.DeleteFunc(strings.Split(of.Tag.Get("alcove"), ","), func(o string) bool { return o == "" })
		for _, spelling := range f.list("spread") {
			s.spell(spelling, Spread)
		}
		switch {
		case f.name != "":
			f.limit = limits[f.name]
			c.compile(s, f, of.Type)
			f.schema = strings.ReplaceAll(of.Tag.Get("schema"), "'", `"`)
			s.declare(f, schemaOf(of.Type))
		case of.Type.Kind() == reflect.Struct:
			c.add(s, of.Type, index)
		}
	}
}

// compile completes a field with its limit and the way it is read.
func (c *compiler) compile(s *shape, f *field, t reflect.Type) {
	var limited bool
	if f.read, limited = c.reader(t, f.limit); f.read == nil {
		panic(fmt.Sprintf("declare %s: %s has the type %s, which cannot be read, or has no limit", s.of, f.name, t))
	}
	if limited {
		c.used[f.name] = true
	}
	form := reflect.PointerTo(t).Implements(reflect.TypeFor[Form]())
	f.anything, f.always = t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Struct && !form
	words := strings.Join(f.limit.Words, ", ")
	insert := strings.NewReplacer("{max}", strconv.FormatInt(f.limit.Max, 10), "{default}", strconv.FormatInt(f.limit.Default, 10), "{words}", words)
	f.doc, f.need = insert.Replace(f.doc), insert.Replace(f.need)
}

// declare adds a field whose type has a schema.
func (s *shape) declare(f *field, schema string) {
	if f.schema == "" {
		f.schema = schema
	}
	s.fields = append(s.fields, f)
	var kind any
	if strings.HasPrefix(f.schema, `"type":"array"`) {
		kind = "array"
	}
	s.names.Types[f.name], s.names.Known[Fold(f.name)] = kind, f.name
	for _, spelling := range f.list("alias") {
		s.spell(spelling, f.name)
	}
	for _, spelling := range f.list("beside") {
		s.spell(spelling, f.name)
		s.names.Beside = append(s.names.Beside, spelling)
	}
	if f.has("hidden") {
		s.spellings[f.name] = f.name
	}
}

func (s *shape) spell(spelling, parameter string) {
	s.spellings[spelling], s.names.Known[Fold(spelling)] = parameter, parameter
}

// input returns the schema of arguments.
func (s *shape) input() json.RawMessage {
	properties, input := jsontext.NewObject(nil), jsontext.NewObject(nil)
	var required []string
	var either []map[string][]string
	for _, f := range s.fields {
		if f.has("hidden") {
			continue
		}
		properties.Value(f.name, f.property())
		if f.need != "" {
			required = append(required, f.name)
		}
		if f.has("one") {
			either = append(either, map[string][]string{"required": {f.name}})
		}
	}
	input.Text("type", "object")
	input.Value("properties", ended(properties))
	input.Texts("required", required)
	if len(either) > 0 {
		input.Any("anyOf", either)
	}
	return ended(input)
}

// property returns the schema of a parameter.
func (f *field) property() json.RawMessage {
	o := jsontext.NewObject(nil)
	shown := f.list("show")
	if slices.Contains(shown, "enum") {
		o.Texts("enum", f.limit.Words)
	}
	for _, bound := range []struct {
		name  string
		value int64
	}{{"default", f.limit.Default}, {"minimum", f.limit.Min}, {"maximum", f.limit.Max}} {
		if slices.Contains(shown, bound.name) {
			o.Any(bound.name, bound.value)
		}
	}
	o.True("x-advanced", f.has("advanced"))
	o.Text("description", f.doc)
	rest := ended(o)
	if f.schema == "" || len(rest) == len("{}") {
		return append(append(json.RawMessage("{"), f.schema...), rest[1:]...)
	}
	return append(append(json.RawMessage("{"), f.schema+","...), rest[1:]...)
}

func ended(o *jsontext.Object) json.RawMessage {
	encoded, err := o.End()
	if err != nil {
		panic(fmt.Sprintf("encode a schema: %v", err))
	}
	return encoded
}

// schemaOf returns the members of a type's schema, without limits.
func schemaOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return ""
	case reflect.PointerTo(t).Implements(reflect.TypeFor[Form]()):
		return `"type":"string"`
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Bool:
		return `"type":"boolean"`
	case reflect.Int, reflect.Int64:
		return `"type":"integer"`
	case reflect.Float32:
		return `"type":"number"`
	case reflect.Float64:
		return `"type":"number","minimum":0,"maximum":1`
	case reflect.Map, reflect.Struct:
		return `"type":"object"`
	case reflect.Slice:
		return `"type":"array","items":{` + schemaOf(t.Elem()) + `}`
	}
	return `"type":"string"`
}
