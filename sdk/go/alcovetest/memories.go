package alcovetest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
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

func (h *host) at(namespace, key string) address {
	return address{"memory", h.namespace(namespace), key}
}

func (h *host) get(in abi.MemoryGetRequest) (any, error) {
	memories, err := h.asOf(in.AsOf)
	if err != nil {
		return nil, err
	}
	out := alcove.MemoryGetResponse{Memories: make([]*alcove.Memory, len(in.Keys))}
	for i, key := range in.Keys {
		out.Memories[i] = shown(memories[h.at(in.Namespace, key)], in.Counters)
	}
	return out, nil
}

// asOf returns the memories, staged ones included, or those of an earlier version.
func (h *host) asOf(moment string) (map[address]*alcove.Memory, error) {
	if moment == "" {
		return h.staged.memories, nil
	}
	var version uint64
	if _, err := fmt.Sscanf(moment, "v%d", &version); err != nil {
		return nil, alcove.Errorf(alcove.InvalidArgument, "as_of %q is no version such as v123, and the host of alcovetest has no other moments", moment)
	}
	memories := map[address]*alcove.Memory{}
	for at, versions := range h.history {
		for _, m := range versions {
			if m.Version > version {
				break
			}
			memories[at] = &m
		}
		if memories[at] != nil && memories[at].Deleted {
			delete(memories, at)
		}
	}
	return memories, nil
}

// shown is a memory as it is answered: with counters only where they were asked for.
func shown(m *alcove.Memory, counters bool) *alcove.Memory {
	if m == nil {
		return nil
	}
	copied := *m
	if len(m.Metadata) == 0 {
		copied.Metadata = nil
	}
	switch {
	case !counters:
		copied.Counters = nil
	case m.Counters == nil:
		copied.Counters = &alcove.Counters{}
	}
	return &copied
}

func (h *host) namespaces(abi.MemoryNamespacesRequest) (any, error) {
	seen := map[string]bool{}
	for p := range h.staged.memories {
		seen[p.namespace] = true
	}
	return alcove.MemoryNamespacesResponse{Namespaces: slices.Sorted(maps.Keys(seen))}, nil
}

// page cuts the page out of the keys of a namespace that a list asks for.
func page[T any](all map[address]*T, collection, namespace, prefix, after string, limit int) (found []T, next string) {
	var keys []string
	for p := range all {
		if p.collection == collection && p.namespace == namespace && strings.HasPrefix(p.key, prefix) && p.key > after {
			keys = append(keys, p.key)
		}
	}
	slices.Sort(keys)
	if limit = cmp.Or(limit, 100); len(keys) >= limit {
		keys = keys[:limit]
		next = keys[limit-1]
	}
	found = make([]T, len(keys))
	for i, key := range keys {
		found[i] = *all[address{collection, namespace, key}]
	}
	return found, next
}

func (h *host) list(in abi.MemoryListRequest) (any, error) {
	memories, err := h.asOf(in.AsOf)
	if err != nil {
		return nil, err
	}
	found, next := page(memories, "memory", h.namespace(in.Namespace), in.Prefix, in.After, in.Limit)
	for i := range found {
		found[i] = *shown(&found[i], in.Counters)
	}
	return alcove.MemoryListResponse{Memories: found, Next: next}, nil
}

func (h *host) versions(in abi.MemoryHistoryRequest) (any, error) {
	out := alcove.MemoryHistoryResponse{Versions: []alcove.Memory{}}
	limit := cmp.Or(in.Limit, 100)
	for _, m := range slices.Backward(h.history[h.at(in.Namespace, in.Key)]) {
		if in.Before != 0 && m.Version > in.Before {
			continue
		}
		if len(out.Versions) == limit {
			out.Next = m.Version
			break
		}
		out.Versions = append(out.Versions, *shown(&m, false))
	}
	return out, nil
}

func (h *host) search(in abi.MemorySearchRequest) (any, error) {
	switch {
	case strings.TrimSpace(in.Query) == "":
		return nil, alcove.Errorf(alcove.InvalidArgument, "query is empty: ask something in plain words")
	case in.Mode == "semantic" || len(in.Vector) > 0:
		return nil, alcove.Errorf(alcove.InvalidArgument, "no embedder is configured, so searches are by words: omit mode and vector")
	case in.Since != "" || in.Until != "" || in.AsOf != "":
		return nil, alcove.Errorf(alcove.Unavailable, "searches in the past are not part of this test: give memory.search with Space.Ops")
	}
	hits := []alcove.MemoryHit{}
	wanted := terms(in.Query)
	for p, m := range h.kept.memories {
		has := terms(text(json.RawMessage(m.Value)) + " " + strings.Join(m.Tags, " ") + " " + m.Key)
		shared := 0
		for _, term := range wanted {
			if slices.Contains(has, term) {
				shared++
			}
		}
		if shared > 0 && h.among(in.Namespaces, p.namespace) && asked(in, m) {
			hits = append(hits, alcove.MemoryHit{Memory: *shown(m, false), Score: float64(shared) / float64(len(wanted))})
		}
	}
	slices.SortFunc(hits, func(a, b alcove.MemoryHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Memory.Namespace, b.Memory.Namespace), cmp.Compare(a.Memory.Key, b.Memory.Key))
	})
	total := len(hits)
	hits = hits[min(in.Offset, total):]
	return alcove.MemorySearchResponse{Hits: hits[:min(cmp.Or(in.K, 10), len(hits))], Total: total}, nil
}

// asked reports whether a search is about memories with such tags, of such a type and in such a state.
func asked(in abi.MemorySearchRequest, m *alcove.Memory) bool {
	for _, tag := range in.Tags {
		if !slices.Contains(m.Tags, tag) {
			return false
		}
	}
	states := in.States
	if len(states) == 0 {
		states = []string{"active"}
	}
	return slices.Contains(states, m.State) && (len(in.Types) == 0 || slices.Contains(in.Types, m.Type))
}

func (h *host) put(in abi.MemoryPutRequest) (any, error) {
	out := alcove.MemoryPutResponse{}
	for _, item := range in.Items {
		if item.Key == "" {
			item.Key = derivedKey(h.namespace(item.Namespace), item.Value)
		}
		at := h.at(item.Namespace, item.Key)
		if err := expect(at, version(h.kept.memories[at]), item.IfVersion); err != nil {
			return nil, err
		}
		m := &alcove.Memory{Namespace: at.namespace, Key: at.key, State: "active", Agent: h.Caller}
		change(m, item.MemoryFields)
		h.staged.memories[at] = m
		out.Stored = append(out.Stored, alcove.MemoryID{Namespace: at.namespace, Key: at.key})
	}
	return out, nil
}

// derivedKey is the key of a memory that is stored without one, so that the same value has the same key.
func derivedKey(namespace string, raw json.RawMessage) string {
	var canonical bytes.Buffer
	encoder := json.NewEncoder(&canonical)
	encoder.SetEscapeHTML(false)
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) == nil {
		encoder.Encode(v) // what was read as JSON is written as JSON
	}
	sum := sha256.Sum256(append([]byte(namespace+"\x00"), canonical.Bytes()...))
	return "m-" + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10]))
}

func version(m *alcove.Memory) uint64 {
	if m == nil {
		return 0
	}
	return m.Version
}

// expect compares the newest version with the one that a request expects, unless that is nil.
func expect(at address, newest uint64, expected *uint64) error {
	if expected == nil || *expected == newest {
		return nil
	}
	return &alcove.Error{Code: alcove.Conflict, Message: fmt.Sprintf("%q is at version %d, not %d: recall it, then store with if_version=%d", at.key, newest, *expected, newest),
		Details: map[string]any{"key": at.key, "namespace": at.namespace, "version": newest}}
}

func (h *host) patch(in abi.MemoryPatchRequest) (any, error) {
	out := alcove.MemoryPatchResponse{Missing: []string{}}
	for _, p := range in.Patches {
		old := h.memory(p.Namespace, p.Key)
		if old == nil {
			out.Missing = append(out.Missing, p.Key)
			continue
		}
		if err := expect(h.at(p.Namespace, p.Key), version(h.kept.memories[h.at(p.Namespace, p.Key)]), p.IfVersion); err != nil {
			return nil, err
		}
		m := *old
		m.Version, m.Timestamp, m.Agent, m.Metadata = 0, "", h.Caller, maps.Clone(old.Metadata)
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
		m.Value = alcove.Raw(f.Value)
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
	if m.Metadata == nil && len(f.Metadata) > 0 {
		m.Metadata = alcove.Metadata{}
	}
	for key, value := range f.Metadata {
		if string(value) == "null" {
			delete(m.Metadata, key)
			continue
		}
		m.Metadata[key] = alcove.Raw(value)
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
	m.Version, m.Timestamp, m.Agent, m.Links = 0, "", h.Caller, links
	h.staged.memories[h.at(m.Namespace, m.Key)] = &m
}
