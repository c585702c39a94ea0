package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/host/operator"
)

// alcove family call and alcove family dev begin with the same files, since both read them here.
func TestASeedIsWrittenByHandOrExported(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"by hand", `{"namespace":"default","key":"a","value":"one"}` + "\n" + `{"key":"b","value":{"id":1,"memory":"chat_messages"}}` + "\n"},
		{"exported", `{"alcove":"memories","format":1}` + "\n" + `{"namespace":"default","key":"a","value":"one"}` + "\n" + `{"namespace":"default","key":"b","value":2}` + "\n" + `{"end":true,"memories":2}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "seed.jsonl")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			keys := ""
			if err := readSeed(t.Context(), path, func(m operator.Memory) error { keys += m.Key; return nil }); err != nil || keys != "ab" {
				t.Errorf("got keys %q, %v, want ab", keys, err)
			}
		})
	}
}
