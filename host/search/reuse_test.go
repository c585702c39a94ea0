package search

import (
	"fmt"
	"math/rand"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
)

// TestMemoryThatIsUsedAgainHasNoTraceOfWhatItHeld fills tails from several goroutines with documents that are prepared early, some of
// them in vain, while others are sealed, and counts the documents of each word.
func TestMemoryThatIsUsedAgainHasNoTraceOfWhatItHeld(t *testing.T) {
	x := New(Options{Tail: 60})
	const writers, batches, size = 4, 30, 20
	var all [writers][]Doc
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			rng := rand.New(rand.NewSource(int64(w)))
			for b := range batches {
				docs := make([]Doc, size)
				for i := range docs {
					key := fmt.Sprintf("own%dx%dx%d", w, b, i)
					docs[i] = Doc{Branch: store.BranchID(1 + w%2), Version: uint64(1 + (b*size+i)*writers + w), Key: key, State: Active,
						Text: []string{fmt.Sprintf("shared%d shared%d %s", rng.Intn(9), rng.Intn(9), key)}}
				}
				x.Prepare(docs)
				if b%5 == 4 {
					continue // the commit failed
				}
				all[w] = append(all[w], docs...)
				x.Apply(docs...)
				if docs[0].analysis != nil {
					t.Error("an applied document still has its analysis, which others use")
				}
				if err := x.Maintain(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	want := map[string]int{"1own0x4x1": 0}
	for _, docs := range all {
		for i := range docs {
			docs[i].analysis = nil
			for _, term := range inEnglish().terms(docs[i].Text[0]) {
				want[fmt.Sprint(docs[i].Branch, term)]++
			}
		}
		if missing := x.Missing(docs...); missing > 0 {
			t.Errorf("%d documents are missing", missing)
		}
	}
	for b := range store.BranchID(2) {
		for term, documents := range want {
			if term[0] != '1'+byte(b) {
				continue
			}
			view := View{Lineage: store.Lineage{{Branch: 1 + b, At: store.Latest}}}
			if r, err := x.Search(t.Context(), view, Query{Text: term[1:]}); err != nil || r.Total != documents {
				t.Fatalf("branch %d has %d documents with %s, not %d: %v", 1+b, r.Total, term[1:], documents, err)
			}
		}
	}
}

func TestATailGetsTheMemoryOfTheLastOne(t *testing.T) {
	x := New(Options{Tail: 10})
	fill := func(from uint64) {
		for v := from; v < from+10; v++ {
			x.Apply(Doc{Branch: 1, Version: v, Key: fmt.Sprint(v), Text: []string{"tea"}, State: Active})
		}
	}
	fill(1)
	first := x.branches[1].tail().tail
	tend(t, x)
	if x.spare.Load() != first {
		t.Error("its memory is not kept")
	}
	x.Apply(Doc{Branch: 2, Version: 1, Key: "a", Text: []string{"tea"}, State: Active})
	if x.branches[2].tail().tail == first {
		t.Error("a branch of one document has the memory of a full tail")
	}
	fill(11)
	if x.branches[1].tail().tail != first {
		t.Error("its memory is not used again")
	}
	if r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: "tea"}); err != nil || r.Total != 20 {
		t.Errorf("%d documents are found: %v", r.Total, err)
	}
}

func TestTheMemoryOfALargeTailIsNotKept(t *testing.T) {
	x := New(Options{Tail: 10})
	x.Apply(Doc{Branch: 1, Version: 1, Key: "a", Text: []string{"tea"}, State: Active})
	e := &x.branches[1].tail().tail.entries[0]
	e.docs = append(make([]uint32, 0, mostSpare/4), e.docs...)
	for v := uint64(2); v <= 10; v++ {
		x.Apply(Doc{Branch: 1, Version: v, Key: "a", Text: []string{"tea"}, State: Active})
	}
	tend(t, x)
	if x.spare.Load() != nil {
		t.Error("it is kept")
	}
}

// TestADocumentOfSeveralBranchesIsDroppedFromEachAlone drops and refills branches that have the same keys.
func TestADocumentOfSeveralBranchesIsDroppedFromEachAlone(t *testing.T) {
	const branches, keys, versions = 3, 5, 4
	rng := rand.New(rand.NewSource(1))
	x := New(Options{Tail: 7})
	has := map[store.BranchID]bool{}
	for step := range 60 {
		id := store.BranchID(1 + rng.Intn(branches))
		if has[id] {
			x.Drop(id)
		} else {
			for v := range uint64(versions) {
				for k := range keys {
					x.Apply(Doc{Branch: id, Version: v + 1, Key: fmt.Sprint(k), Text: []string{fmt.Sprintf("word%dx%d", id, v+1)}, State: Active})
				}
			}
		}
		has[id] = !has[id]
		if step%7 == 0 {
			tend(t, x)
		}
		for b := range store.BranchID(branches) {
			for v := range uint64(versions) {
				view := View{Lineage: store.Lineage{{Branch: b + 1, At: v + 1}}}
				want := 0
				if has[b+1] {
					want = keys
				}
				if r, err := x.Search(t.Context(), view, Query{Text: fmt.Sprintf("word%dx%d", b+1, v+1)}); err != nil || r.Total != want {
					t.Fatalf("after %d steps, branch %d has %d documents at %d, not %d: %v", step+1, b+1, r.Total, v+1, want, err)
				}
			}
		}
	}
	for id := range has {
		x.Drop(id)
	}
	used := 0
	for id := range x.table.names.Len() {
		if x.table.isName(id) {
			used++
		}
	}
	if used > 0 {
		t.Errorf("%d names of nothing have numbers", used)
	}
}
