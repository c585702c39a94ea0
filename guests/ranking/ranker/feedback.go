package ranker

import (
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/guests/ranking/rank"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
)

// feedbackCollection has the judged searches of each namespace.
const feedbackCollection = "rank-feedback"

// What feedback adds to the health of a memory.
const (
	healthUseful  = .1
	healthUseless = -.15
)

// maxCandidates is how many candidates of a search are recorded: the judged ones, and the best of the others.
const maxCandidates = 30

type feedbackIn struct {
	Query     string   `json:"query"`
	Useful    []string `json:"useful"`
	Useless   []string `json:"useless"`
	Namespace string   `json:"namespace"`
}

type feedbackOut struct {
	Sequence uint64   `json:"sequence"`
	Recorded int      `json:"recorded"` // candidates
	Unknown  []string `json:"unknown"`  // judged, and not among what the search finds
}

// feedback records which results of a search were of use, for the tuning, and in the health of the memories.
func (r *ranker) feedback(c *alcove.Call, in feedbackIn) (feedbackOut, error) {
	if len(in.Useful)+len(in.Useless) == 0 {
		return feedbackOut{}, alcove.Errorf(alcove.InvalidArgument, "give the keys that were useful or useless")
	}
	policy, err := r.configured(c)
	if err != nil {
		return feedbackOut{}, err
	}
	f, err := r.search(c, &policy, in.Query, in.Namespace)
	if err != nil {
		return feedbackOut{}, err
	}
	judged, unknown := judge(in, f)
	out := feedbackOut{Recorded: len(judged.Keys), Unknown: unknown}
	if slices.Max(append([]float64{0}, judged.Gains...)) > 0 { // without a useful one nothing can be learned
		sequences, err := reflected.AppendRecords(c, feedbackCollection, in.Namespace, judged)
		if err != nil {
			return feedbackOut{}, err
		}
		if len(sequences) > 0 {
			out.Sequence = sequences[0]
		}
	} else {
		out.Recorded = 0
	}
	return out, r.touch(c, in)
}

// judge makes a judged search of what was found. unknown are keys that were not.
func judge(in feedbackIn, f found) (j rank.Judged, unknown []string) {
	j.Query = in.Query
	for i, h := range f.hits {
		gain := 0.0
		switch {
		case slices.Contains(in.Useful, h.Memory.Key):
			gain = 1
		case slices.Contains(in.Useless, h.Memory.Key):
			gain = -1
		case len(j.Keys) >= maxCandidates:
			continue
		}
		j.Keys = append(j.Keys, h.Memory.Key)
		j.Candidates = append(j.Candidates, rounded(f.candidates[i]))
		j.Gains = append(j.Gains, gain)
	}
	unknown = []string{}
	for _, key := range slices.Concat(in.Useful, in.Useless) {
		if !slices.Contains(j.Keys, key) {
			unknown = append(unknown, key)
		}
	}
	return j, unknown
}

func rounded(c rank.Candidate) rank.Candidate {
	c.Semantic, c.Lexical, c.Importance, c.Freshness, c.Outcome, c.Host = short(c.Semantic), short(c.Lexical), short(c.Importance), short(c.Freshness), short(c.Outcome), short(c.Host)
	return c
}

// touch counts the feedback in the health of the memories. A family that may not count does without.
func (r *ranker) touch(c *alcove.Call, in feedbackIn) error {
	for _, r := range []alcove.MemoryTouchRequest{{Keys: in.Useful, Namespace: in.Namespace, Health: healthUseful}, {Keys: in.Useless, Namespace: in.Namespace, Health: healthUseless}} {
		if len(r.Keys) == 0 {
			continue
		}
		if _, err := c.MemoryTouch(r); alcove.CodeOf(err) == alcove.Denied {
			c.Log("the health of memories stays as it is: %v", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// mostSearches is how many judged searches are looked at, the latest.
const mostSearches = 500

// recorded are the judged searches of a namespace.
func recorded(c *alcove.Call, namespace string) ([]rank.Judged, error) {
	var all []rank.Judged
	for record, err := range c.Records(alcove.RecordListRequest{Collection: feedbackCollection, Namespace: namespace, Limit: 200}) {
		if err != nil {
			return nil, err
		}
		var j rank.Judged
		if err := json.Unmarshal(record.Value, &j); err != nil || len(j.Keys) != len(j.Candidates) || len(j.Keys) != len(j.Gains) {
			c.Log("the feedback %s is passed over: it cannot be read", record.Key)
			continue
		}
		all = append(all, j)
	}
	return all[max(0, len(all)-mostSearches):], nil
}
