package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/alcove-memory/alcove/guests/families/consolidation/compare"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// Learning again gives the trees that consolidation has: who changes a sign or a pair has to learn anew, as the package's comment says.
func TestLearningAgainGivesTheSameTrees(t *testing.T) {
	if testing.Short() {
		t.Skip("learning takes some seconds")
	}
	r, err := newReader()
	must.Do(t, err)
	own, err := r.read(pairs)
	must.Do(t, err)
	named, err := r.readDir("../../../host/bench/judge/testdata")
	must.Do(t, err)
	want, err := os.ReadFile("../../families/consolidation/compare/trees.bin")
	must.Do(t, err)
	if got := table(append(own, named...), usual); !bytes.Equal(got, want) {
		t.Errorf("got %d bytes of other trees than the %d bytes in trees.bin, want the same", len(got), len(want))
	}
}

func TestTreesAreReadAsTheyWereWritten(t *testing.T) {
	var list []example
	for i := range 200 {
		var e example
		e.signs[i%3], e.signs[5] = float32(i%7)/7, float32(i%11)/11-.5
		e.found, e.weight = i%7 > 3 && i%11 > 4, 1
		list = append(list, e)
	}
	trees := learn(list, options{trees: 5, depth: 3, leaf: 4, rate: .3, sample: 1, decay: 1})
	again := compare.ReadTrees(string(compare.WriteTrees(trees)))
	for i, e := range list {
		if got, want := again.Score(&e.signs, nil), trees.Score(&e.signs, nil); got != want {
			t.Fatalf("example %d scores %d when the trees were written and read, want %d", i, got, want)
		}
	}
}
