package search

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
)

// registry is a Semantic that notes the documents it is told of.
type registry struct {
	*similar
	mu    sync.Mutex
	from  Documents
	held  Held
	of    map[uint32]string
	saved string // until something is added or removed
	since bool   // something was, since the last Saving
	gone  int    // removed since Begin
}

func newRegistry() *registry { return &registry{similar: &similar{}, of: map[uint32]string{}} }

func (r *registry) Begin(d Documents, h Held) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from, r.held, r.saved, r.gone = d, h, "", 0
}

func (r *registry) Saved(state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.since {
		r.saved = state
	}
}

func (r *registry) Saving() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since = false
}

func (r *registry) Add(number uint32, ref Ref, _ Embedding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[number], r.saved, r.since = said(ref), "", true
}

func (r *registry) Remove(number uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, number)
	r.saved, r.since = "", true
	r.gone++
}

func said(r Ref) string { return fmt.Sprint(r.Key, "@", r.Version) }

// keys are those of the documents that the index has, in their order: those it had, and those it told of.
func (r *registry) keys(t *testing.T) []string {
	t.Helper()
	all := map[string]bool{}
	numbers := make([]uint32, r.held.Numbers+2) // and two that there are not
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	refs, err := r.from.Refs(numbers)
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range refs {
		if ref != (Ref{}) {
			all[said(ref)] = true
		}
	}
	for _, key := range r.of {
		all[key] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// numerous returns documents, and their keys and versions in order.
func numerous(n int) (docs []Doc, keys []string) {
	for i := range n {
		docs = append(docs, Doc{Branch: 1, Version: uint64(i + 1), Key: fmt.Sprint("k", i), Text: []string{"tea"}, State: Active})
		keys = append(keys, fmt.Sprint("k", i, "@", i+1))
	}
	slices.Sort(keys)
	return docs, keys
}

// saved returns the files of an index of documents, and what its Semantic knows at the end.
func saved(t *testing.T, docs []Doc) (*shelf, *registry) {
	t.Helper()
	blobs, r := &shelf{blobs: map[string][]byte{}}, newRegistry()
	x := New(Options{Tail: 100, Semantic: r})
	x.Apply(docs...)
	if err := x.SaveAll(t.Context(), blobs, uint64(len(docs))); err != nil {
		t.Fatal(err)
	}
	return blobs, r
}

func TestASemanticFindsTheDocumentsOfALoadedIndex(t *testing.T) {
	docs, keys := numerous(700)
	blobs, before := saved(t, docs)
	r := newRegistry()
	x := New(Options{Tail: 100, Semantic: r})
	if _, err := x.Load(t.Context(), blobs, silent()); err != nil {
		t.Fatal(err)
	}
	if got := r.keys(t); len(r.of) > 0 || r.held.Documents != len(docs) || !slices.Equal(got, keys) {
		t.Errorf("after Load %d documents were told of, and %d of %d are found, want none and all", len(r.of), len(got), r.held.Documents)
	}
	if before.saved == "" || r.held.State != before.saved {
		t.Errorf("the state is %q, want %q as it was saved", r.held.State, before.saved)
	}
	x.Apply(Doc{Branch: 1, Version: 5000, Key: "new", Text: []string{"tea"}, State: Active}, Doc{Branch: 1, Version: 5001, Key: "k0", Deleted: true})
	x.Trim(1, 5001, nil) // which removes the version of k0
	want := append(slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return key == "k0@1" }), "new@5000")
	slices.Sort(want)
	if got := r.keys(t); !slices.Equal(got, want) {
		t.Errorf("in the end %d documents are found, want %d", len(got), len(want))
	}
}

// TestRowsThatALoadTakesBackAreRemoved loads an index whose last documents were not stored: their numbers are given to others.
func TestRowsThatALoadTakesBackAreRemoved(t *testing.T) {
	docs, keys := numerous(650)
	blobs, before := &shelf{blobs: map[string][]byte{}}, newRegistry()
	x := New(Options{Tail: 100, Semantic: before})
	x.Apply(docs[:600]...)
	tend(t, x)
	x.Apply(docs[600:]...)
	if err := x.Save(t.Context(), blobs, uint64(len(docs))); err != nil {
		t.Fatal(err)
	}
	r := newRegistry()
	loaded := New(Options{Tail: 100, Semantic: r})
	if _, err := loaded.Load(t.Context(), blobs, silent()); err != nil {
		t.Fatal(err)
	}
	left := len(keys) - r.gone
	if got := r.keys(t); r.held.State != before.saved || r.gone == 0 || len(got) != left {
		t.Errorf("of state %q, %d rows are removed and %d documents found, want state %q, and all rows removed that are not found", r.held.State, r.gone, len(got), before.saved)
	}
}

func TestASemanticThatComesLaterFindsAllDocuments(t *testing.T) {
	docs, want := numerous(300)
	x := New(Options{Tail: 100})
	x.Apply(docs...)
	tend(t, x)
	r := newRegistry()
	x.Attach(r)
	if got := r.keys(t); !slices.Equal(got, want) || r.held.Documents != len(want) || r.held.State != "" {
		t.Errorf("%d documents of %d are found, of state %q, want %d, of none", len(got), r.held.Documents, r.held.State, len(want))
	}
}

func TestAChangeAfterASaveIsOfNoSavedState(t *testing.T) {
	docs, _ := numerous(700)
	blobs, r := &shelf{blobs: map[string][]byte{}}, newRegistry()
	x := New(Options{Tail: 100, Semantic: r})
	x.Apply(docs[:600]...)
	save := func() string {
		t.Helper()
		if err := x.SaveAll(t.Context(), blobs, uint64(len(docs))); err != nil {
			t.Fatal(err)
		}
		return r.saved
	}
	first := save()
	if again := save(); first == "" || again != first {
		t.Errorf("a save without changes is of state %q, want %q again", again, first)
	}
	x.Apply(docs[600])
	if r.saved != "" {
		t.Errorf("after a change the numbers are of %q, want none", r.saved)
	}
	if second := save(); second == "" || second == first {
		t.Errorf("the next state is %q, want another than %q", second, first)
	}
	blobs.during = func() { blobs.during = nil; x.Apply(docs[601]) } // while the index is saved
	if state := save(); state != "" {
		t.Errorf("the numbers are of state %q, want none: a document came since it was collected", state)
	}
}
