package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

func parsed(t *testing.T, raw string) *arguments {
	t.Helper()
	a, err := parseArguments("tool", json.RawMessage(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return a
}

func TestWholeNumbersAreTakenInEveryHarmlessForm(t *testing.T) {
	for given, want := range map[string]int64{`10`: 10, `10.0`: 10, `1e1`: 10, `"10"`: 10, `" 10 "`: 10, `"10.0"`: 10, `null`: 7, `""`: 7} {
		a := parsed(t, `{"n":`+given+`}`)
		if got := a.whole("n", 7, 1, 50); got != want || a.err() != nil {
			t.Errorf("%s is taken for %d, %v", given, got, a.err())
		}
	}
	for _, given := range []string{`10.5`, `true`, `[10]`, `{}`, `"ten"`, `1e30`, `0`, `51`, `-1`, `"NaN"`, `"Inf"`, `"0x10"`} {
		a := parsed(t, `{"n":`+given+`}`)
		a.whole("n", 7, 1, 50)
		if err := a.err(); err == nil || !strings.Contains(err.Error(), "n must be a whole number from 1 to 50, got "+given) {
			t.Errorf("%s: %v", given, err)
		}
	}
}

func TestFlagsAreTrueOrFalse(t *testing.T) {
	for given, want := range map[string]bool{`true`: true, `"true"`: true, `"True"`: true, `false`: false, `"false"`: false, `null`: false} {
		a := parsed(t, `{"f":`+given+`}`)
		if got := a.flag("f"); got != want || a.err() != nil {
			t.Errorf("%s is taken for %v, %v", given, got, a.err())
		}
	}
	for _, given := range []string{`1`, `0`, `"yes"`, `[]`} {
		a := parsed(t, `{"f":`+given+`}`)
		a.flag("f")
		if a.err() == nil {
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
		if got := a.texts("l"); !slices.Equal(got, want) || a.err() != nil {
			t.Errorf("%s is taken for %q, %v", given, got, a.err())
		}
	}
	for _, given := range []string{`{}`, `true`, `[["a"]]`, `[null]`} {
		a := parsed(t, `{"l":`+given+`}`)
		a.texts("l")
		if a.err() == nil {
			t.Errorf("%s is taken for texts", given)
		}
	}
}

func TestFractionsGoFromZeroToOne(t *testing.T) {
	for given, want := range map[string]float64{`0`: 0, `1`: 1, `0.5`: .5, `"0.5"`: .5} {
		a := parsed(t, `{"f":`+given+`}`)
		if got := a.fraction("f"); got == nil || *got != want || a.err() != nil {
			t.Errorf("%s is taken for %v, %v", given, got, a.err())
		}
	}
	for _, given := range []string{`1.1`, `-0.1`, `"NaN"`, `"high"`, `true`, `[]`} {
		a := parsed(t, `{"f":`+given+`}`)
		if got := a.fraction("f"); got != nil || a.err() == nil {
			t.Errorf("%s is taken for %v", given, got)
		}
	}
}

func TestArgumentsMayBeEncodedTwiceOrNotGiven(t *testing.T) {
	if got := parsed(t, `"{\"a\":\"b\"}"`).text("a"); got != "b" {
		t.Errorf("a is %q", got)
	}
	for _, nothing := range []string{``, `null`, `{}`, `""`} {
		if got := parsed(t, nothing).text("a"); got != "" {
			t.Errorf("a of %q is %q", nothing, got)
		}
	}
}

func TestArgumentsNestedTooDeepAreRefusedByName(t *testing.T) {
	for _, deep := range []string{
		`{"value":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`,
		`{"value":` + strings.Repeat("[", 5_000_000),
	} {
		_, err := parseArguments("tool", json.RawMessage(deep))
		if err == nil || !strings.Contains(err.Error(), "at most 512 are allowed") {
			t.Errorf("%.20s: %v", deep, err)
		}
	}
	a := parsed(t, `{"o":"`+strings.Repeat("[", 600)+strings.Repeat("]", 600)+`"}`)
	a.objects("o")
	if a.err() == nil {
		t.Error("depth hid in a text")
	}
}

func TestANameGivenTwiceIsRefused(t *testing.T) {
	if _, err := parseArguments("tool", json.RawMessage(`{"a":1,"a":2}`)); err == nil || !strings.Contains(err.Error(), `"a" is given twice`) {
		t.Errorf("the error is %v", err)
	}
	a := parsed(t, `{"items":[{"b":1,"b":2}]}`)
	a.objects("items")
	if err := a.err(); err == nil || !strings.Contains(err.Error(), "items[0]") {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatIsRepeatedOfAWrongArgumentIsShort(t *testing.T) {
	a := parsed(t, `{"n":"`+strings.Repeat("é", 5000)+`"}`)
	a.whole("n", 0, 0, 9)
	if err := a.err(); err == nil || len(err.Error()) > 300 {
		t.Errorf("the error is %v", err)
	}
}

// wrongFor gives a value that no parameter of a schema's type can be.
func wrongFor(property map[string]any) string {
	if property["type"] == nil && property["anyOf"] == nil {
		return "" // anything goes
	}
	return `[[{"wrong":[]}]]`
}

func TestEveryAdvertisedParameterIsRead(t *testing.T) {
	p := use(t)
	p.must("memory_branch", `{"action":"fork","name":"side"}`)
	for _, w := range wireTools(t) {
		required := map[string]json.RawMessage{}
		for name, value := range map[string]string{"key": `"k"`, "value": "1", "query": `"q"`, "event": `"e"`, "data": "1", "action": `"list"`, "method": `"memory_status"`} {
			required[name] = json.RawMessage(value)
		}
		for name, property := range properties(t, w.InputSchema) {
			wrong := wrongFor(property)
			if wrong == "" {
				continue
			}
			given := map[string]json.RawMessage{}
			for n := range properties(t, w.InputSchema) {
				if required[n] != nil {
					given[n] = required[n]
				}
			}
			given[name] = json.RawMessage(wrong)
			arguments, err := json.Marshal(given)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.refused(w.Name, string(arguments)); !strings.Contains(got.Message, name) || got.Code != memory.InvalidArgument {
				t.Errorf("%s: a wrong %s is answered with %q", w.Name, name, got.Message)
			}
		}
	}
}

func TestWhatTheWireRequiresIsEnforcedAndWhatItAllowsIsAccepted(t *testing.T) {
	full := map[string]string{
		"memory_store":   `{"key":"k","value":{"a":[1]},"tags":["t"],"type":"fact","importance":0.5,"metadata":{"m":1},"expires":"2h","supersedes":"s","links":["l"],"namespace":"n","branch":"default","if_version":0}`,
		"memory_recall":  `{"key":"k","as_of":"1h ago","namespace":"n","branch":"default"}`,
		"memory_search":  `{"query":"q","k":50,"offset":1,"tags":["t"],"type":["a","b"],"state":"active","since":"1h ago","until":"2030-01-01","namespace":"n","branch":"default","as_of":"1s ago","events":true,"explain":true,"expand":true,"distinct":true,"budget_tokens":1000}`,
		"memory_forget":  `{"key":["k","l"],"archive":false,"namespace":"n","branch":"default"}`,
		"memory_log":     `{"event":"e","data":[1],"namespace":"n","branch":"default"}`,
		"memory_branch":  `{"action":"list","name":"n","source":"s","target":"t","compare":"c","strategy":"newest","resolutions":[{"key":"k","take":"source"}],"preview":true,"as_of":"v1","namespace":"n","branch":"default"}`,
		"memory_history": `{"key":"k","limit":50,"as_of":"1s ago","namespace":"n","branch":"default"}`,
		"memory_status":  `{"namespace":"n","branch":"default"}`,

		"memory_capabilities": `{"family":"core","include_schema":true,"verbose":true}`,
		"memory_load_family":  `{"family":"","intent":"tag","unload":false}`,
		"memory_operation":    `{"method":"memory_status","params":{},"options":{"timeout_ms":600000,"dry_run":true,"namespace":"n","branch":"default"}}`,
	}
	p := use(t)
	for _, w := range wireTools(t) {
		schema := compileSchema(t, w.InputSchema)
		var given map[string]any
		if err := json.Unmarshal([]byte(full[w.Name]), &given); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(any(given)); err != nil {
			t.Errorf("%s: the schema refuses %s: %v", w.Name, full[w.Name], err)
		}
		if len(given) < len(properties(t, w.InputSchema))-1 { // items excludes value
			t.Errorf("%s: the example lacks some of %v", w.Name, properties(t, w.InputSchema))
		}
		p.must(w.Name, full[w.Name])
		given["a_field_from_the_future"] = map[string]any{"x": 1}
		if err := schema.Validate(any(given)); err != nil {
			t.Errorf("%s: the schema refuses unknown fields: %v", w.Name, err)
		}
		var required struct{ Required []string }
		if err := json.Unmarshal(w.InputSchema, &required); err != nil {
			t.Fatal(err)
		}
		for _, name := range required.Required {
			less := map[string]any{}
			for n, value := range given {
				if n != name {
					less[n] = value
				}
			}
			arguments, err := json.Marshal(less)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.refused(w.Name, string(arguments)); !strings.Contains(got.Message, w.Name+" needs "+name) {
				t.Errorf("%s without %s: %s", w.Name, name, got.Message)
			}
		}
	}
}

func TestListsAndObjectsWithManyElementsAreRefusedBeforeTheyAreTakenApart(t *testing.T) {
	p := use(t)
	many := "1" + strings.Repeat(",1", maxElements)
	var members strings.Builder
	for i := range maxMembers {
		fmt.Fprintf(&members, `,"m%d":0`, i)
	}
	for arguments, want := range map[string]string{
		`{"key":"k","value":1,"tags":[` + many + `]}`:               "tags has 10001 elements: at most 10000 are allowed",
		`{"key":"k","value":1,"tags":"[` + many + `]"}`:             "tags has 10001 elements: at most 10000 are allowed",
		`{"items":[` + many + `]}`:                                  "items has 10001 elements: at most 10000 are allowed",
		`{"key":"k","value":1` + members.String() + `}`:             "more than 10000 members",
		`{"items":[{"key":"k","value":1` + members.String() + `}]}`: "more than 10000 members",
	} {
		if refusal := p.refused("memory_store", arguments); !strings.Contains(refusal.Message, want) {
			t.Errorf("%.60s: %s", arguments, refusal.Message)
		}
	}
	p.must("memory_store", `{"key":"k","value":[`+many+`]}`)
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[1]`, `"{}"`, `{"a":1,"a":2}`, `{"key":"k","value":1e400}`, `{"items":[{"value":null}],"tags":"[\"a\"]"}`,
		`{"k":"10","offset":1.0,"importance":"0.5","archive":"true","metadata":"{\"a\":1}"}`, `{"as_of":"v12","since":1700000000,"expires":"2h"}`,
		`{"resolutions":[{"key":"k","take":"value"}],"action":"merge"}`, `{"a":` + strings.Repeat("[", 600), "{\"a\":\"\xff\"}", `{"value":"\ud800"}`, `{"tags":"[}","items":"[,"}`,
	} {
		f.Add([]byte(seed))
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := parseArguments("tool", raw)
		if err != nil {
			return
		}
		items, _ := decodeItems(a, now)
		for _, item := range items {
			if !json.Valid(item.Value) {
				t.Errorf("an item has the value %q", item.Value)
			}
		}
		c := &call{arguments: a, now: now, seat: newSeat(Session{})}
		if q, _, err := decodeSearch(c); err == nil && (q.K < 1 || q.K > mostHits || q.Offset < 0 || q.Text == "") {
			t.Errorf("a search became %+v", q)
		}
		decodeBranch(c)
		if err := a.err(); err != nil && (err.Error() == "" || len(err.Error()) > 4000) {
			t.Errorf("the error has %d bytes", len(err.Error()))
		}
	})
}

func TestHalfOfASurrogatePairIsFoundWhereverItIs(t *testing.T) {
	for raw, want := range map[string]bool{
		`"a"`: false, `"\ud83d\ude00"`: false, `"\\ud800"`: false, `"\u00e4"`: false, `"\ud83d\ude00\ud83d\ude00"`: false, `"\\\\ud800"`: false,
		`"\ud800"`: true, `"\udc00"`: true, `"\uD800x"`: true, `"\ud800\u0041"`: true, `"\ud800\ud800"`: true, `"\ude00\ud83d"`: true,
		`"\\\ud800"`: true, `"\ud83d\ude00\ud800"`: true, `["a","\ud800"]`: true, `"\ud800\`: true, `"\ud8`: false, `\`: false,
	} {
		if got := halfPair([]byte(raw)); got != want {
			t.Errorf("%s: %t", raw, got)
		}
	}
}
