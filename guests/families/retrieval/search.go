package retrieval

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/scopes"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Found are facts, the best first.
//
//alcove:camel
type Found struct {
	Facts      []fact.Fact
	SearchType string `json:",omitzero"` // vector or text.
}

// find searches, the successors of superseded facts before these, and leaves out what is only distantly alike.
func find(c *alcove.Call, cfg Config, r alcove.MemorySearchRequest) (facts []fact.Fact, err error) {
	if r.Query == "" && len(r.Vector) == 0 {
		return nil, alcove.Errorf(alcove.InvalidArgument, "the query is empty")
	}
	if len(r.Namespaces) == 0 {
		if r.Namespaces, err = scopes.Everywhere(c); err != nil {
			return nil, err
		}
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
		facts = append(facts, fact.Found(h))
	}
	return facts, nil
}

// within takes the settings of the one scope that is searched, if it is another than the call's.
func (cfg *Config) within(c *alcove.Call, named []string) error {
	if len(named) != 1 || named[0] == c.Namespace || strings.HasSuffix(named[0], "*") {
		return nil
	}
	found, err := c.ConfigGet(alcove.ConfigGetRequest{Namespace: named[0], Keys: []string{"semantic_enabled", "semantic_method", "semantic_threshold"}})
	if err != nil {
		return err
	}
	values := map[string]any{}
	for key, value := range found.Config {
		values[key] = value
	}
	return c.ReadArguments(alcove.JSON(values), cfg.CodeSettings)
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
