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
	"github.com/alcove-memory/alcove/host/policy"
	"github.com/alcove-memory/alcove/host/store"
)

// PurgeRequest says what to erase.
type PurgeRequest struct {
	memory.Purge
	// SetAside removes what repairs have set aside, which may hold what is to be erased. Without it a purge refuses while
	// there is any.
	SetAside bool
}

// Purged is what a purge did, and who may still have what was purged.
type Purged struct {
	memory.Purged
	// Families saw it, or may have: what they keep of it in other words nobody but them knows.
	Families []Witness `json:"families"`
	// Outside are the servers that embedders and families may have sent it to.
	Outside []string `json:"outside"`
}

// Witness is a family that saw what was purged, or may have.
type Witness struct {
	Family   string   `json:"family"`
	Hooks    []string `json:"hooks,omitempty"`    // that are on, and are given every memory
	Reads    bool     `json:"reads,omitempty"`    // it may read there when it is called
	Copies   int      `json:"copies,omitempty"`   // of its records, which were erased
	Possible int      `json:"possible,omitempty"` // of those that may be copies
}

// purge erases payloads from the data directory.
func (h *Host) purge(ctx context.Context, r PurgeRequest) (done Purged, err error) {
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
	done.Families, done.Outside = []Witness{}, []string{}
	if r.Family == "" && r.Collection == "" {
		h.witnesses(r.Purge, &done)
	}
	h.options.Logger.Info("purged", "namespace", r.Namespace, "key", r.Key, "event", r.Event, "collection", r.Collection, "family", r.Family, "versions", len(done.Erased),
		"copies", done.Copies.Records, "possible_copies", done.Possible.Records, "set_aside_removed", there, "error", err)
	return done, err
}

// witnesses adds who saw what was purged: by what they may do now, and by what they keep. What they were allowed before is not known.
func (h *Host) witnesses(p memory.Purge, done *Purged) {
	byName := map[string]*Witness{}
	of := func(name string) *Witness {
		if byName[name] == nil {
			byName[name] = &Witness{Family: name}
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
	for _, e := range h.embedders.states() {
		if e.URL != "" {
			done.Outside = append(done.Outside, fmt.Sprintf("embedder %s at %s", e.Name, e.URL))
		}
	}
}

// witness adds what a family's grant let it see.
func (h *Host) witness(p memory.Purge, d family.Described, of func(name string) *Witness, done *Purged) {
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
