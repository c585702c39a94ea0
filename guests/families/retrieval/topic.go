package retrieval

import (
	"github.com/alcove-memory/alcove/guests/lib/scopes"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// SearchFacts finds the best facts on a topic. It searches by words and, where there is an embedder, by meaning.
//
//alcove:description Best facts on a topic, hybrid.
//alcove:tool read-only
//alcove:title Search by topic
//alcove:camel
type SearchFacts struct {
	Topic     string   `alcove:"required,alias=query"`
	ScopeIDs  []string `alcove:"name=scopeIds,alias=namespaces"` // Scopes to search; all if left out.
	Namespace string   `alcove:"advanced,alias=scopeId"`         // The one to search, unless scopeIds names some.
	Limit     int      `alcove:"default=20,max=50,alias=k"`
}

// Call searches.
func (in SearchFacts) Call(c *alcove.Call, cfg Config) (out Found, err error) {
	named := scopes.Named(in.ScopeIDs, in.Namespace)
	if err = cfg.within(c, named); err != nil {
		return out, err
	}
	r := alcove.MemorySearchRequest{Query: in.Topic, Namespaces: named, K: in.Limit}
	if !cfg.semantic() {
		r.Mode = modeLexical
	}
	out.Facts, err = find(c, cfg, r)
	return out, err
}
