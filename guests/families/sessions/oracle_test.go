package sessions

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"testing"
)

// example is an input of a formula, and what the package makes of it, as JSON.
type example struct {
	Of   string `json:"of"`
	With []any  `json:"with"`
	got  any
}

// around is a random importance; often one at which something changes.
func around(r *rand.Rand) float64 {
	edges := []float64{0, .3999, .4, .4999, .5, .7499, .75, 1}
	if r.IntN(2) == 0 {
		return edges[r.IntN(len(edges))]
	}
	return r.Float64()
}

func packExample(r *rand.Rand) example {
	profile := []string{"default", planning, incident, handoffReader}[r.IntN(4)]
	tokens, compactRatio, offloadRatio := 100+r.IntN(900), []float64{.7, .1, 1}[r.IntN(3)], []float64{2, 1, 10}[r.IntN(3)]
	list, with := make([]sized, r.IntN(20)), []any{}
	for i := range list {
		f := sized{importance: around(r), tokens: 1 + r.IntN(200)}
		if r.IntN(3) > 0 {
			f.summary = 1 + r.IntN(f.tokens)
		}
		if r.IntN(40) == 0 {
			f.tokens *= 20
		}
		list[i], with = f, append(with, []any{f.importance, f.tokens, f.summary})
	}
	budget := budgetOf(profile, tokens)
	strategy, shown, used := packing(list, budget, compactRatio, offloadRatio)
	out := [][]any{}
	for _, it := range shown {
		out = append(out, []any{it.index, it.tokens, it.summary, it.overflow})
	}
	return example{"pack", []any{profile, tokens, with, compactRatio, offloadRatio}, []any{budget, strategy, out, used}}
}

func wakeExample(r *rand.Rand) example {
	kinds := []string{"decision", "steering_rule", "observation", "note", ""}
	list, with := make([]candidate, r.IntN(30)), []any{}
	for i := range list {
		kind, importance := kinds[r.IntN(len(kinds))], around(r)
		list[i] = candidate{tierOf(kind, importance), importance, uint64(r.IntN(10)), fmt.Sprintf("m%02d", i)}
		with = append(with, []any{kind, importance, list[i].version, list[i].key})
	}
	days, keys := r.IntN(10), []string{}
	for _, f := range waking(list, days) {
		keys = append(keys, f.key)
	}
	return example{"wake", []any{days, with}, keys}
}

func TestFormulasAreThoseOfTheOracle(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 to compare the formulas with")
	}
	r := rand.New(rand.NewPCG(6, 15))
	var list []example
	for range 5000 {
		list = append(list, packExample(r), wakeExample(r))
	}
	var in bytes.Buffer
	for _, e := range list {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/oracle.py")
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run the oracle: %v", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	strategies := map[string]int{}
	for i, e := range list {
		if !lines.Scan() {
			t.Fatalf("the oracle answers %d of %d examples", i, len(list))
		}
		var want any
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		said, _ := json.Marshal(want)
		got, err := json.Marshal(e.got)
		if err != nil || !bytes.Equal(got, said) {
			t.Fatalf("%s %v is %s; the oracle says %s (%v)", e.Of, e.With, got, said, err)
		}
		if e.Of == "pack" {
			strategies[e.got.([]any)[1].(string)]++
		}
	}
	if strategies[full] < 500 || strategies[compact] < 500 || strategies[offload] < 500 {
		t.Errorf("the strategies are %v: hardly one example in ten has each", strategies)
	}
}
