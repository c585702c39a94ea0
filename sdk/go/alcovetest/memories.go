package alcovetest

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// memory returns a memory, staged or stored, or nil.
func (h *host) memory(namespace, key string) *alcove.Memory {
	return h.staged.memories[h.at(namespace, key)]
}

func (h *host) at(namespace, key string) place { return place{"memory", h.namespace(namespace), key} }

func (h *host) get(in abi.MemoryGetRequest) (any, error) {
	out := alcove.MemoryGetResponse{Memories: make([]*alcove.Memory, len(in.Keys))}
	for i, key := range in.Keys {
		out.Memories[i] = h.memory(in.Namespace, key)
	}
	return out, nil
}

func (h *host) namespaces(abi.MemoryNamespacesRequest) (any, error) {
	seen := map[string]bool{}
	for p := range h.staged.memories {
		seen[p.namespace] = true
	}
	return alcove.MemoryNamespacesResponse{Namespaces: slices.Sorted(maps.Keys(seen))}, nil
}

// page cuts the page out of the keys of a namespace that a list asks for.
func page[T any](all map[place]*T, collection, namespace, prefix, after string, limit int) (found []T, next string) {
	var keys []string
	for p := range all {
		if p.collection == collection && p.namespace == namespace && strings.HasPrefix(p.key, prefix) && p.key > after {
			keys = append(keys, p.key)
		}
	}
	slices.Sort(keys)
	if limit = cmp.Or(limit, 100); len(keys) > limit {
		keys = keys[:limit]
		next = keys[limit-1]
	}
	found = make([]T, len(keys))
	for i, key := range keys {
		found[i] = *all[place{collection, namespace, key}]
	}
	return found, next
}

func (h *host) list(in abi.MemoryListRequest) (any, error) {
	found, next := page(h.staged.memories, "memory", h.namespace(in.Namespace), in.Prefix, in.After, in.Limit)
	return alcove.MemoryListResponse{Memories: found, Next: next}, nil
}

// history knows the newest version only.
func (h *host) history(in abi.MemoryHistoryRequest) (any, error) {
	out := alcove.MemoryHistoryResponse{Versions: []alcove.Memory{}}
	if m := h.kept.memories[h.at(in.Namespace, in.Key)]; m != nil && (in.Before == 0 || m.Version < in.Before) {
		out.Versions = append(out.Versions, *m)
	}
	return out, nil
}

func (h *host) search(in abi.MemorySearchRequest) (any, error) {
	hits := []alcove.MemoryHit{}
	wanted := terms(in.Query)
	for p, m := range h.kept.memories {
		has := terms(text(m.Value) + " " + strings.Join(m.Tags, " "))
		shared := 0
		for _, term := range wanted {
			if slices.Contains(has, term) {
				shared++
			}
		}
		if shared > 0 && h.among(in.Namespaces, p.namespace) {
			hits = append(hits, alcove.MemoryHit{Memory: *m, Score: float64(shared) / float64(len(wanted))})
		}
	}
	slices.SortFunc(hits, func(a, b alcove.MemoryHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Memory.Namespace, b.Memory.Namespace), cmp.Compare(a.Memory.Key, b.Memory.Key))
	})
	total := len(hits)
	hits = hits[min(in.Offset, total):]
	return alcove.MemorySearchResponse{Hits: hits[:min(cmp.Or(in.K, 10), len(hits))], Total: total}, nil
}

func (h *host) put(in abi.MemoryPutRequest) (any, error) {
	out := alcove.MemoryPutResponse{}
	for _, item := range in.Items {
		if item.Key == "" {
			sum := fnv.New64a()
			sum.Write(item.Value)
			item.Key = fmt.Sprintf("%x", sum.Sum64())
		}
		at := h.at(item.Namespace, item.Key)
		m := &alcove.Memory{Namespace: at.namespace, Key: at.key, State: "active", Metadata: alcove.Metadata{}}
		change(m, item.MemoryFields)
		h.staged.memories[at] = m
		out.Stored = append(out.Stored, alcove.MemoryID{Namespace: at.namespace, Key: at.key})
	}
	return out, nil
}

func (h *host) patch(in abi.MemoryPatchRequest) (any, error) {
	out := alcove.MemoryPatchResponse{Missing: []string{}}
	for _, p := range in.Patches {
		old := h.memory(p.Namespace, p.Key)
		if old == nil {
			out.Missing = append(out.Missing, p.Key)
			continue
		}
		m := *old
		m.Version, m.Metadata = 0, maps.Clone(old.Metadata)
		clearFields(&m, p.Clear)
		change(&m, p.MemoryFields)
		m.Tags = slices.DeleteFunc(slices.Clone(m.Tags), func(tag string) bool {
			return slices.Contains(p.RemoveTags, tag) || slices.Contains(p.AddTags, tag)
		})
		m.Tags = append(m.Tags, p.AddTags...)
		h.staged.memories[h.at(p.Namespace, p.Key)] = &m
		out.Patched++
	}
	return out, nil
}

// clearFields removes the fields that a patch names.
func clearFields(m *alcove.Memory, fields []string) {
	for _, field := range fields {
		switch field {
		case "tags":
			m.Tags = nil
		case "type":
			m.Type = ""
		case "importance":
			m.Importance = nil
		case "metadata":
			m.Metadata = alcove.Metadata{}
		case "supersedes":
			m.Supersedes = nil
		case "links":
			m.Links = nil
		case "expires_at":
			m.ExpiresAt = ""
		}
	}
}

// change sets the fields that a request has.
func change(m *alcove.Memory, f abi.MemoryFields) {
	if f.Value != nil {
		m.Value = f.Value
	}
	if f.Tags != nil {
		m.Tags = f.Tags
	}
	if f.Type != nil {
		m.Type = *f.Type
	}
	if f.Importance != nil {
		m.Importance = f.Importance
	}
	if f.State != "" {
		m.State = f.State
	}
	if f.Supersedes != nil {
		m.Supersedes = f.Supersedes
	}
	if f.Links != nil {
		m.Links = f.Links
	}
	if f.ExpiresAt != nil {
		m.ExpiresAt = *f.ExpiresAt
	}
	if m.Metadata == nil {
		m.Metadata = alcove.Metadata{}
	}
	for key, value := range f.Metadata {
		if string(value) == "null" {
			delete(m.Metadata, key)
			continue
		}
		m.Metadata[key] = value
	}
}

func (h *host) delete(in abi.MemoryDeleteRequest) (any, error) {
	out := alcove.MemoryDeleteResponse{}
	for _, key := range in.Keys {
		if h.memory(in.Namespace, key) != nil {
			delete(h.staged.memories, h.at(in.Namespace, key))
			out.Deleted++
		}
	}
	return out, nil
}

func (h *host) touch(in abi.MemoryTouchRequest) (any, error) {
	out := alcove.MemoryTouchResponse{}
	for _, key := range in.Keys {
		old := h.memory(in.Namespace, key)
		if old == nil {
			continue
		}
		m := *old
		m.Counters = &alcove.Counters{}
		if old.Counters != nil {
			*m.Counters = *old.Counters
		}
		m.Counters.Accesses += accesses(in)
		m.Counters.Health = max(-1, min(1, m.Counters.Health+in.Health))
		h.staged.memories[h.at(in.Namespace, key)] = &m
		out.Touched++
	}
	return out, nil
}

// accesses returns the accesses that a touch adds: 1 by default, or 0 if it adds to the health.
func accesses(in abi.MemoryTouchRequest) int {
	switch {
	case in.Accesses != nil:
		return *in.Accesses
	case in.Health != 0:
		return 0
	}
	return 1
}

func (h *host) links(in abi.LinkListRequest) (any, error) {
	out := alcove.LinkListResponse{Links: []string{}, LinkedFrom: []string{}}
	for p, m := range h.staged.memories {
		switch {
		case p.namespace != h.namespace(in.Namespace):
		case p.key == in.Key:
			out.Links = append(out.Links, m.Links...)
		case slices.Contains(m.Links, in.Key):
			out.LinkedFrom = append(out.LinkedFrom, p.key)
		}
	}
	slices.Sort(out.LinkedFrom)
	return out, nil
}

func (h *host) link(in abi.LinkAddRequest) (any, error) {
	old := h.memory(in.Namespace, in.Key)
	if old == nil {
		return nil, alcove.Errorf(alcove.NotFound, "there is no memory %s", in.Key)
	}
	links := slices.Clone(old.Links)
	for _, to := range in.To {
		if !slices.Contains(links, to) {
			links = append(links, to)
		}
	}
	h.relink(*old, links)
	return alcove.LinkAddResponse{Added: len(links) - len(old.Links)}, nil
}

func (h *host) unlink(in abi.LinkRemoveRequest) (any, error) {
	old := h.memory(in.Namespace, in.Key)
	if old == nil {
		return nil, alcove.Errorf(alcove.NotFound, "there is no memory %s", in.Key)
	}
	links := slices.DeleteFunc(slices.Clone(old.Links), func(l string) bool { return slices.Contains(in.To, l) })
	h.relink(*old, links)
	return alcove.LinkRemoveResponse{Removed: len(old.Links) - len(links)}, nil
}

func (h *host) relink(m alcove.Memory, links []string) {
	m.Version, m.Links = 0, links
	h.staged.memories[h.at(m.Namespace, m.Key)] = &m
}
