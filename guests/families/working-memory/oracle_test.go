package workingmemory

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// example is an input of a formula, and what the package computes of it.
type example struct {
	Of   string `json:"of"`
	With []any  `json:"with"`
	got  any
}

// random draws inputs, often at the edges of their ranges.
type random struct{ *rand.Rand }

func (r random) within(low, high float64) float64 {
	switch r.IntN(8) {
	case 0:
		return low
	case 1:
		return high
	}
	return low + (high-low)*r.Float64()
}

func (r random) one(of ...float64) float64 { return of[r.IntN(len(of))] }

// text is made of words that the lists have, and of others.
func (r random) text() string {
	vocabulary := strings.Fields("i think i realize it seems will should going to tomorrow next later i feel i'm happy i'm worried what if we could maybe " +
		"i prefer i like i don't like better than i see i found looks like perhaps might could be i guess not sure happy great love bad terrible hate must need to " +
		"have to definitely possibly postgres index query holiday beach flights zwölf Übung naïve ok yes the a of database's DATABASE GREAT STOP x1")
	var out strings.Builder
	for range r.IntN(12) {
		from := r.IntN(len(vocabulary))
		for _, w := range vocabulary[from:min(from+1+r.IntN(3), len(vocabulary))] {
			if r.IntN(9) == 0 {
				w = strings.ToUpper(w)
			}
			out.WriteString(w)
			out.WriteString([]string{" ", " ", " ", " ", ", ", "! ", "!!", ". ", "? "}[r.IntN(9)])
		}
	}
	text := out.String()
	switch r.IntN(6) {
	case 0:
		text += "?"
	case 1:
		text = strings.ToUpper(text)
	}
	return text
}

func (r random) mood(of string) ([]float64, words.Mood) {
	m := words.MoodOf(of)
	return []float64{m.Valence, m.Arousal, m.Dominance}, m
}

// buffer is a buffer of some thoughts, many of them equal in attention or access. IDs are their numbers, as letters.
func (r random) buffer(most int) (b buffer, with [][]float64) {
	with = [][]float64{}
	for i := range r.IntN(most + 1) {
		attention, accessed := r.one(0, .3, .5, 1, r.Float64()), r.IntN(4)
		b.Items = append(b.Items, item{ID: string(rune('a' + i)), Attention: attention, Accessed: alcove.Time(accessed)})
		with = append(with, []float64{attention, float64(accessed)})
	}
	return b, with
}

func numbers(items []item) []int {
	list := []int{}
	for i := range items {
		list = append(list, int(items[i].ID[0]-'a'))
	}
	return list
}

// examples are n inputs of each formula.
func examples(n int, r random) (list []example) {
	add := func(of string, got any, with ...any) { list = append(list, example{of, with, got}) }
	for range n {
		before, after := r.text(), r.text()
		if r.IntN(4) == 0 {
			after = before + after
		}
		add("thought", string(words.ThoughtOf(before)), before)
		vad, mood := r.mood(before)
		add("mood", vad, before)
		_, other := r.mood(after)
		add("distance", mood.Distance(other), before, after)
		similar, _ := words.Similarity(before, after)
		add("similarity", similar, before, after)

		cfg := Config{Capacity: 5 + r.IntN(5), KeepRatio: r.one(.1, .6, 1, float64(10+r.IntN(91))/100), DueRatio: r.one(.1, .8, 1, r.within(.1, 1)), IntervalS: r.one(5, 300, r.within(5, 86400)),
			BoundaryGapS: r.one(5, 300, r.within(5, 86400)), BoundarySimilarity: r.within(0, 1), BoundaryEmotion: r.within(0, 3)}
		x := boundary{TimeGapS: r.one(0, cfg.BoundaryGapS, r.within(0, 90000)), TopicSimilarity: r.one(cfg.BoundarySimilarity, r.within(0, 1)), EmotionalDelta: r.one(cfg.BoundaryEmotion, r.within(0, 3))}
		gap, delta := x.TimeGapS, x.EmotionalDelta
		x.decide(cfg)
		add("boundary", []any{x.Type, x.Confidence}, gap, x.TopicSimilarity, delta, cfg.BoundaryGapS, cfg.BoundarySimilarity, cfg.BoundaryEmotion)

		it, score := item{Attention: r.within(0, 1)}, r.one(peak, r.within(0, 1))
		had := it.Attention
		it.strengthen(score)
		add("strengthen", it.Attention, had, score)
		b, with := r.buffer(9)
		attentions, rate := []float64{}, r.one(.1, r.within(0, 1))
		for i := range with {
			attentions = append(attentions, with[i][0])
		}
		b.decay(rate)
		faded := []float64{}
		for i := range b.Items {
			faded = append(faded, b.Items[i].Attention)
		}
		add("decay", []any{faded, b.average()}, attentions, rate)

		add("keep", kept(cfg), cfg.KeepRatio, cfg.Capacity)
		b, with = r.buffer(9)
		remain := []int{0, cfg.Capacity - 1, kept(cfg)}[r.IntN(3)]
		gone := b.weakest(remain)
		add("leave", [][]int{numbers(b.Items), numbers(gone)}, with, remain)
		b, _ = r.buffer(9)
		b.LastConsolidation = 1e15
		idle := r.one(0, cfg.IntervalS, math.Floor(r.within(0, 90000)))
		now := b.LastConsolidation.Add(alcove.Duration(math.Round(idle * 1e6)))
		add("due", b.due(cfg, now), len(b.Items), cfg.Capacity, cfg.DueRatio, b.idle(now), cfg.IntervalS)

		kinds := []string{}
		b = buffer{}
		for range r.IntN(10) {
			kind := []words.Thought{words.Fact, words.Plan, words.Question, words.Idea}[r.IntN(1+r.IntN(4))]
			kinds, b.Items = append(kinds, string(kind)), append(b.Items, item{Thought: kind})
		}
		found := [][]any{}
		for _, p := range b.patterns() {
			found = append(found, []any{p.Thought, p.Count, p.Of})
		}
		add("patterns", []any{found, b.load(cfg)}, kinds, cfg.Capacity)
	}
	return list
}

// What is written in another language, from the specification alone, agrees to 1e-9 for 10,000 inputs of each formula.
func TestFormulasAreEqualToThoseInPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("the formulas are compared with those in Python: %v", err)
	}
	list := examples(10_000, random{rand.New(rand.NewPCG(11, 7))})
	var in bytes.Buffer
	encoder := json.NewEncoder(&in)
	for _, e := range list {
		if err := encoder.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.CommandContext(t.Context(), python, "testdata/formulas.py")
	var said bytes.Buffer
	run.Stdin, run.Stderr = &in, &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("run testdata/formulas.py: %v\n%s", err, &said)
	}
	lines, outcomes := bufio.NewScanner(bytes.NewReader(out)), map[string]int{}
	for _, e := range list {
		if !lines.Scan() {
			t.Fatal("it answered less than it was asked")
		}
		outcomes[e.Of+lines.Text()]++
		if !agree(t, e.got, lines.Bytes()) {
			t.Errorf("%s of %q is %v here and %s there", e.Of, e.With, e.got, lines.Text())
		}
	}
	for _, rare := range []string{`thought"idea"`, `thought"unknown"`, `thought"fact"`, `mood[-0.6, 1.0, 0.2]`, `similarity1.0`, `similarity0.0`, `boundary["none", 0]`, "duefalse", "duetrue", "keep1", "keep9"} {
		if outcomes[rare] < 20 {
			t.Errorf("%s is the outcome of %d examples", rare, outcomes[rare])
		}
	}
}

// agree reports whether a value and JSON are the same, numbers to 1e-9.
func agree(t *testing.T, got any, said []byte) bool {
	t.Helper()
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if json.Unmarshal(data, &a) != nil || json.Unmarshal(said, &b) != nil {
		t.Fatalf("%s and %s are no JSON", data, said)
	}
	return same(a, b)
}

func same(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && math.Abs(a-b) <= 1e-9
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	}
	return a == b
}
