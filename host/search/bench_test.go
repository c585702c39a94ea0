package search

import (
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/store"
)

// corpus makes up documents whose words are as unevenly frequent as those of a language.
type corpus struct {
	rng   *rand.Rand
	words *rand.Zipf
}

func newCorpus(seed int64) *corpus {
	rng := rand.New(rand.NewSource(seed))
	return &corpus{rng, rand.NewZipf(rng, 1.07, 4, 200_000)}
}

func (c *corpus) word() string {
	n := c.words.Uint64()
	if n < 40 {
		return []string{"the", "of", "and", "to", "in", "is", "that", "it", "was", "for", "on", "are", "as", "with", "his", "they", "at", "be", "this", "have", "from", "or", "had", "by", "not", "but", "what", "all", "were", "we", "when", "your", "can", "said", "there", "use", "an", "each", "which", "she"}[n]
	}
	var b strings.Builder
	for n := n*7919 + 17; n > 0; n /= 21 {
		b.WriteString([]string{"ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu", "da", "fe", "gi", "ho", "pa", "que", "sti", "tra", "wo", "ya", "chi"}[n%21])
	}
	return b.String()
}

func (c *corpus) text(words int) string {
	list := make([]string, words)
	for i := range list {
		list[i] = c.word()
	}
	return strings.Join(list, " ")
}

func (c *corpus) docs(from, n int) []Doc {
	docs := make([]Doc, n)
	for i := range docs {
		docs[i] = Doc{Branch: 1, Version: uint64(from + i + 1), Namespace: "default", Collection: "memory", Key: fmt.Sprintf("key-%07d", from+i),
			Text: []string{c.text(20 + c.rng.Intn(60))}, State: Active, Time: time.UnixMicro(int64(from + i))}
	}
	return docs
}

func (c *corpus) question() string {
	list := make([]string, 2+c.rng.Intn(4))
	for i := range list {
		list[i] = c.word()
	}
	return strings.Join(list, " ")
}

func fill(tb testing.TB, x *Index, n int) {
	tb.Helper()
	c := newCorpus(1)
	spent := time.Duration(0)
	for from := 0; from < n; from += 1000 {
		docs := c.docs(from, min(1000, n-from))
		began := time.Now()
		x.Apply(docs...)
		if err := x.Maintain(tb.Context()); err != nil {
			tb.Fatal(err)
		}
		spent += time.Since(began)
	}
	size := 0
	for _, p := range x.parts {
		if p.sealed != nil {
			size += p.sealed.Size()
		}
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	tb.Logf("%d documents in %.2f s, %d parts, %.1f MB of segments, %.1f MB of memory in all", n, spent.Seconds(), len(x.parts), float64(size)/1e6, float64(m.HeapAlloc)/1e6)
}

func size(fallback int) int {
	if n, err := strconv.Atoi(os.Getenv("ALCOVE_BENCH_DOCS")); err == nil {
		return n
	}
	return fallback
}

func BenchmarkSearch(b *testing.B) {
	x := New(Options{})
	fill(b, x, size(100_000))
	c := newCorpus(2)
	questions := make([]string, 500)
	for i := range questions {
		questions[i] = c.question()
	}
	for name, v := range map[string]View{
		"head": {Lineage: store.Lineage{{Branch: 1, At: store.Latest}}},
		"past": {Lineage: store.Lineage{{Branch: 1, At: uint64(size(100_000) * 9 / 10)}}},
	} {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				if _, err := x.Search(b.Context(), v, Query{Text: questions[i%len(questions)]}); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// BenchmarkConversations searches turns, in sessions of 300 and of 2 and in chats with an assistant, by their features and like other
// documents. Most questions have words that many turns have.
func BenchmarkConversations(b *testing.B) {
	for _, kind := range []struct {
		name  string
		turns int
		roles [2]Role
		words [2]int // at most, by role
	}{
		{"sessions-of-300", 300, [2]Role{}, [2]int{30, 30}},
		{"sessions-of-2", 2, [2]Role{}, [2]int{30, 30}},
		{"chats", 300, [2]Role{User, Assistant}, [2]int{30, 200}},
	} {
		x, c, texts := New(Options{}), newCorpus(1), measure.NewTexts(1)
		for from := 0; from < size(100_000); from += 1000 {
			docs := c.docs(from, 1000)
			for i := range docs {
				at := from + i
				docs[i].Text[0] = texts.Text(5, kind.words[at%2])
				docs[i].Turn = &Turn{Session: strconv.Itoa(at / kind.turns), Position: int64(at % kind.turns), Speaker: []string{"Anna", "Bert"}[at%2],
					Said: docs[i].Time, Role: kind.roles[at%2]}
			}
			x.Apply(docs...)
			if err := x.Maintain(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		questions := make([]string, 500)
		for i := range questions {
			questions[i] = texts.Text(4, 10)
		}
		for name, plain := range map[string]bool{"features": false, "plain": true} {
			b.Run(kind.name+"/"+name, func(b *testing.B) {
				i := 0
				for b.Loop() {
					if _, err := x.Search(b.Context(), View{Lineage: trunk}, Query{Text: questions[i%len(questions)], Plain: plain}); err != nil {
						b.Fatal(err)
					}
					i++
				}
			})
		}
	}
}

// BenchmarkQuestions asks questions of six to ten words, and a term, of memories with tags, plainly and with filters, of some namespaces, after
// each write and of a child branch; each with bounds and exhaustively.
func BenchmarkQuestions(b *testing.B) {
	x, texts, n := New(Options{}), measure.NewTexts(1), size(100_000)
	at := 0
	doc := func() Doc {
		d := Doc{Branch: 1, Version: uint64(at + 1), Namespace: []string{"a", "b", "c", "d"}[at%4], Collection: "memory", Key: fmt.Sprintf("m/%09d", at),
			Text: []string{texts.Text(20, 80)}, State: Active, Time: time.UnixMicro(int64(at)), Tags: []string{fmt.Sprint("ten-", at%10), fmt.Sprint("thousand-", at%1000)}}
		at++
		return d
	}
	for at < n {
		docs := make([]Doc, min(1000, n-at))
		for i := range docs {
			docs[i] = doc()
		}
		x.Apply(docs...)
		if err := x.Maintain(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	questions, terms := make([]string, 300), make([]string, 300)
	for i := range questions {
		questions[i], terms[i] = texts.Text(6, 10), texts.Text(1, 1)
	}
	head := View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}}}
	child := View{Lineage: store.Lineage{{Branch: 2, At: store.Latest}, {Branch: 1, At: uint64(n)}}}
	x.Apply(Doc{Branch: 2, Version: uint64(2 * n), Namespace: "a", Collection: "memory", Key: "m/000000001", Text: []string{"other"}, State: Active})
	x.wanted[columnID{kind: byTag}] = true
	if err := x.Maintain(b.Context()); err != nil {
		b.Fatal(err)
	}
	for _, kind := range []struct {
		name   string
		view   View
		query  Query
		texts  []string
		writes bool
	}{
		{"question", head, Query{}, questions, false},
		{"term", head, Query{}, terms, false},
		{"tag-of-a-tenth", head, Query{Tags: []string{"ten-3"}}, questions, false},
		{"tag-of-a-thousandth", head, Query{Tags: []string{"thousand-3"}}, questions, false},
		{"without-a-tag", head, Query{NoTags: []string{"ten-3"}}, questions, false},
		{"namespace", View{Lineage: head.Lineage, Namespaces: []string{"c"}}, Query{}, questions, false},
		{"child", child, Query{}, questions, false},
		{"after-a-write", head, Query{}, questions, true},
	} {
		for _, exhaustive := range []bool{false, true} {
			b.Run(kind.name+map[bool]string{true: "/exhaustive", false: "/bounded"}[exhaustive], func(b *testing.B) {
				q := kind.query
				q.exhaustive = exhaustive
				for _, q.Text = range kind.texts { // which makes what later searches share
					if _, err := x.Search(b.Context(), kind.view, q); err != nil {
						b.Fatal(err)
					}
				}
				var times []time.Duration
				for i := 0; b.Loop(); i++ {
					if kind.writes {
						d := doc()
						d.Key = fmt.Sprintf("m/%09d", (at*7919)%n)
						x.Apply(d)
					}
					q.Text = kind.texts[i%len(kind.texts)]
					began := time.Now()
					if _, err := x.Search(b.Context(), kind.view, q); err != nil {
						b.Fatal(err)
					}
					times = append(times, time.Since(began))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
				b.ReportMetric(float64(times[len(times)*95/100].Microseconds()), "p95-µs")
			})
		}
	}
}
