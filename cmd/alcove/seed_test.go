package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/family/author/seed"
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
			if err := readSeed(t.Context(), path, mostSeed, &seed.Seed{}, func(m operator.Memory) error { keys += m.Key; return nil }); err != nil || keys != "ab" {
				t.Errorf("got keys %q, %v, want ab", keys, err)
			}
		})
	}
}

func TestASeedBeyondTheLimitIsRefusedWhereverTheLimitFalls(t *testing.T) {
	const line = `{"key":"a","value":"text"}` + "\n"
	path := filepath.Join(t.TempDir(), "seed.jsonl")
	if err := os.WriteFile(path, []byte(line+line+line), 0o600); err != nil {
		t.Fatal(err)
	}
	for most := int64(1); most < 3*int64(len(line)); most++ {
		err := readSeed(t.Context(), path, most, &seed.Seed{}, func(operator.Memory) error { return nil })
		if want := fmt.Sprintf(" %d bytes", most); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes with a limit of %d: got the error %v, want %q", 3*len(line), most, err, want)
		}
	}
	if err := readSeed(t.Context(), path, 3*int64(len(line)), &seed.Seed{}, func(operator.Memory) error { return nil }); err != nil {
		t.Errorf("as many bytes as the limit: got the error %v, want none", err)
	}
}
