package core

import "github.com/alcove-memory/alcove/host/memory"

// facet is a facet in an answer.
type facet struct {
	Values []facetValue `json:"values"`
	More   int          `json:"more,omitempty"`
}

type facetValue struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// facetsOf returns facets by the parameters of memory_search that ask for their values; dates are of since.
func facetsOf(f *memory.Facets) map[string]facet {
	return map[string]facet{
		"namespace": facetOf(f.Namespaces), "type": facetOf(f.Types), "tags": facetOf(f.Tags),
		"agent": facetOf(f.Writers), "state": facetOf(f.States), "dates": facetOf(f.Dates),
	}
}

func facetOf(f memory.Facet) facet {
	shown := facet{Values: make([]facetValue, len(f.Values)), More: f.More}
	for i, v := range f.Values {
		shown.Values[i] = facetValue(v)
	}
	return shown
}
