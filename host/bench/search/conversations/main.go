// Command conversations measures the ranking of turns on judged conversations: with each feature left out, and with
// weights fitted on all collections but one and tested on that one.
//
//	conversations [-fit] DIR
//
// DIR has NAME.docs.jsonl and NAME.queries.jsonl as alcove bench recall reads them, for locomo-dev, friends-dev and
// qmsum-val. Questions with a meta.conv are asked of its documents alone.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

func main() {
	fit := flag.Bool("fit", false, "also fit the weights, which takes minutes")
	flag.Parse()
	if err := run(context.Background(), flag.Arg(0), *fit); err != nil {
		fmt.Fprintln(os.Stderr, "conversations:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, fit bool) error {
	var all bench
	for _, of := range []struct {
		name, title string
		categories  []string
		score       func([]string, map[string]float64) float64
	}{
		{"locomo-dev", "LoCoMo 1-4, R@10", []string{"1", "2", "3", "4"}, recall},
		{"friends-dev", "FriendsQA, R@10", nil, recall},
		{"qmsum-val", "QMSum, nDCG@10", nil, gain},
		{"locomo-dev", "LoCoMo 5, R@10", []string{"5"}, recall},
	} {
		c, err := read(filepath.Join(dir, of.name), of.categories)
		if err != nil {
			return err
		}
		c.title, c.score = of.title, of.score
		all.collections = append(all.collections, c)
	}
	if err := all.ablate(ctx); err != nil || !fit {
		return err
	}
	return all.fit(ctx)
}

// collection is judged questions about conversations.
type collection struct {
	title     string
	documents []measure.Document
	questions []measure.Question
	score     func(found []string, relevant map[string]float64) float64
}

func read(path string, categories []string) (c collection, err error) {
	docs, err := os.Open(path + ".docs.jsonl")
	if err != nil {
		return c, err
	}
	defer docs.Close()
	queries, err := os.Open(path + ".queries.jsonl")
	if err != nil {
		return c, err
	}
	defer queries.Close()
	if c.documents, err = measure.ReadDocuments(docs); err != nil {
		return c, err
	}
	c.questions, err = measure.ReadQuestions(queries)
	c.questions = measure.OfCategories(c.questions, categories)
	return c, err
}

// index puts each conversation into a namespace.
func (c *collection) index(of search.Conversation) *search.Index {
	x := search.New(search.Options{Conversation: of})
	for i, d := range c.documents {
		x.Apply(search.Doc{Branch: 1, Version: uint64(i + 1), Namespace: conversationOf(d.Meta), Collection: "memory", Key: d.ID,
			Text: []string{d.Text}, State: search.Active, Turn: record.Turn(d.Meta)})
	}
	return x
}

func conversationOf[M ~map[string]V, V ~[]byte](meta M) string {
	if text, err := strconv.Unquote(string(meta["conv"])); err == nil {
		return text
	}
	return "all"
}

// mean asks all questions that have an answer and returns the mean of their scores.
func (c *collection) mean(ctx context.Context, of search.Conversation) (float64, error) {
	x := c.index(of)
	sum, asked := 0.0, 0
	for _, q := range c.questions {
		if len(q.Relevant) == 0 {
			continue
		}
		view := search.View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}}, Namespaces: []string{conversationOf(q.Meta)}, Now: time.Now()}
		r, err := x.Search(ctx, view, search.Query{Text: q.Text})
		if err != nil {
			return 0, fmt.Errorf("ask %q: %w", q.Text, err)
		}
		var found []string
		for _, hit := range r.Hits {
			found = append(found, hit.Key)
		}
		sum += c.score(found, q.Relevant)
		asked++
	}
	return sum / float64(asked), nil
}

// bench measures configurations on all collections.
type bench struct {
	collections []collection
	known       map[search.Conversation][]float64
}

func (b *bench) measure(ctx context.Context, of search.Conversation) ([]float64, error) {
	if known, ok := b.known[of]; ok {
		return known, nil
	}
	var means []float64
	for i := range b.collections {
		mean, err := b.collections[i].mean(ctx, of)
		if err != nil {
			return nil, err
		}
		means = append(means, mean)
	}
	if b.known == nil {
		b.known = map[search.Conversation][]float64{}
	}
	b.known[of] = means
	return means, nil
}

// weight is one of those of a configuration, with its default.
type weight struct {
	name    string
	of      func(*search.Conversation) *float64
	initial float64
	factor  bool // of a word, not of a feature
}

func weights() []weight {
	return []weight{
		{"window", func(c *search.Conversation) *float64 { return &c.Window }, .35, false},
		{"cover", func(c *search.Conversation) *float64 { return &c.Cover }, .2, false},
		{"zone", func(c *search.Conversation) *float64 { return &c.Zone }, .4, false},
		{"question", func(c *search.Conversation) *float64 { return &c.Question }, .25, false},
		{"speaker", func(c *search.Conversation) *float64 { return &c.Speaker }, .125, false},
		{"date", func(c *search.Conversation) *float64 { return &c.Date }, .5, false},
		{"filler", func(c *search.Conversation) *float64 { return &c.Filler }, .3, true},
		{"dated", func(c *search.Conversation) *float64 { return &c.Dated }, .1, true},
	}
}

// ablate prints the means of the defaults, without each feature, and of turns ranked like other documents.
func (b *bench) ablate(ctx context.Context) error {
	if err := b.row(ctx, "all features", search.Conversation{}); err != nil {
		return err
	}
	var off search.Conversation
	for _, w := range weights() {
		var c search.Conversation
		title := "without " + w.name
		if w.factor { // without it such words count like others
			*w.of(&c), title = 1, w.name+" 1"
		} else {
			*w.of(&c), *w.of(&off) = -1, -1
		}
		if err := b.row(ctx, title, c); err != nil {
			return err
		}
	}
	return b.row(ctx, "off", off)
}

func (b *bench) row(ctx context.Context, title string, c search.Conversation) error {
	means, err := b.measure(ctx, c)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("%-18s", title)
	for i, mean := range means {
		line += fmt.Sprintf("  %s %.4f", b.collections[i].title, mean)
	}
	fmt.Println(line)
	return nil
}

// fit fits the weights on two collections by coordinate ascent, and prints all means.
func (b *bench) fit(ctx context.Context) error {
	for held := range 3 {
		best := search.Conversation{}
		for _, w := range weights() {
			*w.of(&best) = w.initial
		}
		most, err := b.sum(ctx, best, held)
		for range 2 {
			for _, w := range weights() {
				for _, factor := range []float64{.5, .7, 1.4, 2} {
					tried := best
					*w.of(&tried) *= factor
					sum, failed := b.sum(ctx, tried, held)
					if failed != nil {
						return failed
					}
					if sum > most {
						best, most = tried, sum
					}
				}
			}
		}
		if err != nil {
			return err
		}
		if err := b.row(ctx, "held "+strings.Fields(b.collections[held].title)[0], best); err != nil {
			return err
		}
		fmt.Printf("  %+v\n", best)
	}
	return nil
}

// sum is that of the means of the first three collections but one.
func (b *bench) sum(ctx context.Context, c search.Conversation, held int) (sum float64, err error) {
	means, err := b.measure(ctx, c)
	if err != nil {
		return 0, err
	}
	for i := range 3 {
		if i != held {
			sum += means[i]
		}
	}
	return sum, nil
}
