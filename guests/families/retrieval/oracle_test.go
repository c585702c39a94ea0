package retrieval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// history is recalls with feedback around a change of the configuration, as the oracle reads it.
type history struct {
	Recalls [][3]int64 `json:"recalls"` // microseconds, used, unused
	Change  int64      `json:"change"`
	Alert   float64    `json:"alert"`
}

// verdict is what is computed of a history.
type verdict struct {
	Before        float64 `json:"before"`
	After         float64 `json:"after"`
	RecallsBefore int     `json:"recalls_before"`
	RecallsAfter  int     `json:"recalls_after"`
	Fall          float64 `json:"fall"`
	Worse         bool    `json:"worse"`
}

func (h history) verdict(t *testing.T) verdict {
	t.Helper()
	var list []sample
	for _, r := range h.Recalls {
		list = append(list, sample{alcove.Time(r[0]), int(r[1]), int(r[2])})
	}
	one := change{At: alcove.Time(h.Change)}
	before, after := one.around(list)
	e := effect(one, before, after)
	for shown, exact := range map[float64]float64{e.Before: before.rate(), e.After: after.rate(), e.Drop: fall(before, after)} {
		if !(math.Abs(shown-exact) <= .5e-4+1e-12) {
			t.Errorf("%v is shown as %v", exact, shown)
		}
	}
	return verdict{before.rate(), after.rate(), before.recalls, after.recalls, fall(before, after), degraded(before, after, h.Alert)}
}

// day is 24 hours in microseconds.
const day = int64(24 * 60 * 60 * 1_000_000)

// random draws histories, often at the edges of what is compared.
type random struct{ *rand.Rand }

func (r random) one(of ...int64) int64 { return of[r.IntN(len(of))] }

// history has recalls in the 24 hours on each side of a change, as far as outside of them, with any use.
func (r random) history() history {
	h := history{Recalls: [][3]int64{}, Change: 1e15, Alert: []float64{.01, .1, .9, .01 + .89*r.Float64()}[r.IntN(4)]}
	add := func(n int64, edges ...int64) {
		for range n {
			at := r.one(edges...)
			if r.IntN(3) > 0 {
				at = edges[0] + r.Int64N(edges[1]-edges[0]+1)
			}
			h.Recalls = append(h.Recalls, [3]int64{h.Change + at, r.one(0, 1, r.Int64N(20), 1000), r.one(0, 1, r.Int64N(20), 1000)})
		}
	}
	add(r.one(0, 1, 19, 20, 21), -day, -1)
	add(r.one(0, 1, 19, 20, 21), 0, day-1)
	add(r.one(0, 2), -2*day, -day-1)
	add(r.one(0, 2), day, 2*day)
	if r.IntN(4) == 0 {
		for i := range h.Recalls { // nothing was used
			h.Recalls[i][1], h.Recalls[i][2] = 0, 1
		}
	}
	return h
}

// atAlert has a fall that is exactly the one that is announced, or one use of a fact apart from it.
func (r random) atAlert() history {
	percent, scale := r.one(1, 5, 10, 25, 50, 89, 90), 1+r.Int64N(99)
	h := history{Change: 1e15, Alert: float64(percent) / 100}
	facts := 100*scale + r.Int64N(100)
	used := (100 - percent) * scale
	for i := range int64(20 + r.IntN(3)) {
		h.Recalls = append(h.Recalls, [3]int64{h.Change - 1 - i, 100 * scale, facts - 100*scale}, [3]int64{h.Change + i, used, facts - used})
	}
	more := r.one(-1, 0, 1)
	h.Recalls[1][1], h.Recalls[1][2] = used+more, facts-used-more
	return h
}

// What is written in another language, from the specification alone, agrees to 1e-9 for 10,000 histories.
func TestUseAroundAChangeIsThatOfTheOracleInPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("the formulas are compared with those in Python: %v", err)
	}
	r := random{rand.New(rand.NewPCG(14, 2))}
	var in bytes.Buffer
	var want []verdict
	for i := range 10_000 {
		h := r.history()
		if i%4 == 0 {
			h = r.atAlert()
		}
		if err := json.NewEncoder(&in).Encode(h); err != nil {
			t.Fatal(err)
		}
		want = append(want, h.verdict(t))
	}
	run := exec.CommandContext(t.Context(), python, "testdata/used_rate.py")
	var said bytes.Buffer
	run.Stdin, run.Stderr = &in, &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("run testdata/used_rate.py: %v\n%s", err, &said)
	}
	lines, seen := bufio.NewScanner(bytes.NewReader(out)), map[string]int{}
	for i, here := range want {
		var there verdict
		if !lines.Scan() || json.Unmarshal(lines.Bytes(), &there) != nil {
			t.Fatalf("history %d: it answered %q", i, lines.Bytes())
		}
		if !here.agrees(there) {
			t.Errorf("history %d: %+v here and %+v there", i, here, there)
		}
		seen[fmt.Sprintf("worse %v", there.Worse)]++
		seen[fmt.Sprintf("enough recalls %v", there.RecallsBefore >= leastRecalls && there.RecallsAfter >= leastRecalls)]++
		seen[fmt.Sprintf("no recall %v", there.RecallsBefore == 0 || there.RecallsAfter == 0)]++
		seen[fmt.Sprintf("nothing used %v", there.RecallsBefore > 0 && there.Before == 0)]++
		seen[fmt.Sprintf("better %v", there.Fall < 0)]++
	}
	for _, rare := range []string{"worse true", "worse false", "enough recalls true", "enough recalls false", "no recall true", "nothing used true", "better true"} {
		if seen[rare] < 100 {
			t.Errorf("%s holds for %d histories", rare, seen[rare])
		}
	}
}

func (v verdict) agrees(o verdict) bool {
	return math.Abs(v.Before-o.Before) <= 1e-9 && math.Abs(v.After-o.After) <= 1e-9 && math.Abs(v.Fall-o.Fall) <= 1e-9 &&
		v.RecallsBefore == o.RecallsBefore && v.RecallsAfter == o.RecallsAfter && v.Worse == o.Worse
}
