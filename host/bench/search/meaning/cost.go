package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/search"
)

// cost prints what vectors cost among many memories: the texts of all collections, again and again with the words of a few joined, until
// there are enough. Questions are asked in turn of both.
func cost(ctx context.Context, all []*collection, scale int, lexical, builtin ranking) error {
	documents, questions := memories(all, scale)
	if len(documents) == 0 {
		return nil
	}
	var indexes [2]*search.Index
	for i, r := range []ranking{lexical, builtin} {
		before, start := heap(), time.Now()
		x, k, err := r.index(documents, true)
		if err != nil {
			return err
		}
		defer k.Close()
		fmt.Printf("%-8s %d memories are indexed in %v, with %d bytes each\n", r.title, scale, time.Since(start).Round(time.Millisecond), (heap()-before)/scale)
		indexes[i] = x
	}
	var times [2][]time.Duration
	for _, q := range questions {
		for i, r := range []ranking{lexical, builtin} {
			start := time.Now()
			if _, err := r.ask(ctx, indexes[i], "all", q); err != nil {
				return err
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	var p50 [2]time.Duration
	for i := range times {
		slices.Sort(times[i])
		p50[i] = times[i][len(times[i])/2]
	}
	fmt.Printf("a question takes %v by words and %v with vectors, p50 of %d: %.2f times as long\n", p50[0], p50[1], len(questions), float64(p50[1])/float64(p50[0]))
	return nil
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// memories returns as many documents, of one namespace, and at most 500 questions.
func memories(all []*collection, scale int) (documents []measure.Document, questions []string) {
	var texts []string
	for _, c := range all {
		for _, d := range c.documents {
			if len(d.Text) < 400 {
				texts = append(texts, d.Text)
			}
		}
		for _, q := range c.questions {
			questions = append(questions, q.Text)
		}
	}
	for i := 0; len(texts) > 0 && i < scale; i++ {
		text := texts[i%len(texts)]
		if round := i / len(texts); round > 0 { // not the same again
			text += " " + texts[(i+round*7919)%len(texts)]
		}
		documents = append(documents, measure.Document{ID: fmt.Sprint(i), Text: text})
	}
	step := max(1, len(questions)/500)
	var some []string
	for i := 0; i < len(questions); i += step {
		some = append(some, questions[i])
	}
	return documents, some
}
