package retrieval

import (
	"github.com/alcove-memory/alcove/guests/lib/moment"
	"github.com/alcove-memory/alcove/guests/lib/scopes"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// TextSearch finds facts by words, with filters. These are factType, one or several; minImportance; tags, all of them; and dateRange {start,
// end}, of when they were written.
//
//alcove:description Find facts by words, with filters.
//alcove:tool read-only
//alcove:title Search by words
//alcove:camel
type TextSearch struct {
	Query     string   `alcove:"required"`
	ScopeIDs  []string `alcove:"name=scopeIds,alias=namespaces"` // Scopes to search; all if left out.
	Namespace string   `alcove:"advanced,alias=scopeId"`         // The one to search, unless scopeIds names some.
	Filters   Filters  `alcove:"opaque,alias=filter"`            // factType, minImportance, tags, dateRange.
	Limit     int      `alcove:"default=10,max=50,alias=k"`
}

// Filters are conditions on facts.
//
//alcove:camel
type Filters struct {
	FactType      alcove.Raw
	MinImportance *float64
	Tags          alcove.Raw
	DateRange     moment.Range
}

// Call searches.
func (in TextSearch) Call(c *alcove.Call, cfg Config) (out Found, err error) {
	named := scopes.Named(in.ScopeIDs, in.Namespace)
	r := alcove.MemorySearchRequest{Query: in.Query, Namespaces: named, K: in.Limit, Mode: modeLexical, MinImportance: in.Filters.MinImportance}
	if r.Types, err = list("factType", in.Filters.FactType); err != nil {
		return out, err
	}
	if r.Tags, err = list("tags", in.Filters.Tags); err != nil {
		return out, err
	}
	if r.Since, r.Until, err = in.Filters.DateRange.Moments(c); err != nil {
		return out, err
	}
	facts, err := find(c, cfg, r)
	return Found{facts, "text"}, err
}

// list is a filter that is one text, or a list of text.
func list(name string, v alcove.Raw) ([]string, error) {
	if v.Null() {
		return nil, nil
	}
	if one, ok := v.Text(); ok {
		return []string{one}, nil
	}
	s := scan.New(v)
	all := s.Strings()
	if s.End() != nil {
		return nil, alcove.Errorf(alcove.InvalidArgument, "%s of the filters is text, or a list of text", name)
	}
	return all, nil
}
