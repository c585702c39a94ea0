// Command bench measures search beside other libraries, in one run on one machine, and prints how their figures relate.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	texts := flag.Int("texts", 100_000, "how many texts; 0: none")
	vectors := flag.Int("vectors", 100_000, "how many vectors; 0: none")
	dimensions := flag.Int("dimensions", 384, "of a vector")
	procs := flag.Int("procs", 1, "how many processors each may use at once")
	scaled := scaleFlags()
	flag.Parse()
	runtime.GOMAXPROCS(*procs)
	do := func() error { return run(*texts, *vectors, *dimensions) }
	if len(scaled.sizes) > 0 {
		do = scaled.run
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(texts, vectors, dimensions int) error {
	if texts > 0 {
		if err := compareTexts(texts); err != nil {
			return err
		}
	}
	if vectors > 0 {
		return compareVectors(vectors, dimensions)
	}
	return nil
}

// table prints rows, the first of them a heading, in columns.
func table(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&line, "%-*s  ", widths[i], cell)
		}
		fmt.Println(strings.TrimRight(line.String(), " "))
	}
	fmt.Println()
}

// verdict compares a figure with its target.
func verdict(have, target float64, atLeast bool) string {
	word := "met"
	if atLeast && have < target || !atLeast && have > target {
		word = "missed"
	}
	sign := "≥"
	if !atLeast {
		sign = "≤"
	}
	return fmt.Sprintf("%.2f (target %s %.2f: %s)", have, sign, target, word)
}

// timed runs a function some times and gives the median and the 99th part in a hundred.
func timed(times int, f func(i int) error) (p50, p99 time.Duration, err error) {
	var took []time.Duration
	for i := range times {
		start := time.Now()
		if err := f(i); err != nil {
			return 0, 0, err
		}
		took = append(took, time.Since(start))
	}
	p50, p99 = percentiles(took)
	return p50, p99, nil
}

func percentiles(took []time.Duration) (p50, p99 time.Duration) {
	slices.Sort(took)
	return took[len(took)/2], took[min(len(took)-1, len(took)*99/100)]
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d)/float64(time.Millisecond))
}
