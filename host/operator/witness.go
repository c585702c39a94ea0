package operator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/purge"
)

// NewPurged adds to the result of a purge who may still have what was purged: the families, by their grants and by what they
// keep, and the servers that they and the embedders reach. Former grants are not known. Records of families were seen by no
// other, so a purge of records has no witnesses.
func NewPurged(p purge.Request, done purge.Result, families []Family, embedders []EmbedderState) Purged {
	w := witnesses{purge: p, byName: map[string]*Witness{}, outside: []string{}}
	if p.Family == "" && p.Collection == "" {
		w.addCopies(done)
		for _, f := range families {
			w.addFamily(f)
		}
		for _, e := range embedders {
			if e.URL != "" {
				w.outside = append(w.outside, fmt.Sprintf("embedder %s at %s", e.Name, e.URL))
			}
		}
	}
	return Purged{Result: done, Families: w.list(), Outside: w.outside}
}

// witnesses collects who may have what was purged.
type witnesses struct {
	purge   purge.Request
	byName  map[string]*Witness
	outside []string
}

func (w *witnesses) of(family string) *Witness {
	if w.byName[family] == nil {
		w.byName[family] = &Witness{Family: family}
	}
	return w.byName[family]
}

func (w *witnesses) list() []Witness {
	list := []Witness{}
	for _, name := range slices.Sorted(maps.Keys(w.byName)) {
		list = append(list, *w.byName[name])
	}
	return list
}

// addCopies counts the copies that families keep.
func (w *witnesses) addCopies(done purge.Result) {
	for _, c := range done.Copies.List {
		if c.Family != "" {
			w.of(c.Family).Copies++
		}
	}
	for _, c := range done.Possible.List {
		if c.Family != "" {
			w.of(c.Family).Possible++
		}
	}
}

// addFamily adds what the grant of a family lets it see.
func (w *witnesses) addFamily(f Family) {
	if f.Grant.Disabled || f.Digest == "" {
		return
	}
	name, reads := f.Manifest.Name, abi.CanMemoryRead
	hooks := []abi.Hook{abi.HookStore, abi.HookStored, abi.HookMerged, abi.HookEmbed}
	if w.purge.Event != 0 {
		reads, hooks = abi.CanLogRead, nil
	}
	for _, hook := range hooks {
		if _, on := f.Grant.Hooks[hook]; on {
			w.of(name).Hooks = append(w.of(name).Hooks, string(hook))
		}
	}
	namespace := cmp.Or(w.purge.Namespace, memory.Default)
	for _, c := range f.Grant.Capabilities {
		switch c.Name {
		case reads:
			if slices.Contains(c.Scope, namespace) || slices.Contains(c.Scope, policy.Everything) {
				w.of(name).Reads = true
			}
		case abi.CanHTTP, abi.CanLLM, abi.CanFileWrite:
			w.outside = append(w.outside, fmt.Sprintf("family %s by %s to %s", name, c.Name, strings.Join(c.Scope, ", ")))
		}
	}
}
