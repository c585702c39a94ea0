package scan

import (
	"encoding/json"
	"strings"
	"testing"
)

// point has a field of each kind.
type point struct {
	Name    string
	Level   int
	Version uint64
	Score   float64
	Done    bool
	Raw     json.RawMessage
	Tags    []string
	Small   *float64
	Title   *string
	Count   *int
	Since   *uint64
	Known   *bool
	Inner   inner
	More    []inner
	Next    *inner
	Each    map[string]inner
	Floats  []float32
	Words   map[string]string
	Any     any
	Rows    [][]string
}

type inner struct{ A, B string }

func (x *inner) CodeJSON(c *Coder) {
	if c.Reading() {
		x.B = "b"
	}
	c.Object([]Field{
		{Name: "a", Value: Text(&x.A)},
		{Name: "b", Value: Text(&x.B), Omit: x.B == "b", Keep: true},
	})
}

func (x *point) CodeJSON(c *Coder) {
	c.Object([]Field{
		{Name: "name", Also: []string{"title", "label"}, Value: Text(&x.Name)},
		{Name: "level", Value: Int(&x.Level)},
		{Name: "version", Value: Uint(&x.Version), Omit: x.Version == 0},
		{Name: "score", Value: Number(&x.Score)},
		{Name: "done", Value: Bool(&x.Done), Omit: !x.Done},
		{Name: "raw", Value: Raw(&x.Raw), Omit: len(x.Raw) == 0},
		{Name: "tags", Value: Texts(&x.Tags)},
		{Name: "small", Value: Pointer(&x.Small, CodeNumber)},
		{Name: "heading", Value: Pointer(&x.Title, CodeText), Omit: x.Title == nil},
		{Name: "count", Value: Pointer(&x.Count, CodeInt), Omit: x.Count == nil},
		{Name: "since", Value: Pointer(&x.Since, CodeUint), Omit: x.Since == nil},
		{Name: "known", Value: Pointer(&x.Known, CodeBool), Omit: x.Known == nil},
		{Name: "inner", Value: Of(&x.Inner, (*inner).CodeJSON)},
		{Name: "more", Value: List(&x.More, (*inner).CodeJSON)},
		{Name: "next", Value: Pointer(&x.Next, (*inner).CodeJSON), Omit: x.Next == nil},
		{Name: "each", Value: Map(&x.Each, (*inner).CodeJSON), Omit: x.Each == nil},
		{Name: "floats", Value: List(&x.Floats, CodeNumber32), Omit: x.Floats == nil},
		{Name: "words", Value: Map(&x.Words, CodeText), Omit: x.Words == nil},
		{Name: "any", Value: Of(&x.Any, CodeAny), Omit: x.Any == nil},
		{Name: "rows", Value: List(&x.Rows, CodeTexts), Omit: x.Rows == nil},
	})
}

func TestAnObjectIsReadAndWrittenByItsFields(t *testing.T) {
	const least = `{"name":"","level":0,"score":0,"tags":[],"small":null,"inner":{"a":""},"more":[]}`
	const most = `{"name":"n\n","level":-1,"version":18446744073709551615,"score":0.5,"done":true,"raw":{"x":[1]},"tags":["t"],"small":2,"heading":"","count":0,"since":0,"known":false,` +
		`"inner":{"a":"x","b":"y"},"more":[{"a":""}],"next":{"a":"z"},"each":{"e":{"a":"1"},"f":{"a":"2"}},"floats":[0.1],"words":{"k":"v"},"any":[true],"rows":[["r"],[]]}`
	for name, c := range map[string]struct{ given, want string }{
		"nothing":               {`{}`, strings.Replace(least, `{"a":""}`, `{"a":"","b":""}`, 1)},
		"null":                  {` null `, strings.Replace(least, `{"a":""}`, `{"a":"","b":""}`, 1)},
		"everything":            {most, most},
		"another order":         {`{"level":3,"name":"n","unknown":{"name":"no"},"tags":["t"]}`, `{"name":"n","level":3,"score":0,"tags":["t"],"small":null,"inner":{"a":"","b":""},"more":[]}`},
		"further names":         {`{"label":"l"}`, `{"name":"l","level":0,"score":0,"tags":[],"small":null,"inner":{"a":"","b":""},"more":[]}`},
		"nulls":                 {`{"name":null,"tags":null,"small":null,"inner":{"b":null},"more":null,"each":null,"next":null}`, least},
		"one instead of a list": {`{"tags":"t","more":{"a":"m"},"inner":{}}`, `{"name":"","level":0,"score":0,"tags":["t"],"small":null,"inner":{"a":""},"more":[{"a":"m"}]}`},
		"blanks":                {` { "name" : "n" , "inner" : { "a" : "x" } } `, `{"name":"n","level":0,"score":0,"tags":[],"small":null,"inner":{"a":"x"},"more":[]}`},
		"the last of two":       {`{"name":"a","name":"b","inner":{}}`, strings.Replace(least, `""`, `"b"`, 1)},
		"names with escapes":    {`{"n\u0061me":"n","inner":{}}`, strings.Replace(least, `""`, `"n"`, 1)},
	} {
		var x point
		s := New([]byte(c.given))
		x.CodeJSON(s.Coder())
		w := &Writer{}
		x.CodeJSON(w.Coder())
		got, err := w.Bytes()
		if s.End() != nil || err != nil || string(got) != c.want {
			t.Errorf("%s: %s is written as\n%s, want\n%s (%v, %v)", name, c.given, got, c.want, s.Err(), err)
		}
	}
	for _, given := range []string{`{"name":1}`, `{"name":"n"`, `{"name" "n"}`, `{"tags":[1]}`, `{"inner":[]}`, `{"version":-1}`, `{"name":"n",}`, `{"each":[]}`, `{"small":"x"}`, `[]`} {
		s := New([]byte(given))
		(&point{}).CodeJSON(s.Coder())
		if s.End() == nil {
			t.Errorf("%s is read without an error", given)
		}
	}
}

// The object of the same fields is what encoding/json reads, whatever the bytes.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{`{"a":"x","b":"y"}`, `{"b":"y","a":"x"}`, ` { "b":null } `, `{"a":"\u00e9","c":[1,{"a":2}]}`, `{"a":"x","a":"y"}`, `null`, `{"a"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if depth(data) >= maxDepth {
			return
		}
		got, want := inner{}, struct{ A, B *string }{}
		s := New(data)
		got.CodeJSON(s.Coder())
		if err := s.End(); err != nil {
			return
		}
		// encoding/json takes names of any case, so it reads what is written.
		w := &Writer{}
		got.CodeJSON(w.Coder())
		out, err := w.Bytes()
		if err != nil || !json.Valid(data) || json.Unmarshal(out, &want) != nil || *want.A != got.A || (want.B != nil) != (got.B != "b") {
			t.Errorf("%q is read as %+v and written as %s (%v)", data, got, out, err)
		}
	})
}
