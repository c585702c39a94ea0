package memory

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/must"
)

// faceted stores memories of three namespaces that differ in everything that facets count. It returns the space, and the version before
// the last change.
func faceted(t *testing.T) (*Space, uint64) {
	t.Helper()
	s := testSpace(t)
	for i := range 60 {
		value := must.Get(json.Marshal(fmt.Sprintf("tea and number %d", i%7)))
		it := Item{Key: fmt.Sprint("k", i), Value: value, Type: []string{"", "fact", "decision"}[i%5%3], Tags: []string{"all", fmt.Sprint("t", i%4)}}
		who := s.As(Caller{Agent: []string{"ann", "bob"}[i%2], Rights: FullRights()})
		must.Get(who.Store(t.Context(), Location{Namespace: []string{"home", "work", "vault"}[i%3]}, []Item{it}, Write{}))
	}
	before := must.Get(s.engine.Head(t.Context())).Version
	owner := s.As(Caller{Rights: FullRights()})
	must.Get(owner.Forget(t.Context(), Location{Namespace: "home"}, []string{"k0", "k3"}, Write{}))
	must.Get(owner.SetState(t.Context(), Location{Namespace: "home"}, []string{"k6"}, Archived, Write{}))
	return s, before
}

func facetsOf(t *testing.T, a *Access, q Search) *Facets {
	t.Helper()
	q.Facets = true
	found, err := a.Search(t.Context(), q)
	if err != nil || found.Facets == nil {
		t.Fatalf("Search(%+v): %v, with facets %v", q, err, found.Facets)
	}
	return found.Facets
}

// total is how many a search finds.
func total(t *testing.T, a *Access, q Search) int {
	t.Helper()
	q.K, q.Order = 1, ByKey
	return must.Get(a.Search(t.Context(), q)).Total
}

func TestFacetsAreWhatChoosingTheirValuesFinds(t *testing.T) {
	s, before := faceted(t)
	hour := time.Now().Add(-time.Hour)
	accesses := map[string]*Access{"the owner": s.As(Caller{Rights: FullRights()}), "a reader of two": s.As(Caller{Rights: RightsTo([]string{"home", "work"}, nil)})}
	searches := map[string]Search{
		"a list": {}, "a text": {Text: "tea number 3"}, "a prefix": {Prefix: "k1"}, "a type": {Types: []string{"fact"}}, "a tag": {Tags: []string{"t1"}}, "no tag": {NoTags: []string{"t1"}},
		"a writer": {Writers: []string{"ann"}}, "a namespace": {Namespaces: []string{"home"}}, "a state": {States: []State{Archived}}, "a date": {Since: hour},
		"a later date": {Since: time.Now().Add(time.Hour)},
		"all at once":  {Text: "tea", Types: []string{"fact"}, Writers: []string{"ann"}, Namespaces: []string{"work", "home"}, Since: hour},
		"the past":     {AsOf: AsOf{Version: before}, Types: []string{"decision"}}, "a text of the past": {AsOf: AsOf{Version: before}, Text: "number"},
	}
	for who, a := range accesses {
		for name, q := range searches {
			f := facetsOf(t, a, q)
			for facet, c := range map[string]struct {
				got    Facet
				choose func(q *Search, value string)
			}{
				"namespace": {f.Namespaces, func(q *Search, v string) { q.Namespaces = []string{v} }},
				"type":      {f.Types, func(q *Search, v string) { q.Types = []string{v} }},
				"tag":       {f.Tags, func(q *Search, v string) { q.Tags = append(slices.Clone(q.Tags), v) }},
				"writer":    {f.Writers, func(q *Search, v string) { q.Writers = []string{v} }},
				"state":     {f.States, func(q *Search, v string) { q.States = []State{State(v)} }},
				"date": {f.Dates, func(q *Search, v string) {
					q.Since, q.Until = must.Get(ParseTime(v, time.Now())), time.Time{}
				}},
			} {
				if len(c.got.Values) == 0 && name != "a later date" {
					t.Errorf("%s, %s: no %s is counted", who, name, facet)
				}
				for _, v := range c.got.Values {
					if v.Value == "" {
						continue // no filter asks for memories without one
					}
					chosen := q
					c.choose(&chosen, v.Value)
					if want := total(t, a, chosen); want != v.Count {
						t.Errorf("%s, %s: %s %q is counted %d times, and choosing it finds %d", who, name, facet, v.Value, v.Count, want)
					}
				}
			}
		}
	}
}

func TestFacetsTellNothingOfHiddenNamespaces(t *testing.T) {
	s, before := faceted(t)
	guest := s.As(Caller{Rights: RightsTo([]string{"home", "work"}, nil)})
	for name, q := range map[string]Search{
		"a list": {}, "a text": {Text: "tea"}, "the past": {AsOf: AsOf{Version: before}}, "a namespace": {Namespaces: []string{"work"}}, "all": {Namespaces: []string{AllNamespaces}},
	} {
		f := facetsOf(t, guest, q)
		names := map[string]bool{}
		for _, v := range f.Namespaces.Values {
			names[v.Value] = true
		}
		if want := (map[string]bool{"home": true, "work": true}); !maps.Equal(names, want) {
			t.Errorf("%s: the namespaces are %v, not %v", name, names, want)
		}
	}
	if _, err := guest.Search(t.Context(), Search{Namespaces: []string{"vault"}, Facets: true}); codeOf(err) != Denied {
		t.Errorf("a hidden namespace is searched: %v", err)
	}
	alone := testSpace(t)
	if got, want := facetsOf(t, alone.As(Caller{Rights: RightsTo([]string{"none"}, nil)}), Search{}), facetsOf(t, s.As(Caller{Rights: RightsTo([]string{"none"}, nil)}), Search{}); !reflect.DeepEqual(got, want) {
		t.Errorf("whoever may read nothing that is there gets %+v, and of an empty space %+v", want, got)
	}
}

func TestFacetsAreBounded(t *testing.T) {
	s := testSpace(t)
	var items []Item
	for i := range MostFacetValues + 20 {
		items = append(items, Item{Key: fmt.Sprint("k", i), Value: []byte("1"), Tags: []string{fmt.Sprintf("t%03d", i), "all"}})
	}
	must.Get(s.Store(t.Context(), Location{}, items, Write{}))
	f := facetsOf(t, s.As(Caller{Rights: FullRights()}), Search{})
	if first := f.Tags.Values[0]; len(f.Tags.Values) != MostFacetValues || f.Tags.More != 21 || first != (FacetValue{"all", MostFacetValues + 20}) {
		t.Errorf("of %d tags there are %d and %d more, the first %+v", MostFacetValues+21, len(f.Tags.Values), f.Tags.More, first)
	}
}
