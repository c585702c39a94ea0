package search

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
)

// long returns documents of so many words that they are added in several steps. Half of them are turns, some replace others.
func long(branch store.BranchID, version uint64, n int) []Doc {
	docs := make([]Doc, n)
	for i := range docs {
		docs[i] = Doc{Branch: branch, Version: version, Key: fmt.Sprint("k", i), State: Active, Tags: []string{"hot"},
			Text: []string{fmt.Sprintf("tea with milk number%d %s", i, strings.Repeat(fmt.Sprint("leaf", i%7, " "), 200))}}
		if i%2 == 1 {
			docs[i].Turn = &Turn{Session: "s", Position: int64(i), Speaker: "Anna"}
		}
	}
	return docs
}

// answers are those to questions of several kinds.
func answers(t *testing.T, x *Index, l store.Lineage) (all []any) {
	t.Helper()
	view := View{Lineage: l}
	for _, text := range []string{"tea milk", `"with milk"`, "leaf3", "lea*", "number7", "anna leaf2"} {
		for _, q := range []Query{{Text: text, K: 100}, {Text: text, K: 100, Plain: true}, {Text: text, Tags: []string{"hot"}}} {
			r, err := x.Search(t.Context(), view, q)
			all = append(all, fmt.Sprintf("%+v %v", r, err))
		}
	}
	n, err := x.Count(t.Context(), view)
	documents, counts, failed := x.Frequencies(t.Context(), view, []string{"tea", "milk", "leaf3"})
	return append(all, n, err, documents, counts, failed)
}

func TestBetweenTheStepsOfABatchNothingOfItIsSeen(t *testing.T) {
	x := New(Options{})
	x.Apply(long(1, 1, 9)...)
	for _, lineage := range []store.Lineage{trunk, {{Branch: 1, At: 5}}} { // a view that others keep, and one that is built anew
		clear(x.cache)
		before := answers(t, x, lineage)
		docs := long(1, 2, 20)
		analysed, reserved := x.analyse(docs), make([]reservation, len(docs))
		x.addSome(docs, analysed, reserved, 0, 15)
		if got := answers(t, x, lineage); !reflect.DeepEqual(got, before) {
			t.Errorf("with postings without rows, searches find\n%v, want\n%v", got, before)
		}
		clear(x.cache)
		if got := answers(t, x, lineage); !reflect.DeepEqual(got, before) {
			t.Errorf("with postings without rows, searches of a new view find\n%v, want\n%v", got, before)
		}
	}
}

func TestABatchThatIsAddedInStepsIsThatOfOneStep(t *testing.T) {
	stepwise, whole := New(Options{}), New(Options{})
	docs := long(1, 2, 50)
	docs = append(docs, Doc{Branch: 1, Version: 3, Key: "k4", Deleted: true}, docs[7], Doc{Branch: 2, Version: 3, Key: "k5", Text: []string{"other tea"}, State: Active})
	stepwise.Apply(docs...)
	for i := range docs {
		whole.Apply(docs[i])
	}
	for _, lineage := range []store.Lineage{trunk, {{Branch: 1, At: 2}}, {{Branch: 2, At: store.Latest}, {Branch: 1, At: 2}}} {
		if got, want := answers(t, stepwise, lineage), answers(t, whole, lineage); !reflect.DeepEqual(got, want) {
			t.Errorf("of %v, searches find\n%v, want\n%v", lineage, got, want)
		}
	}
	if n := stepwise.parts[stepwise.branches[1].parts[0].id].dead; n != 1 {
		t.Errorf("%d documents of the tail have no row, want 1: the one that came twice", n)
	}
}

func TestSearchesBesideBatchesSeeWholeBatches(t *testing.T) {
	x := New(Options{Tail: 64})
	const batches, size = 30, 20
	var writers sync.WaitGroup
	for branch := range store.BranchID(2) {
		writers.Go(func() {
			for b := range batches {
				docs := long(1+branch, uint64(b+1), size)
				for i := range docs {
					docs[i].Key = fmt.Sprint(b, "/", i)
				}
				x.Apply(docs...)
				if err := x.Maintain(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	t.Cleanup(writers.Wait)
	done := make(chan struct{})
	go func() {
		defer close(done)
		writers.Wait()
	}()
	for seen := [2]int{}; seen != [2]int{batches * size, batches * size}; {
		for b := range seen {
			ended := false
			select {
			case <-done:
				ended = true
			default:
			}
			r, err := x.Search(t.Context(), View{Lineage: store.Lineage{{Branch: store.BranchID(b + 1), At: store.Latest}}}, Query{Text: "tea"})
			if err != nil || r.Total%size != 0 || r.Total < seen[b] || ended && r.Total != batches*size {
				t.Fatalf("a search finds %d documents (%v) after %d, want whole batches of %d, and %d in the end", r.Total, err, seen[b], size, batches*size)
			}
			seen[b] = r.Total
		}
	}
	<-done // the last batches may be found while they are merged
}
