package acts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/store"
)

// purge erases payloads from the data directory.
func (a Acts) purge(ctx context.Context, r operator.PurgeRequest) (operator.Purged, error) {
	aside := filepath.Join(a.Dir, store.SetAside)
	_, err := os.Stat(aside)
	hasAside := !errors.Is(err, fs.ErrNotExist)
	if hasAside && !r.SetAside {
		return operator.Purged{}, fmt.Errorf("%s has files that a repair replaced, and what is to be purged may be in them: take from there what you still need, then purge with --set-aside, which removes the folder", aside)
	}
	purged, err := a.Space.Memory.Purge(ctx, r.Request)
	if logged := a.Account.EraseNamed(r); logged != nil {
		return operator.Purged{}, errors.Join(err, logged)
	}
	if err != nil {
		return operator.Purged{}, err
	}
	if hasAside {
		err = os.RemoveAll(aside)
	}
	var families []operator.Family
	if a.Space.Families != nil {
		families = a.Space.Families.All()
		a.Space.Families.DropLines()
	}
	a.Logger.Info("purged", "namespace", r.Namespace, "key", r.Key, "event", r.Event, "collection", r.Collection, "family", r.Family, "versions", len(purged.Erased),
		"copies", purged.Copies.Records, "possible_copies", purged.Possible.Records, "set_aside_removed", hasAside, "error", err)
	return operator.NewPurged(r.Request, purged, families, a.Space.Embedders.States()), err
}
