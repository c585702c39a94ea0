package search

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
)

func TestTrimmingChangesNoAnswerThatCanBeAskedFor(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	x := New(Options{Tail: 100})
	const versions = 6000
	for v := uint64(1); v <= versions; v++ {
		d := Doc{Branch: 1, Version: v, Key: fmt.Sprintf("k%02d", r.Intn(40)), Text: []string{fmt.Sprintf("tea %d", r.Intn(30))}, State: Active}
		if d.Deleted = r.Intn(5) == 0; d.Deleted {
			d.Text = nil
		}
		x.Apply(d)
		if v%500 == 0 {
			tend(t, x)
		}
	}
	const floor = 4000
	pins := []uint64{17, 1000, 1001, 3999}
	ask := func() string {
		out := ""
		for _, at := range append([]uint64{floor, floor + 1, 5000, versions, store.Latest}, pins...) {
			view := View{Lineage: store.Lineage{{Branch: 1, At: at}}}
			forked := View{Lineage: store.Lineage{{Branch: 2, At: store.Latest}, {Branch: 1, At: at}}}
			out += fmt.Sprintln(at, keys(t, x, view, Query{Text: "tea 7", K: 50}), keys(t, x, forked, Query{Text: "tea 7", K: 50}))
		}
		return out
	}
	before, had := ask(), x.table.held()
	x.Trim(1, floor, pins)
	if got := ask(); got != before {
		t.Errorf("found\n%s\nnot\n%s", got, before)
	}
	if x.table.held() > had/2 {
		t.Errorf("of %d documents %d are still held", had, x.table.held())
	}
	tend(t, x)
	for _, p := range x.parts {
		if p.sealed != nil && p.dead*8 >= p.docs() {
			t.Errorf("a part of %d documents keeps %d that were dropped", p.docs(), p.dead)
		}
	}
	x.Trim(1, floor, pins)
	if got := ask(); got != before {
		t.Errorf("after trimming again: found\n%s\nnot\n%s", got, before)
	}
}

func tend(t *testing.T, x *Index) {
	t.Helper()
	if err := x.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
}
