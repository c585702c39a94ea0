package request

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

func parsed(t *testing.T, raw string) *Arguments {
	t.Helper()
	a, err := Parse(&Names{Tool: "tool", Free: true}, json.RawMessage(raw))
	if err != nil {
		t.Fatalf("Parse(%s): %v", raw, err)
	}
	return a
}

// forms are parameters in some forms.
type forms struct {
	N int      `json:"n"`
	F bool     `json:"f"`
	L []string `json:"l"`
	O *float64 `json:"o"`
	I []forms  `json:"items"`
}

func (forms) Limits() Limits { return Limits{"n": {Min: 1, Max: 50, Default: 7}} }

// readForms reads a parameter in one of the forms.
func readForms(t *testing.T, name, value string) (forms, error) {
	t.Helper()
	a := parsed(t, `{"`+name+`":`+value+`}`)
	return Declare[forms]().Read(a, time.Time{}), a.Err()
}

func TestWholeNumbersAreTakenInEveryHarmlessForm(t *testing.T) {
	for given, want := range map[string]int{`10`: 10, `10.0`: 10, `1e1`: 10, `"10"`: 10, `" 10 "`: 10, `"10.0"`: 10, `null`: 7, `""`: 7} {
		if got, err := readForms(t, "n", given); got.N != want || err != nil {
			t.Errorf("%s: got %d, %v, want %d", given, got.N, err, want)
		}
	}
	for _, given := range []string{`10.5`, `true`, `[10]`, `{}`, `"ten"`, `1e30`, `0`, `51`, `-1`, `"NaN"`, `"Inf"`, `"0x10"`} {
		if _, err := readForms(t, "n", given); err == nil || !strings.Contains(err.Error(), "n must be a whole number from 1 to 50, got "+given) {
			t.Errorf("%s: got %v, want the bounds named", given, err)
		}
	}
}

func TestFlagsAreTrueOrFalse(t *testing.T) {
	for given, want := range map[string]bool{`true`: true, `"true"`: true, `"True"`: true, `false`: false, `"false"`: false, `null`: false} {
		if got, err := readForms(t, "f", given); got.F != want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", given, got.F, err, want)
		}
	}
	for _, given := range []string{`1`, `0`, `"yes"`, `[]`} {
		if _, err := readForms(t, "f", given); err == nil {
			t.Errorf("%s: got a flag, want a mistake", given)
		}
	}
}

func TestListsOfTextsAreTakenInEveryHarmlessForm(t *testing.T) {
	for given, want := range map[string][]string{
		`["a","b"]`: {"a", "b"}, `"a"`: {"a"}, `"[\"a\",\"b\"]"`: {"a", "b"}, `[1,"b"]`: {"1", "b"}, `5`: {"5"}, `[]`: {}, `null`: nil, `""`: nil,
		`"a, b"`: {"a, b"}, `"[draft] plan"`: {"[draft] plan"}, `"[{}]"`: {"[{}]"},
	} {
		if got, err := readForms(t, "l", given); !slices.Equal(got.L, want) || err != nil {
			t.Errorf("%s: got %q, %v, want %q", given, got.L, err, want)
		}
	}
	for _, given := range []string{`{}`, `true`, `[["a"]]`, `[null]`} {
		if _, err := readForms(t, "l", given); err == nil {
			t.Errorf("%s: got texts, want a mistake", given)
		}
	}
}

func TestFractionsGoFromZeroToOne(t *testing.T) {
	for given, want := range map[string]float64{`0`: 0, `1`: 1, `0.5`: .5, `"0.5"`: .5} {
		if got, err := readForms(t, "o", given); got.O == nil || *got.O != want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", given, got.O, err, want)
		}
	}
	for _, given := range []string{`1.1`, `-0.1`, `"NaN"`, `"high"`, `true`, `[]`} {
		if got, err := readForms(t, "o", given); got.O != nil || err == nil {
			t.Errorf("%s: got %v, %v, want a mistake", given, got.O, err)
		}
	}
}

func TestArgumentsMayBeEncodedTwiceOrNotGiven(t *testing.T) {
	if got := parsed(t, `"{\"a\":\"b\"}"`).Text("a"); got != "b" {
		t.Errorf("a is %q", got)
	}
	for _, nothing := range []string{``, `null`, `{}`, `""`} {
		if got := parsed(t, nothing).Text("a"); got != "" {
			t.Errorf("a of %q is %q", nothing, got)
		}
	}
}

func TestArgumentsNestedTooDeepAreRefusedByName(t *testing.T) {
	for _, deep := range []string{
		`{"value":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`,
		`{"value":` + strings.Repeat("[", 5_000_000),
	} {
		_, err := Parse(&Names{Tool: "tool", Free: true}, json.RawMessage(deep))
		if err == nil || !strings.Contains(err.Error(), "at most 512 are allowed") {
			t.Errorf("Parse(%.20s): %v, want the error that at most 512 are allowed", deep, err)
		}
	}
	if _, err := readForms(t, "items", `"`+strings.Repeat("[", 600)+strings.Repeat("]", 600)+`"`); err == nil {
		t.Error("got a list nested 600 deep from a text, want a mistake")
	}
}

func TestANameGivenTwiceIsRefused(t *testing.T) {
	if _, err := Parse(&Names{Tool: "tool", Free: true}, json.RawMessage(`{"a":1,"a":2}`)); err == nil || !strings.Contains(err.Error(), `"a" is given twice`) {
		t.Errorf("the error is %v", err)
	}
	if _, err := readForms(t, "items", `[{"b":1,"b":2}]`); err == nil || !strings.Contains(err.Error(), "items[0]") {
		t.Errorf("got %v, want an error that names items[0]", err)
	}
}

func TestWhatIsRepeatedOfAWrongArgumentIsShort(t *testing.T) {
	if _, err := readForms(t, "n", `"`+strings.Repeat("é", 5000)+`"`); err == nil || len(err.Error()) > 300 {
		t.Errorf("the error is %v", err)
	}
}

func TestHalfOfASurrogatePairIsFoundWhereverItIs(t *testing.T) {
	for raw, want := range map[string]bool{
		`"a"`: false, `"\ud83d\ude00"`: false, `"\\ud800"`: false, `"\u00e4"`: false, `"\ud83d\ude00\ud83d\ude00"`: false, `"\\\\ud800"`: false,
		`"\ud800"`: true, `"\udc00"`: true, `"\uD800x"`: true, `"\ud800\u0041"`: true, `"\ud800\ud800"`: true, `"\ude00\ud83d"`: true,
		`"\\\ud800"`: true, `"\ud83d\ude00\ud800"`: true, `["a","\ud800"]`: true, `"\ud800\`: true, `"\ud8`: false, `\`: false,
	} {
		if got := halfPair([]byte(raw)); got != want {
			t.Errorf("halfPair(%s) = %t, want %t", raw, got, want)
		}
	}
}
