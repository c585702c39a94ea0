//go:build unix

package graph

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// The p99 of walks at depth 3 among 100,000 links, in the sandbox, as the clock shows it, and the processor time of the process:
//
//	make verify-guests && go test ./guests/families/graph -run '^$' -bench Depth3 -benchtime 1000x
//
// ALCOVE_MODULES names other builds of the module, between commas, which answer the same calls in turn.
func BenchmarkDepth3(b *testing.B) {
	builds := dense(b)
	for _, q := range []struct {
		name, tool string
		arguments  map[string]any
	}{
		{"walk", "memory_graph_query", map[string]any{"max_depth": 3}},
		{"walk1000", "memory_graph_query", map[string]any{"max_depth": 3, "limit": 1000}},
		{"valid_at", "memory_graph_query", map[string]any{"max_depth": 3, "valid_at": "2021-06-01"}},
		{"paths", "memory_find_paths", map[string]any{"max_depth": 3}},
	} {
		b.Run(q.name, func(b *testing.B) {
			d := &draw{9}
			for b.Loop() {
				q.arguments["source_id"] = key(d.below(denseNodes))
				if other := key(d.below(denseNodes)); q.tool == "memory_find_paths" {
					q.arguments["target_id"] = other
				}
				for _, build := range builds {
					build.measure(b, q.tool, q.arguments)
				}
			}
			for _, build := range builds {
				build.report(b)
			}
		})
	}
}

const denseNodes = 10_000

// build is a build of the family, with a graph of 100,000 links.
type build struct {
	*alcovetest.Space
	name      string
	took, cpu []time.Duration
}

// dense makes the graph for each build.
func dense(b *testing.B) (builds []*build) {
	for path := range strings.SplitSeq(cmp.Or(os.Getenv("ALCOVE_MODULES"), "../../../bin/families/graph.wasm"), ",") {
		if _, err := os.Stat(path); err != nil {
			b.Skip("there is no module: make verify-guests")
		}
		s := alcovetest.Module(b, path)
		fill(s, expected{Nodes: denseNodes, Links: 100_000, Seed: 2})
		builds = append(builds, &build{Space: s, name: strings.TrimSuffix(filepath.Base(path), ".wasm")})
	}
	return builds
}

func (x *build) measure(b *testing.B, tool string, arguments map[string]any) {
	began, used := time.Now(), processorTime(b)
	if err := x.Tool(tool, arguments, nil); err != nil && alcove.CodeOf(err) != alcove.NotFound {
		b.Fatal(err)
	}
	x.took = append(x.took, time.Since(began))
	x.cpu = append(x.cpu, processorTime(b)-used)
}

func (x *build) report(b *testing.B) {
	for unit, times := range map[string][]time.Duration{"ms": x.took, "cpu-ms": x.cpu} {
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, x.name+"-p50-"+unit)
		b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, x.name+"-p99-"+unit)
	}
	x.took, x.cpu = nil, nil
}

// processorTime is how long this process has run on processors.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatalf("read the processor time: %v", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
