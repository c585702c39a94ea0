package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/query"
)

// CollectionOf converts a family's collection from its manifest.
func CollectionOf(m *abi.Manifest, c abi.Collection) (memory.Collection, error) {
	expires, err := abi.Duration(c.Expires)
	out := memory.Collection{Name: m.Name + "/" + c.Name, PerSpace: c.Per == "space", Expires: expires, Fields: c.Searchable,
		Unversioned: c.Versioned != nil && !*c.Versioned}
	for _, fields := range c.Indexes {
		var index query.Index
		for _, field := range fields {
			path, kind := abi.IndexedField(field)
			index = append(index, query.Field{Path: path, Type: query.Type(kind)})
		}
		out.Indexes = append(out.Indexes, index)
	}
	return out, err
}

// collection returns one of the family's own, as its manifest declares it.
func (call *Call) collection(name string) (memory.Collection, error) {
	for _, c := range call.Manifest.Collections {
		if c.Name != name {
			continue
		}
		if err := call.Powers.Check(abi.CanRecord, name); err != nil {
			return memory.Collection{}, err
		}
		out, err := CollectionOf(call.Manifest, c)
		out.Quota = call.Quota
		return out, err
	}
	return memory.Collection{}, invalid("the manifest declares no collection %.128q", name)
}

// readable returns a collection of the family or, read-only, of another. Families that the call may not read appear not
// to exist.
func (call *Call) readable(family, name string) (memory.Collection, error) {
	if family == "" || family == call.Manifest.Name {
		return call.collection(name)
	}
	if err := call.mayReadOf(family); err != nil {
		return memory.Collection{}, err
	}
	if m := call.host.manifest(family); m != nil {
		for _, c := range m.Collections {
			if c.Name == name && !c.Private {
				return CollectionOf(m, c)
			}
		}
	}
	return memory.Collection{}, invalid("there is no family %.64q with a collection %.128q", family, name)
}

// mayReadOf checks the right to the records of another family: the call's, and the caller's to that family.
func (call *Call) mayReadOf(family string) error {
	if err := call.Powers.Check(abi.CanRecordsRead, family); err != nil {
		return err
	}
	if !call.Caller.Rights.May(memory.ToUse(family)) {
		return &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("family %.64s is not one that the caller may use", family)}
	}
	return nil
}

func (h *Host) manifest(family string) *abi.Manifest {
	if h.Manifest == nil {
		return nil
	}
	return h.Manifest(family)
}

// readRecords returns a collection to read, and the namespace that a request means, if the caller may read it.
func (call *Call) readRecords(family, name, namespace string) (memory.Collection, string, error) {
	c, err := call.readable(family, name)
	if err != nil {
		return c, "", err
	}
	namespace = call.in(namespace)
	return c, namespace, call.mayRead(namespace)
}

// records returns one of the family's own collections, and the namespace that a request means, if the caller may read it.
func (call *Call) records(name, namespace string) (memory.Collection, string, error) {
	return call.readRecords("", name, namespace)
}

// recordStage returns the stage for reading records.
func (call *Call) recordStage(expired bool) *memory.Stage {
	if expired {
		return call.Stage.Expired()
	}
	return call.Stage
}

// mayRead checks the caller's own right to a namespace, whatever the family may.
func (call *Call) mayRead(namespace string) error {
	if call.Caller.Rights.MayRead(namespace) {
		return nil
	}
	return &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("namespace %.128s is not one that the caller may use", namespace)}
}

// mayKeep is records with the right to change them.
func (call *Call) mayKeep(name, namespace string) (memory.Collection, string, error) {
	if call.Caller.Rights.WritesNothing() {
		return memory.Collection{}, "", &abi.Error{Code: abi.CodeDenied, Message: "records cannot be changed, because the caller may only read, or the tool declares that it only reads"}
	}
	c, namespace, err := call.records(name, namespace)
	if err == nil && !call.Caller.Rights.MayWrite(namespace) {
		err = &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("records of namespace %.128s cannot be changed, because the caller may only read it", namespace)}
	}
	return c, namespace, err
}

// recordNamespaces returns the namespaces of records that a request means; nil means all.
func (call *Call) recordNamespaces(namespaces []string) ([]string, error) {
	if err := memory.CheckAsked(namespaces); err != nil {
		return nil, err
	}
	if len(namespaces) == 0 {
		namespaces = []string{call.Namespace}
	}
	if slices.Contains(namespaces, policy.Everything) {
		readable, all := call.Caller.Rights.Readable()
		switch {
		case all:
			return nil, nil
		case len(readable) == 0: // must not become nil, which means all
			return nil, call.mayRead(policy.Everything)
		}
		return readable, nil
	}
	for _, namespace := range namespaces {
		if err := call.mayRead(namespace); err != nil {
			return nil, err
		}
	}
	return namespaces, nil
}

func recordOf(r *memory.Record) *abi.Record {
	if r == nil {
		return nil
	}
	out := &abi.Record{Namespace: r.Namespace, Key: r.Key, Value: r.Value, Version: r.Version, Deleted: r.Deleted}
	if !r.Timestamp.IsZero() {
		out.Timestamp = memory.FormatTime(r.Timestamp)
	}
	if !r.ExpiresAt.IsZero() {
		out.ExpiresAt = memory.FormatTime(r.ExpiresAt)
	}
	return out
}

func recordGet(call *Call, ctx context.Context, r abi.RecordGetRequest) (out abi.RecordGetResponse, err error) {
	c, namespace, err := call.readRecords(r.Family, r.Collection, r.Namespace)
	if err != nil {
		return out, err
	}
	found, err := call.recordStage(r.Expired).Records(ctx, c, namespace, r.Keys)
	if err != nil {
		return out, err
	}
	out.Records = make([]*abi.Record, len(found))
	for i, record := range found {
		out.Records[i] = recordOf(record)
	}
	return out, nil
}

func recordPut(call *Call, ctx context.Context, r abi.RecordPutRequest) (out abi.RecordPutResponse, err error) {
	c, namespace, err := call.mayKeep(r.Collection, r.Namespace)
	if err != nil {
		return out, err
	}
	if r.Now {
		err = call.keepNow(ctx, c, namespace, r.Items)
	} else {
		err = call.keepIn(ctx, call.Stage, c, namespace, r.Items)
	}
	if err != nil {
		return out, err
	}
	return abi.RecordPutResponse{Stored: len(r.Items)}, nil
}

// keepIn stages records.
func (call *Call) keepIn(ctx context.Context, stage *memory.Stage, c memory.Collection, namespace string, items []abi.RecordItem) error {
	for _, item := range items {
		expires, err := call.expires(item.ExpiresAt)
		if err != nil {
			return err
		}
		it := memory.RecordItem{Key: item.Key, Value: item.Value, IfVersion: item.IfVersion, ExpiresAt: expires}
		if err := stage.Keep(ctx, c, namespace, it); err != nil {
			return err
		}
	}
	return nil
}

// keepNow commits records in a stage of their own, again if others commit meanwhile.
func (call *Call) keepNow(ctx context.Context, c memory.Collection, namespace string, items []abi.RecordItem) (last error) {
	if !c.PerSpace {
		return invalid("now is for records of a collection that is kept per space: those of a branch commit with the call")
	}
	if call.apart++; call.apart > mostApart {
		return &abi.Error{Code: abi.CodeExhausted, Message: fmt.Sprintf("a call keeps records at once %d times at most: stage the others", mostApart)}
	}
	for range keepAttempts {
		stage, err := call.space().Stage(ctx, memory.Default)
		if err != nil {
			return err
		}
		if err := call.keepIn(ctx, stage, c, namespace, items); err != nil || call.DryRun {
			return err
		}
		if _, last = stage.Commit(ctx, memory.Commit{}); !isConflict(last) {
			return last
		}
	}
	return last
}

// Bounds of records that are kept at once: how often in a call, and how often they are committed behind others.
const (
	mostApart    = 16
	keepAttempts = 8
)

func isConflict(err error) bool {
	var known *memory.Error
	return errors.As(err, &known) && known.Code == memory.Conflict
}

func recordDelete(call *Call, ctx context.Context, r abi.RecordDeleteRequest) (out abi.RecordDeleteResponse, err error) {
	c, namespace, err := call.mayKeep(r.Collection, r.Namespace)
	if err != nil {
		return out, err
	}
	out.Deleted, err = call.Stage.DeleteRecords(ctx, c, namespace, r.Keys)
	return out, err
}

func recordList(call *Call, ctx context.Context, r abi.RecordListRequest) (out abi.RecordListResponse, err error) {
	c, namespace, err := call.readRecords(r.Family, r.Collection, r.Namespace)
	if err != nil {
		return out, err
	}
	limit, stage := cmp.Or(r.Limit, defaultPage), call.recordStage(r.Expired)
	if len(r.Filters) > 0 || r.Order != "" {
		return queryRecords(ctx, stage, c, namespace, r, limit)
	}
	if r.Descending || r.Count {
		return out, invalid("descending and count need filters or order")
	}
	found, next, err := stage.ListRecords(ctx, c, namespace, r.Prefix, r.After, limit)
	if err != nil {
		return out, err
	}
	return abi.RecordListResponse{Records: recordsOf(found), Next: next}, nil
}

func recordScan(call *Call, ctx context.Context, r abi.RecordScanRequest) (out abi.RecordScanResponse, err error) {
	c, namespace, err := call.records(r.Collection, r.Namespace)
	if err != nil {
		return out, err
	}
	found, next, err := call.Stage.ScanRecords(ctx, c, namespace, r.Prefixes, r.After, r.Limit)
	if err != nil {
		return out, err
	}
	out.Next, out.Keys = next, make([]string, len(found))
	if r.Values {
		out.Values = make([]json.RawMessage, len(found))
	}
	for i := range found {
		out.Keys[i] = found[i].Key
		if r.Values {
			out.Values[i] = found[i].Value
		}
	}
	return out, nil
}

// queryRecords answers from indexes.
func queryRecords(ctx context.Context, stage *memory.Stage, c memory.Collection, namespace string, r abi.RecordListRequest, limit int) (out abi.RecordListResponse, err error) {
	q := query.Query{Prefix: r.Prefix, Order: r.Order, Descending: r.Descending, After: r.After, Limit: limit, Count: r.Count}
	for _, f := range r.Filters {
		q.Filters = append(q.Filters, query.Filter{Field: f.Field, Op: query.Op(f.Op), Value: f.Value})
	}
	page, err := stage.QueryRecords(ctx, c, namespace, q)
	if err != nil {
		return out, err
	}
	out = abi.RecordListResponse{Records: recordsOf(page.Records), Next: page.Next}
	if r.Count {
		out.Total = &page.Total
	}
	return out, nil
}

func recordsOf(list []memory.Record) []abi.Record {
	out := make([]abi.Record, len(list))
	for i := range list {
		out[i] = *recordOf(&list[i])
	}
	return out
}

func recordHistory(call *Call, ctx context.Context, r abi.RecordHistoryRequest) (out abi.RecordHistoryResponse, err error) {
	c, namespace, err := call.readRecords(r.Family, r.Collection, r.Namespace)
	if err != nil {
		return out, err
	}
	versions, next, err := call.Stage.RecordHistory(ctx, c, namespace, r.Key, r.Before, cmp.Or(r.Limit, defaultPage))
	return abi.RecordHistoryResponse{Versions: recordsOf(versions), Next: next}, err
}

func recordSearch(call *Call, ctx context.Context, r abi.RecordSearchRequest) (out abi.RecordSearchResponse, err error) {
	c, err := call.readable(r.Family, r.Collection)
	if err != nil {
		return out, err
	}
	q := memory.Search{Text: r.Query, K: r.K, Offset: r.Offset, Mode: memory.Mode(r.Mode), Vector: r.Vector}
	if q.Mode == "" && len(q.Vector) == 0 {
		q.Mode = memory.Lexical
	}
	if q.Namespaces, err = call.recordNamespaces(r.Namespaces); err != nil {
		return out, err
	}
	found, total, err := call.Stage.SearchRecords(ctx, c, q)
	if err != nil {
		return out, err
	}
	out = abi.RecordSearchResponse{Hits: make([]abi.RecordHit, len(found)), Total: total}
	for i := range found {
		out.Hits[i] = abi.RecordHit{Record: *recordOf(&found[i].Record), Score: found[i].Score, Snippet: found[i].Snippet}
	}
	return out, nil
}

func recordCollections(call *Call, _ context.Context, r abi.RecordCollectionsRequest) (out abi.RecordCollectionsResponse, err error) {
	out.Collections = []abi.RecordCollection{}
	own := call.Manifest.Name
	if r.Family != "" && r.Family != own {
		if err := call.mayReadOf(r.Family); err != nil {
			return out, err
		}
	}
	if !call.Caller.Rights.ReadsAnything() {
		return out, nil
	}
	for _, family := range call.host.families(own) {
		if r.Family != "" && r.Family != family {
			continue
		}
		m, may := call.Manifest, func(c abi.Collection) bool { return call.Powers.Allows(abi.CanRecord, c.Name) }
		if family != own {
			m, may = call.host.manifest(family), func(c abi.Collection) bool { return !c.Private && call.mayReadOf(family) == nil }
		}
		out.Collections = append(out.Collections, collectionsOf(m, may)...)
	}
	return out, nil
}

// families returns the names of all families, one's own included, sorted.
func (h *Host) families(own string) []string {
	if h.Families == nil {
		return []string{own}
	}
	return h.Families()
}

// collectionsOf describes the collections of a manifest that a call may read, sorted.
func collectionsOf(m *abi.Manifest, may func(abi.Collection) bool) (list []abi.RecordCollection) {
	if m == nil {
		return nil
	}
	for _, c := range m.Collections {
		if may(c) {
			list = append(list, abi.RecordCollection{Family: m.Name, Name: c.Name, Per: cmp.Or(c.Per, "branch"), Searchable: c.Searchable,
				Indexes: c.Indexes, Expires: c.Expires, Unversioned: c.Versioned != nil && !*c.Versioned, Open: c.Open, Private: c.Private})
		}
	}
	slices.SortFunc(list, func(a, b abi.RecordCollection) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func recordAppend(call *Call, ctx context.Context, r abi.RecordAppendRequest) (out abi.RecordAppendResponse, err error) {
	c, namespace, err := call.mayKeep(r.Collection, r.Namespace)
	if err != nil {
		return out, err
	}
	out.Sequences = make([]uint64, len(r.Values))
	for i, value := range r.Values {
		if out.Sequences[i], err = call.Stage.AppendRecord(ctx, c, namespace, value); err != nil {
			return out, err
		}
	}
	return out, nil
}
