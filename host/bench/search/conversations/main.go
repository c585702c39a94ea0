// Command conversations measures the ranking of turns on judged conversations: with each feature left out, and with
// weights fitted on all collections but one and tested on that one.
//
//	conversations [-fit] DIR
//
// DIR has NAME.docs.jsonl and NAME.queries.jsonl as alcove bench recall reads them, for locomo-dev, friends-dev,
// qmsum-val, realtalk-dev and beam-dev; a collection without files is left out, which is printed. Questions with a
// meta.conv are asked of its documents alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

func main() {
	fit := flag.Bool("fit", false, "also fit the weights on all collections but one, and test them on that one, for each: this takes minutes")
	flag.Parse()
	if err := run(context.Background(), flag.Arg(0), *fit); err != nil {
		fmt.Fprintln(os.Stderr, "conversations:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, fit bool) error {
	var all bench
	for _, of := range collections() {
		if err := of.read(dir); errors.Is(err, fs.ErrNotExist) {
			fmt.Printf("%s is left out: %v\n", of.name, err)
			continue
		} else if err != nil {
			return err
		}
		all.collections = append(all.collections, of)
	}
	if err := all.ablate(ctx); err != nil || !fit {
		return err
	}
	return all.fit(ctx)
}

// collection is judged questions about conversations.
type collection struct {
	name      string
	measures  []metric
	documents []measure.Document
	questions []measure.Question
}

// metric is the mean score of the questions of some categories; nil: of all.
type metric struct {
	title      string
	categories []string
	score      func(found []string, relevant map[string]float64, k int) float64
	k          int
}

func collections() []*collection {
	return []*collection{
		{name: "locomo-dev", measures: []metric{{"LoCoMo R@10", []string{"1", "2", "3", "4"}, measure.RecallAt, 10}, {"LoCoMo-5 R@10", []string{"5"}, measure.RecallAt, 10}}},
		{name: "friends-dev", measures: []metric{{"FriendsQA R@10", nil, measure.RecallAt, 10}}},
		{name: "qmsum-val", measures: []metric{{"QMSum nDCG@10", nil, measure.NDCG, 10}}},
		{name: "realtalk-dev", measures: []metric{{"REALTALK R@10", nil, measure.RecallAt, 10}}},
		{name: "beam-dev", measures: []metric{{"BEAM R@10", nil, measure.RecallAt, 10}, {"BEAM R@1", nil, measure.RecallAt, 1}}},
	}
}

// read reads the collection's files of a directory.
func (c *collection) read(dir string) (err error) {
	docs, err := os.Open(filepath.Join(dir, c.name+".docs.jsonl"))
	if err != nil {
		return err
	}
	defer docs.Close()
	queries, err := os.Open(filepath.Join(dir, c.name+".queries.jsonl"))
	if err != nil {
		return err
	}
	defer queries.Close()
	if c.documents, err = measure.ReadDocuments(docs); err != nil {
		return err
	}
	c.questions, err = measure.ReadQuestions(queries)
	return err
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

// means asks all questions that have an answer and returns the mean of each metric.
func (c *collection) means(ctx context.Context, of search.Conversation) ([]float64, error) {
	x := c.index(of)
	sums, asked := make([]float64, len(c.measures)), make([]float64, len(c.measures))
	for _, q := range c.questions {
		if len(q.Relevant) == 0 {
			continue
		}
		view := search.View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}}, Namespaces: []string{conversationOf(q.Meta)}, Now: time.Now()}
		r, err := x.Search(ctx, view, search.Query{Text: q.Text})
		if err != nil {
			return nil, fmt.Errorf("ask %q: %w", q.Text, err)
		}
		var found []string
		for _, hit := range r.Hits {
			found = append(found, hit.Key)
		}
		for i, m := range c.measures {
			if len(measure.OfCategories([]measure.Question{q}, m.categories)) == 1 {
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

// bench measures configurations on all collections.
type bench struct {
	collections []*collection
	known       map[search.Conversation][][]float64 // by collection and metric
}

func (b *bench) measure(ctx context.Context, of search.Conversation) ([][]float64, error) {
	if known, ok := b.known[of]; ok {
		return known, nil
	}
	var means [][]float64
	for _, c := range b.collections {
		mean, err := c.means(ctx, of)
		if err != nil {
			return nil, err
		}
		means = append(means, mean)
	}
	if b.known == nil {
		b.known = map[search.Conversation][][]float64{}
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
		{"assistant", func(c *search.Conversation) *float64 { return &c.Assistant }, .3, true},
		{"filler", func(c *search.Conversation) *float64 { return &c.Filler }, .3, true},
		{"dated", func(c *search.Conversation) *float64 { return &c.Dated }, .1, true},
	}
}

// ablate prints the means of the defaults, without each feature, and of turns ranked like other documents.
func (b *bench) ablate(ctx context.Context) error {
	b.head()
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

// head prints the titles of the columns.
func (b *bench) head() {
	line := fmt.Sprintf("%-18s", "")
	for _, c := range b.collections {
		for _, m := range c.measures {
			line += "  " + m.title
		}
	}
	fmt.Println(line)
}

func (b *bench) row(ctx context.Context, title string, c search.Conversation) error {
	means, err := b.measure(ctx, c)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("%-18s", title)
	for i, of := range b.collections {
		for j, m := range of.measures {
			line += fmt.Sprintf("  %*.4f", len(m.title), means[i][j])
		}
	}
	fmt.Println(line)
	return nil
}

// fit fits the weights on all collections but one by coordinate ascent, for each of them, and prints all means, and at last those of the
// collections that were left out, beside those that the defaults find.
func (b *bench) fit(ctx context.Context) error {
	var tested []string
	for held, of := range b.collections {
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
		if err := b.row(ctx, "without "+of.name, best); err != nil {
			return err
		}
		fmt.Printf("  %+v\n", best)
		lines, err := b.tested(ctx, held, best)
		if err != nil {
			return err
		}
		tested = append(tested, lines...)
	}
	fmt.Printf("%-18s  %8s  %8s\n", "tested on", "fitted", "default")
	for _, line := range tested {
		fmt.Println(line)
	}
	return nil
}

// tested are the means of a collection that was left out, with the weights fitted without it and with the defaults.
func (b *bench) tested(ctx context.Context, held int, best search.Conversation) (lines []string, err error) {
	fitted, err := b.measure(ctx, best)
	if err != nil {
		return nil, err
	}
	usual, err := b.measure(ctx, search.Conversation{})
	if err != nil {
		return nil, err
	}
	for i, m := range b.collections[held].measures {
		lines = append(lines, fmt.Sprintf("%-18s  %8.4f  %8.4f", m.title, fitted[held][i], usual[held][i]))
	}
	return lines, nil
}

// sum is that of the first means of the collections but one.
func (b *bench) sum(ctx context.Context, c search.Conversation, held int) (sum float64, err error) {
	means, err := b.measure(ctx, c)
	if err != nil {
		return 0, err
	}
	for i := range means {
		if i != held {
			sum += means[i][0]
		}
	}
	return sum, nil
}
