// Package rank scores the candidates of a search by what is known of them: how well they match, how important they are,
// how fresh, and how useful they were.
//
// It knows no host; its numbers come in as columns or one candidate at a time.
package rank

import "math"

// Types are the types of memories that have a decay and an importance of their own, in the order in which a column of
// types counts them.
func Types() []string {
	return []string{"decision", "error", "insight", "correction", "steering_rule", "learning", "session_summary", "plan", "observation"}
}

// How many types there are, and which stands for all others.
const (
	typeCount   = 9
	observation = 8
)

// ByType has a number for each of Types.
type ByType [typeCount]float64

// Weights say how much each part counts. Only their ratios matter.
type Weights struct {
	Semantic   float64
	Lexical    float64
	Importance float64
	Freshness  float64
	Outcome    float64
}

// DefaultWeights are those where nobody says otherwise.
func DefaultWeights() Weights {
	return Weights{Semantic: .45, Lexical: .15, Importance: .2, Freshness: .1, Outcome: .1}
}

// Each calls f with the name and the value of each weight.
func (w *Weights) Each(f func(name string, value *float64)) {
	f("semantic", &w.Semantic)
	f("lexical", &w.Lexical)
	f("importance", &w.Importance)
	f("freshness", &w.Freshness)
	f("outcome", &w.Outcome)
}

// Sum is that of all weights.
func (w Weights) Sum() float64 {
	return w.Semantic + w.Lexical + w.Importance + w.Freshness + w.Outcome
}

// Policy is how memories are ranked.
type Policy struct {
	Weights    Weights
	Importance ByType // of memories of a type that have none of their own
	Decay      ByType // what is left of the freshness of a memory of a type after a day
}

// Columns are the features of the candidates of one search, in the order of the manifest; NaN is missing.
type Columns struct {
	Score      []float32 // the host's own, 0 to 1
	Lexical    []float32 // 0 to 1
	Semantic   []float32 // cosines
	Importance []float32 // 0 to 1
	Age        []float32 // days since it was written
	Idle       []float32 // days since it was recalled
	Outcome    []float32 // -1 to 1
	Type       []float32 // an index into Types; -1: any other
}

// Parts are what a score is made of, each from 0 to 1.
type Parts struct {
	Semantic   float64
	Lexical    float64
	Importance float64
	Freshness  float64
	Outcome    float64
}

// Candidate is one candidate, with what it is compared by.
type Candidate struct {
	Parts
	// Host is the host's own score. Where there are no vectors it stands for what matches: beside the words it knows
	// which memories are neighbours.
	Host float64
	// Vector says that the candidate has one, so that Semantic counts.
	Vector bool
}

// Score is the sum of the parts by their weights, from 0 to 1.
func (w Weights) Score(c Candidate) float64 {
	sum := w.Sum()
	if sum <= 0 {
		return c.Host
	}
	match := (w.Semantic + w.Lexical) * c.Host
	if c.Vector {
		match = w.Semantic*c.Semantic + w.Lexical*c.Lexical
	}
	return (match + w.Importance*c.Importance + w.Freshness*c.Freshness + w.Outcome*c.Outcome) / sum
}

// Scorer scores the candidates of one search.
type Scorer struct {
	policy  *Policy
	logs    [typeCount]float64 // of the decays, to the base of 2
	columns Columns
	cosine  float64 // the best of the search; 0: there are no vectors
}

// Scorer prepares to score candidates.
func (p *Policy) Scorer(c Columns) *Scorer {
	s := &Scorer{policy: p, columns: c}
	for i, d := range p.Decay {
		s.logs[i] = math.Log2(min(max(d, 1e-9), 1))
	}
	for _, v := range c.Semantic {
		if float64(v) > s.cosine && !math.IsInf(float64(v), 0) {
			s.cosine = float64(v)
		}
	}
	return s
}

// Scores fills in the scores of all candidates: those of Weights.Score and Candidate. It runs at every search, hence
// column by column.
func (s *Scorer) Scores(scores []float32) {
	c, w := &s.columns, s.policy.Weights
	sum := w.Sum()
	if sum <= 0 {
		w, sum = Weights{Semantic: 1}, 1 // the host's score alone
		s.cosine = 0
	}
	for i := range scores {
		kind := observation
		if v := at(c.Type, i); v >= 0 && v < typeCount {
			kind = int(v)
		}
		match := (w.Semantic + w.Lexical) * share(at(c.Score, i), 0)
		if v := at(c.Semantic, i); v == v && s.cosine > 0 {
			match = w.Semantic*share(v/float32(s.cosine), 0) + w.Lexical*share(at(c.Lexical, i), 0)
		}
		scores[i] = float32((match + w.Importance*share(at(c.Importance, i), s.policy.Importance[kind]) +
			w.Freshness*s.freshness(at(c.Age, i), at(c.Idle, i), kind) + w.Outcome*share((at(c.Outcome, i)+1)/2, .5)) / sum)
	}
}

// Candidate is one of the candidates.
func (s *Scorer) Candidate(i int) Candidate {
	c := &s.columns
	kind := kindOf(at(c.Type, i))
	candidate := Candidate{Host: share(at(c.Score, i), 0)}
	candidate.Lexical = share(at(c.Lexical, i), 0)
	candidate.Importance = share(at(c.Importance, i), s.policy.Importance[kind])
	candidate.Freshness = s.freshness(at(c.Age, i), at(c.Idle, i), kind)
	candidate.Outcome = share((at(c.Outcome, i)+1)/2, .5)
	if v := at(c.Semantic, i); v == v && s.cosine > 0 {
		candidate.Vector, candidate.Semantic = true, share(v/float32(s.cosine), 0)
	}
	return candidate
}

// freshness decays from the day on which a memory was written or last recalled.
func (s *Scorer) freshness(age, idle float32, kind int) float64 {
	days := age
	if idle < days || days != days {
		days = idle
	}
	if !(days > 0) {
		return 1
	}
	return exp2(float64(days) * s.logs[kind])
}

// exp2 is 2 to the power of x, for x up to 0, within 1e-6: math.Exp2 takes a third of the time of a whole ranking.
func exp2(x float64) float64 {
	if !(x > -64) {
		return 0
	}
	whole := math.Floor(x)
	f := (x - whole) * math.Ln2
	series := 1 + f*(1+f*(1./2+f*(1./6+f*(1./24+f*(1./120+f*(1./720+f/5040))))))
	return math.Float64frombits(uint64(1023+int64(whole))<<52) * series
}

// at is a value of a column; missing where the column is.
func at(column []float32, i int) float32 {
	if i < len(column) {
		return column[i]
	}
	return float32(math.NaN())
}

// share is a value between 0 and 1, or what stands for it when it is missing. It compares: in a guest min and max of
// fractions are calls.
func share(v float32, missing float64) float64 {
	switch {
	case v >= 1:
		return 1
	case v > 0:
		return float64(v)
	case v <= 0:
		return 0
	}
	return missing
}

func kindOf(v float32) int {
	if v >= 0 && v < typeCount {
		return int(v)
	}
	return observation
}
