package cases

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestDifferencesSayWhere(t *testing.T) {
	for _, c := range []struct {
		want, got string
		lines     []string
	}{
		{`{"a":[1,2]}`, `{"a":[1,3]}`, []string{"x.a[1]: got 3, want 2"}},
		{`1`, `1.0`, nil}, {`1e2`, `100`, nil}, {`9007199254740993`, `9007199254740992`, []string{"x: got 9007199254740992, want 9007199254740993"}},
		{`null`, `null`, nil}, {`null`, `0`, []string{"x: got 0, want null"}}, {`{}`, `{"a":1}`, []string{"x.a: got 1, want no such member"}},
		{`{"a":1}`, `{}`, []string{"x.a: it is missing"}}, {`[]`, `{}`, []string{"x: got {}, want a list"}}, {`{}`, `[]`, []string{"x: got [], want an object"}},
		{`[1]`, `[1,2]`, []string{"x: got 2 elements, want 1: [1,2]"}}, {`"a"`, `{}`, []string{`x: got {}, want "a"`}},
		{`{"$is":"any"}`, `[1]`, nil}, {`{"$is":"string"}`, `1`, []string{"x: got 1, want string"}}, {`{"$is":"integer"}`, `1.5`, []string{"x: got 1.5, want integer"}},
		{`{"$is":"integer"}`, `2.0`, nil}, {`{"$is":"instant"}`, `"2026-06-01T12:00:00Z"`, nil}, {`{"$is":"instant"}`, `"noon"`, []string{`x: got "noon", want instant`}},
		{`{"$is":"number"}`, `1e999999999`, nil}, {`1e999999999`, `1e999999999`, nil}, {`{"$is":"boolean"}`, `true`, nil}, {`{"$is":"object"}`, `{}`, nil}, {`{"$is":"list"}`, `[]`, nil},
		{`{"$like":"^a.c$"}`, `"abc"`, nil}, {`{"$like":"^a"}`, `"b"`, []string{`x: got "b", want a text like ^a`}}, {`{"$like":"."}`, `1`, []string{"x: got 1, want a text like ."}},
		{`{"$near":0.5}`, `0.5000001`, nil}, {`{"$near":1,"$within":0.1}`, `1.2`, []string{"x: got 1.2, want 1 within 0.1"}},
		{`{"$has":{"a":{"$is":"any"}}}`, `{"a":1,"b":2}`, nil}, {`{"$has":{"a":1}}`, `{"b":2}`, []string{"x.a: it is missing"}}, {`{"$has":{}}`, `1`, []string{"x: got 1, want an object"}},
		{`{"$each":{"$is":"number"},"$size":2}`, `[1,"b"]`, []string{`x[1]: got "b", want number`}}, {`{"$each":1}`, `{"a":1}`, nil}, {`{"$size":1}`, `{}`, []string{"x: got 0 elements, want 1: {}"}},
		{`{"$size":1}`, `1`, []string{"x: got 1, want a list or an object"}}, {`{"$just":{"$is":[{"$like":"("}]}}`, `{"$is":[{"$like":"("}]}`, nil}, {`{"$is":"string","a":1}`, `{"$is":"string","a":1}`, nil},
	} {
		if got := Differences("x", json.RawMessage(c.want), json.RawMessage(c.got)); !slices.Equal(got, c.lines) {
			t.Errorf("Differences(%s, %s) = %q, want %q", c.want, c.got, got, c.lines)
		}
	}
	if got := Differences("x", json.RawMessage(`[`+strings.Repeat(`1,`, 50)+`1]`), json.RawMessage(`[`+strings.Repeat(`2,`, 50)+`2]`)); len(got) != 11 || got[10] != "and 41 more differences" {
		t.Errorf("Differences of 51 elements = %q, want 10 and how many more", got)
	}
}

func TestHostileLinesAreNamed(t *testing.T) {
	const good = `{"name":"a","tool":"t"}` + "\n"
	for _, c := range []struct{ text, want string }{
		{"", "the file has no cases"}, {good + "{", "line 2: unexpected EOF"}, {good + "\n\n" + `{"name":"b"}`, "line 4: it has to have one of tool, hook and job"},
		{good + good, `line 2: the case "a" has the name of line 1`}, {`{"name":"a","tool":"t","job":"j"}`, "line 1: it has to have one of"}, {`{"name":"a","tool":"t"}{}`, "line 1: something follows the case"},
		{`{"name":"a","tool":"t","colour":1}`, `line 1: json: unknown field "colour"`}, {`{"name":"a\u001b[2J","tool":"t"}`, "without control characters"}, {`{"tool":"t"}`, `name is ""`},
		{`{"name":"` + strings.Repeat("a", longestName+1) + `","tool":"t"}`, "at most 200 bytes"}, {"{\"name\":\"\xff\",\"tool\":\"t\"}", "line 1: it is not UTF-8"},
		{`{"name":"a","tool":"t","arguments":` + strings.Repeat("[", deepest) + strings.Repeat("]", deepest) + `}`, "more than 64 levels deep"},
		{`{"name":"a","tool":"t","arguments":{"a":"` + strings.Repeat("b", mostLine) + `"}}`, "at most 1048576 are allowed"}, {strings.Repeat(" ", MostBytes+1), "more than 16777216 bytes"},
		{many(mostCases + 1), "line 1001: the file has more than 1000 cases"}, {`{"name":"a","tool":"t","then":[` + strings.Repeat(`{"tool":"t"},`, mostSteps-1) + `{"tool":"t"}]}`, "it has 101 steps: at most 100"},
		{`{"name":"a","tool":"t","arguments":[]}`, "arguments is not an object"}, {`{"name":"a","tool":"t","payload":1}`, "it has payload, and no job"}, {`{"name":"a","hook":"job","request":{}}`, `hook is "job"`},
		{`{"name":"a","hook":"store"}`, "the hook store needs its request, such as {\"entries\""}, {`{"name":"a","tool":"t","now":"noon"}`, `now is "noon"`},
		{`{"name":"a","tool":"t","then":[{"tool":"t","now":"2026-05-01T00:00:00Z"}]}`, "step 2: now is 2026-05-01T00:00:00Z, before"},
		{`{"name":"a","tool":"t","seed":[{"key":"a"}]}`, "read entry 1 of seed"}, {`{"name":"a","tool":"t","seed":[{"setting":"a","value":1},{"setting":"a","value":2}]}`, `the setting "a" is given twice`},
		{`{"name":"a","tool":"t","seed":[{"collection":"c","key":"a","value":1,"x":2}]}`, `unknown field "x"`},
		{`{"name":"a","tool":"t","expect":{"answer":1,"error":"x"}}`, "expect has both answer and error"}, {`{"name":"a","tool":"t","expect":{"answer":{"$is":"text"}}}`, "answer: $is: give one of any, string"},
		{`{"name":"a","tool":"t","expect":{"memories":{"a":{"$like":"("}}}}`, "memories: $like: error parsing regexp"}, {`{"name":"a","tool":"t","expect":{"records":{"c":{"$likes":"a"}}}}`, "records of c: $likes: there is no such pattern"},
		{`{"name":"a","tool":"t","expect":{"answer":{"$like":"` + strings.Repeat("a", longestPattern+1) + `"}}}`, "at most 1000 bytes"}, {`{"name":"a","tool":"t","expect":{"answer":{"$like":"((a{900}){900}){900}"}}}`, "invalid repeat count"},
		{`{"name":"a","tool":"t","expect":{"answer":{"$has":1}}}`, "$has: give an object"}, {`{"name":"a","tool":"t","expect":{"answer":{"$near":"a"}}}`, "$near: give a number"},
		{`{"name":"a","tool":"t","expect":{"answer":{"$within":1}}}`, "$within goes with $near"}, {`{"name":"a","tool":"t","expect":{"answer":{"$just":1,"$is":"any"}}}`, "$just stands alone"},
	} {
		_, err := Read(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Read(%.80q): got the error %v, want %q", c.text, err, c.want)
		}
		var line *LineError
		if strings.HasPrefix(c.want, "line") && !errors.As(err, &line) {
			t.Errorf("Read(%.80q): got the error %v, want a LineError", c.text, err)
		}
	}
	if list, err := Read(strings.NewReader(many(mostCases))); err != nil || len(list) != mostCases {
		t.Errorf("Read of as many cases as the limit: got %d, %v", len(list), err)
	}
}

func many(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "{\"name\":\"%d\",\"tool\":\"t\"}\n", i)
	}
	return text.String()
}

func TestAnUpdateKeepsThePatternsThatFit(t *testing.T) {
	for _, c := range []struct{ want, got, updated string }{
		{`{"a":{"$is":"string"},"b":1}`, `{"a":"x","b":2}`, `{"a":{"$is":"string"},"b":2}`}, {`{"a":{"$is":"string"}}`, `{"a":1}`, `{"a":1}`},
		{`[{"$is":"any"},1]`, `[5,2]`, `[{"$is":"any"},2]`}, {`[1]`, `[1,2]`, `[1,2]`}, {`{"$size":1}`, `[1,2]`, `[1,2]`}, {`1`, `{"$is":"x"}`, `{"$just":{"$is":"x"}}`},
		{`{"a":1}`, `{"a":"<b>"}`, `{"a":"<b>"}`},
	} {
		got := string(updated(json.RawMessage(c.want), json.RawMessage(c.got)))
		if got != c.updated || len(Differences("x", json.RawMessage(got), json.RawMessage(c.got))) > 0 {
			t.Errorf("updated(%s, %s) = %s, want %s", c.want, c.got, got, c.updated)
		}
	}
}

// FuzzRead reads any file, and compares each case's patterns with themselves.
func FuzzRead(f *testing.F) {
	for _, text := range []string{`{"name":"a","tool":"t","expect":{"answer":{"$is":"any"}}}`, `{"name":"a","hook":"rank","request":{},"then":[{"job":"j","now":"2027-01-01T00:00:00Z"}]}`, `{"name":"a","tool":"t","seed":[{"key":"a","value":1}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := Read(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		changed := map[int]Case{}
		for _, c := range list {
			for i := range c.Steps() {
				c.Update(i, Got{Answer: json.RawMessage(`{"$is":1}`), Memories: json.RawMessage(`{}`)})
			}
			changed[c.Line] = c
		}
		text, err := Rewrite(data, changed)
		if err != nil {
			t.Fatalf("Rewrite of %q: %v", data, err)
		}
		if again, err := Read(strings.NewReader(string(text))); err == nil && len(again) != len(list) {
			t.Errorf("%q has %d cases when it is updated, and had %d", data, len(again), len(list))
		}
	})
}
