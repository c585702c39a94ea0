package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/memory"
)

// setAside is the folder of a data directory in which repairs leave the files that they replaced.
const setAside = "set-aside"

// PurgeRequest says what to erase.
type PurgeRequest struct {
	memory.Purge
	// SetAside removes what repairs have set aside, which may hold what is to be erased. Without it a purge refuses while
	// there is any.
	SetAside bool
}

// purge erases payloads from the data directory.
func (h *Host) purge(ctx context.Context, r PurgeRequest) ([]memory.Erased, error) {
	aside := filepath.Join(h.options.Dir, setAside)
	_, err := os.Stat(aside)
	there := !errors.Is(err, fs.ErrNotExist)
	if there && !r.SetAside {
		return nil, fmt.Errorf("%s has files that a repair replaced, and what is to be purged may be in them: take from there what you still need, then purge with --set-aside, which removes the folder", aside)
	}
	erased, err := h.space.Purge(ctx, r.Purge)
	if err != nil {
		return nil, err
	}
	if there {
		err = os.RemoveAll(aside)
	}
	h.options.Logger.Info("purged", "namespace", r.Namespace, "key", r.Key, "event", r.Event, "versions", len(erased), "set_aside_removed", there, "error", err)
	return erased, err
}
