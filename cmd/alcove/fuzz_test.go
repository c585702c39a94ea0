package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzSettings reads any file as what the command line remembers.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{`{"branch":"b"}`, `{"branch":7}`, `{`, ``, `null`, `[]`} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(settingsPath(dir), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := readSettings(settingsPath(dir))
		if err != nil {
			if !strings.Contains(err.Error(), "delete the file") {
				t.Errorf("readSettings of %q: %v, want the advice to delete the file", data, err)
			}
			return
		}
		if err := writeSettings(settingsPath(dir), s); err != nil {
			t.Fatal(err)
		}
		if back, err := readSettings(settingsPath(dir)); err != nil || back != s {
			t.Errorf("%+v was read back as %+v (%v)", s, back, err)
		}
	})
}

// FuzzValue takes any argument, or standard input, for a value.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `plain`, ` 7 `, `"x`, "\xff", "\"\xff\"", `1e999`, strings.Repeat("[", 1000), ``, `-`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, argument string) {
		for _, a := range []*app{{in: strings.NewReader("")}, {in: strings.NewReader(argument)}} {
			from := argument
			if a.in.(*strings.Reader).Len() > 0 {
				from = "-"
			}
			value, err := a.value(from)
			if err != nil {
				continue
			}
			if !json.Valid(value) {
				t.Fatalf("%q became %q", argument, value)
			}
			var back string
			if raw := bytes.TrimSpace([]byte(argument)); argument != "-" && from == "-" && !json.Valid(raw) && utf8.ValidString(argument) &&
				(json.Unmarshal(value, &back) != nil || back != argument) {
				t.Errorf("the text %q became %q", argument, back)
			}
		}
	})
}
