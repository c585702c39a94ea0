package ranking

import (
	"github.com/alcove-memory/alcove/guests/families/ranking/rank"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// TuneRanking finds ranking weights that suit the feedback better. Needs ten searches with feedback. Three of four are learned from, the
// others are kept apart: weights that are worse on those are not applied.
//
//alcove:description Find ranking weights that suit the feedback better; apply to use them.
//alcove:title Tune the ranking
type TuneRanking struct {
	Apply bool `alcove:"default=false"`
}

// Tuning are the weights that were found, how they do, and why they are applied or not.
type Tuning struct {
	Queries int
	Before  Tuned
	After   Tuned
	Applied bool
	Reason  string
	Weights rank.Weights
}

// Tuned is how well weights do on the searches that they were found with, and on those kept apart.
type Tuned struct {
	Learned   rank.Quality
	KeptApart rank.Quality `json:"kept_apart"`
}

// How much feedback is needed, and how many of the searches are kept apart.
const (
	leastSearches = 10
	apartEvery    = 4
)

// Call finds weights that rank the judged searches better. They are applied only when they also do on searches that they were not
// found with.
func (in TuneRanking) Call(c *alcove.Call, cfg Config) (out Tuning, err error) {
	searches, err := recorded(c)
	if err != nil {
		return out, err
	}
	out.Queries, out.Weights = len(searches), cfg.weights()
	if len(searches) < leastSearches {
		out.Reason = "there are fewer than 10 searches with feedback: give more with memory_rank_feedback"
		return out, nil
	}
	learn, apart := split(searches)
	found := rank.Tune(out.Weights, learn)
	out.Before, out.After = measure(out.Weights, learn, apart), measure(found, learn, apart)
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
	if err := use(c, found); err != nil {
		return Tuning{}, err
	}
	out.Applied, out.Reason = true, "the weights are in use from the next search on"
	unused, err := unranked(c)
	if unused != "" {
		out.Reason = "the weights are set. " + unused
	}
	return out, err
}

// use sets weights: for everything, with a history, so that they can be rolled back; for the family alone where the caller may not.
func use(c *alcove.Call, w rank.Weights) error {
	var changes []alcove.SettingChange
	own, none := map[string]any{}, map[string]any{}
	w.Each(func(name string, value *float64) {
		key := "ranking_weight_" + name
		own[key], none[key] = *value, nil
		changes = append(changes, alcove.SettingChange{Key: key, Value: alcove.JSON(*value)})
	})
	_, err := c.ConfigPut(alcove.ConfigPutRequest{Changes: changes, Reason: "tuned by memory_tune_ranking"})
	switch alcove.CodeOf(err) {
	case "":
		return c.SetConfig(none) // they would be used before those of the system
	case alcove.Denied:
		return c.SetConfig(own)
	}
	return err
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

func measure(w rank.Weights, learn, apart []rank.Judged) Tuned {
	return Tuned{Learned: quality(w, learn), KeptApart: quality(w, apart)}
}
