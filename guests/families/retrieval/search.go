package retrieval

import (
	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Found are facts, the best first.
//
//alcove:camel
type Found struct {
	Facts      []fact.Fact
	SearchType string `json:",omitzero"` // vector or text.
}

// find searches, and leaves out what is only distantly alike.
func find(c *alcove.Call, cfg Config, r alcove.MemorySearchRequest) (facts []fact.Fact, err error) {
	if r.Query == "" && len(r.Vector) == 0 {
		return nil, alcove.Errorf(alcove.InvalidArgument, "the query is empty")
	}
	r.K = min(max(r.K, 1), mostFound)
	r.Features = cfg.Threshold > 0 && r.Mode != modeLexical
	found, err := c.MemorySearch(r)
	if err != nil {
		return nil, err
	}
	for i := range found.Hits {
		h := &found.Hits[i]
		if r.Features && distant(h, cfg.Threshold) {
			continue
		}
		f := fact.Of(&h.Memory)
		f.Score = score.Rounded(h.Score)
		facts = append(facts, f)
	}
	return facts, nil
}

// mostFound is how many facts a search finds at most.
const mostFound = 50

// The modes of a search.
const (
	modeLexical  = "lexical"
	modeSemantic = "semantic"
)

// distant reports whether a hit shares no word with the query, and is less alike than the threshold.
func distant(h *alcove.MemoryHit, threshold float64) bool {
	alike, has := h.Features[alcove.FeatureSemantic]
	return has && float64(alike) < threshold && !(h.Features[alcove.FeatureLexical] > 0)
}
