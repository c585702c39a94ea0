// Command pairs compares two builds of alcove: it runs them in turn, before and after, and prints the median ratio of the pairs for
// latency, CPU time, memory and start-up.
//
//	go run ./host/bench/pairs -before OLD -after bin/alcove -family bin/facts.wasm -pairs 20
//
// A ratio above 1 means that the second build is slower or larger. Each run has a new data directory and a server of its own; the
// calls go through stdio and through HTTP, those with hooks and of the sample family through stdio. A figure that a build does not have
// is named with the reason. It reads /proc, so it needs Linux.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	before := flag.String("before", "", "the build to compare with")
	after := flag.String("after", "bin/alcove", "the build to judge")
	pairs := flag.Int("pairs", 20, "how many runs of each")
	var o options
	flag.IntVar(&o.calls, "calls", 200, "calls of each kind a run")
	flag.IntVar(&o.memories, "memories", 0, "memories that are there before, beside those of the calls")
	flag.StringVar(&o.family, "family", "", "the packed module of testdata/facts")
	flag.Parse()
	if err := compare(ctx, *before, *after, *pairs, o); err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
}

// options are what each run does.
type options struct {
	calls    int    // of each kind
	memories int    // there before
	family   string // path of the sample family; empty: it is not measured
}

// figures are what one run measured, by name: milliseconds, MiB for memory, or a ratio.
type figures map[string]float64

// measurement is the outcome of a run.
type measurement struct {
	figures figures
	missing map[string]string // the reasons of what was not measured
}

func compare(ctx context.Context, before, after string, pairs int, o options) error {
	if before == "" {
		return fmt.Errorf("name the build to compare with: -before PATH")
	}
	var runs [2][]measurement
	for n := range pairs {
		order := []int{0, 1}
		if n%2 == 1 { // neither is always the first of its pair
			slices.Reverse(order)
		}
		for _, side := range order {
			m, err := run(ctx, []string{before, after}[side], o)
			if err != nil {
				return fmt.Errorf("pair %d: %w", n+1, err)
			}
			runs[side] = append(runs[side], m)
		}
		fmt.Fprintf(os.Stderr, "%d of %d pairs\n", n+1, pairs)
	}
	return report(os.Stdout, runs[0], runs[1])
}

// report prints each figure that either build has, over the pairs in which both have it.
func report(w io.Writer, before, after []measurement) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "figure\tbefore\tafter\tratio (median of pairs)\tsmallest\tlargest")
	names, missing := map[string]bool{}, map[string]bool{}
	for side, runs := range [][]measurement{before, after} {
		for _, m := range runs {
			for name := range m.figures {
				names[name] = true
			}
			for name, why := range m.missing {
				missing[fmt.Sprintf("not measured %s: %s: %s", []string{"before", "after"}[side], name, why)] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var sides [2][]float64
		var ratios []float64
		for i := range before {
			x, had := before[i].figures[name]
			y, has := after[i].figures[name]
			if had {
				sides[0] = append(sides[0], x)
			}
			if has {
				sides[1] = append(sides[1], y)
			}
			if had && has {
				ratios = append(ratios, y/x)
			}
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", name, middle(sides[0]), middle(sides[1]), spread(ratios))
	}
	for _, line := range slices.Sorted(maps.Keys(missing)) {
		fmt.Fprintln(out, line)
	}
	return out.Flush()
}

func middle(list []float64) string {
	if len(list) == 0 {
		return "none"
	}
	return fmt.Sprintf("%.3f", median(list))
}

func spread(ratios []float64) string {
	if len(ratios) == 0 {
		return "none\tnone\tnone"
	}
	return fmt.Sprintf("%.3f\t%.3f\t%.3f", median(ratios), slices.Min(ratios), slices.Max(ratios))
}

// median is the middle of a list that is not empty, or the mean of both middles.
func median[T cmp.Ordered](list []T) T {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/2]
}

// request encodes a call of a tool.
func request(id int, tool string, arguments map[string]any) ([]byte, error) {
	return json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})
}

// checkAnswer refuses an answer that tells of a failure.
func checkAnswer(answer []byte) error {
	if bytes.Contains(answer, []byte(`"isError":true`)) || !bytes.Contains(answer, []byte(`"result"`)) {
		return fmt.Errorf("the server answered %.300s", answer)
	}
	return nil
}
