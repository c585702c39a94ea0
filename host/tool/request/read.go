package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Read reads the arguments of a call. Mistakes are recorded in them: Arguments.Err tells all.
func (d *Declaration[R]) Read(a *Arguments, now time.Time) (r R) {
	d.shape.read(a, nil, reflect.ValueOf(&r).Elem(), now)
	return r
}

// ReadElement reads an element of a list, whose members may be spelled otherwise.
func (d *Declaration[R]) ReadElement(own, around *Arguments, now time.Time) (r R) {
	d.shape.readElement(own, around, reflect.ValueOf(&r).Elem(), now)
	return r
}

func (s *shape) readElement(own, around *Arguments, into reflect.Value, now time.Time) {
	own.rename(&s.names)
	own.splitTags()
	s.read(own, around, into, now)
}

func (s *shape) read(a, around *Arguments, into reflect.Value, now time.Time) {
	if p, ok := into.Addr().Interface().(Preparer); ok {
		p.Prepare(a, around)
	}
	r := reading{Arguments: a, now: now}
	for _, f := range s.fields {
		r.field, r.raw = f, a.members[f.name]
		before := len(a.problems.messages)
		value := into.FieldByIndex(f.index)
		if f.always || f.anything && r.raw != nil || !absent(r.raw) {
			f.read(&r, value)
		} else if f.limit.Default != 0 {
			value.SetInt(f.limit.Default)
		}
		if f.need != "" && isEmpty(value) && len(a.problems.messages) == before {
			a.Missing(f.name, f.need)
		}
	}
	if c, ok := into.Addr().Interface().(Checker); ok {
		c.Check(a)
	}
}

func isEmpty(v reflect.Value) bool {
	if v.Kind() == reflect.Slice {
		return v.Len() == 0
	}
	return v.IsZero()
}

// reading is the reading of one parameter that was given.
type reading struct {
	*Arguments
	field *field
	raw   json.RawMessage
	now   time.Time
}

// mistaken records that the value is not of the expected form.
func (r *reading) mistaken(expected string) { r.wrong(r.field.name, expected, r.raw) }

// fail records a mistake.
func (r *reading) fail(err error) {
	var expected Expected
	if errors.As(err, &expected) {
		r.mistaken(string(expected))
		return
	}
	r.Fault(r.field.name, fmt.Sprintf("%s%s: %v", r.within, r.label(r.field.name), err))
}

// reader reads a parameter into a field.
type reader func(r *reading, into reflect.Value)

// reader returns how a type is read, and whether a limit decides that; nil: it cannot be read.
func (c *compiler) reader(t reflect.Type, l Limit) (read reader, limited bool) {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return readAnything, false
	case reflect.PointerTo(t).Implements(reflect.TypeFor[Form]()):
		return readForm, false
	case t.Kind() == reflect.Pointer:
		read, limited = c.reader(t.Elem(), l)
		return pointed(read), limited
	case t.Kind() == reflect.String && len(l.Words) > 0:
		return readChoice, true
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String && len(l.Words) > 0:
		return readChoices, true
	case t.Kind() == reflect.Int && l.Max > l.Min:
		return readWhole, true
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return c.objects(t.Elem()), false
	case t.Kind() == reflect.Struct:
		return c.object(t), false
	}
	return map[reflect.Type]reader{
		reflect.TypeFor[string](): readText, reflect.TypeFor[[]string](): readTexts, reflect.TypeFor[bool](): readFlag, reflect.TypeFor[float64](): readFraction,
		reflect.TypeFor[[]float32](): readNumbers, reflect.TypeFor[map[string]json.RawMessage](): readObject,
		reflect.TypeFor[[]*Arguments](): readElements,
	}[t], false
}

func pointed(read reader) reader {
	if read == nil {
		return nil
	}
	return func(r *reading, into reflect.Value) {
		mistakes := len(r.problems.messages)
		value := reflect.New(into.Type().Elem())
		if read(r, value.Elem()); len(r.problems.messages) == mistakes {
			into.Set(value)
		}
	}
}

func readAnything(r *reading, into reflect.Value) { into.SetBytes(r.raw) }

func readForm(r *reading, into reflect.Value) {
	if err := into.Addr().Interface().(Form).ReadArgument(r.raw, r.now); err != nil {
		r.fail(err)
	}
}

// readText reads a text. A number is read as its digits.
func readText(r *reading, into reflect.Value) {
	text, ok := Text(r.raw)
	if !ok {
		r.mistaken("text")
	}
	into.SetString(text)
}

// readTexts reads a list of texts. A single text is a list of one, unless it is itself a JSON list.
func readTexts(r *reading, into reflect.Value) {
	if texts, ok := r.texts(); ok {
		into.Set(reflect.ValueOf(texts))
	}
}

func (r *reading) texts() ([]string, bool) {
	if r.tooLong(r.field.name, r.raw) {
		return nil, false
	}
	if texts, ok := textsOf(r.raw); ok {
		return texts, true
	}
	if text, ok := Text(r.raw); ok {
		return []string{text}, true
	}
	r.mistaken("a list of texts")
	return nil, false
}

// readWhole reads a whole number within its limits.
func readWhole(r *reading, into reflect.Value) {
	n, err := Within(r.raw, r.field.limit.Min, r.field.limit.Max)
	if err != nil {
		r.fail(err)
	}
	into.SetInt(n)
}

// readFraction reads a number from 0 to 1.
func readFraction(r *reading, into reflect.Value) {
	f, err := strconv.ParseFloat(numeral(r.raw), 64)
	if err != nil || !(f >= 0 && f <= 1) {
		r.mistaken("a number from 0 to 1")
	}
	into.SetFloat(f)
}

func readNumbers(r *reading, into reflect.Value) {
	var list []float32
	if err := json.Unmarshal(r.raw, &list); err != nil || bytes.Contains(r.raw, []byte("null")) {
		r.mistaken("a list of numbers")
	}
	into.Set(reflect.ValueOf(list))
}

// readFlag reads true or false.
func readFlag(r *reading, into reflect.Value) {
	flag, ok := Flag(r.raw)
	if !ok {
		r.mistaken("true or false")
	}
	into.SetBool(flag)
}

// word returns the word that a text means.
func (r *reading) word(text string) (string, bool) {
	word := strings.ToLower(strings.TrimSpace(text))
	if other, ok := r.field.limit.Synonyms[word]; ok {
		word = other
	}
	return word, slices.Contains(r.field.limit.Words, word)
}

// readChoice reads one of the words.
func readChoice(r *reading, into reflect.Value) {
	text, _ := Text(r.raw)
	word, ok := r.word(text)
	if !ok {
		r.mistaken("one of " + strings.Join(r.field.limit.Words, ", "))
		return
	}
	into.SetString(word)
}

// readChoices reads one or several of the words.
func readChoices(r *reading, into reflect.Value) {
	texts, _ := r.texts()
	if len(texts) == 0 {
		return
	}
	chosen := reflect.MakeSlice(into.Type(), len(texts), len(texts))
	for i, text := range texts {
		word, ok := r.word(text)
		if !ok {
			r.mistaken("one or several of " + strings.Join(r.field.limit.Words, ", "))
			return
		}
		chosen.Index(i).SetString(word)
	}
	into.Set(chosen)
}

// readObject reads an object, or the text of one.
func readObject(r *reading, into reflect.Value) {
	into.Set(reflect.ValueOf(r.object(r.field.name)))
}

// objects returns how a list of structs is read: from a list of objects, the text of one, or a single object.
func (c *compiler) objects(element reflect.Type) reader {
	s := c.shape(element)
	return func(r *reading, into reflect.Value) {
		items := r.objects(r.field.name, r.raw)
		list := reflect.MakeSlice(into.Type(), len(items), len(items))
		for i, own := range items {
			s.readElement(own, r.Arguments, list.Index(i), r.now)
		}
		into.Set(list)
	}
}

// readElements splits a list of objects, which Declaration.ReadElement reads.
func readElements(r *reading, into reflect.Value) {
	into.Set(reflect.ValueOf(r.objects(r.field.name, r.raw)))
}

// object returns how a struct is read: from an object, whose members have no other spellings. It is prepared and checked without one, too.
func (c *compiler) object(t reflect.Type) reader {
	s := c.shape(t)
	return func(r *reading, into reflect.Value) { s.read(r.Nested(r.field.name), r.Arguments, into, r.now) }
}
