package abi

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKeysAreComparedAsTheyRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"a":2}`:                             `the field "a" appears twice`,
		`{"a":1,"\u0061":2}`:                        `the field "a" appears twice`,
		`{"x":[{"b":{},"c":"b","b":[]}]}`:           `the field "b" appears twice`,
		`{"a":{"a":["a","a",{"a":"a"}]},"b":"\"a"}`: "",
		` {"a":1} `:                                 "",
		`["\\",{"\\":1,"x":2}]`:                     "",
		strings.Repeat(`[`, maxManifestDepth) + strings.Repeat(`]`, maxManifestDepth):           "",
		strings.Repeat(`[`, maxManifestDepth+1) + strings.Repeat(`]`, maxManifestDepth+1):       "it nests deeper than 64",
		strings.Repeat(`{"a":`, maxManifestDepth) + "1" + strings.Repeat(`}`, maxManifestDepth): "",
	} {
		if err := checkObjects([]byte(text)); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

// What is found twice is what a map loses.
func FuzzKeys(f *testing.F) {
	f.Add(`{"a":{"b":1,"b":2}}`)
	f.Add(`[{"\u0062":1,"b":"]"},"\\"]`)
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || !json.Valid([]byte(text)) {
			return // it is refused before
		}
		err := checkObjects([]byte(text))
		if err != nil && strings.Contains(err.Error(), "deeper") {
			return
		}
		if twice := members(text, true) != members(text, false); twice != (err != nil) {
			t.Errorf("%v of %s", err, text)
		}
	})
}

// members counts the members of all objects in a value, with or without those that a map loses.
func members(text string, lost bool) (n int) {
	var object map[string]json.RawMessage
	var items []json.RawMessage
	switch {
	case json.Unmarshal([]byte(text), &items) == nil:
		for _, item := range items {
			n += members(string(item), lost)
		}
		return n
	case !lost && json.Unmarshal([]byte(text), &object) == nil:
		for _, value := range object {
			n += 1 + members(string(value), lost)
		}
		return n
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return 0
	}
	for decoder.More() {
		var value json.RawMessage
		if _, err := decoder.Token(); err != nil || decoder.Decode(&value) != nil {
			return -1
		}
		n += 1 + members(string(value), lost)
	}
	return n
}
