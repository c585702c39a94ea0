// Command pairs learns from labelled pairs by which signs consolidation tells what says the same, and what contradicts each other.
//
//	go run ./guests/build/pairs -out guests/families/consolidation/compare/trees.bin host/bench/judge/testdata
//
// The pairs are in pairs.txt and in the files duplicates-dev.jsonl and contradictions-dev.jsonl of a directory that is named. With -fold,
// each fifth is told by what was learned from the rest, and nothing is written: how often that is right is what to expect of pairs that
// nobody has seen.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"

	"github.com/alcove-memory/alcove/guests/families/consolidation/compare"
	"github.com/alcove-memory/alcove/host/durable"
)

// usual is how the family's trees are learned.
var usual = options{trees: 250, depth: 4, leaf: 8, rate: .1, sample: .7, decay: 2}

//go:embed pairs.txt
var pairs string

func main() {
	out := flag.String("out", "", "the file of the trees")
	fold := flag.Bool("fold", false, "tell how often pairs are right that nothing was learned from, and write nothing")
	verbose := flag.Bool("v", false, "with -fold, print what is wrong")
	o := usual
	flag.IntVar(&o.trees, "trees", o.trees, "how many trees are learned")
	flag.IntVar(&o.depth, "depth", o.depth, "how many questions a tree asks")
	flag.IntVar(&o.leaf, "leaf", o.leaf, "examples of a leaf, at least")
	flag.Float64Var(&o.rate, "rate", o.rate, "how much of what it could a tree corrects")
	flag.Float64Var(&o.sample, "sample", o.sample, "the share of the examples that a tree is learned from")
	flag.Float64Var(&o.decay, "decay", o.decay, "how much leaves of few examples are held back")
	flag.Parse()
	if err := run(*out, *fold, *verbose, o, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
}

func run(out string, fold, verbose bool, o options, dir string) error {
	r, err := newReader()
	if err != nil {
		return err
	}
	own, err := r.read(pairs)
	if err != nil {
		return err
	}
	named, err := r.readDir(dir)
	if err != nil {
		return err
	}
	if fold {
		for _, q := range questions {
			foldAll(q, own, named, verbose, o)
		}
		return nil
	}
	return durable.WriteFile(out, table(append(own, named...), o), 0o644)
}

// table is the learned trees, by question.
func table(list []pair, o options) (data []byte) {
	for _, q := range questions {
		data = append(data, compare.WriteTrees(learn(q.examples(list), o))...)
	}
	return data
}
