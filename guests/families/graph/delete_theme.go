package graph

import alcove "github.com/alcove-memory/alcove/sdk/go"

// DeleteTheme deletes a theme.
//
// It is archived, and no search finds it; with hard it is deleted, and history keeps it. Its facts stay.
//
//alcove:camel
//alcove:title Delete a theme
//alcove:description Delete a theme.
//alcove:tool destructive
type DeleteTheme struct {
	ThemeID alcove.ID `alcove:"required,alias=id"`
	Hard    bool
}

// Call deletes it.
func (in DeleteTheme) Call(c *alcove.Call) (alcove.Removed, error) {
	id := at(c, in.ThemeID)
	t, ok, err := themes.In(id.Namespace).Get(c, id.Key)
	if err != nil {
		return alcove.Removed{}, err
	}
	if ok && t.Archived() && !in.Hard {
		return alcove.Removed{}, alcove.Errorf(alcove.NotFound, "there is no theme %q in %s", id.Key, id.Namespace)
	}
	return themes.In(id.Namespace).Remove(c, id.Key, alcove.Removal(in.Hard))
}
