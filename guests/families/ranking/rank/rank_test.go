package rank

import (
	"math"
	"testing"
)

func column(values ...float64) []float32 {
	list := make([]float32, len(values))
	for i, v := range values {
		list[i] = float32(v)
	}
	return list
}

// policy is one with the numbers that are configured by default.
func policy() Policy {
	return Policy{
		Weights:    DefaultWeights(),
		Importance: ByType{.8, .7, .75, .7, .85, .65, .6, .6, .5},
		Decay:      ByType{.998, .995, .997, .995, .999, .996, .99, .995, .99},
	}
}

func scores(p Policy, c Columns) []float32 {
	out := make([]float32, len(c.Score))
	p.Scorer(c).Scores(out)
	return out
}

var missing = math.NaN()

func TestTheScoreIsTheWeightedMeanOfTheParts(t *testing.T) {
	c := Columns{
		Score: column(1), Lexical: column(.5), Semantic: column(.8), Importance: column(.9), Age: column(0), Idle: column(missing), Outcome: column(0), Type: column(-1),
	}
	// The only cosine is the best, so it counts as 1.
	want := .45*1 + .15*.5 + .2*.9 + .1*1 + .1*.5
	if got := scores(policy(), c); math.Abs(float64(got[0])-want) > 1e-6 {
		t.Errorf("the score is %v, want %v", got[0], want)
	}
}

func TestWithoutVectorsTheHostsScoreIsWhatMatches(t *testing.T) {
	c := Columns{Score: column(1, .5), Lexical: column(.2, 1), Semantic: column(missing, missing)}
	if got := scores(policy(), c); got[0] <= got[1] {
		t.Errorf("the scores are %v", got)
	}
	c.Semantic = column(.9, missing) // the second is not embedded yet
	if got := scores(policy(), c); got[0] <= got[1] || got[1] < .3 {
		t.Errorf("with one vector the scores are %v", got)
	}
}

func TestWithoutAnImportanceThatOfTheTypeCounts(t *testing.T) {
	p := policy()
	p.Weights = Weights{Importance: 1}
	c := Columns{Score: column(1, 1, 1, 1), Importance: column(missing, missing, missing, .1), Type: column(0, 4, -1, 4)}
	for i, want := range []float64{.8, .85, .5, .1} {
		if got := scores(p, c)[i]; math.Abs(float64(got)-want) > 1e-6 {
			t.Errorf("candidate %d: %v, want %v", i, got, want)
		}
	}
}

func TestFreshnessDecaysByTypeFromTheLastUse(t *testing.T) {
	p := policy()
	p.Weights = Weights{Freshness: 1}
	c := Columns{Score: column(1, 1, 1, 1, 1), Age: column(100, 100, 100, 0, missing), Idle: column(missing, missing, 1, missing, missing), Type: column(0, 6, 6, 0, 0)}
	for i, want := range []float64{math.Pow(.998, 100), math.Pow(.99, 100), .99, 1, 1} {
		if got := scores(p, c)[i]; math.Abs(float64(got)-want) > 1e-5 {
			t.Errorf("candidate %d: %v, want %v", i, got, want)
		}
	}
}

func TestWhatIsMissingOrOutOfRangeGivesFiniteScores(t *testing.T) {
	inf := math.Inf(1)
	all := []float64{0, 1, -1, 2, missing, inf, -inf, 1e30, -1e30}
	for _, w := range []Weights{DefaultWeights(), {}, {Semantic: 1000}, {Freshness: 1}} {
		p := policy()
		p.Weights = w
		p.Decay[0] = 0
		for _, v := range all {
			c := Columns{Score: column(v, .5), Lexical: column(v, .5), Semantic: column(v, .5), Importance: column(v, .5), Age: column(v, 1), Idle: column(v, 1), Outcome: column(v, 0), Type: column(v, 0)}
			for i, s := range scores(p, c) {
				if math.IsNaN(float64(s)) || s < 0 || s > 1 {
					t.Errorf("weights %+v, value %v: score %d is %v", w, v, i, s)
				}
			}
		}
	}
	if got := scores(policy(), Columns{Score: column(1)}); math.IsNaN(float64(got[0])) {
		t.Error("missing columns give no number")
	}
}

func TestColumnsAndCandidatesGiveTheSameScores(t *testing.T) {
	n := 500
	value := func(i, j int, missing int) float64 {
		if (i*7+j)%missing == 0 {
			return math.NaN()
		}
		return float64((i*31+j*17)%100) / 100
	}
	c := Columns{}
	for i := range n {
		for j, col := range []*[]float32{&c.Score, &c.Lexical, &c.Semantic, &c.Importance, &c.Outcome} {
			*col = append(*col, float32(value(i, j, 5+j)))
		}
		c.Age, c.Idle, c.Type = append(c.Age, float32(i)), append(c.Idle, float32(value(i, 9, 3)*300)), append(c.Type, float32(i%11-1))
	}
	for _, w := range []Weights{DefaultWeights(), {}, {Lexical: 2, Outcome: 1}} {
		p := policy()
		p.Weights = w
		got := scores(p, c)
		for i := range n {
			if want := w.Score(p.Scorer(c).Candidate(i)); math.Abs(float64(got[i])-want) > 1e-6 {
				t.Fatalf("weights %+v, candidate %d: %v, want %v", w, i, got[i], want)
			}
		}
	}
}

func TestExp2IsCloseToThatOfTheLibrary(t *testing.T) {
	for x := 0.0; x > -64; x -= .0137 {
		if got, want := exp2(x), math.Exp2(x); math.Abs(got-want) > 1e-6*want {
			t.Fatalf("2^%v is %v, want %v", x, got, want)
		}
	}
	if exp2(-1000) != 0 || exp2(math.Inf(-1)) != 0 || exp2(math.NaN()) != 0 {
		t.Error("what is too small is not 0")
	}
}

// judged are searches in which the useful candidate is the one with the higher importance, though it matches less.
func judged(n int) []Judged {
	var all []Judged
	for i := range n {
		j := Judged{Query: string(rune('a' + i%26)), Keys: []string{"x", "y", "z"}, Gains: []float64{0, 1, -1}}
		j.Candidates = []Candidate{
			{Host: 1, Parts: Parts{Importance: .2, Freshness: .5, Outcome: .5}},
			{Host: .5, Parts: Parts{Importance: .9, Freshness: .5, Outcome: .5}},
			{Host: .7, Parts: Parts{Importance: .1, Freshness: 1, Outcome: .5}},
		}
		all = append(all, j)
	}
	return all
}

func TestTuningFindsWeightsThatRankBetter(t *testing.T) {
	before, found := DefaultWeights(), Tune(DefaultWeights(), judged(12))
	q, better := before.Quality(judged(12)), found.Quality(judged(12))
	if better.NDCG <= q.NDCG || better.MRR != 1 {
		t.Errorf("from %+v to %+v with %+v", q, better, found)
	}
	if math.Abs(found.Sum()-1) > .01 || found.Importance <= before.Importance {
		t.Errorf("the weights are %+v", found)
	}
}

func TestTuningLeavesAloneWhatCannotBeBetter(t *testing.T) {
	perfect := []Judged{{Keys: []string{"x", "y"}, Gains: []float64{1, 0}, Candidates: []Candidate{{Host: 1}, {Host: 0}}}}
	if got := Tune(DefaultWeights(), perfect); got != DefaultWeights() {
		t.Errorf("the weights became %+v", got)
	}
	if got := Tune(Weights{}, nil); got != DefaultWeights() {
		t.Errorf("no weights became %+v", got)
	}
}

func TestQualityIsThatOfTheFirstTen(t *testing.T) {
	j := Judged{Keys: make([]string, 12), Candidates: make([]Candidate, 12), Gains: make([]float64, 12)}
	for i := range j.Candidates {
		j.Candidates[i].Host = 1 - float64(i)/12
	}
	j.Gains[11] = 1
	if q := DefaultWeights().Quality([]Judged{j}); q.NDCG != 0 || q.MRR != 1./12 {
		t.Errorf("useful at the twelfth place: %+v", q)
	}
	j.Gains[0], j.Gains[11] = 1, 0
	if q := DefaultWeights().Quality([]Judged{j}); q.NDCG != 1 || q.MRR != 1 {
		t.Errorf("useful at the first place: %+v", q)
	}
}
