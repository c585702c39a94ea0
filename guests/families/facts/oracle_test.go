package facts

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

	"github.com/alcove-memory/alcove/guests/lib/score"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// example is an input of a rule, and what the family makes of it.
type example struct {
	Of   string `json:"of"`
	With []any  `json:"with"`
	got  any
}

// random draws inputs, often at the edges of what is decided.
type random struct {
	*rand.Rand
	vocabulary []string
}

func newRandom() random {
	return random{rand.New(rand.NewPCG(14, 1)), strings.Fields("trivial unimportant negligible routine normal minor interesting useful medium significant important serious high critical vital " +
		"life-changing life changing not no never hardly isn't don’t cannot without always must data-loss data loss security outage decided found prefers because fixed " +
		"frustrated annoyed fed-up fed up stuck confident sure certain definitely proud achievement thrilled surprised unexpected shocked " +
		"not not really very quite so the a kettle release build zwölf Übung I'm it's we importantly unsure 10,000 v1.26 cache's surprise's data_loss " +
		"doubt wonder think know maybe perhaps might only but nothing nor")}
}

// text is made of cues, negations and other words, in any case and with any signs between them.
func (r random) text(words int) string {
	var out strings.Builder
	for range r.IntN(words + 1) {
		w := r.vocabulary[r.IntN(len(r.vocabulary))]
		switch r.IntN(9) {
		case 0:
			w = strings.ToUpper(w)
		case 1:
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		out.WriteString(w)
		out.WriteString([]string{" ", " ", " ", " ", " ", ", ", ". ", "! ", "? ", ": ", "\n", "; ", " (", "…", "."}[r.IntN(15)])
	}
	return out.String()
}

// long is a text that is cut within or beside its last words.
func (r random) long(most int) string {
	end := r.text(4)
	return strings.Repeat("é ", most/3-r.IntN(len(end)/3+2)) + end
}

func (r random) optional(values ...float64) alcove.Optional[float64] {
	if r.IntN(3) == 0 {
		return alcove.Optional[float64]{}
	}
	return alcove.Some(values[r.IntN(len(values))])
}

// examples are n inputs of each rule.
func (r random) examples(n int) (list []example) {
	add := func(of string, got any, with ...any) { list = append(list, example{of, with, got}) }
	for i := range n {
		context, content := r.text(5), r.text(8)
		if i%500 == 0 {
			context, content = r.long(words.Short), r.long(words.Long)
		}
		add("context", words.Matters(context), context)
		cues := words.CuesOf(content)
		tier := cues.Tier()
		add("tier", []any{tier.Observation, tier.Importance, tier.Confidence}, content)

		name, weight := []string{"", "", "proud", "calm"}[r.IntN(4)], r.optional(0, 1, .5, r.Float64())
		emotion := emotionOf(name, weight)
		if emotion == nil {
			emotion = new(cues.Emotion())
		}
		add("emotion", []any{emotion.Name, emotion.Weight}, name, value(weight), content)

		kind := score.Types()[r.IntN(len(score.Types()))]
		d := draft{content: content, kind: kind, emotion: emotion, entities: make([]string, r.IntN(9))}
		given := r.optional(0, 1, r.Float64())
		if v, ok := given.Get(); ok && r.IntN(2) == 0 {
			d.importance = &v
		} else {
			given = alcove.Optional[float64]{}
		}
		var cfg Config
		for i := range cfg.Importance {
			cfg.Importance[i] = float64(r.IntN(21)) / 20
		}
		add("importance", d.worth(cfg), value(given), cfg.Importance.Of(kind), emotion.Weight, len(d.entities), content)
	}
	return list
}

func value(o alcove.Optional[float64]) any {
	if v, given := o.Get(); given {
		return v
	}
	return nil
}

// What is written in another language, from the specification, agrees to 1e-9 for 10,000 inputs of each rule.
func TestWhatIsReadOfFactsIsThatOfTheOracleInPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("the rules are compared with those in Python: %v", err)
	}
	list := newRandom().examples(10_000)
	var in bytes.Buffer
	encoder := json.NewEncoder(&in)
	for _, e := range list {
		if err := encoder.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.CommandContext(t.Context(), python, "testdata/rules.py")
	var said bytes.Buffer
	run.Stdin, run.Stderr = &in, &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("run testdata/rules.py: %v\n%s", err, &said)
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
	for _, rare := range []string{"context0", "context0.25", "context0.5", "context0.75", "context1", `tier["critical", "structural", 0.9]`, `tier["notable", "potential", 0.78]`,
		`tier["background", "contextual", 0.7]`, `emotion["frustrated", 0.7]`, `emotion["confident", 0.55]`, `emotion["proud", 0.5]`, `emotion["surprised", 0.45]`, `emotion["", 0]`,
		`emotion["calm", 0.5]`, `emotion["", 0.5]`, "importance0", "importance1", "importance1.0"} {
		if outcomes[rare] < 20 {
			t.Errorf("%s is the outcome of %d examples", rare, outcomes[rare])
		}
	}
}

// agree reports whether a value and JSON are the same, numbers to 1e-9.
func agree(t *testing.T, got any, said []byte) bool {
	t.Helper()
	var there any
	if err := json.Unmarshal(said, &there); err != nil {
		t.Fatalf("decode %s: %v", said, err)
	}
	return same(got, there)
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
