package search

import (
	"cmp"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/store"
)

func TestTextsAreAnalysedIntoWhatPeopleAskFor(t *testing.T) {
	for text, want := range map[string]string{
		"Anna's cats were running":  "anna cat were run",
		"we don’t know":             "we dont know",
		"user_pref/theme.color":     "user pref theme color",
		"mail me@example.org":       "mail me exampl org",
		"Zoë naïve":                 "zoë naïv",
		"version 3.14":              "version 3 14",
		"東京タワーへ go":                 "東京 京タ タワ ワー ーへ へ go",
		"":                          "",
		"  --- !!! \xff\xfe \x00":   "",
		strings.Repeat("x", 100):    strings.Repeat("x", 64),
		strings.Repeat("é", 40):     strings.Repeat("é", 32),
		"the state of the generals": "the state of the general",
	} {
		if got := strings.Join(inEnglish().Terms(text), " "); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}

func TestAQuestionOfStopWordsAloneIsAnswered(t *testing.T) {
	x := New(Options{})
	x.Apply(Doc{Branch: 1, Version: 1, Key: "h", Text: []string{"to be or not to be"}, State: Active},
		Doc{Branch: 1, Version: 2, Key: "o", Text: []string{"something else"}, State: Active})
	if got := keys(t, x, View{Lineage: trunk}, Query{Text: "To be, or not to be?"}); got != "h" {
		t.Errorf("found %q", got)
	}
}

func TestFiltersApplyBeforeTheBestAreTaken(t *testing.T) {
	x := New(Options{})
	for i := range 100 {
		d := Doc{Branch: 1, Version: uint64(i + 1), Key: fmt.Sprintf("k%03d", i), Text: []string{"tea tea tea"}, State: Active, Type: "note", Time: time.UnixMicro(int64(i))}
		if i >= 97 {
			d.Text, d.Tags, d.Type = []string{"tea with a long story around it that makes it score less"}, []string{"rare", "blue"}, "fact"
		}
		x.Apply(d)
	}
	for what, q := range map[string]Query{
		"tags":  {Tags: []string{"rare", "blue"}},
		"types": {Types: []string{"fact", "plan"}},
		"time":  {Since: time.UnixMicro(97)},
	} {
		q.Text, q.K = "tea", 3
		if got := keys(t, x, View{Lineage: trunk}, q); got != "k097 k098 k099" {
			t.Errorf("by %s: %q", what, got)
		}
	}
}

func TestAnotherNamespaceDoesNotShowThroughAScore(t *testing.T) {
	score := func(others int) float64 {
		x := New(Options{})
		x.Apply(Doc{Branch: 1, Version: 1, Namespace: "mine", Key: "k", Text: []string{"green tea"}, State: Active})
		for i := range others {
			x.Apply(Doc{Branch: 1, Version: uint64(i + 2), Namespace: "other", Key: fmt.Sprint(i), Text: []string{"tea of a very different length"}, State: Active})
		}
		r, err := x.Search(t.Context(), View{Lineage: trunk, Namespaces: []string{"mine"}}, Query{Text: "tea"})
		if err != nil || len(r.Hits) != 1 {
			t.Fatalf("Search(tea) = %+v, %v, want 1 hit", r, err)
		}
		return r.Hits[0].Score
	}
	if alone, among := score(0), score(50); alone != among {
		t.Errorf("%v alone, %v among others", alone, among)
	}
}

func TestAQueryThatIsTooLongIsRefusedByItsLimit(t *testing.T) {
	_, err := New(Options{}).Search(t.Context(), View{}, Query{Text: strings.Repeat("x", LongestQuery+1)})
	if err == nil || !strings.Contains(err.Error(), "4096") {
		t.Errorf("Search of a long query: %v, want an error that names 4096", err)
	}
}

func TestASnippetShowsThePassageThatAnswers(t *testing.T) {
	long := strings.Repeat("Nothing to see in this sentence at all. ", 50)
	got := New(Options{}).Analyser("").Question("what tea does anna prefer").Snippet([]string{long, "Anna prefers\n green   tea in the afternoon.", long}, 80)
	if !strings.Contains(got, "Anna prefers green tea") || utf8.RuneCountInString(got) > 80 || !strings.HasPrefix(got, "…") {
		t.Errorf("Snippet = %q, want the passage in at most 80 characters", got)
	}
	if got := New(Options{}).Analyser("").Question("x").Snippet([]string{"short"}, 80); got != "short" {
		t.Errorf("Snippet = %q, want short", got)
	}
}

func TestDocumentsAnalysedBeforeTheirVersionIsKnownAreFoundAlike(t *testing.T) {
	one, other := New(Options{}), New(Options{})
	docs := newCorpus(3).docs(0, 200) // for several processors
	for _, d := range docs {
		one.Apply(d)
	}
	early := slices.Clone(docs)
	for i := range early {
		early[i].Version, early[i].Time = 0, time.Time{}
	}
	other.Prepare(early[:150]) // Apply analyses the others
	for i := range early {
		early[i].Version, early[i].Time = docs[i].Version, docs[i].Time
	}
	other.Apply(early...)
	for _, q := range []string{"key", docs[7].Text[0], docs[180].Text[0]} {
		want, err := one.Search(t.Context(), View{Lineage: trunk}, Query{Text: q})
		got, err2 := other.Search(t.Context(), View{Lineage: trunk}, Query{Text: q})
		if err != nil || err2 != nil || want.Total == 0 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%.40q finds %v, not %v: %v, %v", q, got, want, err, err2)
		}
	}
}

// inEnglish is the analyser that an index has unless told otherwise.
var inEnglish = sync.OnceValue(func() *Analyser { return mustAnalyser(NewAnalyser(english)) })

var trunk = store.Lineage{{Branch: 1, At: store.Latest}}

func keys(t *testing.T, x *Index, v View, q Query) string {
	t.Helper()
	r, err := x.Search(t.Context(), v, q)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, h := range r.Hits {
		found = append(found, h.Key)
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}

// TestRankingsAreThoseOfAnIndexThatOnlyHeldTheView applies random documents in random order and compares views with
// BM25 worked out from a plain list.
func TestRankingsAreThoseOfAnIndexThatOnlyHeldTheView(t *testing.T) {
	for seed := range int64(40) {
		rng := rand.New(rand.NewSource(seed))
		docs := randomDocs(rng)
		lineages := []store.Lineage{{{Branch: 1, At: store.Latest}}, {{Branch: 1, At: 40}}, {{Branch: 2, At: store.Latest}, {Branch: 1, At: 50}},
			{{Branch: 3, At: store.Latest}, {Branch: 2, At: 120}, {Branch: 1, At: 50}}}
		x := New(Options{Views: 3, Tail: 1 + rng.Intn(12)})
		for i, at := range rng.Perm(len(docs)) {
			x.Apply(docs[at])
			if i%40 == 0 { // views are cached early and kept up to date by what follows
				keys(t, x, View{Lineage: lineages[i/40%len(lineages)]}, Query{Text: "tea"})
			}
			if rng.Intn(10) == 0 {
				if err := x.Maintain(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, l := range lineages {
			v := View{Lineage: l, Now: time.UnixMicro(100), Namespaces: [][]string{nil, {"a"}}[rng.Intn(2)]}
			q := Query{Text: text(rng), K: 500, States: [][]string{nil, {Active, "archived"}}[rng.Intn(2)]}
			r, err := x.Search(t.Context(), v, q)
			if err != nil {
				t.Fatal(err)
			}
			if want := ranked(docs, v, q); !slices.EqualFunc(r.Hits, want, func(a, b Hit) bool {
				return a.Score == b.Score && a.Key == b.Key && a.Namespace == b.Namespace && a.Version == b.Version
			}) {
				t.Fatalf("seed %d, %v: found\n%v\nnot\n%v", seed, l, r.Hits, want)
			}
		}
	}
}

var vocabulary = strings.Fields("tea coffee green black afternoon morning deploy script staging garden rain")

func text(rng *rand.Rand) string {
	var some []string
	for range 1 + rng.Intn(5) {
		some = append(some, vocabulary[rng.Intn(len(vocabulary))])
	}
	return strings.Join(some, " ")
}

func randomDocs(rng *rand.Rand) []Doc {
	var docs []Doc
	for version := range uint64(160) {
		branch := store.BranchID(1)
		if version > 50 && rng.Intn(2) == 0 {
			branch = 2
		}
		if version > 120 && rng.Intn(2) == 0 {
			branch = 3
		}
		d := Doc{Branch: branch, Version: version + 1, Namespace: []string{"a", "b"}[rng.Intn(2)], Key: fmt.Sprint("k", rng.Intn(30)),
			Text: []string{text(rng)}, State: []string{Active, Active, "archived"}[rng.Intn(3)], Deleted: rng.Intn(6) == 0}
		if rng.Intn(4) == 0 {
			d.Expires = time.UnixMicro(int64(50 + rng.Intn(100)))
		}
		docs = append(docs, d)
	}
	return docs
}

// visibleDocs picks, key by key, what a lineage sees.
func visibleDocs(docs []Doc, v View) []Doc {
	var list []Doc
	for _, d := range docs {
		nearer := func(o Doc) bool { // o hides d
			if o.Key != d.Key || o.Namespace != d.Namespace {
				return false
			}
			for _, s := range v.Lineage {
				if o.Branch == s.Branch && o.Version <= s.At {
					return d.Branch != s.Branch || o.Version > d.Version
				}
				if d.Branch == s.Branch {
					return false
				}
			}
			return false
		}
		inside := slices.ContainsFunc(v.Lineage, func(s store.Segment) bool { return s.Branch == d.Branch && d.Version <= s.At })
		live := !d.Deleted && (d.Expires.IsZero() || d.Expires.After(v.Now)) && (v.Namespaces == nil || slices.Contains(v.Namespaces, d.Namespace))
		if inside && live && !slices.ContainsFunc(docs, nearer) {
			list = append(list, d)
		}
	}
	return list
}

func ranked(docs []Doc, v View, q Query) []Hit {
	visible := visibleDocs(docs, v)
	n, total := 0, 0
	bag := func(d Doc) []string {
		return append(inEnglish().Terms(strings.Join(d.Text, " ")), inEnglish().Terms(d.Key)...)
	}
	for _, d := range visible {
		if d.State == Active {
			n++
			total += len(bag(d))
		}
	}
	average := 1.0
	if total > 0 {
		average = float64(total) / float64(n)
	}
	terms := inEnglish().Terms(q.Text)
	slices.Sort(terms)
	var hits []Hit
	for _, d := range visible {
		if d.State != Active && !slices.Contains(q.States, d.State) {
			continue
		}
		h := Hit{Version: d.Version, Namespace: d.Namespace, Key: d.Key}
		for _, term := range slices.Compact(slices.Clone(terms)) {
			df := 0
			for _, o := range visible {
				if o.State == Active && slices.Contains(bag(o), term) {
					df++
				}
			}
			tf := 0.0
			for _, w := range bag(d) {
				if w == term {
					tf++
				}
			}
			if tf > 0 {
				idf := math.Log(1 + (float64(n)-float64(df)+.5)/(float64(df)+.5))
				h.Score += idf * (tf * (.9 + 1) / (tf + .9*(1-.4+.4*float64(len(bag(d)))/average)))
			}
		}
		if h.Score != 0 {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Key, b.Key))
	})
	return hits
}

func FuzzTermsAndSnippets(f *testing.F) {
	for _, seed := range []string{"Anna's tea", "\xff\x00", "東京タワー", "a’b'c''", strings.Repeat("word ", 100)} {
		f.Add(seed, "tea")
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		for _, term := range inEnglish().Terms(text) {
			if term == "" || !utf8.ValidString(term) {
				t.Errorf("term %q of %q", term, text)
			}
		}
		if s := New(Options{}).Analyser("").Question(query).Snippet([]string{text}, 40); !utf8.ValidString(s) || utf8.RuneCountInString(s) > 40 {
			t.Errorf("snippet %q of %q", s, text)
		}
	})
}
