package ranker

import (
	"cmp"
	"math"
	"slices"

	"github.com/alcove-memory/alcove/guests/ranking/rank"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
)

type compareIn struct {
	A         *rank.Weights `json:"a"` // default: the configured ones
	B         *rank.Weights `json:"b"`
	Namespace string        `json:"namespace"`
}

type compareOut struct {
	Queries int          `json:"queries"`
	A       rank.Quality `json:"a"`
	B       rank.Quality `json:"b"`
	Better  int          `json:"better"` // queries that b ranks better
	Worse   int          `json:"worse"`
	Changes []change     `json:"changes"` // those that differ most
}

// change is a query that two sets of weights rank differently.
type change struct {
	Query string  `json:"query"`
	A     float64 `json:"a"` // ndcg
	B     float64 `json:"b"`
}

// maxChanges is how many queries a comparison lists.
const maxChanges = 10

// compare measures two sets of weights on the searches that somebody judged.
func (r *ranker) compare(c *alcove.Call, in compareIn) (compareOut, error) {
	policy, err := r.configured(c)
	if err != nil {
		return compareOut{}, err
	}
	if in.B == nil {
		return compareOut{}, alcove.Errorf(alcove.InvalidArgument, "give weights as b")
	}
	if in.A == nil {
		in.A = &policy.Weights
	}
	searches, err := recorded(c, in.Namespace)
	if err != nil {
		return compareOut{}, err
	}
	out := compareOut{Queries: len(searches), Changes: []change{}}
	if len(searches) == 0 {
		return out, nil
	}
	out.A, out.B = quality(*in.A, searches), quality(*in.B, searches)
	for i := range searches {
		a, b := in.A.Quality(searches[i:i+1]).NDCG, in.B.Quality(searches[i:i+1]).NDCG
		switch {
		case b > a:
			out.Better++
		case b < a:
			out.Worse++
		default:
			continue
		}
		out.Changes = append(out.Changes, change{searches[i].Query, short(a), short(b)})
	}
	slices.SortStableFunc(out.Changes, func(x, y change) int { return cmp.Compare(math.Abs(y.B-y.A), math.Abs(x.B-x.A)) })
	out.Changes = out.Changes[:min(len(out.Changes), maxChanges)]
	return out, nil
}

func quality(w rank.Weights, searches []rank.Judged) rank.Quality {
	q := w.Quality(searches)
	return rank.Quality{NDCG: short(q.NDCG), MRR: short(q.MRR)}
}

type tuneIn struct {
	Apply     bool   `json:"apply"`
	Namespace string `json:"namespace"`
}

type tuneOut struct {
	Queries int          `json:"queries"`
	Before  tuned        `json:"before"`
	After   tuned        `json:"after"`
	Applied bool         `json:"applied"`
	Reason  string       `json:"reason"` // why they were not applied, or that they can be
	Weights rank.Weights `json:"weights"`
}

// tuned is how well weights do on the searches that they were looked for with, and on those kept apart.
type tuned struct {
	Learned   rank.Quality `json:"learned"`
	KeptApart rank.Quality `json:"kept_apart"`
}

// How much feedback is needed, and how many of the searches are kept apart.
const (
	leastSearches = 10
	apartEvery    = 4
)

// tune looks for weights that rank the judged searches better. They are applied only when they also do on searches that
// they were not looked for with.
func (r *ranker) tune(c *alcove.Call, in tuneIn) (tuneOut, error) {
	policy, err := r.configured(c)
	if err != nil {
		return tuneOut{}, err
	}
	searches, err := recorded(c, in.Namespace)
	if err != nil {
		return tuneOut{}, err
	}
	out := tuneOut{Queries: len(searches), Weights: policy.Weights}
	if len(searches) < leastSearches {
		out.Reason = "there are fewer than 10 searches with feedback: give more with memory_rank_feedback"
		return out, nil
	}
	learn, apart := split(searches)
	found := rank.Tune(policy.Weights, learn)
	out.Before, out.After = measure(policy.Weights, learn, apart), measure(found, learn, apart)
	switch {
	case out.After.Learned.NDCG <= out.Before.Learned.NDCG:
		out.Reason = "no weights were found that are better"
		return out, nil
	case out.After.KeptApart.NDCG < out.Before.KeptApart.NDCG:
		out.Reason = "the weights that were found are worse on the searches that were kept apart"
		return out, nil
	}
	out.Weights = found
	if !in.Apply {
		out.Reason = "call again with apply to use them"
		return out, nil
	}
	values := map[string]any{}
	found.Each(func(name string, value *float64) { values[weightPrefix+name] = *value })
	if err := reflected.SetConfig(c, values); err != nil {
		return tuneOut{}, err
	}
	out.Applied, out.Reason = true, "the weights are in use from the next search on"
	return out, nil
}

// split keeps every fourth search apart.
func split(searches []rank.Judged) (learn, apart []rank.Judged) {
	for i, s := range searches {
		if i%apartEvery == apartEvery-1 {
			apart = append(apart, s)
		} else {
			learn = append(learn, s)
		}
	}
	return learn, apart
}

func measure(w rank.Weights, learn, apart []rank.Judged) tuned {
	return tuned{Learned: quality(w, learn), KeptApart: quality(w, apart)}
}
