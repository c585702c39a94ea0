package importer

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
)

func TestNamesThatAreRememberedAreBounded(t *testing.T) {
	var limit *LimitError
	for _, c := range []struct {
		index index
		most  int
	}{
		{index{names: maxIndex - 1}, maxIndex},
		{index{bytes: maxIndexBytes - 5}, maxIndexBytes},
	} {
		if err := c.index.add("12345"); err != nil {
			t.Errorf("at the limit of %d: %v", c.most, err)
		}
		if err := c.index.add("x"); !errors.As(err, &limit) || limit.Most != c.most {
			t.Errorf("beyond the limit of %d: %v", c.most, err)
		}
	}
}

// FuzzFront decodes any front matter: nothing panics, and neither decoding nor what comes of it is far larger than the input.
func FuzzFront(f *testing.F) {
	for _, seed := range []string{
		"a: [1, 'x', \"y\"]\nb: {c: d}\ne: |\n  text\n", "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]", "a: &a {b: *a}", "a: &a {x: 1}\nb: {<<: *a}",
		"- - - - x", "? ? x\n: y", "!!map {a: !!str 1}", "a: >-\n  b\n\n  c", "a: " + strings.Repeat("[", 40), "a: &a &b *a", "%YAML 1.2\n--- a", "a: 1e99999999\nb: .inf\nc: 0x" + strings.Repeat("f", 40),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, front []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		values, err := parseFront(front)
		out := 0
		if err == nil {
			out = len(encode(values))
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20+2<<10*uint64(len(front)) {
			t.Errorf("%d bytes are allocated for %d", n, len(front))
		}
		if out > 8*maxFrontExpanded || err == nil && !json.Valid(encode(values)) {
			t.Errorf("%d bytes become %d", len(front), out)
		}
	})
}

func TestValuesOfFrontMatter(t *testing.T) {
	for _, c := range []struct{ front, want string }{
		{"a: 2026-01-02\nb: 2026-01-02T03:04:05Z\nc: !!timestamp 2026-01-02", `{"a":"2026-01-02","b":"2026-01-02T03:04:05Z","c":"2026-01-02"}`},
		{"a: yes\nb: on\nc: True\nd: 'true'\ne: !!bool \"false\"", `{"a":"yes","b":"on","c":true,"d":"true","e":false}`},
		{"a: null\nb: ~\nc:\nd: nUll\ne: !!null x", `{"a":null,"b":null,"c":null,"d":"nUll","e":null}`},
		{"a: 1\nb: -2\nc: 0x1f\nd: 0o17\ne: 017\nf: 1_000\ng: '1'\nh: !!str 1\ni: !!int \"2\"", `{"a":1,"b":-2,"c":31,"d":15,"e":15,"f":1000,"g":"1","h":"1","i":2}`},
		{"a: 18446744073709551615\nb: 18446744073709551616\nc: 08\nd: 12e03\ne: 1:30\nf: 1.2.3", `{"a":18446744073709551615,"b":"18446744073709551616","c":"08","d":"12e03","e":"1:30","f":"1.2.3"}`},
		{"a: 1.5\nb: .5\nc: 1.e1\nd: 1_0.5\ne: !!float 3\nf: 1.5e99999", `{"a":1.5,"b":0.5,"c":10,"d":10.5,"e":3,"f":"1.5e99999"}`},
		{"a: -.inf", "null"}, {"a: [.NaN]", "null"}, // JSON has neither
		{"1: a\ntrue: b\n1.50: c\n\"q\": d\n'': e", `{"":"e","1":"a","1.50":"c","q":"d","true":"b"}`},
		{"a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {<<: [*a, {x: 5}]}\nd: {'<<': 3}", `{"a":{"x":1,"y":2},"b":{"x":1,"y":3},"c":{"x":5,"y":2},"d":{"<<":3}}`},
		{"&k key: v\nb: *k\nc: &k w\nd: *k", `{"b":"key","c":"w","d":"w","key":"v"}`},
		{"a: !!binary aGk=\nb: !own {x: 1}\nc: !!set {a, b}", `{"a":"aGk=","b":{"x":1},"c":{"a":null,"b":null}}`},
		{"a: 1\n---\nb: 2", `{"a":1}`}, {"a: 1\n...\nb: 2", `{"a":1}`}, {"", "{}"}, {"# nothing", "{}"}, {"\ufeffa: 1", `{"a":1}`},
		{"a: |\n  x\n  y\nb: >-\n  x\n  y", `{"a":"x\ny\n","b":"x y"}`},
	} {
		values, err := parseFront([]byte(c.front))
		if got := string(encode(values)); err != nil || got != c.want {
			t.Errorf("parseFront(%q) = %s, %v, want %s", c.front, got, err, c.want)
		}
	}
}

func TestAnErrorOfFrontMatterNamesItsLine(t *testing.T) {
	for _, c := range []struct {
		front string
		line  int
		says  string
	}{
		{"a: 1\nb: 2\na: 3", 3, `the key "a" is already in line 2`}, {"a: {b: 1,\n b: 2}", 2, `the key "b" is already in line 2`},
		{"a: 1\nb: *none", 2, "unknown anchor 'none'"}, {"a: 1\nb: {<<: 3}", 2, "the key << has a value"}, {"a: 1\nb: &b {\n c: *b}", 3, `the alias "b" stands for what it is in`},
		{"a: 1\nb: {{x}}", 2, "a list or map is the key"}, {"- a", 1, "it is not a map"}, {"text", 1, "it is not a map"},
		{"a: 1\nb: \x01", 2, "a control character"}, {"a: 1\n\tb: 2", 2, "a tab character"}, {"a: 1\nb: @x", 2, "cannot start any token"},
		{"a: [", 1, "did not find expected node content"}, {"a: 1\n\nb: [1,\n2\n}\nc: d", 3, "did not find expected ',' or ']'"},
		{"a:\n- b\nc", 3, "could not find expected ':'"}, {"a: 1\nb: c: d", 2, "mapping values are not allowed"}, {"{a: 1}\nb: 2", 2, "did not find expected <document start>"},
	} {
		_, err := parseFront([]byte(c.front))
		if placed := new(frontError); !errors.As(err, &placed) || placed.line != c.line || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: line %d, %v", c.front, placed.line, err)
		}
	}
}
