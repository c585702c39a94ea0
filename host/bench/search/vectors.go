package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"github.com/philippgille/chromem-go"

	"github.com/alcove-memory/alcove/host/search/vector"
)

const (
	nearestWanted  = 10
	vectorQueries  = 30
	centresOfTexts = 1000
)

// embeddings makes vectors of length 1 that lie in groups, as those of texts do.
func embeddings(n, dimensions int) (vectors, queries [][]float32) {
	r := rand.New(rand.NewPCG(3, 4))
	centres := make([][]float32, centresOfTexts)
	for i := range centres {
		centres[i] = around(r, nil, dimensions)
	}
	for range n {
		vectors = append(vectors, around(r, centres[r.IntN(len(centres))], dimensions))
	}
	for range vectorQueries {
		queries = append(queries, around(r, centres[r.IntN(len(centres))], dimensions))
	}
	return vectors, queries
}

func around(r *rand.Rand, centre []float32, dimensions int) []float32 {
	v, sum := make([]float32, dimensions), 0.0
	for i := range v {
		v[i] = float32(r.NormFloat64())
		if centre != nil {
			v[i] = .8*v[i]/float32(math.Sqrt(float64(dimensions))) + centre[i]
		}
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

// finder finds the numbers of the nearest vectors.
type finder func(query []float32) ([]int, error)

// compareVectors prints how long the nearest 10 of some vectors take.
func compareVectors(n, dimensions int) error {
	vectors, queries := embeddings(n, dimensions)
	plain := plainLoop(vectors)
	var truth [][]int
	for _, q := range queries {
		list, err := plain(q)
		if err != nil {
			return err
		}
		truth = append(truth, list)
	}
	finders, names, err := all(vectors, dimensions)
	if err != nil {
		return err
	}
	finders["plain loop"] = plain
	rows, medians, recalls := [][]string{{fmt.Sprintf("%d vectors of %d", n, dimensions), "p50", "p99", "recall@10"}}, map[string]time.Duration{}, map[string]float64{}
	for _, name := range append(names, "plain loop") {
		sum := 0.0
		p50, p99, err := timed(2*len(queries), func(i int) error {
			found, err := finders[name](queries[i%len(queries)])
			if i < len(queries) {
				sum += overlap(found, truth[i])
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		medians[name], recalls[name] = p50, sum/float64(len(queries))
		rows = append(rows, []string{name, milliseconds(p50), milliseconds(p99), fmt.Sprintf("%.3f", recalls[name])})
	}
	table(rows)
	part, err := bandwidth(n, dimensions)
	if err != nil {
		return err
	}
	against := func(name string) float64 { return float64(medians["chromem-go"]) / float64(medians[name]) }
	table([][]string{
		{"ratio", ""},
		{"float32 scan, part of the bandwidth", verdict(part, .85, true)},
		{"u7 codes, times chromem-go", verdict(against("alcove u7"), 12, true)},
		{"u7 codes, recall@10", verdict(recalls["alcove u7"], .99, true)},
		{"1 bit, times chromem-go", verdict(against("alcove 1 bit"), 40, true)},
		{"1 bit, recall@10", verdict(recalls["alcove 1 bit"], .99, true)},
		{"1 bit, p50 in ms", verdict(float64(medians["alcove 1 bit"])/1e6, 15, false)},
	})
	return nil
}

func overlap(found, truth []int) float64 {
	n := 0
	for _, i := range truth {
		if slices.Contains(found, i) {
			n++
		}
	}
	return float64(n) / float64(len(truth))
}

// all are those that are compared, and their names in the order of the table.
func all(vectors [][]float32, dimensions int) (map[string]finder, []string, error) {
	set, err := vector.New(vector.Options{Dimensions: dimensions, Codes: len(vectors)}) // which are kept, whatever the size
	if err != nil {
		return nil, nil, err
	}
	for i, v := range vectors {
		if err := set.Put(uint32(i), v); err != nil {
			return nil, nil, err
		}
	}
	chromem, err := ofChromem(vectors)
	if err != nil {
		return nil, nil, err
	}
	ours := func(scan vector.Scan) finder {
		return func(query []float32) ([]int, error) {
			list, err := set.Nearest(context.Background(), vector.Query{Vector: query, K: nearestWanted, Scan: scan})
			var numbers []int
			for _, near := range list {
				numbers = append(numbers, int(near.Number))
			}
			return numbers, err
		}
	}
	return map[string]finder{"alcove float32": ours(vector.Floats), "alcove u7": ours(vector.Codes), "alcove 1 bit": ours(vector.Bits), "chromem-go": chromem},
		[]string{"alcove float32", "alcove u7", "alcove 1 bit", "chromem-go"}, nil
}

func ofChromem(vectors [][]float32) (finder, error) {
	never := func(context.Context, string) ([]float32, error) { return nil, errors.New("vectors are given") }
	c, err := chromem.NewDB().CreateCollection("bench", nil, never)
	if err != nil {
		return nil, err
	}
	for i, v := range vectors {
		if err := c.AddDocument(context.Background(), chromem.Document{ID: strconv.Itoa(i), Embedding: v, Content: "x"}); err != nil {
			return nil, err
		}
	}
	return func(query []float32) ([]int, error) {
		list, err := c.QueryEmbedding(context.Background(), query, nearestWanted, nil, nil)
		var numbers []int
		for _, r := range list {
			n, _ := strconv.Atoi(r.ID)
			numbers = append(numbers, n)
		}
		return numbers, err
	}, nil
}

// plainLoop is what anybody would write first.
func plainLoop(vectors [][]float32) finder {
	type near struct {
		number int
		score  float32
	}
	return func(query []float32) ([]int, error) {
		var best []near
		for i, v := range vectors {
			sum := float32(0)
			for j, x := range v {
				sum += x * query[j]
			}
			if len(best) == nearestWanted && sum <= best[len(best)-1].score {
				continue
			}
			at, _ := slices.BinarySearchFunc(best, sum, func(n near, want float32) int { return cmp.Compare(want, n.score) })
			if best = slices.Insert(best, at, near{i, sum}); len(best) > nearestWanted {
				best = best[:nearestWanted]
			}
		}
		var numbers []int
		for _, n := range best {
			numbers = append(numbers, n.number)
		}
		return numbers, nil
	}
}

// bandwidth is the speed of a scan in full precision as a part of how fast as many bytes can be read.
func bandwidth(n, dimensions int) (float64, error) {
	set, err := vector.New(vector.Options{Dimensions: dimensions})
	if err != nil {
		return 0, err
	}
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = 1.5 // its bytes, and those of its direction, are never 0xFD, which reading looks for
	}
	for i := range n {
		if err := set.Put(uint32(i), v); err != nil {
			return 0, err
		}
	}
	all := make([]float32, n*dimensions)
	for i := range all {
		all[i] = 1.5
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&all[0])), 4*len(all))
	scan, read := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range 20 {
		start := time.Now()
		if _, err := set.Nearest(context.Background(), vector.Query{Vector: v, K: 1, Scan: vector.Floats}); err != nil {
			return 0, err
		}
		scan = min(scan, time.Since(start))
		start = time.Now()
		if bytes.IndexByte(raw, 0xFD) >= 0 {
			return 0, errors.New("a byte is what it cannot be")
		}
		read = min(read, time.Since(start))
		start = time.Now()
		if !bytes.Equal(raw[:len(raw)/2], raw[len(raw)/2:]) {
			return 0, errors.New("halves that were equal are not")
		}
		read = min(read, time.Since(start))
	}
	return float64(read) / float64(scan), nil
}
