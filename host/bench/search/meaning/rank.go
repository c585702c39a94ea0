package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/search/semantic"
	"github.com/alcove-memory/alcove/host/search/wordvec"
	"github.com/alcove-memory/alcove/host/store"
)

// ranking is a way to rank.
type ranking struct {
	title   string
	fusion  *search.Fusion              // nil: lexical
	weighed bool                        // by a weight of .5, as an embedder is whose scale is unknown
	near    search.Thesaurus            // nil: no near words
	vector  func(text string) []float32 // of documents
	asked   func(question string) []float32
}

// rankings are what is compared, the lexical one and the program's first.
func rankings() ([]ranking, error) {
	t, err := wordvec.Open()
	if err != nil {
		return nil, err
	}
	own, err := semantic.MeasureScale(context.Background(), semantic.Settings{Name: "builtin", Embedder: embedder(t.Vector)})
	if err != nil {
		return nil, err
	}
	scale, err := semantic.MeasureScale(context.Background(), semantic.Settings{Name: "narrow", Embedder: embedder(narrow(t.Vector))})
	if err != nil {
		return nil, err
	}
	fmt.Printf("cosines of unrelated texts and of answers: built-in %.3f and %.3f, narrow %.3f and %.3f\n", own.Unrelated, own.Alike, scale.Unrelated, scale.Alike)
	ungated, unbounded := *wordvec.Fusion(), *wordvec.Fusion()
	ungated.Full, unbounded.Floor, unbounded.Least = 1e9, -1, 0
	return []ranking{
		{title: "lexical"},
		{title: "builtin", fusion: wordvec.Fusion(), near: t, vector: t.Vector, asked: t.Question},
		{title: "without near words", fusion: wordvec.Fusion(), vector: t.Vector, asked: t.Question},
		{title: "near words alone", near: t},
		{title: "without the gate", fusion: &ungated, near: t, vector: t.Vector, asked: t.Question},
		{title: "without the floor", fusion: &unbounded, near: t, vector: t.Vector, asked: t.Question},
		{title: "narrow vectors", fusion: scale.Fit(wordvec.Fusion(), own), vector: narrow(t.Vector), asked: narrow(t.Question)},
		{title: "narrow vectors by weight", weighed: true, vector: narrow(t.Vector), asked: narrow(t.Question)},
		{title: "shuffled", fusion: wordvec.Fusion(), near: shuffledWords{t}, vector: turned(t), asked: t.Question},
	}, nil
}

// narrow adds the same to all vectors, as many models do: no two texts are far from each other.
func narrow(vector func(string) []float32) func(string) []float32 {
	return func(text string) []float32 {
		v := vector(text)
		if v == nil {
			return nil
		}
		n := slices.Clone(v)
		for i := range n {
			n[i] += 1.5 / float32(math.Sqrt(float64(len(n))))
		}
		l := 0.0
		for _, x := range n {
			l += float64(x) * float64(x)
		}
		for i := range n {
			n[i] /= float32(math.Sqrt(l))
		}
		return n
	}
}

// embedder makes vectors of texts one by one.
type embedder func(text string) []float32

// Embed implements semantic.Embedder.
func (e embedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	var vectors [][]float32
	for _, t := range texts {
		vectors = append(vectors, e(t))
	}
	return vectors, nil
}

func hashed(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()
}

// turned gives each text a vector with its elements rotated by a hash of the text: as long, and about nothing.
func turned(t *wordvec.Table) func(string) []float32 {
	return func(text string) []float32 {
		v := t.Vector(text)
		if v == nil {
			return nil
		}
		by := 1 + int(hashed(text)%(wordvec.Dimensions-1))
		return append(v[by:len(v):len(v)], v[:by]...)
	}
}

// shuffledWords has the near words of another word.
type shuffledWords struct{ *wordvec.Table }

func (s shuffledWords) Near(word, term string, by *search.Analyser) []search.NearTerm {
	others := s.Table.Near(word, term, by)
	if len(others) == 0 {
		return nil
	}
	other := others[len(others)-1].Term
	for range 40 { // far away, by many steps
		if next := s.Table.Near(other, other, by); len(next) > 0 {
			other = next[len(next)-1].Term
		}
	}
	list := s.Table.Near(other, other, by)
	for i := range list[:min(len(list), len(others))] {
		list[i].Near = others[i].Near
	}
	return list
}

// Vector implements semantic.Instant.
func (r ranking) Vector(text string) []float32 { return r.vector(text) }

// OfWords implements semantic.Instant.
func (ranking) OfWords(search.DocumentWords) ([]float32, bool) { return nil, false }

// Embed implements semantic.Embedder. Nothing is embedded in the background.
func (r ranking) Embed(context.Context, []string) ([][]float32, error) {
	return nil, fmt.Errorf("all vectors are made at once")
}

// index returns an index of documents, each conversation in a namespace of its own, and what to close.
func (r ranking) index(documents []measure.Document, plain bool) (*search.Index, *semantic.Keeper, error) {
	k := semantic.New(semantic.Options{})
	o := search.Options{}
	if r.fusion != nil || r.weighed {
		o.Semantic = k
		if err := k.Set(semantic.Settings{Name: "builtin", Identity: wordvec.Identity, Dimensions: wordvec.Dimensions, Instant: r, Embedder: r, Fusion: r.fusion}); err != nil {
			return nil, nil, err
		}
	}
	x := search.New(o)
	if r.near != nil {
		x.SetNearWords(&search.NearWords{Thesaurus: r.near, Weight: wordvec.NearWeight, Most: wordvec.MostNearDocuments})
	}
	var docs []search.Doc
	for i, d := range documents {
		doc := search.Doc{Branch: 1, Version: uint64(i + 1), Namespace: conversationOf(d.Meta), Collection: "memory", Key: d.ID, Text: []string{d.Text}, State: search.Active}
		if !plain {
			doc.Turn = record.Turn(d.Meta)
		}
		docs = append(docs, doc)
	}
	for len(docs) > 0 {
		n := min(1000, len(docs))
		x.Apply(docs[:n]...)
		docs = docs[n:]
	}
	return x, k, nil
}

func conversationOf[M ~map[string]V, V ~[]byte](meta M) string {
	if text, err := strconv.Unquote(string(meta["conv"])); err == nil {
		return text
	}
	return "all"
}

// ask returns the keys of the hits.
func (r ranking) ask(ctx context.Context, x *search.Index, namespace, text string) (found []string, err error) {
	view := search.View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}}, Namespaces: []string{namespace}, Now: time.Now()}
	q := search.Query{Text: text, Mode: search.Lexical}
	if r.asked != nil {
		q.Mode, q.Vector = search.Hybrid, r.asked(text)
	}
	result, err := x.Search(ctx, view, q)
	for _, hit := range result.Hits {
		found = append(found, hit.Key)
	}
	return found, err
}

// print prints the means of all collections.
func (r ranking) print(ctx context.Context, all []*collection) error {
	fmt.Printf("%s\n", r.title)
	for _, c := range all {
		means, err := r.means(ctx, c)
		if err != nil {
			return err
		}
		for i, m := range c.measures {
			fmt.Printf("  %-26s %.4f\n", m.title, means[i])
		}
	}
	return nil
}

// means asks the questions of a collection and returns the mean of each metric.
func (r ranking) means(ctx context.Context, c *collection) ([]float64, error) {
	x, k, err := r.index(c.documents, false)
	if err != nil {
		return nil, err
	}
	defer k.Close()
	sums, asked := make([]float64, len(c.measures)), make([]float64, len(c.measures))
	for _, q := range c.questions {
		found, err := r.ask(ctx, x, conversationOf(q.Meta), q.Text)
		if err != nil {
			return nil, fmt.Errorf("ask %q: %w", q.Text, err)
		}
		for i, m := range c.measures {
			if m.judges(q) {
				sums[i] += m.score(found, q.Relevant, m.k)
				asked[i]++
			}
		}
	}
	for i := range sums {
		sums[i] /= asked[i]
	}
	return sums, nil
}

// judges reports whether a question counts.
func (m metric) judges(q measure.Question) bool {
	kind, err := strconv.Unquote(string(q.Meta["kind"]))
	if m.kind != "" {
		return err == nil && kind == m.kind
	}
	return len(q.Relevant) > 0 && len(measure.OfCategories([]measure.Question{q}, m.categories)) == 1
}
