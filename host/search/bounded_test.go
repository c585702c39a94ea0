package search

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// large is an index with sealed parts of several windows, and a tail: some documents are archived, some expire, some were changed on the
// branch or on a child of it.
func large(t *testing.T, n int, turns bool) (x *Index, views map[string]View) {
	t.Helper()
	x = New(Options{Tail: n * 4 / 9})
	c := newCorpus(3)
	doc := func(i, version int, branch store.BranchID) Doc {
		d := Doc{Branch: branch, Version: uint64(version), Namespace: []string{"a", "b"}[i%2], Collection: []string{"memory", "notes"}[i/7%2],
			Key: fmt.Sprint("key-", i), Text: []string{c.text(1 + c.rng.Intn(12))}, State: Active, Time: time.UnixMicro(int64(i))}
		if at := i % (n * 4 / 9); at >= firstSheet && at < firstSheet+sheetSize { // a window with few hits
			d.Text[0] += c.text(20)
		}
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
		if turns && i%5 > 0 {
			d.Turn = &Turn{Session: fmt.Sprint(i / 60), Position: int64(i % 60), Speaker: []string{"anna", "bert"}[i/2%2], Said: d.Time}
		}
		if i%4 == 0 {
			importance := float64(i%8) / 8
			d.Importance = &importance
		}
		d.Type, d.Agent = []string{"fact", "note", ""}[i%3], []string{"x", "y"}[i/5%2]
		return d
	}
	apply := func(docs []Doc) {
		x.Apply(docs...)
		if err := x.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for from := 0; from < n; from += n / 9 {
		var docs []Doc
		for i := from; i < from+n/9; i++ {
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
		"head":        {Lineage: head, Now: time.UnixMicro(int64(n / 2))},
		"unexpired":   {Lineage: head, Now: time.UnixMicro(-1)},
		"past":        {Lineage: store.Lineage{{Branch: 1, At: uint64(n * 2 / 3)}}, Now: time.UnixMicro(int64(n / 2))},
		"child":       {Lineage: store.Lineage{{Branch: 2, At: store.Latest}, {Branch: 1, At: uint64(n)}}},
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
	x, views := large(t, 153_000, false)
	for name, v := range views {
		for i, q := range newCorpus(4).questions() {
			if name == "head" || i%3 == 0 {
				sameAsExhaustive(t, x, name, v, q)
			}
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
	withoutNaN(got)
	if withoutNaN(want); !reflect.DeepEqual(got, want) {
		t.Fatalf("in %s, %+v finds %d:\n%v\nand should find %d:\n%v", name, q, got.Total, got.Hits, want.Total, want.Hits)
	}
}

// withoutNaN makes the numbers of hits that are none zero.
func withoutNaN(r Result) {
	for i := range r.Hits {
		for _, number := range []*float64{&r.Hits[i].Semantic, &r.Hits[i].Importance} {
			if math.IsNaN(*number) {
				*number = -1
			}
		}
	}
}

// filters are queries' filters of each kind.
func filters() []Query {
	half := .5
	return []Query{
		{Tags: []string{"third"}}, {Tags: []string{"third", "tenth"}}, {Tags: []string{"rare"}}, {Tags: []string{"missing"}}, {NoTags: []string{"third", "rare"}},
		{Types: []string{"fact", "other"}}, {Agents: []string{"y"}}, {States: []string{"archived"}}, {States: []string{"archived", Active}, Types: []string{""}},
		{Since: time.UnixMicro(9_000)}, {Until: time.UnixMicro(9_000)}, {Since: time.UnixMicro(5_000), Until: time.UnixMicro(9_000)},
		{MinImportance: &half}, {Prefix: "key-12"}, {Tags: []string{"tenth"}, Agents: []string{"x"}, Since: time.UnixMicro(3_000)},
	}
}

func TestFiltersByColumnsAdmitWhatTestsOfEachDocumentAdmit(t *testing.T) {
	for _, turns := range []bool{false, true} {
		x, views := large(t, 27_000, turns)
		views["one"] = View{Lineage: views["head"].Lineage, Namespaces: []string{"a"}, Collections: []string{"notes"}}
		questions := newCorpus(5).questions()
		ask := func() (list []Result) {
			for _, name := range slices.Sorted(maps.Keys(views)) {
				for i, filter := range filters() {
					for j := range 3 {
						q, at := filter, (7*i+j*13)%len(questions)
						q.Text, q.K = questions[at].Text, 20
						r, err := x.Search(t.Context(), views[name], q)
						if err != nil {
							t.Fatal(err)
						}
						withoutNaN(r)
						list = append(list, r)
					}
				}
			}
			return list
		}
		want := ask()
		if err := x.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, p := range x.branches[1].parts {
			for _, kind := range []columnKind{byTag, byFacet, byAgent, byCreation, byUpdate, byImportance, byName} {
				if p.sealed != nil && !p.columns.Load().has(columnID{kind: kind}) {
					t.Fatalf("a part is without the column %d", kind)
				}
			}
		}
		for range 2 { // the second time with known sets
			for i, got := range ask() {
				if !reflect.DeepEqual(got, want[i]) {
					t.Fatalf("search %d, with turns %v: with columns are found %d:\n%v\nand without %d:\n%v", i, turns, got.Total, got.Hits, want[i].Total, want[i].Hits)
				}
			}
		}
		for name, v := range views {
			for _, filter := range filters() {
				filter.Text, filter.K = "ke li mo bake", 10
				sameAsExhaustive(t, x, name, v, filter)
			}
		}
	}
}
