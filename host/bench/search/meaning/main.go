// Command meaning measures what the program's word vectors add to ranking, and what they cost.
//
//	meaning [-scale 100000] DIR
//
// DIR has NAME.docs.jsonl and NAME.queries.jsonl as alcove bench recall reads them, for paraphrase-dev, locomo-dev, friends-dev,
// qmsum-val, realtalk-dev, beam-dev and cranfield; a collection without files is left out, which is printed. Small collections in
// German, Spanish and Chinese, and questions that nothing answers, are in testdata.
package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/host/bench/measure"
)

//go:embed testdata
var testdata embed.FS

func main() {
	scale := flag.Int("scale", 100_000, "the memories among which the cost is measured; 0: none")
	flag.Parse()
	if err := run(context.Background(), flag.Arg(0), *scale); err != nil {
		fmt.Fprintln(os.Stderr, "meaning:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, scale int) error {
	var all []*collection
	for _, c := range collections() {
		from := os.DirFS(filepath.Clean(dir))
		if c.ours {
			from, _ = fs.Sub(testdata, "testdata")
		}
		if err := c.read(from); errors.Is(err, fs.ErrNotExist) {
			fmt.Printf("%s is left out: %v\n", c.name, err)
			continue
		} else if err != nil {
			return err
		}
		all = append(all, c)
	}
	rankings, err := rankings()
	if err != nil {
		return err
	}
	for _, r := range rankings {
		if err := r.print(ctx, all); err != nil {
			return err
		}
	}
	if scale == 0 {
		return nil
	}
	return cost(ctx, all, scale, rankings[0], rankings[1])
}

// collection is judged questions about documents.
type collection struct {
	name      string
	ours      bool // in testdata
	measures  []metric
	documents []measure.Document
	questions []measure.Question
}

// metric is the mean score of the questions of a kind or of some categories; neither: of all.
type metric struct {
	title      string
	kind       string
	categories []string
	score      func(found []string, relevant map[string]float64, k int) float64
	k          int
}

func collections() []*collection {
	return []*collection{
		{name: "paraphrase-dev", measures: []metric{
			{"synonym R@10", "synonym", nil, measure.RecallAt, 10}, {"general R@10", "hypernym", nil, measure.RecallAt, 10}, {"inference R@10", "inference", nil, measure.RecallAt, 10},
			{"partial R@10", "partial", nil, measure.RecallAt, 10}, {"ordinary R@1", "lexical", nil, measure.RecallAt, 1}, {"all R@10", "", nil, measure.RecallAt, 10}, {"all R@1", "", nil, measure.RecallAt, 1},
			{"without an answer, found", "none", nil, anything, 1},
		}},
		{name: "locomo-dev", measures: []metric{{"LoCoMo R@10", "", []string{"1", "2", "3", "4"}, measure.RecallAt, 10}}},
		{name: "friends-dev", measures: []metric{{"FriendsQA R@10", "", nil, measure.RecallAt, 10}}},
		{name: "qmsum-val", measures: []metric{{"QMSum nDCG@10", "", nil, measure.NDCG, 10}}},
		{name: "realtalk-dev", measures: []metric{{"REALTALK R@10", "", nil, measure.RecallAt, 10}}},
		{name: "beam-dev", measures: []metric{{"BEAM R@10", "", nil, measure.RecallAt, 10}, {"BEAM R@1", "", nil, measure.RecallAt, 1}}},
		{name: "cranfield", measures: []metric{{"Cranfield nDCG@10", "", nil, measure.NDCG, 10}}},
		{name: "german", ours: true, measures: []metric{{"German R@1", "", nil, measure.RecallAt, 1}}},
		{name: "spanish", ours: true, measures: []metric{{"Spanish R@1", "", nil, measure.RecallAt, 1}}},
		{name: "chinese", ours: true, measures: []metric{{"Chinese R@1", "", nil, measure.RecallAt, 1}}},
	}
}

// anything is 1 if there is a hit.
func anything(found []string, _ map[string]float64, _ int) float64 {
	return float64(min(1, len(found)))
}

func (c *collection) read(dir fs.FS) (err error) {
	open := func(suffix string, read func(io.Reader) error) {
		f, failed := dir.Open(path.Join(".", c.name+suffix))
		if err = errors.Join(err, failed); failed == nil {
			err = errors.Join(err, read(f), f.Close())
		}
	}
	open(".docs.jsonl", func(r io.Reader) (err error) { c.documents, err = measure.ReadDocuments(r); return err })
	open(".queries.jsonl", func(r io.Reader) (err error) { c.questions, err = measure.ReadQuestions(r); return err })
	if err != nil || c.name != "paraphrase-dev" {
		return err
	}
	raw, err := testdata.ReadFile("testdata/unanswerable.txt")
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		c.questions = append(c.questions, measure.Question{ID: fmt.Sprint("none", i), Text: line, Meta: map[string]json.RawMessage{"kind": json.RawMessage(`"none"`)}})
	}
	return err
}
