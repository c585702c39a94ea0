package mcp

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// The intents were written before the descriptions were changed for them: then 27 of the 60 found their tool first, and 37 among three.
const (
	wantedFirst = 39
	wantedThree = 47
)

// TestWhatUsersSayFindsTheTool ranks the listed tools as clients that search tools do, by BM25 over names and descriptions.
func TestWhatUsersSayFindsTheTool(t *testing.T) {
	names, texts := listed(t)
	rank := bm25(texts)
	first, three := 0, 0
	intents := intentsOf(t)
	for _, each := range intents {
		scores, own := rank(each.text), slices.Index(names, each.tool)
		if own < 0 {
			t.Fatalf("%q is to find %s, which is not listed", each.text, each.tool)
		}
		before := 0
		for i, score := range scores {
			if i != own && score >= scores[own] { // a tie finds nothing
				before++
			}
		}
		if before == 0 {
			first++
		} else {
			t.Logf("%-18s is behind %d tools for %q", each.tool, before, each.text)
		}
		if before < 3 {
			three++
		}
	}
	t.Logf("of %d intents, %d find their tool first, and %d among three", len(intents), first, three)
	if len(intents) != 60 || first < wantedFirst || three < wantedThree {
		t.Errorf("of %d intents: got %d first and %d among three, want at least %d and %d of 60",
			len(intents), first, three, wantedFirst, wantedThree)
	}
}

// listed are the names of the tools in the usual list, and what is searched of each.
func listed(t *testing.T) (names, texts []string) {
	t.Helper()
	core := coreTools(t).Core()
	for i, w := range wireTools(t) {
		if !core[i].Unlisted {
			names, texts = append(names, w.Name), append(texts, w.Name+" "+w.Description)
		}
	}
	return names, texts
}

// intent is what a user or a model says, and the tool that it is about.
type intent struct{ tool, text string }

func intentsOf(t *testing.T) (intents []intent) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "intents.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		tool, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			t.Fatalf("%q in intents.tsv has no tab", line)
		}
		intents = append(intents, intent{tool, text})
	}
	return intents
}

// stopWords are left out of queries and texts, as searches of tools do.
const stopWords = " a about an and are as at be by can did do does for from had has have how i if in is it its me my no not of on " +
	"or so that the them there these this those to up was we were what when where which who why will with you your "

// bm25 scores texts by a query, with the usual parameters.
func bm25(texts []string) func(query string) []float64 {
	const k1, b = 1.2, 0.75
	words := func(s string) (stems []string) {
		for _, word := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if !strings.Contains(stopWords, " "+word+" ") {
				env := snowballstem.NewEnv(word)
				english.Stem(env)
				stems = append(stems, env.Current())
			}
		}
		return stems
	}
	in, length := map[string]float64{}, 0.0
	docs := make([][]string, len(texts))
	for i, text := range texts {
		docs[i] = words(text)
		length += float64(len(docs[i])) / float64(len(texts))
		for _, word := range slices.Compact(slices.Sorted(slices.Values(docs[i]))) {
			in[word]++
		}
	}
	return func(query string) []float64 {
		scores := make([]float64, len(docs))
		for i, doc := range docs {
			count := map[string]float64{}
			for _, word := range doc {
				count[word]++
			}
			for _, word := range words(query) {
				idf := math.Log(1 + (float64(len(docs))-in[word]+0.5)/(in[word]+0.5))
				scores[i] += idf * count[word] * (k1 + 1) / (count[word] + k1*(1-b+b*float64(len(doc))/cmp.Or(length, 1)))
			}
		}
		return scores
	}
}
