package memory

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/memory/quota"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

func recordSites(c Collection, namespace string, keys []string) []site {
	sites := make([]site, len(keys))
	for i, key := range keys {
		sites[i] = site{c.PerSpace, store.Key{Namespace: namespace, Collection: c.Name, Name: key}}
	}
	return sites
}

// allowing returns the stage with the rights for a collection: the caller's, unless it is Internal.
func (t *Stage) allowing(c Collection) *Stage {
	if !c.Internal {
		return t
	}
	all := *t
	all.access = t.space.As(Caller{Rights: FullRights()})
	return &all
}

// Records reads records; nil for a missing one.
func (t *Stage) Records(ctx context.Context, c Collection, namespace string, keys []string) ([]*Record, error) {
	namespace, err := t.allowing(c).readingKeys(namespace, keys)
	if err != nil {
		return nil, err
	}
	if err := t.present(c); err != nil {
		return nil, err
	}
	sites := recordSites(c, namespace, keys)
	records, entries, err := t.current(ctx, sites)
	if err != nil {
		return nil, err
	}
	list := make([]*Record, len(keys))
	for i, r := range records {
		if r != nil {
			list[i] = &Record{sites[i].Namespace, sites[i].Name, r.Value, entries[i].Version, entries[i].Time, r.ExpiresAt(), false}
		}
	}
	return list, nil
}

// ListRecords reads at most limit records in the order of their keys, after the key after. next is the after of the next
// page; empty: the last page.
func (t *Stage) ListRecords(ctx context.Context, c Collection, namespace, prefix, after string, limit int) (list []Record, next string, err error) {
	namespace, err = t.allowing(c).reading(namespace)
	if err != nil {
		return nil, "", err
	}
	if err := t.present(c); err != nil {
		return nil, "", err
	}
	found, next, err := t.list(ctx, c, namespace, prefix, after, limit)
	for _, l := range found {
		list = append(list, Record{l.Namespace, l.Name, l.record.Value, l.point.Version, l.point.Time, l.record.ExpiresAt(), false})
	}
	return list, next, err
}

// ScanRecords reads at most limit records whose keys begin with one of some prefixes, in the order of their keys, after the key after.
// next is the after of the next page; empty: the last page.
func (t *Stage) ScanRecords(ctx context.Context, c Collection, namespace string, prefixes []string, after string, limit int) (list []Record, next string, err error) {
	namespace, err = t.allowing(c).reading(namespace)
	if err != nil {
		return nil, "", err
	}
	if err := t.present(c); err != nil {
		return nil, "", err
	}
	staged := t.staged(c, namespace, "")
	limit = t.space.page(limit)
	for _, prefix := range widest(prefixes) {
		if prefix < after && !strings.HasPrefix(after, prefix) {
			continue // all its keys are before
		}
		found, more, err := t.listWith(ctx, c, namespace, prefix, after, max(limit-len(list), 1), under(staged, prefix))
		if err != nil {
			return nil, "", err
		}
		if len(list) == limit && len(found) > 0 {
			return list, list[limit-1].Key, nil
		}
		for _, l := range found {
			list = append(list, Record{l.Namespace, l.Name, l.record.Value, l.point.Version, l.point.Time, l.record.ExpiresAt(), false})
		}
		if more != "" {
			return list, more, nil
		}
	}
	return list, "", nil
}

// widest returns prefixes in order, without those that begin with another one.
func widest(prefixes []string) (list []string) {
	for _, p := range slices.Sorted(slices.Values(prefixes)) {
		if n := len(list); n == 0 || !strings.HasPrefix(p, list[n-1]) {
			list = append(list, p)
		}
	}
	return list
}

// under returns those of some sites, in the order of their keys, whose keys begin with a prefix.
func under(sites []site, prefix string) []site {
	from := sort.Search(len(sites), func(i int) bool { return sites[i].Name >= prefix })
	n := sort.Search(len(sites)-from, func(i int) bool { return !strings.HasPrefix(sites[from+i].Name, prefix) })
	return sites[from : from+n]
}

// RecordItem is a record to be staged.
type RecordItem struct {
	Key       string
	Value     json.RawMessage
	IfVersion *uint64    // the expected version, 0 for none; nil: any
	ExpiresAt *time.Time // the zero time: never; nil: the collection's default
}

// PutRecord stages a record. want is the expected version, 0 for none; nil: any.
func (t *Stage) PutRecord(ctx context.Context, c Collection, namespace, key string, value json.RawMessage, want *uint64) error {
	return t.Keep(ctx, c, namespace, RecordItem{Key: key, Value: value, IfVersion: want})
}

// Keep stages a record.
func (t *Stage) Keep(ctx context.Context, c Collection, namespace string, it RecordItem) error {
	namespace, err := t.allowing(c).writingKeys(namespace, []string{it.Key})
	if err != nil {
		return err
	}
	r, err := t.newRecord(c, it)
	if err != nil {
		return err
	}
	sites := recordSites(c, namespace, []string{it.Key})
	records, entries, err := t.current(ctx, sites)
	if err != nil {
		return err
	}
	if err := t.require(sites[0], it.IfVersion, records[0], entries[0]); err != nil {
		return err
	}
	if records[0] == nil || c.Expires > 0 || !records[0].SameContent(r) {
		if err := t.weigh(ctx, sites[0], entries[0], &r, c.Quota); err != nil {
			return err
		}
		t.set(sites[0], &r)
		remember(&t.kept, c.Name, c)
	}
	return t.room()
}

// newRecord returns a record of a collection, if it can be stored.
func (t *Stage) newRecord(c Collection, it RecordItem) (record.Record, error) {
	if err := t.space.limits.checkJSON("value", it.Value, t.space.limits.Value); err != nil {
		return record.Record{}, err
	}
	value, err := jsontext.Compact(it.Value)
	if err != nil {
		return record.Record{}, invalid("value is not valid JSON: %v", err)
	}
	r := record.Record{Value: value, Fields: c.Fields, Agent: t.agent}
	of := query.ValuesOf(&r)
	for _, index := range c.Indexes {
		if err := index.Check(of); err != nil {
			return r, err
		}
	}
	switch {
	case it.ExpiresAt == nil && c.Expires > 0:
		r.Expires = t.now.Add(c.Expires).UnixMicro()
	case it.ExpiresAt == nil || it.ExpiresAt.IsZero():
	case !it.ExpiresAt.After(t.now):
		return r, invalid("expiry %s is in the past: it is %s now", FormatTime(*it.ExpiresAt), FormatTime(t.now))
	default:
		r.Expires = it.ExpiresAt.UnixMicro()
	}
	return r, nil
}

// weigh adds a change to its family's growth. It returns an error if that is positive and exceeds the quota.
func (t *Stage) weigh(ctx context.Context, at site, was store.Entry, r *record.Record, q Quota) error {
	owner := ownerOf(at.Collection)
	if owner == "" {
		return nil
	}
	before, known := t.had[at]
	if !known {
		var err error
		if before, err = quota.OfEntry(was, t.branchOf(at)); err != nil {
			return err
		}
		remember(&t.had, at, before)
	}
	if staged, changed := t.changed[at]; changed {
		before = quota.Of(at.Name, staged)
	}
	more := quota.Of(at.Name, r).At(t.now).Minus(before.At(t.now))
	growth := t.growth[owner].Plus(more)
	if more.Records > 0 || more.Bytes > 0 {
		remember(&t.quotas, owner, q)
		if err := t.space.usage.Room(ctx, t.now, owner, q, growth); err != nil {
			return t.redactQuotaError(err)
		}
	}
	remember(&t.growth, owner, growth)
	return nil
}

// redactQuotaError removes the present use, which spans all namespaces, from a quota's error, unless the caller may read all.
func (t *Stage) redactQuotaError(err error) error {
	var e *Error
	if t.access.caller.Rights.readsAll() || !errors.As(err, &e) || e.Code != Exhausted {
		return err
	}
	return &Error{Code: Exhausted, Message: "the quota of what the family may keep is used up: have it delete some, or have an operator raise it",
		Details: map[string]any{"quota": e.Details["quota"]}}
}

// branchOf returns the branch of a site.
func (t *Stage) branchOf(at site) store.BranchID {
	if !at.system {
		return t.branch.ID
	}
	if b := t.space.catalogue.System(); b != nil {
		return b.ID
	}
	return 0 // nothing is there yet
}

// useChanges returns the stage's changes of families' use. A proposal writes to a new branch; its changes are of
// branch 0, since the number is not yet known.
func (t *Stage) useChanges(c Commit) []quota.Change {
	var changes []quota.Change
	for _, at := range t.order {
		owner := ownerOf(at.Collection)
		if owner == "" {
			continue
		}
		change := quota.Change{Owner: owner, Branch: t.branchOf(at), Old: t.had[at], New: quota.Of(at.Name, t.changed[at])}
		if t.forks(c) && !at.system {
			change.Branch, change.Old = 0, quota.Tally{}
		}
		changes = append(changes, change)
	}
	return changes
}

// ExpectRecord replaces the expected version of a record by another: the same work wrote it through
// another stage.
func (t *Stage) ExpectRecord(c Collection, namespace, key string, version uint64) {
	if _, err := t.allowing(c).reading(namespace); err != nil {
		return // the conflict would reveal its version
	}
	remember(&t.seen, site{c.PerSpace, store.Key{Namespace: namespace, Collection: c.Name, Name: key}}, version)
}

// DeleteRecords stages the deletion of records, and counts the existing ones.
func (t *Stage) DeleteRecords(ctx context.Context, c Collection, namespace string, keys []string) (int, error) {
	namespace, err := t.allowing(c).writingKeys(namespace, keys)
	if err != nil {
		return 0, err
	}
	removed, err := t.remove(ctx, recordSites(c, namespace, keys))
	return len(removed), err
}

// AppendRecord stages a record under the next sequence number of its collection, from 1 on, and returns the number. Concurrent
// appends to one collection are a conflict.
func (t *Stage) AppendRecord(ctx context.Context, c Collection, namespace string, value json.RawMessage) (uint64, error) {
	namespace, err := t.writing(namespace)
	if err != nil {
		return 0, err
	}
	last, err := t.lastSequence(ctx, c, namespace)
	if err != nil {
		return 0, err
	}
	none := uint64(0)
	return last + 1, t.PutRecord(ctx, c, namespace, store.SequenceName(last+1), value, &none)
}

// lastSequence returns the greatest sequence number in a collection, including staged ones.
func (t *Stage) lastSequence(ctx context.Context, c Collection, namespace string) (last uint64, err error) {
	r := store.Range{Namespace: namespace, Collection: c.Name, Reverse: true}
	if lineage := t.lineageOf(c); lineage != nil {
		entries, _, err := t.space.engine.ScanAt(ctx, lineage, r, "", 1)
		if err != nil {
			return 0, t.space.translate("append", err)
		}
		if len(entries) > 0 {
			if last, err = store.ParseSequence(entries[0].Name); err != nil {
				return 0, invalid("collection %s has keys that are not sequence numbers: append only to one that is always appended to", c.Name)
			}
		}
	}
	for _, at := range t.order {
		if at.system == c.PerSpace && at.Namespace == namespace && at.Collection == c.Name && t.changed[at] != nil {
			if n, err := store.ParseSequence(at.Name); err == nil {
				last = max(last, n)
			}
		}
	}
	return last, nil
}

// present returns an error for a read of an unversioned collection in the past, which it does not have.
func (t *Stage) present(c Collection) error {
	if c.Unversioned && !t.at.IsNow() {
		return invalid("collection %s has only the newest version of each record, on all branches: leave as_of out", c.Name)
	}
	return nil
}
