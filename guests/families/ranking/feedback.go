package ranking

import (
	"slices"

	"github.com/alcove-memory/alcove/guests/families/ranking/rank"
	"github.com/alcove-memory/alcove/guests/lib/fact"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// judgedSearches are the searches of each namespace that got feedback.
var judgedSearches = alcove.Records[Judged]{Name: "rank-feedback", Per: "branch", Expires: "365d"}

// Judged is a judged search as it is recorded.
type Judged struct{ rank.Judged }

// maxCandidates is how many candidates of a search are recorded: the judged ones, and the best of the others.
const maxCandidates = 30

// RankFeedback says which results of a search were useful or useless. The judged search is recorded with its candidates for
// memory_compare_rankings and memory_tune_ranking, if one of them was useful; and the health of the judged memories changes, which is the
// outcome part of their scores from then on. unknown lists keys that the search does not find.
//
//alcove:description Say which results of a search were useful or useless, so that ranking improves.
//alcove:title Judge search results
type RankFeedback struct {
	Query   string   `alcove:"required"`
	Useful  []string `alcove:"max=50"` // Keys, or ids.
	Useless []string `alcove:"max=50"` // Keys, or ids.
}

// Recorded is the record of a judged search: its sequence number, how many candidates it has, and which judged keys the search does not
// find.
type Recorded struct {
	Sequence uint64
	Recorded int
	Unknown  []string
	Note     string `json:"note,omitzero"` // Why searches do not rank by it yet.
}

// Call records which results of a search were useful, for the tuning, and in the health of the memories.
func (in RankFeedback) Call(c *alcove.Call, cfg Config) (out Recorded, err error) {
	if len(in.Useful)+len(in.Useless) == 0 {
		return out, alcove.Errorf(alcove.InvalidArgument, "give the keys that were useful or useless")
	}
	f, err := search(c, cfg, in.Query)
	if err != nil {
		return out, err
	}
	judged, unknown := in.judge(c, f)
	out.Unknown = unknown
	if slices.Contains(judged.Gains, 1) { // without a useful one nothing can be learned
		sequences, err := judgedSearches.Append(c, Judged{judged})
		if err != nil {
			return out, err
		}
		out.Recorded, out.Sequence = len(judged.Keys), sequences[0]
	}
	if out.Note, err = unranked(c); err != nil {
		return out, err
	}
	return out, in.touch(c, cfg)
}

// judge makes a judged search of what was found. unknown are keys that were not.
func (in RankFeedback) judge(c *alcove.Call, f found) (j rank.Judged, unknown []string) {
	j.Query = in.Query
	useful, useless, there := ids(c, in.Useful), ids(c, in.Useless), map[alcove.ID]bool{}
	for i, h := range f.hits {
		gain := 0.0
		switch {
		case slices.Contains(useful, h.Memory.ID()):
			gain = 1
		case slices.Contains(useless, h.Memory.ID()):
			gain = -1
		case len(j.Keys) >= maxCandidates:
			continue
		}
		there[h.Memory.ID()] = true
		j.Keys = append(j.Keys, h.Memory.Key)
		j.Candidates = append(j.Candidates, rounded(f.candidates[i]))
		j.Gains = append(j.Gains, gain)
	}
	for _, key := range slices.Concat(in.Useful, in.Useless) {
		if !there[idOf(c, key)] {
			unknown = append(unknown, key)
		}
	}
	return j, unknown
}

// ids are memories by their keys, or by their ids with a namespace.
func ids(c *alcove.Call, keys []string) (list []alcove.ID) {
	for _, key := range keys {
		list = append(list, idOf(c, key))
	}
	return list
}

// idOf is a memory by its key, or by its id with a namespace.
func idOf(c *alcove.Call, key string) alcove.ID {
	if id := alcove.ParseID(key); id.Namespace != "" {
		return id
	}
	return c.ID(key)
}

func rounded(c rank.Candidate) rank.Candidate {
	c.Semantic, c.Lexical, c.Importance, c.Freshness, c.Outcome, c.Host = short(c.Semantic), short(c.Lexical), short(c.Importance), short(c.Freshness), short(c.Outcome), short(c.Host)
	return c
}

// touch counts the feedback in the health of the memories. A family that may not count does without.
func (in RankFeedback) touch(c *alcove.Call, cfg Config) error {
	memories := map[alcove.ID]float64{}
	for _, key := range in.Useful {
		memories[idOf(c, key)] = 1
	}
	for _, key := range in.Useless {
		memories[idOf(c, key)] = 0
	}
	_, err := fact.Rate(c, memories, cfg.OutcomeAlpha)
	if alcove.CodeOf(err) == alcove.Denied {
		c.Log("the health of memories stays as it is: %v", err)
		return nil
	}
	return err
}

// mostSearches is how many judged searches are looked at, the latest.
const mostSearches = 500

// recorded are the latest judged searches of the call's namespace. Those that cannot be read are logged and left out.
func recorded(c *alcove.Call) (all []rank.Judged, err error) {
	for item, err := range judgedSearches.All(c, "") {
		j := item.Value.Judged
		_, unreadable := err.(*alcove.Unreadable)
		switch {
		case unreadable, err == nil && (len(j.Keys) != len(j.Candidates) || len(j.Keys) != len(j.Gains)):
			c.Log("the feedback %s cannot be read, and is left out", item.Key)
		case err != nil:
			return nil, err
		default:
			all = append(all, j)
		}
	}
	return all[max(0, len(all)-mostSearches):], nil
}
