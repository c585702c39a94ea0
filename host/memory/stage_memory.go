package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Patch changes some fields of a memory. Nil fields stay unchanged.
type Patch struct {
	Key        string
	Value      json.RawMessage
	Tags       []string // replaces the present ones, if not nil
	AddTags    []string
	RemoveTags []string
	Type       *string
	Importance *float64
	Metadata   map[string]json.RawMessage // merged into the present; null removes
	State      State                      // empty: unchanged
	Supersedes []string                   // replaces the present ones, if not nil
	Links      []string                   // replaces the present ones, if not nil
	ExpiresAt  *time.Time                 // the zero time: never
	// Clear names fields to remove before the others are applied: tags, type, importance, metadata, supersedes, links
	// and expires_at.
	Clear     []string
	IfVersion *uint64
}

// clearFields removes fields by their names in Patch.Clear.
func clearFields(r *record.Record, fields []string) error {
	for _, name := range fields {
		switch name {
		case "tags":
			r.Tags = nil
		case "type":
			r.Type = ""
		case "importance":
			r.Importance = nil
		case "metadata":
			r.Metadata = nil
		case "supersedes":
			r.Supersedes = nil
		case "links":
			r.Links = nil
		case "expires_at":
			r.Expires = 0
		default:
			return invalid("the field %.64q cannot be cleared", name)
		}
	}
	return nil
}

func memorySites(namespace string, keys []string) []site {
	sites := make([]site, len(keys))
	for i, key := range keys {
		sites[i] = site{Key: memoryKey(namespace, key)}
	}
	return sites
}

// Get reads memories; nil for a missing one.
func (t *Stage) Get(ctx context.Context, namespace string, keys []string) ([]*Memory, error) {
	namespace, err := t.readingKeys(namespace, keys)
	if err != nil {
		return nil, err
	}
	records, entries, err := t.current(ctx, memorySites(namespace, keys))
	if err != nil {
		return nil, err
	}
	list := make([]*Memory, len(keys))
	for i, r := range records {
		if r != nil {
			m := memoryOf(entries[i], *r)
			list[i] = &m
		}
	}
	return list, nil
}

// List reads at most limit memories in the order of their keys, after the key after. next is the after of the next page;
// empty: the last page.
func (t *Stage) List(ctx context.Context, namespace, prefix, after string, limit int) (list []Memory, next string, err error) {
	namespace, err = t.reading(namespace)
	if err != nil {
		return nil, "", err
	}
	found, next, err := t.list(ctx, Collection{Name: memories}, namespace, prefix, after, limit)
	for _, l := range found {
		list = append(list, memoryOf(store.Entry{Key: l.Key, Point: l.point}, l.record))
	}
	return list, next, err
}

// Put stages memories and returns their keys. Of items with the same key the last counts.
func (t *Stage) Put(ctx context.Context, namespace string, items []Item) ([]string, error) {
	receipts, err := t.store(ctx, namespace, items)
	keys := make([]string, len(receipts))
	for i, r := range receipts {
		keys[i] = r.Key
	}
	return keys, err
}

// store stages memories. A receipt without a version gets it with the commit.
func (t *Stage) store(ctx context.Context, namespace string, items []Item) ([]Stored, error) {
	namespace, err := t.writing(namespace)
	if err != nil {
		return nil, err
	}
	keys, err := t.space.keysOf(namespace, items)
	if err != nil {
		return nil, err
	}
	return t.put(ctx, keys, items)
}

// put stages checked items, each under its key. An identical memory is not written again: only its receipt
// has a version.
func (t *Stage) put(ctx context.Context, keys []store.Key, items []Item) ([]Stored, error) {
	sites, last := sitesOf(keys), lastOf(keys)
	records, entries, err := t.current(ctx, sites)
	if err != nil {
		return nil, err
	}
	receipts := make([]Stored, len(keys))
	for i, it := range items {
		if err := t.require(sites[i], it.IfVersion, records[i], entries[i]); err != nil {
			return nil, inItem(i, len(items), err)
		}
		if last[i] != i {
			continue
		}
		if receipts[i], err = t.putOne(sites[i], it, records[i], entries[i]); err != nil {
			return nil, inItem(i, len(items), err)
		}
	}
	for i := range receipts {
		receipts[i] = receipts[last[i]]
	}
	if err := t.room(); err != nil {
		return nil, err
	}
	return receipts, nil
}

// lastOf returns, for each key, the last index of the same key.
func lastOf(keys []store.Key) []int {
	last := make([]int, len(keys))
	if len(keys) == 1 {
		return last
	}
	at := make(map[store.Key]int, len(keys))
	for i, key := range keys {
		at[key] = i
	}
	for i, key := range keys {
		last[i] = at[key]
	}
	return last
}

func sitesOf(keys []store.Key) []site {
	sites := make([]site, len(keys))
	for i, key := range keys {
		sites[i] = site{Key: key}
	}
	return sites
}

func (t *Stage) putOne(at site, it Item, was *record.Record, e store.Entry) (Stored, error) {
	receipt := Stored{Namespace: at.Namespace, Key: at.Name, readable: t.access.caller.Rights.MayRead(at.Namespace)}
	r, err := newRecord(it, t.agent)
	if err != nil {
		return receipt, err
	}
	if was != nil {
		receipt.Replaces = e.Version
	}
	origin := r.Created
	if origin > t.now.UnixMicro() {
		origin, r.Created = 0, 0
	}
	if was != nil && was.SameContent(r) && (origin == 0 || origin == was.CreatedAt(e).UnixMicro()) {
		receipt.Version, receipt.Timestamp = e.Version, e.Time
		return receipt, nil
	}
	if was != nil {
		r.Succeed(was, e)
		r.Created = cmp.Or(origin, r.Created)
		if receipt.readable && e.Version != 0 { // otherwise the stage itself wrote it before
			receipt.Former = formerOf(was, e, r)
		}
	}
	t.set(at, &r)
	return receipt, nil
}

// formerOf returns what a record replaces.
func formerOf(was *record.Record, e store.Entry, r record.Record) *Former {
	f := &Former{Version: e.Version, Agent: was.Agent}
	if !bytes.Equal(was.Value, r.Value) {
		f.Value = was.Value
	}
	return f
}

// require makes the version that the caller wants a condition of the commit; nil: any.
func (t *Stage) require(at site, want *uint64, r *record.Record, e store.Entry) error {
	if want == nil {
		return nil
	}
	have := uint64(0)
	if r != nil {
		have = e.Version
	}
	if have != *want {
		return t.space.conflictError(&store.ConflictError{Key: at.Key, Want: *want, Have: have})
	}
	t.expect(at, e)
	return nil
}

// Patch stages changes of memories, and returns the keys of missing ones.
func (t *Stage) Patch(ctx context.Context, namespace string, patches []Patch) (missing []string, err error) {
	keys := make([]string, len(patches))
	for i, p := range patches {
		keys[i] = p.Key
	}
	namespace, err = t.writingKeys(namespace, keys)
	if err != nil {
		return nil, err
	}
	sites := memorySites(namespace, keys)
	records, entries, err := t.current(ctx, sites)
	if err != nil {
		return nil, err
	}
	for i, p := range patches {
		if staged, before := t.changed[sites[i]]; before { // perhaps by an earlier patch
			records[i], entries[i] = staged, store.Entry{Key: sites[i].Key}
		}
		if records[i] == nil {
			missing = append(missing, p.Key)
			continue
		}
		if err := t.patch(sites[i], p, *records[i], entries[i]); err != nil {
			return nil, inItem(i, len(patches), err)
		}
	}
	return missing, t.room()
}

// patch stages a change of an existing memory. The result depends on its present state.
func (t *Stage) patch(at site, p Patch, was record.Record, e store.Entry) error {
	if err := t.require(at, p.IfVersion, &was, e); err != nil {
		return err
	}
	r, err := t.patched(was, p)
	if err != nil || was.SameContent(r) {
		return err
	}
	r.Succeed(&was, e)
	t.expect(at, e)
	t.set(at, &r)
	return nil
}

// patched returns a record with a patch applied, if that can be stored.
func (t *Stage) patched(r record.Record, p Patch) (record.Record, error) {
	r.Agent = t.agent
	if err := clearFields(&r, p.Clear); err != nil {
		return r, err
	}
	if p.Value != nil {
		if err := t.space.limits.checkJSON("value", p.Value, t.space.limits.Value); err != nil {
			return r, err
		}
		value, err := jsontext.Compact(p.Value)
		if err != nil {
			return r, invalid("value is not valid JSON: %v", err)
		}
		if !bytes.Equal(r.Value, value) {
			r.Vector, r.VectorOf = nil, "" // of the former value
		}
		r.Value = value
	}
	r.Tags = p.tags(r.Tags)
	if p.Type != nil {
		r.Type = *p.Type
	}
	if p.Importance != nil {
		r.Importance = p.Importance
	}
	r.Metadata = p.metadata(r.Metadata)
	if p.State != "" {
		r.State = string(p.State)
	}
	if r.State == string(Active) {
		r.State = ""
	}
	if p.Supersedes != nil {
		r.Supersedes = p.Supersedes
	}
	if p.Links != nil {
		r.Links = p.Links
	}
	if p.ExpiresAt != nil {
		r.Expires = 0
		if !p.ExpiresAt.IsZero() {
			r.Expires = p.ExpiresAt.UnixMicro()
		}
	}
	return r, t.space.limits.checkItem(itemOf(p.Key, r))
}

func (p Patch) tags(tags []string) []string {
	if p.Tags != nil {
		tags = p.Tags
	}
	kept := slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return slices.Contains(p.RemoveTags, tag) })
	return tidyTags(append(kept, p.AddTags...))
}

func (p Patch) metadata(metadata map[string]json.RawMessage) map[string]json.RawMessage {
	if len(p.Metadata) == 0 {
		return metadata
	}
	merged := maps.Clone(metadata)
	if merged == nil {
		merged = map[string]json.RawMessage{}
	}
	for name, value := range p.Metadata {
		if string(value) == "null" {
			delete(merged, name)
			continue
		}
		merged[name] = value
	}
	if len(merged) == 0 {
		return nil
	}
	return merged
}

// itemOf returns a record as an item to store.
func itemOf(key string, r record.Record) Item {
	return Item{Key: key, Value: r.Value, Tags: r.Tags, Type: r.Type, Importance: r.Importance, Metadata: r.Metadata, State: State(r.State),
		Supersedes: r.Supersedes, Links: r.Links, ExpiresAt: r.ExpiresAt(), Vector: Vector{r.VectorOf, record.DecodeVector(r.Vector)}}
}

// Delete stages the deletion of memories, and counts the existing ones.
func (t *Stage) Delete(ctx context.Context, namespace string, keys []string) (int, error) {
	removed, err := t.forget(ctx, namespace, keys)
	return len(removed), err
}

// forget stages the deletion of memories, and lists the keys of the existing ones.
func (t *Stage) forget(ctx context.Context, namespace string, keys []string) ([]string, error) {
	namespace, err := t.writingKeys(namespace, keys)
	if err != nil {
		return nil, err
	}
	removed, err := t.remove(ctx, memorySites(namespace, keys))
	names := make([]string, len(removed))
	for i, at := range removed {
		names[i] = at.Name
	}
	return names, err
}

// setState stages a state of memories, and lists the keys of the existing ones.
func (t *Stage) setState(ctx context.Context, namespace string, keys []string, state State) ([]string, error) {
	patches := make([]Patch, len(keys))
	for i, key := range keys {
		patches[i] = Patch{Key: key, State: state}
	}
	missing, err := t.Patch(ctx, namespace, patches)
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return slices.Contains(missing, key) }), err
}

// remove stages deletions, and returns the existing ones.
func (t *Stage) remove(ctx context.Context, sites []site) (removed []site, err error) {
	records, entries, err := t.current(ctx, sites)
	if err != nil {
		return nil, err
	}
	for i, at := range sites {
		if staged, again := t.changed[at]; records[i] == nil || again && staged == nil {
			continue
		}
		if err := t.weigh(ctx, at, entries[i], nil, Quota{}); err != nil {
			return removed, err
		}
		t.expect(at, entries[i])
		t.set(at, nil)
		removed = append(removed, at)
	}
	return removed, t.room()
}

// Touch stages additions to the counters of memories, and counts the existing ones.
func (t *Stage) Touch(ctx context.Context, namespace string, keys []string, accesses int64, health float64) (touched int, err error) {
	if namespace, err = t.writingKeys(namespace, keys); err != nil {
		return 0, err
	}
	if accesses < 0 || accesses > 1_000_000 || !(health >= -1 && health <= 1) {
		return 0, invalid("accesses go up by 0 to 1000000, and health by -1 to 1")
	}
	if err := t.room(); err != nil {
		return 0, err
	}
	sites, found := memorySites(namespace, keys), make([]store.Entry, len(keys))
	if err := t.fetch(ctx, sites, found); err != nil { // not as a read: counting must cause no conflict
		return 0, err
	}
	for i, at := range sites {
		if t.changed[at] != nil || found[i].Exists() {
			t.counts = append(t.counts, stagedCount{at.Key, accesses, health})
			touched++
		}
	}
	return touched, t.room()
}

// Counters returns the present counters of memories.
func (t *Stage) Counters(ctx context.Context, namespace string, keys []string) ([]Counters, error) {
	namespace, err := t.reading(namespace)
	if err != nil {
		return nil, err
	}
	if !t.at.IsNow() { // the past has no counters
		return make([]Counters, len(keys)), nil
	}
	sites := make([]store.Key, len(keys))
	for i, key := range keys {
		sites[i] = memoryKey(namespace, key)
	}
	return t.space.countersOf(ctx, t.home(), sites)
}

// Log stages an event of the log.
func (t *Stage) Log(namespace, event string, data json.RawMessage) error {
	namespace, err := t.writing(namespace)
	if err != nil {
		return err
	}
	if data, err = t.space.limits.checkEvent(event, data); err != nil {
		return err
	}
	return t.log(stagedEvent{namespace, event, data})
}

// log stages a checked event.
func (t *Stage) log(e stagedEvent) error {
	if err := t.room(); err != nil {
		return err
	}
	t.events = append(t.events, e)
	t.bytes += len(e.data)
	return t.room()
}

// checkEvent returns the compact data of an event that can be logged.
func (l Limits) checkEvent(event string, data json.RawMessage) (json.RawMessage, error) {
	if event == "" {
		return nil, invalid("event is empty: say what kind of event happened")
	}
	if err := l.checkText("event", event, l.Name); err != nil {
		return nil, err
	}
	if err := l.checkJSON("data", data, l.Value); err != nil {
		return nil, err
	}
	data, err := jsontext.Compact(data)
	if err != nil {
		return nil, invalid("data is not valid JSON: %v", err)
	}
	return data, nil
}

// LogNumbered is Log, and returns the event's sequence number. Concurrent events in the namespace are a conflict.
func (t *Stage) LogNumbered(ctx context.Context, namespace, event string, data json.RawMessage) (uint64, error) {
	if err := t.Log(namespace, event, data); err != nil {
		return 0, err
	}
	namespace = t.events[len(t.events)-1].namespace
	last, err := t.space.lastEvent(ctx, t.lineage(), namespace)
	if err != nil {
		return 0, err
	}
	next := site{Key: store.Key{Namespace: namespace, Collection: events, Name: store.SequenceName(last.Sequence + 1)}}
	remember(&t.seen, next, 0)
	staged := uint64(0)
	for _, e := range t.events {
		if e.namespace == namespace {
			staged++
		}
	}
	return last.Sequence + staged, nil
}

// Count counts the active memories and the events of a namespace, without staged changes.
func (t *Stage) Count(ctx context.Context, namespace string) (kept, logged int, err error) {
	namespace, err = t.reading(namespace)
	if err != nil {
		return 0, 0, err
	}
	v := view{branch: t.branch, lineage: t.lineage(), version: t.version, now: t.now}
	if kept, err = t.space.count(ctx, v, []string{namespace}, memories); err != nil {
		return 0, 0, err
	}
	logged, err = t.space.count(ctx, v, []string{namespace}, events)
	return kept, logged, err
}

// DeleteSome stages the deletion of at most limit memories of a namespace, in the order of their keys. more reports whether any
// are left.
func (t *Stage) DeleteSome(ctx context.Context, namespace string, limit int) (deleted int, more bool, err error) {
	after := ""
	for deleted < limit {
		page, next, err := t.List(ctx, namespace, "", after, min(limit-deleted, t.space.limits.Page))
		if err != nil {
			return deleted, false, err
		}
		keys := make([]string, len(page))
		for i, m := range page {
			keys[i] = m.Key
		}
		if len(keys) > 0 {
			n, err := t.Delete(ctx, namespace, keys)
			if err != nil {
				return deleted, false, err
			}
			deleted += n
		}
		if after = next; next == "" {
			return deleted, false, nil
		}
	}
	rest, _, err := t.List(ctx, namespace, "", after, 1)
	return deleted, len(rest) > 0, err
}

// History lists at most limit versions of a key, newest first, none newer than before or than the stage's version. Staged
// changes have no version yet, and are not listed.
func (t *Stage) History(ctx context.Context, namespace, key string, before uint64, limit int) ([]Memory, uint64, error) {
	at := AsOf{Version: min(before, t.version)}
	if at.Version == 0 {
		_, err := t.reading(namespace)
		return nil, 0, err
	}
	return t.access.History(ctx, Location{Branch: t.home().Name, Namespace: namespace}, key, at, limit)
}

// keysOf returns the keys of items, derived ones included, and refuses invalid items.
func (s *Space) keysOf(namespace string, items []Item) ([]store.Key, error) {
	if len(items) == 0 {
		return nil, invalid("there is nothing to store: give a value, or items")
	}
	if len(items) > s.limits.Batch {
		return nil, invalid("%d items: at most %d are allowed in one request; send several", len(items), s.limits.Batch)
	}
	now := s.clock()
	for i, it := range items {
		err := s.limits.checkItem(it)
		if err == nil && !it.ExpiresAt.IsZero() && !it.ExpiresAt.After(now) {
			err = invalid("expiry %s is in the past: it is %s now", FormatTime(it.ExpiresAt), FormatTime(now))
		}
		if err != nil {
			return nil, inItem(i, len(items), err)
		}
	}
	keys := make([]store.Key, len(items))
	for i, it := range items {
		name, err := it.Key, error(nil)
		if name == "" {
			name, err = derivedKey(namespace, it.Value)
		}
		if err != nil {
			return nil, inItem(i, len(items), err)
		}
		keys[i] = memoryKey(namespace, name)
	}
	return keys, nil
}

// checkKeys checks keys, and drops duplicates.
func (s *Space) checkKeys(names []string) ([]string, error) {
	if len(names) == 0 || len(names) > s.limits.Batch {
		return nil, invalid("%d keys: give from 1 to %d", len(names), s.limits.Batch)
	}
	var keys []string
	seen := map[string]bool{}
	for _, name := range names {
		if err := s.limits.checkKey(name); err != nil {
			return nil, err
		}
		if !seen[name] {
			keys = append(keys, name)
		}
		seen[name] = true
	}
	return keys, nil
}

// Get reads memories without counting an access; nil for a missing one.
func (a *Access) Get(ctx context.Context, p Location, keys []string) ([]*Memory, error) {
	stage, err := a.Stage(ctx, p.Branch)
	if err != nil {
		return nil, err
	}
	return stage.Get(ctx, p.Namespace, keys)
}
