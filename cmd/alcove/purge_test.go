package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/operator"
)

func TestAPurgeSaysWhatItErasedWhatItDidNotAndWhoSawIt(t *testing.T) {
	done := operator.Purged{
		Result: purge.Result{
			Erased: []purge.Erased{{Branch: "default", Version: 12, Digest: "ab"}},
			Copies: purge.Copies{Records: 3, List: []operator.Copy{{Family: "notes", Collection: "notes/list", Namespace: "work", Key: "a\x1b[2J", Branch: "default"}, {Collection: "_answers", Branch: "_system"}}},
			Possible: purge.Copies{Records: 4, List: []operator.Copy{
				{Collection: "notes/list", Namespace: "work", Key: "it's", Branch: "default", Why: "it mentions the key"},
				{Collection: "memory", Namespace: "work", Key: "-twin", Branch: "default", Why: "a memory has it"},
				{Collection: "_log", Namespace: "work", Key: "7", Branch: "f", Why: "an event has it"},
			}},
		},
		Families: []operator.Witness{{Family: "notes", Hooks: []string{"store", "stored"}, Reads: true, Copies: 2, Possible: 1}},
		Outside:  []string{"embedder local at http://127.0.0.1:11434"},
	}
	var out bytes.Buffer
	a := &app{out: terminal.New(&out, func(string) string { return "" })}
	if err := a.printPurged(done); err != nil {
		t.Fatal(err)
	}
	said := out.String()
	for _, want := range []string{
		"v12", "sha256 ab", "3 copies were erased too", "and 1 more", "4 were NOT erased",
		`notes/list 'it'\''s', namespace work, branch default: it mentions the key`,
		`alcove purge --yes --namespace work --collection notes/list 'it'\''s'`,
		"alcove purge --yes --namespace work -- -twin",
		"alcove purge --yes --namespace work --branch f --event 7",
		"its hooks store, stored receive every memory; it may read there when it is called; 2 of the copies were its own",
		"alcove purge --family notes --yes", "embedder local at http://127.0.0.1:11434", "make a full backup",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "\x1b") {
		t.Errorf("it prints control characters: %q", said)
	}
}
