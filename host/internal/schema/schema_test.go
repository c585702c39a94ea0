package schema

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/await"
)

func compiled(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Compile([]byte(text))
	if err != nil {
		t.Fatalf("compile %.200s: %v", text, err)
	}
	return s
}

func TestWhatFitsAndWhatDoesNot(t *testing.T) {
	const person = `{"type":"object","required":["name"],"properties":{"name":{"type":"string","minLength":1,"pattern":"^[a-z]+$"},"age":{"type":"integer","minimum":0},
		"friends":{"type":"array","items":{"$ref":"#"},"uniqueItems":true},"kind":{"enum":["a","b"]}}}`
	for value, want := range map[string]string{
		`{"name":"ann","age":5,"friends":[{"name":"bob"}],"more":1}`: "",
		`{"name":"ann","age":1e2}`:                                   "",
		`{}`:                                                         "missing property 'name'",
		`{"name":"ann","friends":[{"name":"bob"},{}]}`:               "friends.1: missing property 'name'",
		`{"name":"ann","age":-1}`:                                    "age: minimum: got -1, want 0",
		`{"name":"ANN","kind":"c"}`:                                  "name: ",
		`{"name":"ann","friends":[{"name":"b"},{"name":"b"}]}`:       "friends: items at 0 and 1 are equal",
		`[]`:   "got array, want object",
		`{"n`:  "not valid JSON",
		`{}{}`: "not valid JSON",
	} {
		err := compiled(t, person).Check([]byte(value))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Check(%s): %v, want an error that says %q, or none for \"\"", value, err, want)
		}
	}
}

func TestAMisfitNamesFiveFaultsAndCountsTheRest(t *testing.T) {
	err := compiled(t, `{"items":{"type":"string","maxLength":3}}`).Check([]byte(`[1,2,3,4,5,6,7]`))
	var m *Misfit
	if !errors.As(err, &m) || len(m.Faults) != 5 || m.More != 2 || m.Faults[1].At != "1" || !strings.HasSuffix(m.Error(), "; and 2 more") {
		t.Errorf("got %v", err)
	}
	err = compiled(t, `{"required":["a","b"]}`).Check([]byte(`{}`))
	if !errors.As(err, &m) || len(m.Faults) != 1 || strings.Join(m.Faults[0].Missing, " ") != "a b" {
		t.Errorf("got %v", err)
	}
	err = compiled(t, `{"enum":["`+strings.Repeat("é", 5000)+`"]}`).Check([]byte(`1`))
	if err == nil || len(err.Error()) > 400 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

func TestSchemasThatCannotBeChecked(t *testing.T) {
	for schema, want := range map[string]string{
		`{"$ref":"file:///etc/passwd"}`:                                    "schemas must stand alone",
		`{"$ref":"http://127.0.0.1:1/x"}`:                                  "schemas must stand alone",
		`{"$schema":"http://127.0.0.1:1/x"}`:                               "stand alone",
		`{"minimum":1e99999999}`:                                           "exponent",
		`{"multipleOf":1e-9999999}`:                                        "exponent",
		`{"maximum":` + strings.Repeat("9", 500) + `}`:                     "500 characters",
		`{"properties":{"a":{"contains":{"type":"string"}}}}`:              "contains is not supported",
		`{"pattern":"((a{100}){100}){100}"}`:                               "pattern",
		`{"pattern":"((x{50}){50}){2}"}`:                                   "pattern",
		`{"pattern":"` + strings.Repeat("a", 2000) + `"}`:                  "pattern",
		`{"pattern":"(?=a)"}`:                                              "pattern",
		`{"type":5}`:                                                       "schema",
		`{"enum":["` + strings.Repeat("x", Longest) + `"]}`:                "bytes",
		strings.Repeat(`{"items":`, 200) + `{}` + strings.Repeat(`}`, 200): "nested deeper",
		`{`: "not valid JSON", ``: "not valid JSON",
	} {
		_, err := Compile([]byte(schema))
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 2000 {
			t.Errorf("%.100s: %v, not %q", schema, err, want)
		}
	}
	compiled(t, `{"properties":{"contains":{"type":"string"}},"$defs":{"e":{"minimum":1e308}}}`)
}

// doubling is a schema that is twice the next one, twenty times over and more.
func doubling(keyword string, times int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/x0","$defs":{`)
	for i := range times {
		next := fmt.Sprintf(`{"$ref":"#/$defs/x%d"}`, i+1)
		fmt.Fprintf(&b, `"x%d":{%q:[%s,%s]},`, i, keyword, next, next)
	}
	fmt.Fprintf(&b, `"x%d":{"type":"string"}}}`, times)
	return b.String()
}

// Those that end by themselves do so quickly; how that is decided is up to the library.
func TestChecksThatWouldTakeForEverAreGivenUp(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 300) + `1` + strings.Repeat(`}`, 300)
	arrays := strings.Repeat(`[`, 300) + strings.Repeat(`]`, 300)
	const twice = `{"properties":{"a":{"$ref":"#"}}}`
	for name, c := range map[string][2]string{
		"all of twice":                 {doubling("allOf", 60), `"text"`},
		"any of twice, none fits":      {doubling("anyOf", 60), `1`},
		"one of twice":                 {doubling("oneOf", 60), `"text"`},
		"an older draft":               {strings.Replace(doubling("allOf", 60), `{`, `{"$schema":"http://json-schema.org/draft-07/schema#",`, 1), `"text"`},
		"twice at each level":          {`{"allOf":[` + twice + `,` + twice + `]}`, deep},
		"twice at each level, not":     {`{"not":{"$ref":"#/$defs/x"},"$defs":{"x":{"allOf":[{"properties":{"a":{"$ref":"#/$defs/x"}}},{"properties":{"a":{"$ref":"#/$defs/x"}}}]}}}`, deep},
		"patterns beside properties":   {`{"not":{"$ref":"#/$defs/x"},"$defs":{"x":{"properties":{"a":{"$ref":"#/$defs/x"}},"patternProperties":{"a":{"$ref":"#/$defs/x"}}}}}`, deep},
		"lists twice":                  {`{"allOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}`, arrays},
		"lists that fail twice":        {`{"not":{"$ref":"#/$defs/x"},"$defs":{"x":{"minItems":1,"allOf":[{"items":{"$ref":"#/$defs/x"}},{"items":{"$ref":"#/$defs/x"}}]}}}`, arrays},
		"dependencies":                 {`{"dependentSchemas":{"a":{"properties":{"a":{"$ref":"#"}}}},"properties":{"a":{"$ref":"#"}}}`, deep},
		"a choice of many, many times": {`{"items":{"enum":[` + strings.Repeat(`"x",`, 9999) + `"y"]}}`, `[` + strings.Repeat(`1,`, 500_000) + `1]`},
		"a pattern and a long text":    {`{"pattern":"(x{30}){30}$"}`, `"` + strings.Repeat("x", 1<<20) + `"`},
		"unique items, many times":     {`{"allOf":[` + strings.Repeat(`{"uniqueItems":true},`, 999) + `{}]}`, `[` + strings.Repeat(`[[1]],`, 50_000) + `1]`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Compile([]byte(c[0]))
			if err != nil {
				t.Logf("refused: %v", err)
				return
			}
			if name != "all of twice" {
				s.budget.most = maxSteps / 32 // one is enough to see how long it takes
			}
			ended := make(chan error, 1)
			go func() { ended <- s.Check([]byte(c[1])) }()
			if err := await.Value(t, "the check ends", ended); err != nil && !errors.Is(err, ErrTooMuch) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestValuesThatCannotBeChecked(t *testing.T) {
	s := compiled(t, `{"type":["number","array","object"]}`)
	for value, want := range map[string]string{
		`1e99999999`: "exponent", `-1E-999999`: "exponent", `1e+401`: "exponent", strings.Repeat("1", 1000): "1000 characters",
		strings.Repeat("[", 2000) + strings.Repeat("]", 2000): "nested deeper",
	} {
		if err := s.Check([]byte(value)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check(%.30s): %v, want an error that says %q", value, err, want)
		}
	}
	for _, value := range []string{`1e400`, `-0.5e-10`, `{"1e99999999":"1e99999999"}`, `["\"1e99999999"]`} {
		if err := s.Check([]byte(value)); err != nil {
			t.Errorf("Check(%s): %v, want no error", value, err)
		}
	}
}

func TestASchemaIsUsedByMany(t *testing.T) {
	s := compiled(t, `{"type":"object","patternProperties":{"^a":{"type":"integer"}}}`)
	var using sync.WaitGroup
	for i := range 8 {
		using.Go(func() {
			for range 200 {
				value, fits := `{"a":1}`, true
				if i%2 == 0 {
					value, fits = `{"a":"x"}`, false
				}
				if err := s.Check([]byte(value)); (err == nil) != fits {
					t.Errorf("Check(%s): %v, want it to fit: %t", value, err, fits)
				}
			}
		})
	}
	using.Wait()
}

func FuzzSchema(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","required":["a"]}`, `{}`}, {`{"$ref":"#"}`, `1`}, {`{"items":{"$ref":"#"}}`, `[[[]]]`}, {`true`, `1`}, {`false`, `1`},
		{`{"multipleOf":0.01}`, `1e300`}, {`{"pattern":"(a|b)*c"}`, `"ab"`}, {`{"uniqueItems":true}`, `[1,1.0,1e0]`}, {`{"enum":[1,{"a":[2]}]}`, `{"a":[2]}`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `1`}, {`{"if":{},"then":false}`, `null`},
		{`{"$id":"x","$defs":{"a":{"$anchor":"b"}},"$ref":"#b"}`, `1`}, {`{"$dynamicRef":"#x","$dynamicAnchor":"x"}`, `[]`}, {`{"unevaluatedProperties":false,"allOf":[{"properties":{"a":{}}}]}`, `{"a":1,"b":2}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		hangs := time.AfterFunc(await.Limit, func() { panic(fmt.Sprintf("%q and %q go on and on", schema, value)) })
		defer hangs.Stop()
		s, err := Compile(schema)
		if err == nil {
			err = s.Check(value)
			var m *Misfit
			if errors.As(err, &m) && (len(m.Faults) == 0 || m.Error() == "") {
				t.Errorf("%q does not fit %q, and nothing is said", value, schema)
			}
		}
	})
}
