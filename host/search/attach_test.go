package search

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
)

// registry is a Semantic that notes the documents it is told of.
type registry struct {
	*similar
	mu       sync.Mutex
	of       map[uint32]string
	expected int
	added    func()
}

func (r *registry) Expect(documents int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expected = documents
}

func (r *registry) Add(number uint32, ref Ref, _ Embedding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[number] = fmt.Sprint(ref.Key, "@", ref.Version)
	if r.added != nil {
		r.added()
	}
}

func (r *registry) Remove(number uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, number)
}

// keys are those of the registered documents, in their order.
func (r *registry) keys() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Values(r.of))
}

// numerous returns documents whose rows take several steps to register.
func numerous(n int) (docs []Doc, keys []string) {
	for i := range n {
		docs = append(docs, Doc{Branch: 1, Version: uint64(i + 1), Key: fmt.Sprint("k", i), Text: []string{"tea"}, State: Active})
		keys = append(keys, fmt.Sprint("k", i, "@", i+1))
	}
	return docs, keys
}

func TestLoadedDocumentsAreRegisteredAfterwardsBesideWrites(t *testing.T) {
	docs, keys := numerous(3*rowsPerRegistration + 7)
	blobs := &shelf{blobs: map[string][]byte{}}
	written := New(Options{Tail: 100})
	written.Apply(docs...)
	if err := written.SaveAll(t.Context(), blobs, uint64(len(docs))); err != nil {
		t.Fatal(err)
	}
	r := &registry{similar: &similar{}, of: map[uint32]string{}}
	x := New(Options{Tail: 100, Semantic: r})
	if _, err := x.Load(t.Context(), blobs, silent()); err != nil {
		t.Fatal(err)
	}
	if got := r.keys(); len(got) > 0 || r.expected != len(docs) {
		t.Errorf("after Load %d documents are registered and %d expected, want none of %d", len(got), r.expected, len(docs))
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.added = cancel // in the first step
	if err := x.Register(ctx); err == nil || len(r.keys()) != rowsPerRegistration || r.expected != len(docs)-rowsPerRegistration {
		t.Errorf("after one step %d documents are registered and %d expected (%v), want %d and the rest", len(r.keys()), r.expected, err, rowsPerRegistration)
	}
	if r.keys()[0] != slices.Min(keys[len(keys)-rowsPerRegistration:]) {
		t.Errorf("the first step registers %s, want the newest documents", r.keys()[0])
	}
	x.Apply(Doc{Branch: 1, Version: 5000, Key: "new", Text: []string{"tea"}, State: Active}, Doc{Branch: 1, Version: 5001, Key: "k0", Deleted: true})
	x.Trim(1, 5001, nil) // which removes the version of k0 that is not registered yet
	if err := x.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(keys[1:]), "new@5000")
	slices.Sort(want)
	if got := r.keys(); !slices.Equal(got, want) || r.expected != 0 {
		t.Errorf("in the end %d documents are registered and %d expected, want %d and none", len(got), r.expected, len(want))
	}
}

func TestASemanticThatComesLaterGetsAllDocuments(t *testing.T) {
	docs, want := numerous(2 * rowsPerRegistration)
	x := New(Options{Tail: 100})
	x.Apply(docs...)
	tend(t, x)
	r := &registry{similar: &similar{}, of: map[uint32]string{}}
	x.Attach(r)
	slices.Sort(want)
	if got := r.keys(); !slices.Equal(got, want) || r.expected != 0 {
		t.Errorf("%d documents are registered and %d expected, want %d and none", len(got), r.expected, len(want))
	}
}

func TestAnIndexThatIsEmptiedRegistersNothingOfBefore(t *testing.T) {
	docs, _ := numerous(2 * rowsPerRegistration)
	blobs := &shelf{blobs: map[string][]byte{}}
	written := New(Options{Tail: 100})
	written.Apply(docs...)
	if err := written.SaveAll(t.Context(), blobs, uint64(len(docs))); err != nil {
		t.Fatal(err)
	}
	r := &registry{similar: &similar{}, of: map[uint32]string{}}
	x := New(Options{Tail: 100, Semantic: r})
	if _, err := x.Load(t.Context(), blobs, silent()); err != nil {
		t.Fatal(err)
	}
	if err := x.Reset(); err != nil {
		t.Fatal(err)
	}
	x.Apply(docs[3])
	x.Refilled()
	if err := x.Register(t.Context()); err != nil || !slices.Equal(r.keys(), []string{"k3@4"}) {
		t.Errorf("%v are registered (%v), want k3@4 alone", r.keys(), err)
	}
}
