package jsontext

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestDepthCountsBracketsOutsideStrings(t *testing.T) {
	for text, want := range map[string]int{``: 0, `"[{"`: 0, `"\"["`: 0, `[]`: 1, `{"a":[1,{"b":2}]}`: 3, `[[[[`: 4, `]]][`: 0, `[][]`: 1} {
		if got := Depth([]byte(text)); got != want {
			t.Errorf("%s is %d deep, not %d", text, got, want)
		}
	}
}

func TestStringsAreValuesAndNoFieldNames(t *testing.T) {
	for text, want := range map[string][]string{
		`"a"`: {"a"}, `{"a":"b","c":{"d":["e","",1,"f"]},"g":"h"}`: {"b", "e", "f", "h"}, `[{"a":{}},"b"]`: {"b"}, `["a",`: {"a"}, `7`: nil,
		`["a\"b\u00e9\\",  "c"]`: {"a\"bé\\", "c"}, "[\"a\xff\"]": {"a\ufffd"}, "{\"a\" \n:\"b\"}": {"b"}, `["a`: nil, `["\x","b"]`: {"b"}, `"":""`: nil, ``: nil,
	} {
		if got := Strings([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%s has the strings %q, not %q", text, got, want)
		}
	}
}

func TestEqualValuesAreEqualInCanonicalForm(t *testing.T) {
	a, errA := Canonical([]byte(` {"b": 9007199254740993, "a": "<&>"}`))
	b, errB := Canonical([]byte(`{"a":"<&>","b":9007199254740993}`))
	if string(a) != string(b) || string(a) != "{\"a\":\"<&>\",\"b\":9007199254740993}\n" || errA != nil || errB != nil {
		t.Errorf("%q and %q (%v, %v)", a, b, errA, errB)
	}
	if _, err := Canonical([]byte(`{`)); err == nil {
		t.Error("invalid JSON has a canonical form")
	}
}

// The functions read what clients sent, before and after it is known to be JSON.
func FuzzText(f *testing.F) {
	for _, text := range []string{`{"a":["b",{"c":1e400}]}`, `[[[`, `"\ud800"`, `{"a":1,"a":2}`, ` 1 `} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		depth := Depth(text)
		list := Strings(text)
		if !json.Valid(text) || depth > 1000 {
			return
		}
		if want := stringsOf(text); !slices.Equal(list, want) {
			t.Errorf("%q has the strings %q, not %q", text, list, want)
		}
		compact, err := Compact(text)
		if err != nil || Depth(compact) != depth || !slices.Equal(Strings(compact), list) {
			t.Errorf("%q is compact as %q, which differs (%v)", text, compact, err)
		}
		once, err := Canonical(text)
		twice, again := Canonical(once)
		if err == nil && (string(once) != string(twice) || again != nil) {
			t.Errorf("%q is canonical as %q, and that as %q (%v)", text, once, twice, again)
		}
	})
}

// stringsOf lists what Strings lists, by the standard decoder.
func stringsOf(value []byte) (found []string) {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var object []bool // per open bracket
	name := false
	for {
		token, err := dec.Token()
		if err != nil {
			return found
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				object = append(object, t == '{')
				name = t == '{'
				continue
			}
			object = object[:len(object)-1]
		case string:
			if name {
				name = false
				continue
			}
			if t != "" {
				found = append(found, t)
			}
		}
		name = len(object) > 0 && object[len(object)-1]
	}
}

func BenchmarkStrings(b *testing.B) {
	value := []byte(`{"title":"Deploy","body":"` + strings.Repeat("We deploy on Tuesdays. ", 10) + `","tags":["a","b"]}`)
	for name, list := range map[string]func([]byte) []string{"scanned": Strings, "decoded": stringsOf} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			for b.Loop() {
				list(value)
			}
		})
	}
}

func TestMembersAndElementsAreAsWritten(t *testing.T) {
	var got []string
	for name, value := range Members([]byte(` { "a" : [1, {"b":2}] ,"\u0062\"":"x,}:", "":{} , "c":null}\n`)) {
		got = append(got, string(name)+"="+string(value))
	}
	for element := range Elements([]byte(`[ 1 , "a,b" ,[2,3],{"c":[]}, true]`)) {
		got = append(got, string(element))
	}
	want := []string{`"a"=[1, {"b":2}]`, `"\u0062\""="x,}:"`, `""={}`, `"c"=null`, `1`, `"a,b"`, `[2,3]`, `{"c":[]}`, `true`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for range Members([]byte(" {} ")) {
		t.Error("an empty object has a member")
	}
	for range Elements([]byte("[ ]")) {
		t.Error("an empty list has an element")
	}
}

// Every member that encoding/json finds is found.
func FuzzMembers(f *testing.F) {
	f.Add(`{"a":{"b":[1,"]"]},"c":"\\"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		got := map[string]json.RawMessage{}
		for name, value := range Members([]byte(text)) {
			var read string
			if err := json.Unmarshal(name, &read); err != nil {
				t.Fatalf("decode the name %s: %v", name, err)
			}
			got[read] = value
		}
		if len(got) != len(want) {
			t.Fatalf("%q has %d members, not %d", text, len(got), len(want))
		}
		for name, value := range want {
			if string(got[name]) != string(value) {
				t.Errorf("%q is %s, want %s", name, got[name], value)
			}
		}
	})
}
