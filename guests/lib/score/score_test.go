package score

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"testing"
)

// The golden vectors: each formula at values that a reader can check by hand.
func TestFormulasAtKnownValues(t *testing.T) {
	w := DefaultWeights()
	for name, c := range map[string]struct{ got, want float64 }{
		"a decision":                           {Fact{Weight: .8, Characters: 100}.Importance(), .8},
		"of 20 characters":                     {Fact{Weight: .8, Characters: 20}.Importance(), .8},
		"of 19":                                {Fact{Weight: .8, Characters: 19}.Importance(), .72},
		"of 2,000":                             {Fact{Weight: .8, Characters: 2000}.Importance(), .8},
		"of 2,001":                             {Fact{Weight: .8, Characters: 2001}.Importance(), .76},
		"with an emotion":                      {Fact{Weight: .5, Emotion: .7, Characters: 100}.Importance(), .64},
		"about an entity":                      {Fact{Weight: .5, Entities: 1, Characters: 100}.Importance(), .5 + .05*math.Ln2},
		"about many":                           {Fact{Weight: .5, Entities: 100, Characters: 100}.Importance(), .6},
		"more than all":                        {Fact{Weight: 1, Emotion: 1, Entities: 9, Characters: 100}.Importance(), 1},
		"used three times":                     {Effective(.5, 3, .5), .65},
		"used often":                           {Effective(.5, 100, .5), .8},
		"useful":                               {Effective(.5, 0, 1), .625},
		"useless":                              {Effective(.1, 0, 0), 0},
		"no feedback":                          {Outcome(0), .5},
		"used, from nothing":                   {Feedback(.25, 1, 0), .25},
		"used, from the best":                  {Feedback(.25, 1, 1), 0},
		"failed, from the best":                {Feedback(.25, 0, 1), -.5},
		"a rating of 1":                        {Rating(1), 0},
		"a rating of 10":                       {Rating(10), 1},
		"a neutral sentiment":                  {Sentiment(0), .5},
		"7 of 10":                              {float64(Ten(.7)), 7},
		"0 of 10":                              {float64(Ten(0)), 1},
		"from 7":                               {FromTen(7), .7},
		"an observation, 100 days old":         {math.Round(Relevance(.99, 100, 0)*1000) / 1000, .366},
		"a decision, 100 days old":             {math.Round(Relevance(.998, 100, 0)*1000) / 1000, .819},
		"an emotional one":                     {Relevance(.99, 150, 1), math.Pow(.99, 100)},
		"a very old one":                       {Relevance(.99, 1e6, 0), .01},
		"from the future":                      {Relevance(.99, -5, 0), 1},
		"nothing against it":                   {Forgotten{Accesses: 9, Importance: 1, Relevance: 1}.Score(w), 0},
		"everything against it":                {Forgotten{Superseded: true, Contradicted: true, Days: 400, Relevance: 0}.Score(w), 1},
		"superseded, unread, unimportant":      {Forgotten{Superseded: true, Days: 31, Relevance: 1}.Score(w), .7},
		"unread for 30 days":                   {Forgotten{Days: 30, Importance: 1, Relevance: 1}.Score(w), 0},
		"just important enough":                {Forgotten{Accesses: 2, Importance: .3, Relevance: 1}.Score(w), 0},
		"the weight of a note":                 {ByType{9: .4, 10: .5}.Of("note"), .4},
		"the weight of an unknown type":        {ByType{9: .4, 10: .5}.Of("message"), .5},
		"a fact of a weight that is no number": {Fact{Weight: math.NaN(), Characters: 50}.Importance(), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if !IsFact("note") || IsFact("other") || IsFact("message") || IsFact("") {
		t.Error("the types of facts are others")
	}
	if Characters("zwölf") != 5 {
		t.Error("characters are bytes")
	}
}

// example is an input of a formula, and what the package computes of it.
type example struct {
	Of   string `json:"of"`
	With []any  `json:"with"`
	want float64
}

// random draws inputs, often at edges.
type random struct{ *rand.Rand }

// within is a number of a range, often an end of it, or one of some edges.
func (r random) within(low, high float64, edges ...float64) float64 {
	if edges = append(edges, low, high); r.IntN(3) == 0 {
		return edges[r.IntN(len(edges))]
	}
	return low + (high-low)*r.Float64()
}

// around is as within, but one of eight is outside of the range.
func (r random) around(low, high float64, edges ...float64) float64 {
	if r.IntN(8) > 0 {
		return r.within(low, high, edges...)
	}
	out := []float64{math.Nextafter(low, -9), math.Nextafter(high, 9e9), low - 1, high + 1, -1e6, 1e6, 0, math.Copysign(0, -1)}
	return out[r.IntN(len(out))]
}

func (r random) count(edges ...int) int {
	if r.IntN(3) == 0 {
		return edges[r.IntN(len(edges))]
	}
	return r.IntN(5000)
}

// ulps are a number and its neighbours.
func ulps(v float64) []float64 { return []float64{math.Nextafter(v, -9), v, math.Nextafter(v, 9e9)} }

// examples are n random inputs of each formula: within its range, at its ends and thresholds and beside them, and outside. What has no
// entity, age or access is among them, and ages and counts below zero, which clocks that differ make.
func examples(n int, r random) (list []example) {
	add := func(of string, want float64, with ...any) { list = append(list, example{of, with, want}) }
	for range n {
		f := Fact{r.around(0, 1), r.around(0, 1), r.count(-1, 0, 1, 6, 7), r.count(0, 1, 19, 20, 21, 1999, 2000, 2001)}
		add("importance", f.Importance(), f.Weight, f.Emotion, f.Entities, f.Characters)
		base, accesses, o := r.around(0, 1), int64(r.count(-1, 0, 1, 5, 6, 7, math.MaxInt32)), r.around(0, 1, .5)
		add("effective", Effective(base, accesses, o), base, accesses, o)
		alpha, v, health := r.within(0, 1, .25), r.around(0, 1, .4, .5), r.around(-1, 1, 0)
		add("outcome", Outcome(health), health)
		health = clamp(health, -1, 1)
		add("feedback", Feedback(alpha, v, health), alpha, v, health)
		stars, mood, ten := r.around(1, 10), r.around(-1, 1, 0), r.count(-1, 0, 1, 5, 10, 11)%12
		add("rating", Rating(stars), stars)
		add("sentiment", Sentiment(mood), mood)
		if r.IntN(3) == 0 {
			v = float64(r.IntN(21)) / 20
		}
		add("ten", float64(Ten(v)), v)
		add("from_ten", FromTen(ten), ten)
		rate, days, emotion := r.within(.9, 1, 0, .01, .99, .998), r.around(0, 4000, 1), r.around(0, 1)
		add("relevance", Relevance(rate, days, emotion), rate, days, emotion)
		g := Forgotten{r.IntN(2) == 0, r.IntN(2) == 0, int64(r.count(-1, 0, 1, 2, 3)), r.around(0, 60, ulps(unreadDays)...), r.around(0, .6, ulps(littleImportant)...), r.around(0, 1)}
		w := Weights{r.within(0, 1), r.within(0, 1), r.within(0, 1), r.within(0, 1), r.within(0, 1)}
		add("forget", g.Score(w), g.Superseded, g.Contradicted, g.Accesses, g.Days, g.Importance, g.Relevance,
			[]float64{w.Superseded, w.Unread, w.Unimportant, w.Contradicted, w.Decayed})
		k := Kept{r.within(-1, 0, -.5), r.around(0, 120, 7), r.within(0, .1, .01), r.within(0, 30, 7), r.IntN(9) == 0}
		gain := r.within(0, 1, .05)
		add("kept", k.Score(), k.Health, k.IdleDays, k.Decay, k.GraceDays, k.Exempt)
		add("recalled", Kept{Health: k.Health + k.Recalled(gain)}.Score(), k.Health, k.IdleDays, k.Decay, k.GraceDays, k.Exempt, gain)
	}
	return list
}

// What another author computes in another language, from the specification alone, is equal to 1e-9 for 10,000 inputs of each formula.
func TestFormulasAreEqualToThoseInPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("the formulas are compared with those in Python: %v", err)
	}
	list := examples(10_000, random{rand.New(rand.NewPCG(1, 2))})
	var in bytes.Buffer
	encoder := json.NewEncoder(&in)
	for _, e := range list {
		if err := encoder.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command(python, "testdata/formulas.py")
	run.Stdin = &in
	var said bytes.Buffer
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("run testdata/formulas.py: %v\n%s", err, &said)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for _, e := range list {
		if !lines.Scan() {
			t.Fatal("it answered less than it was asked")
		}
		got, err := strconv.ParseFloat(lines.Text(), 64)
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(got-e.want) <= 1e-9) {
			t.Errorf("%s of %s is %v here and %v there", e.Of, fmt.Sprint(e.With...), e.want, got)
		}
	}
}
