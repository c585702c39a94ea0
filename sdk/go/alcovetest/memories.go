package alcovetest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func (h *host) get(request []byte) (any, error) {
	in, err := read[alcove.Get](request)
	out := make([]*alcove.Memory, len(in.Keys))
	for i, key := range in.Keys {
		out[i] = h.staged.memories[place{"memory", h.namespace(in.Namespace), key}]
	}
	return map[string]any{"memories": out}, err
}

func (h *host) namespaces([]byte) (any, error) {
	seen := map[string]bool{}
	for p := range h.staged.memories {
		seen[p.namespace] = true
	}
	return map[string]any{"namespaces": slices.Sorted(maps.Keys(seen))}, nil
}

// page cuts the page out of the keys of a namespace that a list asks for.
func page[T any](all map[place]T, collection, namespace, prefix, after string, limit int) (found []T, next string) {
	var keys []string
	for p := range all {
		if p.collection == collection && p.namespace == namespace && strings.HasPrefix(p.key, prefix) && p.key > after {
			keys = append(keys, p.key)
		}
	}
	slices.Sort(keys)
	if limit <= 0 {
		limit = 100
	}
	if len(keys) > limit {
		keys = keys[:limit]
		next = keys[limit-1]
	}
	found = make([]T, len(keys))
	for i, key := range keys {
		found[i] = all[place{collection, namespace, key}]
	}
	return found, next
}

func (h *host) list(request []byte) (any, error) {
	in, err := read[alcove.List](request)
	if in.Limit > 1000 {
		return nil, alcove.Errorf(alcove.InvalidArgument, "the limit is %d; at most 1000", in.Limit)
	}
	found, next := page(h.staged.memories, "memory", h.namespace(in.Namespace), in.Prefix, in.After, in.Limit)
	return map[string]any{"memories": found, "next": next}, err
}

func (h *host) history(request []byte) (any, error) {
	in, err := read[alcove.History](request)
	versions := []*alcove.Memory{}
	if m := h.staged.memories[place{"memory", h.namespace(in.Namespace), in.Key}]; m != nil {
		versions = append(versions, m)
	}
	return map[string]any{"versions": versions}, err
}

func (h *host) search(request []byte) (any, error) {
	in, err := read[alcove.Search](request)
	hits := []alcove.Hit{}
	wanted := terms(in.Query)
	for p, m := range h.kept.memories {
		has := terms(text(m.Value) + " " + strings.Join(m.Tags, " "))
		shared := 0
		for _, term := range wanted {
			if slices.Contains(has, term) {
				shared++
			}
		}
		if shared > 0 && p.namespace == h.Namespace {
			hits = append(hits, alcove.Hit{Memory: *m, Score: float64(shared) / float64(len(wanted))})
		}
	}
	slices.SortFunc(hits, func(a, b alcove.Hit) int {
		if a.Score != b.Score {
			return int(1000 * (b.Score - a.Score))
		}
		return strings.Compare(a.Memory.Key, b.Memory.Key)
	})
	total := len(hits)
	if in.K == 0 {
		in.K = 10
	}
	return alcove.Hits{Hits: hits[:min(in.K, total)], Total: total}, err
}

func (h *host) put(request []byte) (any, error) {
	in, err := read[struct{ Items []alcove.Item }](request)
	stored := []alcove.Place{}
	for _, item := range in.Items {
		if item.Key == "" {
			sum := fnv.New64a()
			sum.Write(item.Value)
			item.Key = fmt.Sprintf("%x", sum.Sum64())
		}
		namespace := h.namespace(item.Namespace)
		m := &alcove.Memory{Namespace: namespace, Key: item.Key, State: "active", Metadata: alcove.Metadata{}}
		if err := change(m, item.Fields); err != nil {
			return nil, err
		}
		h.staged.memories[place{"memory", namespace, item.Key}] = m
		stored = append(stored, alcove.Place{Namespace: namespace, Key: item.Key})
	}
	return map[string]any{"stored": stored}, err
}

func (h *host) patch(request []byte) (any, error) {
	in, err := read[struct{ Patches []alcove.Patch }](request)
	missing := []string{}
	for _, p := range in.Patches {
		at := place{"memory", h.namespace(p.Namespace), p.Key}
		old := h.staged.memories[at]
		if old == nil {
			missing = append(missing, p.Key)
			continue
		}
		m := *old
		m.Version, m.Metadata = 0, maps.Clone(old.Metadata)
		if err := change(&m, p.Fields); err != nil {
			return nil, err
		}
		m.Tags = slices.DeleteFunc(slices.Clone(m.Tags), func(tag string) bool {
			return slices.Contains(p.RemoveTags, tag) || slices.Contains(p.AddTags, tag)
		})
		m.Tags = append(m.Tags, p.AddTags...)
		h.staged.memories[at] = &m
	}
	return map[string]any{"patched": len(in.Patches) - len(missing), "missing": missing}, err
}

// change sets the fields that are there.
func change(m *alcove.Memory, f alcove.Fields) error {
	set(&m.Type, f.Type)
	set(&m.State, f.State)
	set(&m.ExpiresAt, f.ExpiresAt)
	if f.Value != nil {
		m.Value = f.Value
	}
	if f.Importance != nil {
		m.Importance = f.Importance
	}
	if f.Tags != nil {
		m.Tags = f.Tags
	}
	if f.Supersedes != nil {
		m.Supersedes = f.Supersedes
	}
	if f.Links != nil {
		m.Links = f.Links
	}
	if m.Metadata == nil {
		m.Metadata = alcove.Metadata{}
	}
	for key, value := range f.Metadata {
		if value == nil {
			delete(m.Metadata, key)
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			return alcove.Errorf(alcove.InvalidArgument, "metadata %s: %v", key, err)
		}
		m.Metadata[key] = data
	}
	return nil
}

func set(field *string, value string) {
	if value != "" {
		*field = value
	}
}

func (h *host) delete(request []byte) (any, error) {
	in, err := read[alcove.Get](request)
	deleted := 0
	for _, key := range in.Keys {
		at := place{"memory", h.namespace(in.Namespace), key}
		if _, ok := h.staged.memories[at]; ok {
			delete(h.staged.memories, at)
			deleted++
		}
	}
	return map[string]int{"deleted": deleted}, err
}

func (h *host) touch(request []byte) (any, error) {
	in, err := read[alcove.Touch](request)
	touched := 0
	for _, key := range in.Keys {
		at := place{"memory", h.namespace(in.Namespace), key}
		old := h.staged.memories[at]
		if old == nil {
			continue
		}
		m := *old
		m.Counters = &alcove.Counters{}
		if old.Counters != nil {
			*m.Counters = *old.Counters
		}
		m.Counters.Accesses += in.Accesses
		m.Counters.Health = max(-1, min(1, m.Counters.Health+in.Health))
		h.staged.memories[at] = &m
		touched++
	}
	return map[string]int{"touched": touched}, err
}

func (h *host) links(request []byte) (any, error) {
	in, err := read[struct{ Namespace, Key string }](request)
	out := alcove.Linked{Links: []string{}, LinkedFrom: []string{}}
	for p, m := range h.staged.memories {
		switch {
		case p.namespace != h.namespace(in.Namespace):
		case p.key == in.Key:
			out.Links = append(out.Links, m.Links...)
		case slices.Contains(m.Links, in.Key):
			out.LinkedFrom = append(out.LinkedFrom, p.key)
		}
	}
	return out, err
}

func (h *host) link(request []byte) (any, error) {
	return h.relink(request, func(links, to []string) []string {
		return append(slices.DeleteFunc(slices.Clone(links), func(l string) bool { return slices.Contains(to, l) }), to...)
	})
}

func (h *host) unlink(request []byte) (any, error) {
	return h.relink(request, func(links, to []string) []string {
		return slices.DeleteFunc(slices.Clone(links), func(l string) bool { return slices.Contains(to, l) })
	})
}

func (h *host) relink(request []byte, change func(links, to []string) []string) (any, error) {
	in, err := read[struct {
		Namespace, Key string
		To             []string
	}](request)
	at := place{"memory", h.namespace(in.Namespace), in.Key}
	old := h.staged.memories[at]
	if old == nil {
		return nil, alcove.Errorf(alcove.NotFound, "there is no memory %s", in.Key)
	}
	m := *old
	m.Version, m.Links = 0, change(old.Links, in.To)
	h.staged.memories[at] = &m
	return struct{}{}, err
}
