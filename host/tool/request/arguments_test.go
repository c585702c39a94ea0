package request

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func parsed(t *testing.T, raw string) *Arguments {
	t.Helper()
	a, err := Parse(&Names{Tool: "tool", Free: true}, json.RawMessage(raw))
	if err != nil {
		t.Fatalf("Parse(%s): %v", raw, err)
	}
	return a
}

func TestWholeNumbersAreTakenInEveryHarmlessForm(t *testing.T) {
	for given, want := range map[string]int64{`10`: 10, `10.0`: 10, `1e1`: 10, `"10"`: 10, `" 10 "`: 10, `"10.0"`: 10, `null`: 7, `""`: 7} {
		a := parsed(t, `{"n":`+given+`}`)
		if got := a.Whole("n", 7, 1, 50); got != want || a.Err() != nil {
			t.Errorf("%s is taken for %d, %v", given, got, a.Err())
		}
	}
	for _, given := range []string{`10.5`, `true`, `[10]`, `{}`, `"ten"`, `1e30`, `0`, `51`, `-1`, `"NaN"`, `"Inf"`, `"0x10"`} {
		a := parsed(t, `{"n":`+given+`}`)
		a.Whole("n", 7, 1, 50)
		if err := a.Err(); err == nil || !strings.Contains(err.Error(), "n must be a whole number from 1 to 50, got "+given) {
			t.Errorf("Whole of %s: %v, want the bounds named", given, err)
		}
	}
}

func TestFlagsAreTrueOrFalse(t *testing.T) {
	for given, want := range map[string]bool{`true`: true, `"true"`: true, `"True"`: true, `false`: false, `"false"`: false, `null`: false} {
		a := parsed(t, `{"f":`+given+`}`)
		if got := a.Flag("f"); got != want || a.Err() != nil {
			t.Errorf("%s is taken for %v, %v", given, got, a.Err())
		}
	}
	for _, given := range []string{`1`, `0`, `"yes"`, `[]`} {
		a := parsed(t, `{"f":`+given+`}`)
		a.Flag("f")
		if a.Err() == nil {
			t.Errorf("%s is taken for a flag", given)
		}
	}
}

func TestListsOfTextsAreTakenInEveryHarmlessForm(t *testing.T) {
	for given, want := range map[string][]string{
		`["a","b"]`: {"a", "b"}, `"a"`: {"a"}, `"[\"a\",\"b\"]"`: {"a", "b"}, `[1,"b"]`: {"1", "b"}, `5`: {"5"}, `[]`: {}, `null`: nil, `""`: nil,
		`"a, b"`: {"a, b"}, `"[draft] plan"`: {"[draft] plan"}, `"[{}]"`: {"[{}]"},
	} {
		a := parsed(t, `{"l":`+given+`}`)
		if got := a.Texts("l"); !slices.Equal(got, want) || a.Err() != nil {
			t.Errorf("%s is taken for %q, %v", given, got, a.Err())
		}
	}
	for _, given := range []string{`{}`, `true`, `[["a"]]`, `[null]`} {
		a := parsed(t, `{"l":`+given+`}`)
		a.Texts("l")
		if a.Err() == nil {
			t.Errorf("%s is taken for texts", given)
		}
	}
}

func TestFractionsGoFromZeroToOne(t *testing.T) {
	for given, want := range map[string]float64{`0`: 0, `1`: 1, `0.5`: .5, `"0.5"`: .5} {
		a := parsed(t, `{"f":`+given+`}`)
		if got := a.Fraction("f"); got == nil || *got != want || a.Err() != nil {
			t.Errorf("%s is taken for %v, %v", given, got, a.Err())
		}
	}
	for _, given := range []string{`1.1`, `-0.1`, `"NaN"`, `"high"`, `true`, `[]`} {
		a := parsed(t, `{"f":`+given+`}`)
		if got := a.Fraction("f"); got != nil || a.Err() == nil {
			t.Errorf("%s is taken for %v", given, got)
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
	a := parsed(t, `{"o":"`+strings.Repeat("[", 600)+strings.Repeat("]", 600)+`"}`)
	a.Objects("o")
	if a.Err() == nil {
		t.Error("depth hid in a text")
	}
}

func TestANameGivenTwiceIsRefused(t *testing.T) {
	if _, err := Parse(&Names{Tool: "tool", Free: true}, json.RawMessage(`{"a":1,"a":2}`)); err == nil || !strings.Contains(err.Error(), `"a" is given twice`) {
		t.Errorf("the error is %v", err)
	}
	a := parsed(t, `{"items":[{"b":1,"b":2}]}`)
	a.Objects("items")
	if err := a.Err(); err == nil || !strings.Contains(err.Error(), "items[0]") {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatIsRepeatedOfAWrongArgumentIsShort(t *testing.T) {
	a := parsed(t, `{"n":"`+strings.Repeat("é", 5000)+`"}`)
	a.Whole("n", 0, 0, 9)
	if err := a.Err(); err == nil || len(err.Error()) > 300 {
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
