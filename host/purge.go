package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/policy"
	"github.com/alcove-memory/alcove/host/store"
)

// purge erases payloads from the data directory.
func (h *Host) purge(ctx context.Context, r operator.PurgeRequest) (done operator.Purged, err error) {
	aside := filepath.Join(h.options.Dir, store.SetAside)
	_, err = os.Stat(aside)
	there := !errors.Is(err, fs.ErrNotExist)
	if there && !r.SetAside {
		return done, fmt.Errorf("%s has files that a repair replaced, and what is to be purged may be in them: take from there what you still need, then purge with --set-aside, which removes the folder", aside)
	}
	if done.Purged, err = h.space.Purge(ctx, r.Purge); err != nil {
		return done, err
	}
	if there {
		err = os.RemoveAll(aside)
	}
	done.Families, done.Outside = []operator.Witness{}, []string{}
	if r.Family == "" && r.Collection == "" {
		h.witnesses(r.Purge, &done)
	}
	h.options.Logger.Info("purged", "namespace", r.Namespace, "key", r.Key, "event", r.Event, "collection", r.Collection, "family", r.Family, "versions", len(done.Erased),
		"copies", done.Copies.Records, "possible_copies", done.Possible.Records, "set_aside_removed", there, "error", err)
	return done, err
}

// witnesses adds who saw what was purged: by what they may do now, and by what they keep. What they were allowed before is not known.
func (h *Host) witnesses(p memory.Purge, done *operator.Purged) {
	byName := map[string]*operator.Witness{}
	of := func(name string) *operator.Witness {
		if byName[name] == nil {
			byName[name] = &operator.Witness{Family: name}
		}
		return byName[name]
	}
	for _, c := range done.Copies.List {
		if c.Family != "" {
			of(c.Family).Copies++
		}
	}
	for _, c := range done.Possible.List {
		if c.Family != "" {
			of(c.Family).Possible++
		}
	}
	if h.families != nil {
		for _, d := range h.families.All() {
			h.witness(p, d, of, done)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		done.Families = append(done.Families, *byName[name])
	}
	for _, e := range h.embedders.States() {
		if e.URL != "" {
			done.Outside = append(done.Outside, fmt.Sprintf("embedder %s at %s", e.Name, e.URL))
		}
	}
}

// witness adds what a family's grant let it see.
func (h *Host) witness(p memory.Purge, d family.Described, of func(name string) *operator.Witness, done *operator.Purged) {
	if d.Grant.Disabled || d.Digest == "" {
		return
	}
	name, reads := d.Manifest.Name, abi.CanMemoryRead
	hooks := []abi.Hook{abi.HookStore, abi.HookStored, abi.HookEmbed}
	if p.Event != 0 {
		reads, hooks = abi.CanLogRead, nil
	}
	for _, hook := range hooks {
		if _, on := d.Grant.Hooks[hook]; on {
			of(name).Hooks = append(of(name).Hooks, string(hook))
		}
	}
	namespace := cmp.Or(p.Namespace, memory.Default)
	for _, c := range d.Grant.Capabilities {
		if c.Name == reads && (slices.Contains(c.Scope, namespace) || slices.Contains(c.Scope, policy.Everything)) {
			of(name).Reads = true
		}
	}
	for _, c := range d.Grant.Capabilities {
		if c.Name == abi.CanHTTP || c.Name == abi.CanLLM {
			done.Outside = append(done.Outside, fmt.Sprintf("family %s by %s to %s", name, c.Name, strings.Join(c.Scope, ", ")))
		}
	}
}
