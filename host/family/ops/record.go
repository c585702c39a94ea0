package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/policy"
)

// collection is one of the family's own, as its manifest declares it.
func (call *Call) collection(name string) (memory.Collection, error) {
	for _, c := range call.Manifest.Collections {
		if c.Name != name {
			continue
		}
		if err := call.Powers.Check(abi.CanRecord, name); err != nil {
			return memory.Collection{}, err
		}
		expires, err := abi.Duration(c.Expires)
		return memory.Collection{Name: call.Manifest.Name + "/" + c.Name, PerSpace: c.Per == "space", Expires: expires, Fields: c.Searchable,
			Quota: call.Quota}, err
	}
	return memory.Collection{}, invalid("the manifest declares no collection %.128q", name)
}

// records is a collection, and the namespace that a request means, if whoever called may go there.
func (call *Call) records(name, namespace string) (memory.Collection, string, error) {
	c, err := call.collection(name)
	if err != nil {
		return c, "", err
	}
	namespace = call.in(namespace)
	return c, namespace, call.mayRead(namespace)
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

// recordNamespaces are the namespaces of records that a request means; nil stands for all.
func (call *Call) recordNamespaces(namespaces []string) ([]string, error) {
	if len(namespaces) == 0 {
		namespaces = []string{call.Namespace}
	}
	if slices.Contains(namespaces, policy.Everything) {
		readable, all := call.Caller.Rights.Readable()
		switch {
		case all:
			return nil, nil
		case len(readable) == 0: // which must not become nil, that stands for all
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
	out := &abi.Record{Namespace: r.Namespace, Key: r.Key, Value: r.Value, Version: r.Version}
	if !r.Timestamp.IsZero() {
		out.Timestamp = memory.FormatTime(r.Timestamp)
	}
	return out
}

func recordGet(call *Call, ctx context.Context, r abi.RecordGetRequest) (out abi.RecordGetResponse, err error) {
	c, namespace, err := call.records(r.Collection, r.Namespace)
	if err != nil {
		return out, err
	}
	found, err := call.Stage.Records(ctx, c, namespace, r.Keys)
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
	for _, item := range r.Items {
		if err := call.Stage.PutRecord(ctx, c, namespace, item.Key, item.Value, item.IfVersion); err != nil {
			return out, err
		}
	}
	return abi.RecordPutResponse{Stored: len(r.Items)}, nil
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
	c, namespace, err := call.records(r.Collection, r.Namespace)
	if err != nil {
		return out, err
	}
	found, next, err := call.Stage.ListRecords(ctx, c, namespace, r.Prefix, r.After, cmp.Or(r.Limit, defaultPage))
	if err != nil {
		return out, err
	}
	out = abi.RecordListResponse{Records: make([]abi.Record, len(found)), Next: next}
	for i := range found {
		out.Records[i] = *recordOf(&found[i])
	}
	return out, nil
}

func recordSearch(call *Call, ctx context.Context, r abi.RecordSearchRequest) (out abi.RecordSearchResponse, err error) {
	c, err := call.collection(r.Collection)
	if err != nil {
		return out, err
	}
	q := memory.Search{Text: r.Query, K: r.K, Offset: r.Offset}
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
