package family

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// fields are those of a memory that its writer decides.
type fields struct {
	Value      json.RawMessage            `json:"value,omitempty"`
	Tags       []string                   `json:"tags,omitempty"`
	Type       *string                    `json:"type,omitempty"`
	Importance *float64                   `json:"importance,omitempty"`
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"`
	State      memory.State               `json:"state,omitempty"`
	Supersedes []string                   `json:"supersedes,omitempty"`
	Links      []string                   `json:"links,omitempty"`
	ExpiresAt  *string                    `json:"expires_at,omitempty"`
}

// memoryJSON is a memory as guests see it.
type memoryJSON struct {
	Namespace string `json:"namespace"`
	Key       string `json:"key"`
	fields
	Agent     string        `json:"agent,omitempty"`
	Version   uint64        `json:"version"`
	Timestamp string        `json:"timestamp,omitempty"`
	Deleted   bool          `json:"deleted,omitempty"`
	Counters  *countersJSON `json:"counters,omitempty"`
}

type countersJSON struct {
	Accesses   int64   `json:"accesses"`
	LastAccess string  `json:"last_access,omitempty"`
	Health     float64 `json:"health"`
}

func memoryOf(m *memory.Memory) *memoryJSON {
	if m == nil {
		return nil
	}
	out := &memoryJSON{Namespace: m.Namespace, Key: m.Key, Agent: m.Agent, Version: m.Version, Deleted: m.Deleted, fields: fields{
		Value: m.Value, Tags: m.Tags, Importance: m.Importance, Metadata: m.Metadata, State: m.State, Supersedes: m.Supersedes, Links: m.Links}}
	if m.Type != "" {
		out.Type = &m.Type
	}
	if !m.Timestamp.IsZero() {
		out.Timestamp = stampOf(m.Timestamp)
	}
	if !m.ExpiresAt.IsZero() {
		expires := stampOf(m.ExpiresAt)
		out.ExpiresAt = &expires
	}
	return out
}

func memoriesOf(list []memory.Memory) []*memoryJSON {
	out := make([]*memoryJSON, len(list))
	for i := range list {
		out[i] = memoryOf(&list[i])
	}
	return out
}

// count adds what was counted about memories, those that are there.
func (w *work) count(ctx context.Context, namespace string, list []*memoryJSON) error {
	var keys []string
	var there []*memoryJSON
	for _, m := range list {
		if m != nil {
			keys, there = append(keys, m.Key), append(there, m)
		}
	}
	counted, err := w.stage.Counters(ctx, namespace, keys)
	if err != nil {
		return err
	}
	for i, c := range counted {
		there[i].Counters = &countersJSON{Accesses: c.Accesses, Health: c.Health}
		if !c.LastAccess.IsZero() {
			there[i].Counters.LastAccess = stampOf(c.LastAccess)
		}
	}
	return nil
}

type memoryGetRequest struct {
	Keys      []string `json:"keys"`
	Namespace string   `json:"namespace"`
	AsOf      string   `json:"as_of"`
	Counters  bool     `json:"counters"`
}

func memoryGet(w *work, ctx context.Context, r memoryGetRequest) (any, error) {
	namespace := w.in(r.Namespace)
	if err := w.powers.Check(abi.CanMemoryRead, namespace); err != nil {
		return nil, err
	}
	found, err := w.get(ctx, namespace, r.Keys, r.AsOf)
	if err != nil {
		return nil, err
	}
	list := make([]*memoryJSON, len(found))
	for i, m := range found {
		list[i] = memoryOf(m)
	}
	if r.Counters {
		if err := w.count(ctx, namespace, list); err != nil {
			return nil, err
		}
	}
	return map[string]any{"memories": list}, nil
}

// get reads memories at the stage's version, or as of another moment.
func (w *work) get(ctx context.Context, namespace string, keys []string, asOf string) ([]*memory.Memory, error) {
	at, err := memory.ParseAsOf(asOf, w.stage.Now())
	if err != nil {
		return nil, err
	}
	if at.IsNow() {
		return w.stage.Get(ctx, namespace, keys)
	}
	if len(keys) > w.families.o.Space.Limits().Batch {
		return nil, invalid("%d keys: at most %d are allowed", len(keys), w.families.o.Space.Limits().Batch)
	}
	found := make([]*memory.Memory, len(keys))
	for i, key := range keys {
		if found[i], err = w.families.o.Space.Recall(ctx, memory.Place{Branch: w.stage.Branch(), Namespace: namespace}, key, at); err != nil {
			return nil, err
		}
	}
	return found, nil
}

type memoryListRequest struct {
	Namespace string `json:"namespace"`
	Prefix    string `json:"prefix"`
	After     string `json:"after"`
	Limit     int    `json:"limit"`
	AsOf      string `json:"as_of"`
	Counters  bool   `json:"counters"`
}

// page is how many rows of a listing are meant.
func page(limit int) (int, error) {
	switch {
	case limit == 0:
		return 100, nil
	case limit < 0 || limit > 1000:
		return 0, invalid("limit is %d: it goes from 1 to 1000", limit)
	}
	return limit, nil
}

func memoryList(w *work, ctx context.Context, r memoryListRequest) (any, error) {
	namespace := w.in(r.Namespace)
	if err := w.powers.Check(abi.CanMemoryRead, namespace); err != nil {
		return nil, err
	}
	limit, err := page(r.Limit)
	if err != nil {
		return nil, err
	}
	found, next, err := w.list(ctx, namespace, r, limit)
	if err != nil {
		return nil, err
	}
	list := memoriesOf(found)
	if r.Counters {
		if err := w.count(ctx, namespace, list); err != nil {
			return nil, err
		}
	}
	return struct {
		Memories []*memoryJSON `json:"memories"`
		Next     string        `json:"next,omitempty"`
	}{list, next}, nil
}

func (w *work) list(ctx context.Context, namespace string, r memoryListRequest, limit int) ([]memory.Memory, string, error) {
	at, err := memory.ParseAsOf(r.AsOf, w.stage.Now())
	if err != nil {
		return nil, "", err
	}
	if at.IsNow() {
		return w.stage.List(ctx, namespace, r.Prefix, r.After, limit)
	}
	list, err := w.families.o.Space.List(ctx, memory.Place{Branch: w.stage.Branch(), Namespace: namespace}, r.Prefix, r.After, at, limit)
	next := ""
	if len(list) == limit {
		next = list[limit-1].Key
	}
	return list, next, err
}

func memoryNamespaces(w *work, ctx context.Context, _ struct{}) (any, error) {
	found, err := w.stage.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	namespaces := slices.DeleteFunc(found, func(name string) bool { return !w.powers.Allows(abi.CanMemoryRead, name) })
	if namespaces == nil {
		namespaces = []string{}
	}
	return map[string]any{"namespaces": namespaces}, nil
}

type memoryHistoryRequest struct {
	Key       string `json:"key"`
	Namespace string `json:"namespace"`
	Before    uint64 `json:"before"`
	Limit     int    `json:"limit"`
}

func memoryHistory(w *work, ctx context.Context, r memoryHistoryRequest) (any, error) {
	namespace := w.in(r.Namespace)
	if err := w.powers.Check(abi.CanMemoryRead, namespace); err != nil {
		return nil, err
	}
	limit, err := page(r.Limit)
	if err != nil {
		return nil, err
	}
	from := w.stage.Version()
	if r.Before > 0 {
		from = min(from, r.Before)
	}
	versions, next, err := w.stage.History(ctx, namespace, r.Key, from, limit)
	if err != nil {
		return nil, err
	}
	return struct {
		Versions []*memoryJSON `json:"versions"`
		Next     uint64        `json:"next,omitempty"`
	}{memoriesOf(versions), next}, nil
}

type memorySearchRequest struct {
	Query      string         `json:"query"`
	Namespaces []string       `json:"namespaces"`
	K          int            `json:"k"`
	Offset     int            `json:"offset"`
	Tags       []string       `json:"tags"`
	Types      []string       `json:"types"`
	States     []memory.State `json:"states"`
	Since      string         `json:"since"`
	Until      string         `json:"until"`
	AsOf       string         `json:"as_of"`
	Mode       string         `json:"mode"`
	Vector     []float32      `json:"vector"`
	Features   bool           `json:"features"`
}

func (r memorySearchRequest) query(w *work) (memory.Search, error) {
	q := memory.Search{Text: r.Query, K: r.K, Offset: r.Offset, Tags: r.Tags, Types: r.Types, States: r.States, Features: r.Features, Agent: w.caller.Agent}
	var err error
	if q.AsOf, err = memory.ParseAsOf(r.AsOf, w.stage.Now()); err != nil {
		return q, err
	}
	for _, m := range []struct {
		text string
		to   *time.Time
	}{{r.Since, &q.Since}, {r.Until, &q.Until}} {
		if m.text == "" {
			continue
		}
		if *m.to, err = memory.ParseTime(m.text, w.stage.Now()); err != nil {
			return q, err
		}
	}
	switch r.Mode {
	case "", "lexical", "semantic", "hybrid":
		q.Mode, q.Vector = memory.Mode(r.Mode), r.Vector
		return q, nil
	}
	return q, invalid("mode is %.32q: it is lexical, semantic or hybrid", r.Mode)
}

func memorySearch(w *work, ctx context.Context, r memorySearchRequest) (any, error) {
	q, err := r.query(w)
	if err != nil {
		return nil, err
	}
	if q.Namespaces, err = w.among(abi.CanMemoryRead, r.Namespaces); err != nil {
		return nil, err
	}
	found, err := w.stage.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	type hit struct {
		Memory   *memoryJSON        `json:"memory"`
		Score    float64            `json:"score"`
		Snippet  string             `json:"snippet"`
		Features map[string]float32 `json:"features,omitempty"`
	}
	hits := make([]hit, len(found.Hits))
	for i := range found.Hits {
		h := &found.Hits[i]
		hits[i] = hit{memoryOf(&h.Memory), h.Score, h.Snippet, h.Features}
	}
	return map[string]any{"hits": hits, "total": found.Total}, nil
}

type memoryPutRequest struct {
	Items []struct {
		Key       string `json:"key"`
		Namespace string `json:"namespace"`
		fields
		IfVersion *uint64 `json:"if_version"`
	} `json:"items"`
}

func (f fields) item(w *work, key string, ifVersion *uint64) (memory.Item, error) {
	it := memory.Item{Key: key, Value: f.Value, Tags: f.Tags, Importance: f.Importance, Metadata: f.Metadata, State: f.State,
		Supersedes: f.Supersedes, Links: f.Links, IfVersion: ifVersion}
	if f.Type != nil {
		it.Type = *f.Type
	}
	expires, err := f.expires(w)
	if expires != nil {
		it.ExpiresAt = *expires
	}
	return it, err
}

// expires is when it is to expire; nil when that is not said, and the zero time for never.
func (f fields) expires(w *work) (*time.Time, error) {
	if f.ExpiresAt == nil {
		return nil, nil
	}
	if *f.ExpiresAt == "" {
		return &time.Time{}, nil
	}
	at, err := memory.ParseExpiry(*f.ExpiresAt, w.stage.Now())
	return &at, err
}

func memoryPut(w *work, ctx context.Context, r memoryPutRequest) (any, error) {
	if len(r.Items) == 0 || len(r.Items) > 1000 {
		return nil, invalid("%d items: give from 1 to 1000", len(r.Items))
	}
	type stored struct {
		Namespace string `json:"namespace"`
		Key       string `json:"key"`
	}
	list := make([]stored, len(r.Items))
	for i, item := range r.Items {
		namespace := w.in(item.Namespace)
		if err := w.mayChange(abi.CanMemoryWrite, namespace); err != nil {
			return nil, err
		}
		it, err := item.item(w, item.Key, item.IfVersion)
		if err != nil {
			return nil, err
		}
		keys, err := w.stage.Put(ctx, namespace, []memory.Item{it})
		if err != nil {
			return nil, err
		}
		list[i] = stored{namespace, keys[0]}
	}
	return map[string]any{"stored": list}, nil
}

type memoryPatchRequest struct {
	Patches []struct {
		Key       string `json:"key"`
		Namespace string `json:"namespace"`
		fields
		AddTags    []string `json:"add_tags"`
		RemoveTags []string `json:"remove_tags"`
		IfVersion  *uint64  `json:"if_version"`
	} `json:"patches"`
}

func memoryPatch(w *work, ctx context.Context, r memoryPatchRequest) (any, error) {
	if len(r.Patches) == 0 || len(r.Patches) > 1000 {
		return nil, invalid("%d patches: give from 1 to 1000", len(r.Patches))
	}
	missing := []string{}
	for _, p := range r.Patches {
		namespace := w.in(p.Namespace)
		if err := w.mayChange(abi.CanMemoryWrite, namespace); err != nil {
			return nil, err
		}
		expires, err := p.expires(w)
		if err != nil {
			return nil, err
		}
		gone, err := w.stage.Patch(ctx, namespace, []memory.Patch{{Key: p.Key, Value: p.Value, Tags: p.Tags, AddTags: p.AddTags, RemoveTags: p.RemoveTags,
			Type: p.Type, Importance: p.Importance, Metadata: p.Metadata, State: p.State, Supersedes: p.Supersedes, Links: p.Links, ExpiresAt: expires, IfVersion: p.IfVersion}})
		if err != nil {
			return nil, err
		}
		missing = append(missing, gone...)
	}
	return map[string]any{"patched": len(r.Patches) - len(missing), "missing": missing}, nil
}

type keysRequest struct {
	Keys      []string `json:"keys"`
	Namespace string   `json:"namespace"`
}

func memoryDelete(w *work, ctx context.Context, r keysRequest) (any, error) {
	namespace := w.in(r.Namespace)
	if err := w.mayChange(abi.CanMemoryWrite, namespace); err != nil {
		return nil, err
	}
	n, err := w.stage.Delete(ctx, namespace, r.Keys)
	return map[string]any{"deleted": n}, err
}

type memoryTouchRequest struct {
	keysRequest
	Accesses *int64  `json:"accesses"`
	Health   float64 `json:"health"`
}

func memoryTouch(w *work, ctx context.Context, r memoryTouchRequest) (any, error) {
	namespace := w.in(r.Namespace)
	if err := w.powers.Check(abi.CanMemoryCount, namespace); err != nil {
		return nil, err
	}
	accesses := int64(1)
	if r.Accesses != nil {
		accesses = *r.Accesses
	} else if r.Health != 0 {
		accesses = 0
	}
	touched, err := w.stage.Touch(ctx, namespace, r.Keys, accesses, r.Health)
	return map[string]any{"touched": touched}, err
}

type linkRequest struct {
	Key       string   `json:"key"`
	To        []string `json:"to"`
	Namespace string   `json:"namespace"`
}

// mostLinkers is how many memories are looked at for links back.
const mostLinkers = 20_000

func linkList(w *work, ctx context.Context, r linkRequest) (any, error) {
	namespace := w.in(r.Namespace)
	if err := w.powers.Check(abi.CanLinkRead, namespace); err != nil {
		return nil, err
	}
	found, err := w.stage.Get(ctx, namespace, []string{r.Key})
	if err != nil {
		return nil, err
	}
	links, back := []string{}, []string{}
	if found[0] != nil {
		links = append(links, found[0].Links...)
	}
	after, looked := "", 0
	for {
		list, next, err := w.stage.List(ctx, namespace, "", after, 1000)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if slices.Contains(m.Links, r.Key) {
				back = append(back, m.Key)
			}
		}
		looked += len(list)
		if next == "" {
			return map[string]any{"links": links, "linked_from": back}, nil
		}
		if looked >= mostLinkers {
			return nil, &abi.Error{Code: abi.CodeExhausted, Message: "the namespace has too many memories to look for links back: keep them in a collection of your own"}
		}
		after = next
	}
}

func linkAdd(w *work, ctx context.Context, r linkRequest) (any, error) {
	added := 0
	err := w.relink(ctx, r, func(links []string) []string {
		for _, to := range r.To {
			if !slices.Contains(links, to) {
				links = append(links, to)
				added++
			}
		}
		return links
	})
	return map[string]any{"added": added}, err
}

func linkRemove(w *work, ctx context.Context, r linkRequest) (any, error) {
	removed := 0
	err := w.relink(ctx, r, func(links []string) []string {
		kept := slices.DeleteFunc(links, func(link string) bool { return slices.Contains(r.To, link) })
		removed = len(links) - len(kept)
		return kept
	})
	return map[string]any{"removed": removed}, err
}

func (w *work) relink(ctx context.Context, r linkRequest, change func([]string) []string) error {
	namespace := w.in(r.Namespace)
	if err := w.mayChange(abi.CanLinkWrite, namespace); err != nil {
		return err
	}
	if len(r.To) == 0 || len(r.To) > 1000 {
		return invalid("%d keys to link to: give from 1 to 1000", len(r.To))
	}
	found, err := w.stage.Get(ctx, namespace, []string{r.Key})
	if err != nil {
		return err
	}
	if found[0] == nil {
		return &abi.Error{Code: abi.CodeNotFound, Message: "there is no memory " + r.Key}
	}
	links := change(slices.Clone(found[0].Links))
	if links == nil {
		links = []string{}
	}
	_, err = w.stage.Patch(ctx, namespace, []memory.Patch{{Key: r.Key, Links: links}})
	return err
}
