// Command maketable makes the table of package wordvec from a model2vec folder whose tokens are words:
//
//	maketable DIR table.bin
//
// Words with the same stem share a row of the model, and become one term.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/search/embed"
	"github.com/alcove-memory/alcove/host/search/wordvec"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "maketable: usage: maketable DIR table.bin")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "maketable:", err)
		os.Exit(1)
	}
}

func run(model, table string) error {
	m, err := embed.OpenModel(model)
	if err != nil {
		return err
	}
	words, err := wordsOf(model)
	if err != nil {
		return err
	}
	analyser, err := search.NewAnalyser("english")
	if err != nil {
		return err
	}
	var rows []wordvec.Row
	known := map[wordvec.Term]bool{}
	for _, w := range words {
		term, ok := termOf(analyser, w.text)
		weight, vector, has := m.Row(w.token)
		if !ok || !has || known[term] || len(vector) != wordvec.Dimensions {
			continue
		}
		known[term] = true
		rows = append(rows, wordvec.Row{Term: term, Factor: weight, Vector: vector})
	}
	fmt.Printf("%d terms of %d words\n", len(rows), len(words))
	return os.WriteFile(table, wordvec.Encode(rows), 0o644)
}

// termOf returns the term of a text that is one word.
func termOf(by *search.Analyser, text string) (t wordvec.Term, ok bool) {
	n := 0
	for t.Text, t.Stop = range by.Words(text) {
		n++
	}
	return t, n == 1
}

type word struct {
	text  string
	token int
}

// wordsOf returns the words of a model in the order of their tokens: the most frequent first.
func wordsOf(model string) (words []word, err error) {
	raw, err := os.ReadFile(filepath.Join(model, "tokenizer.json"))
	if err != nil {
		return nil, err
	}
	var t struct {
		Model struct{ Vocab map[string]int }
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return nil, fmt.Errorf("read tokenizer.json: %w", err)
	}
	for text, token := range t.Model.Vocab {
		words = append(words, word{text, token})
	}
	slices.SortFunc(words, func(a, b word) int { return cmp.Compare(a.token, b.token) })
	return words, nil
}
