// Command kinds learns from labelled sentences by which signs auto-tag tells the type of a text.
//
//	go run ./guests/build/kinds -out guests/families/auto-tag/kind/weights.bin host/bench/judge/testdata/types-dev.jsonl
//
// The sentences are in sentences.txt and in files of {"text","type"} lines that are named. With -fold, each tenth of the named files is
// told by what was learned from the rest, and nothing is written: how often that is right is what to expect of texts that nobody has seen.
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/families/auto-tag/kind"
	"github.com/alcove-memory/alcove/host/durable"
)

//go:embed sentences.txt
var sentences string

func main() {
	out := flag.String("out", "", "the file of the weights")
	fold := flag.Bool("fold", false, "tell how often texts are right that nothing was learned from, and write nothing")
	verbose := flag.Bool("v", false, "with -fold, print what is wrong")
	o := usual()
	flag.Float64Var(&o.decay, "decay", o.decay, "how much weights shrink at each step")
	flag.Float64Var(&o.observation, "observation", o.observation, "how much an observation weighs beside the others")
	flag.IntVar(&o.rounds, "rounds", o.rounds, "how often each sentence is learned from")
	flag.IntVar(&o.rows, "rows", o.rows, "signs that are kept, those that tell types apart most")
	flag.Parse()
	if err := run(*out, *fold, *verbose, o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "kinds:", err)
		os.Exit(1)
	}
}

func run(out string, fold, verbose bool, o options, files []string) error {
	own, named, err := readAll(files)
	if err != nil {
		return err
	}
	if fold {
		foldAll(own, named, verbose, o)
		return nil
	}
	return durable.WriteFile(out, learn(append(own, named...), o).table(o), 0o644)
}

// readAll reads our own sentences and those of the named files.
func readAll(files []string) (own, named []sentence, err error) {
	if own, err = readSentences(sentences); err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		list, err := readLines(file)
		if err != nil {
			return nil, nil, err
		}
		named = append(named, list...)
	}
	return own, named, nil
}

// sentence is a text and its type, by number.
type sentence struct {
	text  string
	kind  int
	signs []uint32
}

func newSentence(text, name string) (sentence, error) {
	names := kind.Types()
	i := slices.Index(names[:], name)
	if i < 0 {
		return sentence{}, fmt.Errorf("%q has the type %q, which is none", text, name)
	}
	s := sentence{text: text, kind: i}
	kind.New().Signs(text, func(sign uint32) { s.signs = append(s.signs, sign) })
	return s, nil
}

// readSentences reads a line a sentence, below a line "# TYPE".
func readSentences(data string) (list []sentence, err error) {
	name := ""
	for line := range strings.Lines(data) {
		line = strings.TrimSpace(line)
		if after, ok := strings.CutPrefix(line, "# "); ok {
			name = after
			continue
		}
		s, err := newSentence(line, name)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func readLines(file string) (list []sentence, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		var l struct{ Text, Type string }
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		s, err := newSentence(l.Text, l.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		list = append(list, s)
	}
	return list, lines.Err()
}

// foldAll tells the named sentences by what was learned from the others and from our own.
func foldAll(own, named []sentence, verbose bool, o options) {
	const folds = 10
	names := kind.Types()
	var right int
	var byKind, of [types]int
	for f := range folds {
		var from []sentence
		for i, s := range named {
			if i%folds != f {
				from = append(from, s)
			}
		}
		m := learn(append(slices.Clone(own), from...), o)
		for i, s := range named {
			if i%folds != f {
				continue
			}
			of[s.kind]++
			got := m.tell(s.signs)
			if got == s.kind {
				right++
				byKind[s.kind]++
			} else if verbose {
				fmt.Printf("%s, not %s: %s\n", names[got], names[s.kind], s.text)
			}
		}
	}
	m, alone := learn(own, o), 0
	for _, s := range named {
		if m.tell(s.signs) == s.kind {
			alone++
		}
	}
	for _, clear := range []float64{.15, .2, .25, .3, .34} {
		n := 0
		for _, s := range named {
			got := m.tell(s.signs)
			if m.shares(s.signs)[got] < clear {
				got = 0
			}
			if got == s.kind {
				n++
			}
		}
		fmt.Printf("%.1f %% right by our own sentences where a type has a share of %.2f at least\n", 100*float64(n)/float64(len(named)), clear)
	}
	fmt.Printf("%.1f %% right of %d; %.1f %% by our own sentences alone\n", 100*float64(right)/float64(len(named)), len(named), 100*float64(alone)/float64(len(named)))
	for i, name := range names {
		fmt.Printf("  %s %d/%d\n", name, byKind[i], of[i])
	}
}
