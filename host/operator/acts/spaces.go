package acts

import (
	"context"

	"github.com/alcove-memory/alcove/host/operator"
)

// spaces are those of the database that the server shares with others.
func (a Acts) spaces() Spaces {
	if a.Spaces == nil {
		return noSpaces{}
	}
	return a.Spaces
}

// noSpaces are those of a server that shares none.
type noSpaces struct{}

func (noSpaces) List(context.Context) ([]operator.ListedSpace, error) { return nil, notShared() }
func (noSpaces) Create(context.Context, string) error                 { return notShared() }
func (noSpaces) Rename(ctx context.Context, name, to string) error    { return notShared() }
func (noSpaces) Delete(context.Context, string) error                 { return notShared() }
