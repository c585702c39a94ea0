package main

import (
	"cmp"
	"embed"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"

	"github.com/alcove-memory/alcove/host/search/wordvec"
)

// Half of the intents were seen while descriptions were improved, the other half was not.
//
//go:embed testdata/intents-dev.tsv testdata/intents-heldout.tsv
var intentFiles embed.FS

// intent is what a user says, and the tools that do it.
type intent struct {
	tools []string
	text  string
}

type intentSet struct {
	name string
	list []intent
}

func intentSets() (sets []intentSet, err error) {
	for _, each := range []struct{ name, file string }{{seen, "intents-dev.tsv"}, {"held out", "intents-heldout.tsv"}} {
		data, err := intentFiles.ReadFile("testdata/" + each.file)
		if err != nil {
			return nil, err
		}
		set := intentSet{name: each.name}
		for line := range strings.Lines(string(data)) {
			tools, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
			if !ok {
				return nil, fmt.Errorf("%q in %s has no tab", line, each.file)
			}
			set.list = append(set.list, intent{strings.Split(tools, "|"), text})
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// ranking scores each tool for what a user says.
type ranking func(text string) []float64

// place is where the first of an intent's tools stands in a ranking, from 0. Ties keep the order of the list, as a client does.
func (r ranking) place(i intent, tools []listed) int {
	scores := r(i.text)
	order := make([]int, len(tools))
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for at, n := range order {
		if slices.Contains(i.tools, tools[n].Name) && scores[n] > 0 {
			return at
		}
	}
	return len(tools)
}

const seen = "seen"

const among = 5 // tools that a search returns

// searches is the table of what is found by which search over the list of all tools.
func (s *server) searches(sets []intentSet, verbose bool) (string, error) {
	tools, _, err := s.list("deferred")
	if err != nil {
		return "", err
	}
	rankings, err := rankingsOf(tools)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| search over names and descriptions | first, seen | among five, seen | first, held out | among five, held out |\n|---|---|---|---|---|\n")
	for _, each := range rankings {
		fmt.Fprintf(&b, "| %s |", each.name)
		for _, set := range sets {
			first, five := 0, 0
			for _, i := range set.list {
				switch at := each.rank.place(i, tools); {
				case at == 0:
					first, five = first+1, five+1
				case at < among:
					five++
				case verbose && set.name == seen: // what is held out stays unseen
					fmt.Fprintf(os.Stderr, "%s, %s: %q finds %s at %d\n", each.name, set.name, i.text, strings.Join(i.tools, " or "), at+1)
				}
			}
			fmt.Fprintf(&b, " %d of %d | %d |", first, len(set.list), five)
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

type namedRanking struct {
	name string
	rank ranking
}

func rankingsOf(tools []listed) ([]namedRanking, error) {
	texts := make([]string, len(tools))
	for i, t := range tools {
		texts[i] = strings.ReplaceAll(t.Name, "_", " ") + " " + t.Description
	}
	table, err := wordvec.Open()
	if err != nil {
		return nil, err
	}
	return []namedRanking{{"a regular expression of the words", byExpression(texts)}, {"BM25", byBM25(texts)}, {"word vectors", byVectors(table, texts)}}, nil
}

// stopWords are left out of queries and texts, as searches of tools do.
const stopWords = " a about am an and any anybody are as at be by can could did do does don for from give had has have how i if in into is it its just let m me my " +
	"need no not now of off on or our please put s say show so t tell that the them there these they thing things this those to under up us want was we were what when where which who why " +
	"will with would yes you your "

func stems(text string) (list []string) {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !strings.Contains(stopWords, " "+word+" ") {
			env := snowballstem.NewEnv(word)
			english.Stem(env)
			list = append(list, env.Current())
		}
	}
	return list
}

// byExpression is how a model searches that writes a pattern of what was said: each stem is an alternative, and a tool is the better the more
// of them it has.
func byExpression(texts []string) ranking {
	return func(text string) []float64 {
		scores := make([]float64, len(texts))
		for _, stem := range stems(text) {
			pattern := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(stem))
			for i := range texts {
				if pattern.MatchString(texts[i]) {
					scores[i]++
				}
			}
		}
		return scores
	}
}

// byBM25 has the usual parameters.
func byBM25(texts []string) ranking {
	const k1, b = 1.2, 0.75
	in, length := map[string]float64{}, 0.0
	docs := make([][]string, len(texts))
	for i, text := range texts {
		docs[i] = stems(text)
		length += float64(len(docs[i])) / float64(len(texts))
		for _, word := range slices.Compact(slices.Sorted(slices.Values(docs[i]))) {
			in[word]++
		}
	}
	return func(text string) []float64 {
		scores := make([]float64, len(docs))
		for i, doc := range docs {
			count := map[string]float64{}
			for _, word := range doc {
				count[word]++
			}
			for _, word := range stems(text) {
				idf := math.Log(1 + (float64(len(docs))-in[word]+0.5)/(in[word]+0.5))
				scores[i] += idf * count[word] * (k1 + 1) / (count[word] + k1*(1-b+b*float64(len(doc))/length))
			}
		}
		return scores
	}
}

// byVectors compares the built-in word vectors, by cosine.
func byVectors(table *wordvec.Table, texts []string) ranking {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = table.Vector(text)
	}
	return func(text string) []float64 {
		asked, scores := table.Question(text), make([]float64, len(texts))
		for i, v := range vectors {
			for n := range min(len(v), len(asked)) {
				scores[i] += float64(v[n]) * float64(asked[n])
			}
		}
		return scores
	}
}
