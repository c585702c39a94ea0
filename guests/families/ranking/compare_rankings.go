package ranking

import (
	"cmp"
	"math"
	"slices"

	"github.com/alcove-memory/alcove/guests/families/ranking/rank"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// CompareRankings compares two sets of ranking weights. a are the configured weights where they are left out. Weights that are left out
// are 0. ndcg looks at the first ten results, mrr at the first useful one. better and worse count the queries that b ranks better or worse.
//
//alcove:description Compare two sets of ranking weights on the searches that got feedback.
//alcove:title Compare rankings
//alcove:tool read-only
type CompareRankings struct {
	A alcove.Optional[Compared] `alcove:"opaque"`
	B Compared                  `alcove:"required"`
}

// Compared are weights that are compared with others.
type Compared struct {
	Semantic   float64 `alcove:"min=0"`
	Lexical    float64 `alcove:"min=0"`
	Importance float64 `alcove:"min=0"`
	Freshness  float64 `alcove:"min=0"`
	Outcome    float64 `alcove:"min=0"`
}

// Comparison says how two sets of weights do, and which queries differ most.
type Comparison struct {
	Queries int
	A       rank.Quality
	B       rank.Quality
	Better  int
	Worse   int
	Changes []Change
}

// Change is a query that two sets of weights rank differently, with the NDCG of both.
type Change struct {
	Query string
	A     float64
	B     float64
}

// maxChanges is how many queries a comparison lists.
const maxChanges = 10

// Call measures two sets of weights on the searches that somebody judged.
func (in CompareRankings) Call(c *alcove.Call, cfg Config) (out Comparison, err error) {
	searches, err := recorded(c)
	if err != nil || len(searches) == 0 {
		return out, err
	}
	first, second := rank.Weights(in.A.Or(Compared(cfg.Weights))), rank.Weights(in.B)
	out.Queries, out.A, out.B = len(searches), quality(first, searches), quality(second, searches)
	for i := range searches {
		a, b := first.Quality(searches[i:i+1]).NDCG, second.Quality(searches[i:i+1]).NDCG
		switch {
		case b > a:
			out.Better++
		case b < a:
			out.Worse++
		default:
			continue
		}
		out.Changes = append(out.Changes, Change{searches[i].Query, short(a), short(b)})
	}
	slices.SortStableFunc(out.Changes, func(x, y Change) int { return cmp.Compare(math.Abs(y.B-y.A), math.Abs(x.B-x.A)) })
	out.Changes = out.Changes[:min(len(out.Changes), maxChanges)]
	return out, nil
}

func quality(w rank.Weights, searches []rank.Judged) rank.Quality {
	q := w.Quality(searches)
	return rank.Quality{NDCG: short(q.NDCG), MRR: short(q.MRR)}
}
