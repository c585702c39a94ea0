package retrieval

import (
	"github.com/alcove-memory/alcove/guests/lib/scopes"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// VectorSearch finds facts by meaning. The query is embedded by the embedder that the operator configured, unless its embedding is given. With
// semantic_threshold, less alike memories are left out.
//
//alcove:description Find facts by meaning.
//alcove:tool read-only
//alcove:title Search by meaning
//alcove:camel
type VectorSearch struct {
	Query     string    `alcove:"required"`
	Embedding []float32 // The query's vector, if it is known.
	ScopeIDs  []string  `alcove:"name=scopeIds,alias=namespaces"` // Scopes to search; all if left out.
	Namespace string    `alcove:"advanced,alias=scopeId"`         // The one to search, unless scopeIds names some.
	Limit     int       `alcove:"default=10,max=50,alias=k"`
}

// Call searches.
func (in VectorSearch) Call(c *alcove.Call, cfg Config) (out Found, err error) {
	named := scopes.Named(in.ScopeIDs, in.Namespace)
	if err = cfg.within(c, named); err != nil {
		return out, err
	}
	if !cfg.semantic() {
		return out, alcove.Errorf(alcove.Unavailable, "semantic search is turned off by semantic_enabled or semantic_method: turn it on with memory_configure_semantic, or use memory_text_search").Final()
	}
	vector := in.Embedding
	if len(vector) == 0 {
		if vector, err = embedded(c, in.Query); err != nil {
			return out, err
		}
	}
	facts, err := find(c, cfg, alcove.MemorySearchRequest{Query: in.Query, Namespaces: named, K: in.Limit, Mode: modeSemantic, Vector: vector})
	if alcove.CodeOf(err) == alcove.InvalidArgument && len(in.Embedding) > 0 {
		return out, alcove.Errorf(alcove.InvalidArgument, "the embedding has %d values: %v", len(in.Embedding), err)
	}
	return Found{facts, "vector"}, err
}

// embedded is the vector of a query, by the operator's embedder.
func embedded(c *alcove.Call, query string) ([]float32, error) {
	if query == "" {
		return nil, alcove.Errorf(alcove.InvalidArgument, "the query is empty")
	}
	out, err := c.EmbedTexts(alcove.EmbedTextsRequest{Texts: []string{query}, Purpose: "query"})
	if known, ok := err.(*alcove.Error); ok && known.Code == alcove.Unavailable {
		known.Message += "; or give embedding, the query's vector, or use memory_text_search"
		return nil, known
	}
	if err != nil || len(out.Vectors) == 0 {
		return nil, err
	}
	for _, v := range out.Vectors[0] {
		if v != 0 {
			return out.Vectors[0], nil
		}
	}
	return nil, alcove.Errorf(alcove.Unavailable, "the embedder knows no word of the query: use memory_text_search").Final()
}
