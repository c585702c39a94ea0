// Command pairs compares two builds of alcove: it runs them in turn, before and after, and prints the median ratio of the pairs for
// latency, CPU time, memory and start-up.
//
//	go run ./host/measure/pairs -before OLD -after bin/alcove -pairs 20
//
// A ratio above 1 means that the second build is slower or larger. Each run has a new data directory and a server of its own; the
// calls go through stdio and through HTTP. It reads /proc, so it needs Linux.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
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
	calls := flag.Int("calls", 200, "calls of each kind a run")
	flag.Parse()
	if err := compare(ctx, *before, *after, *pairs, *calls); err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
}

// figures are what one run measured, by name: milliseconds, or MiB for memory.
type figures map[string]float64

func compare(ctx context.Context, before, after string, pairs, calls int) error {
	if before == "" {
		return fmt.Errorf("name the build to compare with: -before PATH")
	}
	var runs [2][]figures
	for n := range pairs {
		order := []int{0, 1}
		if n%2 == 1 { // neither is always the first of its pair
			slices.Reverse(order)
		}
		for _, side := range order {
			f, err := run(ctx, []string{before, after}[side], calls)
			if err != nil {
				return fmt.Errorf("pair %d: %w", n+1, err)
			}
			runs[side] = append(runs[side], f)
		}
		fmt.Fprintf(os.Stderr, "%d of %d pairs\n", n+1, pairs)
	}
	return report(runs[0], runs[1])
}

func report(before, after []figures) error {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "figure\tbefore\tafter\tratio (median of pairs)\tsmallest\tlargest")
	names := make([]string, 0, len(before[0]))
	for name := range before[0] {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var olds, news, ratios []float64
		for i := range before {
			olds, news = append(olds, before[i][name]), append(news, after[i][name])
			ratios = append(ratios, after[i][name]/before[i][name])
		}
		fmt.Fprintf(out, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n", name, median(olds), median(news), median(ratios), slices.Min(ratios), slices.Max(ratios))
	}
	return out.Flush()
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
