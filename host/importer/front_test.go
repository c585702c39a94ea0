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
