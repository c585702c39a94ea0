package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheStoreIsNamedOnceAndWithoutAPasswordInTheArguments(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "store")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const secret = "postgres://me:hushed@db/alcove"
	for name, c := range map[string]struct {
		flag, file, env string
		want, refused   string
	}{
		"nothing":                            {},
		"a flag":                             {flag: "postgres://me@db/alcove", want: "postgres://me@db/alcove"},
		"a flag over the environment":        {flag: "postgres://me@db/alcove", env: secret, want: "postgres://me@db/alcove"},
		"the environment":                    {env: secret + "\n", want: secret},
		"a file":                             {file: file(secret + "\n"), want: secret},
		"both flags":                         {flag: "postgres://me@db/alcove", file: file(secret), refused: "one of them"},
		"a password in the flag":             {flag: secret, refused: "--store-file"},
		"a password among parameters":        {flag: "postgres://me@db/alcove?password=hushed", refused: "--store-file"},
		"an empty file":                      {file: file("\n"), refused: "is empty"},
		"a file that is longer than is read": {file: file(strings.Repeat("x", 8<<10+1)), refused: "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{store: c.flag, storeFile: c.file, env: func(name string) string {
				if name == "ALCOVE_STORE" {
					return c.env
				}
				return ""
			}}
			got, err := a.storeURL()
			switch {
			case c.refused == "" && (err != nil || got != c.want):
				t.Errorf("storeURL() = %q, %v, want %q", got, err, c.want)
			case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused) || strings.Contains(err.Error(), "hushed")):
				t.Errorf("storeURL() has the error %v, want one with %q", err, c.refused)
			}
		})
	}
}
