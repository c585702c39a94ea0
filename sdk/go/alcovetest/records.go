package alcovetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/alcove-memory/alcove/abi"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// declared fails for a collection that the manifest does not declare.
func (h *host) declared(collection string) error {
	if slices.ContainsFunc(h.manifest.Collections, func(c abi.Collection) bool { return c.Name == collection }) {
		return nil
	}
	return alcove.Errorf(alcove.InvalidArgument, "the manifest declares no collection %q", collection)
}

func (h *host) getRecords(in abi.RecordGetRequest) (any, error) {
	if err := h.declared(in.Collection); err != nil {
		return nil, err
	}
	out := alcove.RecordGetResponse{Records: make([]*alcove.Record, len(in.Keys))}
	for i, key := range in.Keys {
		out.Records[i] = h.staged.records[address{in.Collection, h.namespace(in.Namespace), key}]
	}
	return out, nil
}

func (h *host) listRecords(in abi.RecordListRequest) (any, error) {
	if err := h.declared(in.Collection); err != nil {
		return nil, err
	}
	found, next := page(h.staged.records, in.Collection, h.namespace(in.Namespace), in.Prefix, in.After, in.Limit)
	return alcove.RecordListResponse{Records: found, Next: next}, nil
}

func (h *host) putRecords(in abi.RecordPutRequest) (any, error) {
	if err := h.declared(in.Collection); err != nil {
		return nil, err
	}
	for _, item := range in.Items {
		at := address{in.Collection, h.namespace(in.Namespace), item.Key}
		newest := uint64(0)
		if r := h.kept.records[at]; r != nil {
			newest = r.Version
		}
		if err := expect(at, newest, item.IfVersion); err != nil {
			return nil, err
		}
		h.record(in.Collection, h.namespace(in.Namespace), item.Key, item.Value)
	}
	return alcove.RecordPutResponse{Stored: len(in.Items)}, nil
}

func (h *host) record(collection, namespace, key string, value json.RawMessage) {
	h.staged.records[address{collection, namespace, key}] = &alcove.Record{Namespace: namespace, Key: key, Value: alcove.Raw(value)}
}

func (h *host) deleteRecords(in abi.RecordDeleteRequest) (any, error) {
	if err := h.declared(in.Collection); err != nil {
		return nil, err
	}
	out := alcove.RecordDeleteResponse{}
	for _, key := range in.Keys {
		at := address{in.Collection, h.namespace(in.Namespace), key}
		if h.staged.records[at] != nil {
			delete(h.staged.records, at)
			out.Deleted++
		}
	}
	return out, nil
}

func (h *host) appendRecords(in abi.RecordAppendRequest) (any, error) {
	if err := h.declared(in.Collection); err != nil {
		return nil, err
	}
	namespace, last := h.namespace(in.Namespace), uint64(0)
	for p := range h.staged.records {
		if p.collection == in.Collection && p.namespace == namespace {
			last++
		}
	}
	out := alcove.RecordAppendResponse{}
	for _, value := range in.Values {
		last++
		h.record(in.Collection, namespace, fmt.Sprintf("%020d", last), value)
		out.Sequences = append(out.Sequences, last)
	}
	return out, nil
}

func (h *host) analyze(in abi.TextAnalyzeRequest) (any, error) {
	out := alcove.TextAnalyzeResponse{}
	for _, text := range in.Texts {
		out.Terms = append(out.Terms, terms(text))
	}
	return out, nil
}

func (h *host) count(in abi.TextCountRequest) (any, error) {
	if in.Collection != "" && in.Collection != "memory" {
		if err := h.declared(in.Collection); err != nil {
			return nil, err
		}
	}
	out := alcove.TextCountResponse{Counts: make([]int, len(in.Terms))}
	for _, value := range h.values(in.Collection, in.Namespaces) {
		out.Documents++
		has := terms(text(value))
		for i, term := range in.Terms {
			if slices.Contains(has, term) {
				out.Counts[i]++
			}
		}
	}
	return out, nil
}

// values returns the values of a collection's stored records, or of memories.
func (h *host) values(collection string, namespaces []string) (values []json.RawMessage) {
	if collection == "" || collection == "memory" {
		for p, m := range h.kept.memories {
			if h.among(namespaces, p.namespace) {
				values = append(values, json.RawMessage(m.Value))
			}
		}
		return values
	}
	for p, r := range h.kept.records {
		if p.collection == collection && h.among(namespaces, p.namespace) {
			values = append(values, json.RawMessage(r.Value))
		}
	}
	return values
}

// terms are the words of a text in lower case; a real host also stems them and leaves out stop words.
func terms(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// text is all strings of a JSON value.
func text(value json.RawMessage) string {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return ""
	}
	return strings.Join(leaves(v), " ")
}

func leaves(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, leaves(e)...)
		}
		return all
	case map[string]any:
		var all []string
		for _, e := range v {
			all = append(all, leaves(e)...)
		}
		return all
	}
	return nil
}
