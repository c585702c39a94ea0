package main

import (
	"bytes"
	"os"
	"runtime"
	"testing"

	"github.com/alcove-memory/alcove/guests/families/auto-tag/kind"
	"github.com/alcove-memory/alcove/host/testing/must"
)

func TestTheWeightsAreWhatTheSentencesGive(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round sums of products in other ways")
	}
	own, named, err := readAll([]string{"../../../host/bench/judge/testdata/types-dev.jsonl"})
	must.Do(t, err)
	got := learn(append(own, named...), usual()).table(usual())
	want, err := os.ReadFile("../../families/auto-tag/kind/weights.bin")
	must.Do(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("the sentences give %d bytes, which are not the %d of weights.bin, want the same: run go run ./guests/build/kinds "+
			"-out guests/families/auto-tag/kind/weights.bin host/bench/judge/testdata/types-dev.jsonl", len(got), len(want))
	}
}

func TestEachTypeHasManySentencesAndNoneTwice(t *testing.T) {
	own, err := readSentences(sentences)
	must.Do(t, err)
	var of [types]int
	seen := map[string]bool{}
	for _, s := range own {
		of[s.kind]++
		if seen[s.text] {
			t.Errorf("%q is there twice, want it once", s.text)
		}
		seen[s.text] = true
	}
	for k, name := range kind.Types() {
		if of[k] < 350 {
			t.Errorf("%s has %d sentences, want at least 350", name, of[k])
		}
	}
}
