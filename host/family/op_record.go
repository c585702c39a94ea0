package family

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/policy"
)

// collection is one of the family's own, as its manifest declares it.
func (w *work) collection(name string) (memory.Collection, error) {
	for _, c := range w.family.manifest.Collections {
		if c.Name != name {
			continue
		}
		if err := w.powers.Check(abi.CanRecord, name); err != nil {
			return memory.Collection{}, err
		}
		expires, err := abi.Duration(c.Expires)
		return memory.Collection{Name: w.family.name + "/" + c.Name, PerSpace: c.Per == "space", Expires: expires, Fields: c.Searchable,
			Quota: recordQuota(w.families.grantOf(w.family))}, err
	}
	return memory.Collection{}, invalid("the manifest declares no collection %.128q", name)
}

// records is a collection, and the namespace that a request means, if whoever called may go there.
func (w *work) records(name, namespace string) (memory.Collection, string, error) {
	c, err := w.collection(name)
	if err != nil {
		return c, "", err
	}
	namespace = w.in(namespace)
	return c, namespace, w.mayEnter(namespace)
}

// mayEnter checks the caller's own right to a namespace, whatever the family may.
func (w *work) mayEnter(namespace string) error {
	if w.caller.MayEnter(namespace) {
		return nil
	}
	return &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("namespace %.128s is not one of those that whoever called may use", namespace)}
}

// mayKeep is records with the right to change them.
func (w *work) mayKeep(name, namespace string) (memory.Collection, string, error) {
	if w.caller.ReadOnly {
		return memory.Collection{}, "", &abi.Error{Code: abi.CodeDenied, Message: "records cannot be changed, because whoever called, or the tool by its own word, may only read"}
	}
	return w.records(name, namespace)
}

// recordNamespaces are the namespaces of records that a request means; nil stands for all.
func (w *work) recordNamespaces(namespaces []string) ([]string, error) {
	if len(namespaces) == 0 {
		namespaces = []string{w.namespace}
	}
	if slices.Contains(namespaces, policy.Everything) {
		switch {
		case w.caller.Namespaces == nil || slices.Contains(w.caller.Namespaces, policy.Everything):
			return nil, nil
		case len(w.caller.Namespaces) == 0:
			return nil, w.mayEnter(policy.Everything)
		}
		return w.caller.Namespaces, nil
	}
	for _, namespace := range namespaces {
		if err := w.mayEnter(namespace); err != nil {
			return nil, err
		}
	}
	return namespaces, nil
}

type recordJSON struct {
	Namespace string          `json:"namespace"`
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
	Version   uint64          `json:"version"`
	Timestamp string          `json:"timestamp,omitempty"`
}

func recordOf(r *memory.Record) *recordJSON {
	if r == nil {
		return nil
	}
	out := &recordJSON{Namespace: r.Namespace, Key: r.Key, Value: r.Value, Version: r.Version}
	if !r.Timestamp.IsZero() {
		out.Timestamp = stampOf(r.Timestamp)
	}
	return out
}

type recordKeysRequest struct {
	Collection string `json:"collection"`
	keysRequest
}

func recordGet(w *work, ctx context.Context, r recordKeysRequest) (any, error) {
	c, namespace, err := w.records(r.Collection, r.Namespace)
	if err != nil {
		return nil, err
	}
	found, err := w.stage.Records(ctx, c, namespace, r.Keys)
	if err != nil {
		return nil, err
	}
	list := make([]*recordJSON, len(found))
	for i, record := range found {
		list[i] = recordOf(record)
	}
	return map[string]any{"records": list}, nil
}

type recordPutRequest struct {
	Collection string `json:"collection"`
	Namespace  string `json:"namespace"`
	Items      []struct {
		Key       string          `json:"key"`
		Value     json.RawMessage `json:"value"`
		IfVersion *uint64         `json:"if_version"`
	} `json:"items"`
}

func recordPut(w *work, ctx context.Context, r recordPutRequest) (any, error) {
	c, namespace, err := w.mayKeep(r.Collection, r.Namespace)
	if err != nil {
		return nil, err
	}
	if len(r.Items) == 0 || len(r.Items) > 1000 {
		return nil, invalid("%d items: give from 1 to 1000", len(r.Items))
	}
	for _, item := range r.Items {
		if err := w.stage.PutRecord(ctx, c, namespace, item.Key, item.Value, item.IfVersion); err != nil {
			return nil, err
		}
	}
	return map[string]any{"stored": len(r.Items)}, nil
}

func recordDelete(w *work, ctx context.Context, r recordKeysRequest) (any, error) {
	c, namespace, err := w.mayKeep(r.Collection, r.Namespace)
	if err != nil {
		return nil, err
	}
	n, err := w.stage.DeleteRecords(ctx, c, namespace, r.Keys)
	return map[string]any{"deleted": n}, err
}

type recordListRequest struct {
	Collection string `json:"collection"`
	Namespace  string `json:"namespace"`
	Prefix     string `json:"prefix"`
	After      string `json:"after"`
	Limit      int    `json:"limit"`
}

func recordList(w *work, ctx context.Context, r recordListRequest) (any, error) {
	c, namespace, err := w.records(r.Collection, r.Namespace)
	if err != nil {
		return nil, err
	}
	limit, err := page(r.Limit)
	if err != nil {
		return nil, err
	}
	found, next, err := w.stage.ListRecords(ctx, c, namespace, r.Prefix, r.After, limit)
	if err != nil {
		return nil, err
	}
	list := make([]*recordJSON, len(found))
	for i := range found {
		list[i] = recordOf(&found[i])
	}
	return struct {
		Records []*recordJSON `json:"records"`
		Next    string        `json:"next,omitempty"`
	}{list, next}, nil
}

type recordSearchRequest struct {
	Collection string   `json:"collection"`
	Query      string   `json:"query"`
	Namespaces []string `json:"namespaces"`
	K          int      `json:"k"`
	Offset     int      `json:"offset"`
}

func recordSearch(w *work, ctx context.Context, r recordSearchRequest) (any, error) {
	c, err := w.collection(r.Collection)
	if err != nil {
		return nil, err
	}
	q := memory.Search{Text: r.Query, K: r.K, Offset: r.Offset}
	if q.Namespaces, err = w.recordNamespaces(r.Namespaces); err != nil {
		return nil, err
	}
	found, total, err := w.stage.SearchRecords(ctx, c, q)
	if err != nil {
		return nil, err
	}
	type hit struct {
		Record  *recordJSON `json:"record"`
		Score   float64     `json:"score"`
		Snippet string      `json:"snippet"`
	}
	hits := make([]hit, len(found))
	for i := range found {
		hits[i] = hit{recordOf(&found[i].Record), found[i].Score, found[i].Snippet}
	}
	return map[string]any{"hits": hits, "total": total}, nil
}

type recordAppendRequest struct {
	Collection string            `json:"collection"`
	Namespace  string            `json:"namespace"`
	Values     []json.RawMessage `json:"values"`
}

func recordAppend(w *work, ctx context.Context, r recordAppendRequest) (any, error) {
	c, namespace, err := w.mayKeep(r.Collection, r.Namespace)
	if err != nil {
		return nil, err
	}
	if len(r.Values) == 0 || len(r.Values) > 1000 {
		return nil, invalid("%d values: give from 1 to 1000", len(r.Values))
	}
	sequences := make([]uint64, len(r.Values))
	for i, value := range r.Values {
		if sequences[i], err = w.stage.AppendRecord(ctx, c, namespace, value); err != nil {
			return nil, err
		}
	}
	return map[string]any{"sequences": sequences}, nil
}
