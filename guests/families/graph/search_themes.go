package graph

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/scopes"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// SearchThemes finds themes by name and description.
//
// Without a query it lists the most important themes.
//
//alcove:camel
//alcove:title Search themes
//alcove:description Find themes: named groups of facts.
//alcove:tool read-only
type SearchThemes struct {
	Query string `alcove:"alias=topic"`
	Limit int    `alcove:"default=20"`

	ScopeIDs  []string `alcove:"advanced,name=scopeIds,alias=namespaces"` // Scopes to search; all if left out.
	Namespace string   `alcove:"advanced,alias=scopeId"`                  // The one to search, unless scopeIds names some.
}

type foundThemes struct{ Themes []themeShown }

//alcove:camel
type themeShown struct {
	ThemeID     alcove.ID
	Name        string
	Description string
	FactIDs     []alcove.ID
	EntityIDs   []alcove.ID
	Importance  float64
	Updated     alcove.Time
}

// Call searches or lists them.
func (in SearchThemes) Call(c *alcove.Call) (out foundThemes, err error) {
	in.Limit = bounded(in.Limit, 200)
	if in.ScopeIDs = scopes.Named(in.ScopeIDs, in.Namespace); len(in.ScopeIDs) == 0 {
		if in.ScopeIDs, err = scopes.Everywhere(c); err != nil {
			return out, err
		}
	}
	list := in.list
	if in.Query != "" {
		list = in.search
	}
	items, err := list(c)
	for i := range items {
		if t := &items[i].Value; !t.Archived() && len(out.Themes) < in.Limit {
			out.Themes = append(out.Themes, themeShown{items[i].ID, t.Name, t.Description, t.FactIDs, t.EntityIDs, t.Importance, t.Updated})
		}
	}
	return out, err
}

// search finds twice as many as wanted, for those that are archived.
func (in SearchThemes) search(c *alcove.Call) (items []alcove.Item[theme], err error) {
	for offset := 0; len(items) < 2*in.Limit; offset += page {
		r, err := c.RecordSearch(alcove.RecordSearchRequest{Collection: themes.Name, Query: in.Query, Namespaces: in.ScopeIDs, K: page, Offset: offset})
		if err != nil {
			return nil, err
		}
		for i := range r.Hits {
			item, err := themes.Item(&r.Hits[i].Record)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		if len(r.Hits) < page {
			break
		}
	}
	return items, nil
}

func (in SearchThemes) list(c *alcove.Call) (items []alcove.Item[theme], err error) {
	names, err := scopes.Names(c, in.ScopeIDs)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		for item, err := range themes.In(name).All(c, "") {
			if unseen(err) != nil {
				return nil, err
			}
			if err == nil {
				items = append(items, item)
			}
		}
	}
	slices.SortStableFunc(items, func(a, b alcove.Item[theme]) int {
		return cmp.Or(cmp.Compare(b.Value.Importance, a.Value.Importance), cmp.Compare(b.Value.Updated, a.Value.Updated))
	})
	return items, nil
}
