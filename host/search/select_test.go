package search

import (
	"cmp"
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// listedDocs are versions of documents with columns of all kinds.
func listedDocs(rng *rand.Rand) []Doc {
	docs := randomDocs(rng)
	for i := range docs {
		d := &docs[i]
		d.Collection, d.Time, d.Type, d.Agent = "memory", time.UnixMicro(int64(d.Version/3)), fmt.Sprint("type", rng.Intn(12)), fmt.Sprint("agent", rng.Intn(4))
		if d.Tags = nil; rng.Intn(3) > 0 {
			d.Tags = []string{fmt.Sprint("tag", rng.Intn(9)), fmt.Sprint("tag", rng.Intn(9))}
		}
		if rng.Intn(3) > 0 {
			importance := float64(rng.Intn(5)) / 4
			d.Importance = &importance
		}
		if rng.Intn(3) == 0 {
			d.Created = time.UnixMicro(int64(1 + rng.Intn(20)))
		}
		for _, name := range []string{"metadata.a", "value.b"} {
			if rng.Intn(2) == 0 {
				d.Fields = append(d.Fields, Field{name, DigestOf([]byte{byte(rng.Intn(6))})})
			}
		}
	}
	return docs
}

func columnsOf(d Doc) Columns {
	c := Columns{Ref: Ref{d.Branch, d.Version, d.Namespace, d.Collection, d.Key}, State: d.State, Type: d.Type, Agent: d.Agent, Tags: d.Tags,
		Importance: importanceOf(&d), Created: d.Time.UnixMicro(), Updated: d.Time.UnixMicro(), Fields: d.Fields}
	if !d.Created.IsZero() {
		c.Created = d.Created.UnixMicro()
	}
	if !d.Expires.IsZero() {
		c.Expires = d.Expires.UnixMicro()
	}
	return c
}

func randomFilter(rng *rand.Rand) (f Filter) {
	some := func(one, of int) bool { return rng.Intn(of) < one }
	tag := func() []string {
		return []string{fmt.Sprint("tag", rng.Intn(11)), fmt.Sprint("tag", rng.Intn(11))}[:1+rng.Intn(2)]
	}
	at := func() time.Time { return time.UnixMicro(int64(rng.Intn(60))) }
	for range 1 + rng.Intn(2) {
		switch rng.Intn(10) {
		case 0:
			f.Types = []string{fmt.Sprint("type", rng.Intn(13)), "type1"}
		case 1:
			f.States = []string{"archived"}
		case 2:
			f.Agents = []string{fmt.Sprint("agent", rng.Intn(5)), "agent1", "agent1"}
		case 3:
			f.Tags = tag()
		case 4:
			f.AnyTags = tag()
		case 5:
			f.Prefix = fmt.Sprint("k", rng.Intn(4))
		case 6:
			f.Fields = []FieldTest{{"metadata.a", Testing(rng.Intn(3)), DigestOf([]byte{byte(rng.Intn(7))})}, {"value.none", Absent, Digest{}}}
		case 7:
			f.Created.Since, f.Updated.Until = at(), at()
			if some(1, 2) {
				f = Filter{Dated: Span{Since: at(), Until: at()}}
			}
		case 8:
			least := float64(rng.Intn(5)) / 4
			if f.MinImportance = &least; some(1, 2) {
				f.MinImportance, f.MaxImportance = nil, &least
			}
		case 9:
			f.Expiry = Expiry(rng.Intn(3))
		}
	}
	return f
}

// placeOf is the place of a document in an ordering.
func placeOf(c *Columns, by SortBy) Place {
	value := map[SortBy]int64{ByCreation: c.Created, ByUpdate: c.Updated, ByImportance: SortImportance(c.Importance)}[by]
	return Place{value, c.Namespace, c.Key}
}

func (o Ordering) compare(a, b Place) int {
	by := cmp.Compare(a.Value, b.Value)
	if o.Descending {
		by = -by
	}
	return cmp.Or(by, cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Key, b.Key))
}

// TestSelectionsAreThoseOfATestOfEachDocument compares listings with a test of everything that a view sees, while parts are
// sealed, merged, trimmed and rewritten.
func TestSelectionsAreThoseOfATestOfEachDocument(t *testing.T) {
	walked, narrowed, gaveUp := 0, 0, 0
	for seed := range int64(8) {
		rng := rand.New(rand.NewSource(seed))
		docs := listedDocs(rng)
		lineages := []store.Lineage{{{Branch: 1, At: store.Latest}}, {{Branch: 1, At: 40}}, {{Branch: 2, At: store.Latest}, {Branch: 1, At: 50}},
			{{Branch: 3, At: store.Latest}, {Branch: 2, At: 120}, {Branch: 1, At: 50}}}
		x := New(Options{Views: 3, Tail: 8 + rng.Intn(40)})
		check := func(written []Doc, l store.Lineage) {
			v := View{Lineage: l, Namespaces: [][]string{{"b"}, {"a"}, {"b", "a"}}[rng.Intn(3)], Collections: []string{"memory"}}
			visible := visibleDocs(written, v)
			v.Now = time.UnixMicro(100)
			f := randomFilter(rng)
			o := Ordering{By: SortBy(rng.Intn(5)), Descending: rng.Intn(2) == 0, Most: rng.Intn(9)}
			test := f.At(v.Now)
			var want []Columns
			for _, d := range visible {
				if c := columnsOf(d); test.Admits(&c) {
					want = append(want, c)
				}
			}
			place := func(c Columns) Place { return placeOf(&c, o.By) }
			slices.SortFunc(want, func(a, b Columns) int { return o.compare(place(a), place(b)) })
			if all := len(visible); o.By != Unordered && rng.Intn(2) == 0 && all > 0 {
				c := columnsOf(visible[rng.Intn(all)])
				after := place(c)
				o.After = &after
			}
			var got []Columns
			inOrder, mixed := true, false
			err := x.Select(t.Context(), v, f, o, func(c *Columns) bool {
				mixed = mixed || inOrder && len(got) > 0 && !c.InOrder
				inOrder = inOrder && c.InOrder
				got = append(got, Columns{Ref: c.Ref, Created: c.Created, Updated: c.Updated, Importance: c.Importance})
				return !c.InOrder || len(got) < o.Most
			})
			if err != nil {
				t.Fatal(err)
			}
			selected := len(want)
			if v.isOne() {
				checkKeys(t, x, v, f, want)
			}
			page := func(list []Columns) []Columns { // as the caller takes it
				list = slices.DeleteFunc(list, func(c Columns) bool { return o.After != nil && o.compare(place(c), *o.After) <= 0 })
				if o.Most > 0 {
					list = list[:min(len(list), o.Most)]
				}
				return list
			}
			if mixed {
				gaveUp++
			}
			if inOrder && len(got) > 0 {
				walked++
			} else {
				slices.SortFunc(got, func(a, b Columns) int { return o.compare(place(a), place(b)) })
			}
			got, want = page(got), page(want)
			if !slices.EqualFunc(got, want, func(a, b Columns) bool { return a.Ref == b.Ref }) {
				t.Fatalf("seed %d, %v, %v, %+v, %+v: selected %d\n%v\nnot %d\n%v", seed, l, v.Namespaces, f, o, len(got), got, len(want), want)
			}
			tested, all, err := x.Estimate(t.Context(), v, f)
			if err != nil || all != len(visible) || tested < selected {
				t.Fatalf("%+v: %d are tested of %d, and %d found of %d: %v", f, tested, all, selected, len(visible), err)
			}
			if tested < all {
				narrowed++
			}
			if n, ok, err := x.Tally(t.Context(), v, f); err != nil || ok && n != selected {
				t.Fatalf("%+v: tallied %d, not %d: %v", f, n, selected, err)
			}
		}
		for i, d := range docs {
			if x.Apply(d); rng.Intn(20) == 0 {
				tend(t, x)
			}
			if i%7 == 0 {
				check(docs[:i+1], lineages[0])
			}
		}
		for range 40 {
			check(docs, lineages[rng.Intn(len(lineages))])
		}
		for i := range docs { // purged ones move to the tail with other columns
			if d := &docs[i]; !d.Deleted && rng.Intn(8) == 0 {
				d.Type, d.Tags, d.Importance, d.Fields = "purged", nil, nil, nil
				x.Replace(*d)
			}
		}
		for range 40 {
			check(docs, lineages[rng.Intn(len(lineages))])
		}
		x = reloaded(t, x, docs)
		for range 40 {
			check(docs, lineages[rng.Intn(len(lineages))])
		}
		x.Trim(1, 55, []uint64{40, 50})
		for i := range 60 {
			if check(docs, lineages[rng.Intn(len(lineages))]); i == 30 {
				tend(t, x)
			}
		}
	}
	if walked < 50 || gaveUp < 5 || narrowed < 250 {
		t.Errorf("%d listings walked in order, %d gave up, and %d tested fewer documents than all: the test looks at too little", walked, gaveUp, narrowed)
	}
}

// reloaded saves an index and loads it into another.
func reloaded(t *testing.T, x *Index, docs []Doc) *Index {
	t.Helper()
	tend(t, x)
	s := &shelf{blobs: map[string][]byte{}}
	if err := x.SaveAll(t.Context(), s, docs[len(docs)-1].Version); err != nil {
		t.Fatal(err)
	}
	y := New(Options{Views: x.maxViews, Tail: x.maxTail})
	covered, err := y.Load(t.Context(), s, silent())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if d.Version > covered.Of(d.Branch) {
			y.Apply(d)
		}
	}
	return y
}

// checkKeys compares a selection of some keys, in random order, with all that a filter admits.
func checkKeys(t *testing.T, x *Index, v View, f Filter, admitted []Columns) {
	t.Helper()
	keys := []string{"none"}
	for i := range 30 {
		keys = append(keys, fmt.Sprint("k", i*7%30))
	}
	var got, want []Ref
	for _, key := range keys {
		for _, c := range admitted {
			if c.Key == key {
				want = append(want, c.Ref)
			}
		}
	}
	err := x.SelectKeys(t.Context(), v, f, slices.Values(keys), func(c *Columns) bool {
		got = append(got, c.Ref)
		return true
	})
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%+v: by their keys %v are selected, not %v: %v", f, got, want, err)
	}
}
