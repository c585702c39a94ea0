package search

import (
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
)

func TestFrequenciesAreThoseOfTheView(t *testing.T) {
	x := New(Options{})
	doc := func(version uint64, namespace, key, text, state string) Doc {
		return Doc{Branch: 1, Version: version, Namespace: namespace, Collection: "memory", Key: key, Text: []string{text}, State: state}
	}
	x.Apply(doc(1, "a", "one", "green tea", Active), doc(2, "a", "two", "green boats", Active), doc(3, "b", "three", "green", Active),
		doc(4, "a", "four", "green", "archived"), doc(5, "a", "one", "black tea", Active))
	view := View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}}, Namespaces: []string{"a"}, Collections: []string{"memory"}}
	documents, counts, err := x.Frequencies(t.Context(), view, []string{"green", "tea", "boat", "nothing"})
	if err != nil || documents != 2 || !slices.Equal(counts, []int{1, 1, 1, 0}) {
		t.Errorf("%d documents with %v, %v", documents, counts, err)
	}
}
