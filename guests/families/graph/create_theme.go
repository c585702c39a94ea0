package graph

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// CreateTheme groups facts under a named theme.
//
// Facts and entities need not exist yet; missing has those that do not.
//
//alcove:camel
//alcove:title Create a theme
//alcove:description Group facts and entities under a named theme.
type CreateTheme struct {
	Name        string      `alcove:"required,min=1"`
	Description string      `alcove:"required"`
	FactIDs     []alcove.ID `alcove:"many"`
	EntityIDs   []alcove.ID `alcove:"many"`
	Importance  float64     `alcove:"advanced,min=0,max=1,default=0.5"`
}

//alcove:camel
type created struct {
	ThemeID alcove.ID
	Missing []alcove.ID `json:"missing,omitzero"`
}

// Call stores the theme.
func (in CreateTheme) Call(c *alcove.Call) (out created, err error) {
	out.ThemeID = c.ID(c.NewID("thm:"))
	t := theme{Name: in.Name, Description: in.Description, FactIDs: all(c, in.FactIDs), EntityIDs: all(c, in.EntityIDs), Importance: in.Importance, Updated: c.Time()}
	if out.Missing, err = missingOf(c, t.FactIDs, t.EntityIDs); err != nil {
		return out, err
	}
	if err := themes.Put(c, out.ThemeID.Key, t); err != nil {
		return out, err
	}
	return out, emit(c, "theme_created", event{ThemeID: out.ThemeID, Changes: changes{Name: in.Name}})
}

// missingOf are those of some nodes that there are not.
func missingOf(c *alcove.Call, lists ...[]alcove.ID) (list []alcove.ID, err error) {
	ids := slices.Concat(lists...)
	there, err := present(c, ids)
	for i := range there {
		if !there[i] {
			list = append(list, ids[i])
		}
	}
	return list, err
}

// all are ids with their namespaces.
func all(c *alcove.Call, ids []alcove.ID) []alcove.ID {
	out := make([]alcove.ID, len(ids))
	for i, id := range ids {
		out[i] = at(c, id)
	}
	return out
}
