package graph

import (
	"cmp"
	"slices"

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
		r, err := c.RecordSearch(alcove.RecordSearchRequest{Collection: themes.Name, Query: in.Query, K: page, Offset: offset})
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
	for item, err := range themes.All(c, "") {
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	slices.SortStableFunc(items, func(a, b alcove.Item[theme]) int {
		return cmp.Or(cmp.Compare(b.Value.Importance, a.Value.Importance), cmp.Compare(b.Value.Updated, a.Value.Updated))
	})
	return items, nil
}
