package search

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// large is an index with sealed parts of several windows, and a tail: some documents are archived, some expire, some were changed on the
// branch or on a child of it.
func large(t *testing.T) (x *Index, views map[string]View) {
	t.Helper()
	const n = 90_000
	x = New(Options{Tail: 40_000})
	c := newCorpus(3)
	doc := func(i, version int, branch store.BranchID) Doc {
		d := Doc{Branch: branch, Version: uint64(version), Namespace: []string{"a", "b"}[i%2], Collection: []string{"memory", "notes"}[i/7%2],
			Key: fmt.Sprint("key-", i), Text: []string{c.text(1 + c.rng.Intn(12))}, State: Active, Time: time.UnixMicro(int64(i))}
		if i%11 == 0 {
			d.Text[0] += " " + strings.Repeat("again ", c.rng.Intn(40))
		}
		if i%13 == 0 {
			d.State = "archived"
		}
		if i%17 == 0 {
			d.Expires = time.UnixMicro(int64(i))
		}
		if i%3 == 0 {
			d.Tags = []string{"third"}
		}
		if i%10 == 0 {
			d.Tags = append(d.Tags, "tenth")
		}
		if i%1000 == 0 {
			d.Tags = append(d.Tags, "rare")
		}
		d.Type, d.Agent = []string{"fact", "note", ""}[i%3], []string{"x", "y"}[i/5%2]
		return d
	}
	apply := func(docs []Doc) {
		x.Apply(docs...)
		if err := x.Tend(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for from := 0; from < n; from += 10_000 {
		var docs []Doc
		for i := from; i < from+10_000; i++ {
			docs = append(docs, doc(i, i+1, 1))
		}
		apply(docs)
	}
	var changed []Doc
	for i := 0; i < n; i += 97 {
		changed = append(changed, doc(i, n+i+1, 1), doc(i+1, n+i+2, 2))
		changed[len(changed)-2].Deleted = i%2 == 0
	}
	apply(changed)
	head := store.Lineage{{Branch: 1, At: store.Latest}}
	return x, map[string]View{
		"head":        {Lineage: head, Now: time.UnixMicro(n / 2)},
		"unexpired":   {Lineage: head, Now: time.UnixMicro(-1)},
		"past":        {Lineage: store.Lineage{{Branch: 1, At: n * 2 / 3}}, Now: time.UnixMicro(n / 2)},
		"child":       {Lineage: store.Lineage{{Branch: 2, At: store.Latest}, {Branch: 1, At: n}}},
		"namespace":   {Lineage: head, Namespaces: []string{"a"}},
		"collections": {Lineage: head, Collections: []string{"notes"}},
	}
}

// questions are of frequent words, of rare ones, and of both.
func (c *corpus) questions() (list []Query) {
	for i := range 40 {
		list = append(list, Query{Text: c.text(2 + i%9)})
	}
	for _, text := range []string{"again", "again bake", "again li ra mo", `"ba ke" li`, "ke* bake", "mo~ li ke", "li -ke ba", "ke li ba nu zu da"} {
		list = append(list, Query{Text: text})
	}
	for i := range list {
		list[i].K, list[i].Offset = []int{1, 10, 100}[i%3], i%5
	}
	list[3].Weights = []Weighted{{"li", .3}, {"ke", 0}, {"mo", 2}}
	return list
}

func TestBoundedSearchesFindWhatExhaustiveOnesFind(t *testing.T) {
	x, views := large(t)
	for name, v := range views {
		for _, q := range newCorpus(4).questions() {
			sameAsExhaustive(t, x, name, v, q)
		}
	}
}

func sameAsExhaustive(t *testing.T, x *Index, name string, v View, q Query) {
	t.Helper()
	got, err := x.Search(t.Context(), v, q)
	if err != nil {
		t.Fatal(err)
	}
	q.exhaustive = true
	want, err := x.Search(t.Context(), v, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Result{got, want} {
		for i := range r.Hits {
			if h := &r.Hits[i]; math.IsNaN(h.Semantic) && math.IsNaN(h.Importance) {
				h.Semantic, h.Importance = 0, 0
			}
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("in %s, %+v finds %d:\n%v\nand should find %d:\n%v", name, q, got.Total, got.Hits, want.Total, want.Hits)
	}
}
