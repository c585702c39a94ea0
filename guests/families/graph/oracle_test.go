package graph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// expected is what networkx finds in a random graph: testdata/oracle.py writes it.
type expected struct {
	Nodes, Links int
	Seed         uint64
	Cycles       bool
	Walks        []struct {
		Source, Depth   int
		At              *int
		Relation, Agent *string
		Reached         [][2]int // node and depth
	}
	Paths []struct {
		Source, Target, Depth, Most int
		Paths                       [][]int
	}
	Neighbours []struct {
		Node  int
		Links [][3]any
	}
}

// draw is splitmix64, as the oracle has it.
type draw struct{ state uint64 }

func (d *draw) below(n int) int {
	d.state += 0x9E3779B97F4A7C15
	z := d.state
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return int((z ^ (z >> 31)) % uint64(n))
}

// day is an instant of the random graphs.
func day(n int) alcove.Time {
	return alcove.Time(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()).Add(alcove.Duration(n) * alcove.Day)
}

func key(n int) string { return fmt.Sprintf("m%05d", n) }

func number(t testing.TB, id alcove.ID) (n int) {
	t.Helper()
	if _, err := fmt.Sscanf(id.Key, "m%05d", &n); err != nil {
		t.Fatalf("%s is no node", id)
	}
	return n
}

// fill draws the graph and stores it: memories as nodes, links as memory_link stores them. A deleted node has links and no memory.
func fill(s *alcovetest.Space, e expected) {
	d := &draw{e.Seed}
	id := func(n int) alcove.ID { return alcove.ID{Namespace: s.Namespace, Key: key(n)} }
	relations, agents := []string{"led_to", "part_of", "x:knows"}, []string{"ann", "bob", "eve"}
	seen := map[string]bool{}
	s.PutRecords("edge", func(yield func(string, any) bool) {
		for len(seen) < e.Links {
			source, target, relation := d.below(e.Nodes), d.below(e.Nodes), relations[d.below(3)]
			link := edge{ValidFrom: day(d.below(1000)), Confidence: 1}
			if end := d.below(4); end == 0 {
				link.ValidUntil = link.ValidFrom.Add(alcove.Duration(1+d.below(500)) * alcove.Day)
			}
			link.ObservedBy = agents[d.below(3)]
			out := edgeKey(outward, id(source), relation, id(target))
			if source == target || seen[out] {
				continue
			}
			seen[out] = true
			if !yield(out, link) || !yield(edgeKey(inward, id(target), relation, id(source)), link) {
				return
			}
		}
	})
	var nodes []alcove.Memory
	for n := range e.Nodes {
		if d.below(50) != 0 {
			nodes = append(nodes, alcove.Memory{Key: key(n), Value: alcove.JSON(n)})
		}
	}
	s.Put(nodes...)
}

func TestGraphsAreWalkedAsNetworkxWalksThem(t *testing.T) {
	files := []string{"2000-4000.json"}
	if os.Getenv("ALCOVE_GRAPH") != "" { // a minute
		files = append(files, "10000-20000.json", "10000-100000.json")
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			var e expected
			if err := json.Unmarshal(data, &e); err != nil {
				t.Fatal(err)
			}
			if !e.Cycles || len(e.Walks) == 0 {
				t.Fatal("the graph has no cycle")
			}
			w := world{t, alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))}
			fill(w.Space, e)
			w.walks(e)
			w.connections(e)
			w.neighbours(e)
		})
	}
}

func (w world) walks(e expected) {
	for _, q := range e.Walks {
		arguments := map[string]any{"source_id": key(q.Source), "max_depth": q.Depth, "limit": mostListed, "valid_at": "any"}
		if q.At != nil {
			arguments["valid_at"] = day(*q.At).String()
		}
		if q.Relation != nil {
			arguments["relations"] = *q.Relation
		}
		if q.Agent != nil {
			arguments["allowed_agents"] = []string{*q.Agent}
		}
		var out walked
		w.call("memory_graph_query", arguments, &out)
		reached := [][2]int{}
		for _, n := range out.Nodes {
			reached = append(reached, [2]int{number(w.T, n.ID), n.Depth})
		}
		slices.SortFunc(reached, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
		if out.Truncated || !slices.Equal(reached, q.Reached) {
			w.T.Errorf("%v reaches %v (truncated %v); networkx reaches %v", arguments, reached, out.Truncated, q.Reached)
		}
	}
}

func (w world) connections(e expected) {
	for _, q := range e.Paths {
		arguments := map[string]any{"source_id": key(q.Source), "target_id": key(q.Target), "max_depth": q.Depth, "max_results": q.Most, "valid_at": "any"}
		var out paths
		w.call("memory_find_paths", arguments, &out)
		list := [][]int{}
		for _, p := range out.Paths {
			var nodes []int
			for _, id := range p {
				nodes = append(nodes, number(w.T, id))
			}
			list = append(list, nodes)
		}
		if out.Truncated || !slices.EqualFunc(list, q.Paths, slices.Equal) {
			w.T.Errorf("%v finds %v (truncated %v); networkx finds %v", arguments, list, out.Truncated, q.Paths)
		}
	}
}

func (w world) neighbours(e expected) {
	for _, q := range e.Neighbours {
		var out links
		w.call("memory_get_links", map[string]any{"id": key(q.Node), "limit": mostListed}, &out)
		var got, want []string
		for _, l := range out.Links {
			got = append(got, fmt.Sprint(number(w.T, l.SourceID), number(w.T, l.TargetID), l.Relation))
		}
		for _, l := range q.Links {
			want = append(want, fmt.Sprint(int(l[0].(float64)), int(l[1].(float64)), l[2]))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			w.T.Errorf("%d has the links %q; networkx has %q", q.Node, got, want)
		}
	}
}
