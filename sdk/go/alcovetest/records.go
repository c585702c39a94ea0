package alcovetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func (h *host) getRecords(request []byte) (any, error) {
	in, err := read[alcove.Records](request)
	out := make([]*alcove.Record, len(in.Keys))
	for i, key := range in.Keys {
		out[i] = h.staged.records[place{in.Collection, h.namespace(in.Namespace), key}]
	}
	return map[string]any{"records": out}, err
}

func (h *host) listRecords(request []byte) (any, error) {
	in, err := read[alcove.Records](request)
	found, next := page(h.staged.records, in.Collection, h.namespace(in.Namespace), in.Prefix, in.After, in.Limit)
	return map[string]any{"records": found, "next": next}, err
}

func (h *host) putRecords(request []byte) (any, error) {
	in, err := read[struct {
		Collection, Namespace string
		Items                 []struct {
			Key   string
			Value json.RawMessage
		}
	}](request)
	for _, item := range in.Items {
		h.record(in.Collection, h.namespace(in.Namespace), item.Key, item.Value)
	}
	return map[string]int{"stored": len(in.Items)}, err
}

func (h *host) record(collection, namespace, key string, value json.RawMessage) {
	h.staged.records[place{collection, namespace, key}] = &alcove.Record{Namespace: namespace, Key: key, Value: value}
}

func (h *host) deleteRecords(request []byte) (any, error) {
	in, err := read[alcove.Records](request)
	for _, key := range in.Keys {
		delete(h.staged.records, place{in.Collection, h.namespace(in.Namespace), key})
	}
	return map[string]int{"deleted": len(in.Keys)}, err
}

func (h *host) appendRecords(request []byte) (any, error) {
	in, err := read[struct {
		Collection, Namespace string
		Values                []json.RawMessage
	}](request)
	var sequences []int
	for _, value := range in.Values {
		last := 0
		for p := range h.staged.records {
			if p.collection == in.Collection && p.namespace == h.namespace(in.Namespace) {
				last++
			}
		}
		h.record(in.Collection, h.namespace(in.Namespace), fmt.Sprintf("%020d", last+1), value)
		sequences = append(sequences, last+1)
	}
	return map[string]any{"sequences": sequences}, err
}

func (h *host) analyze(request []byte) (any, error) {
	in, err := read[struct{ Texts []string }](request)
	out := [][]string{}
	for _, text := range in.Texts {
		out = append(out, terms(text))
	}
	return map[string]any{"terms": out}, err
}

func (h *host) count(request []byte) (any, error) {
	in, err := read[struct{ Terms []string }](request)
	counts := make([]int, len(in.Terms))
	documents := 0
	for p, m := range h.kept.memories {
		if p.namespace != h.Namespace {
			continue
		}
		documents++
		has := terms(text(m.Value))
		for i, term := range in.Terms {
			if slices.Contains(has, term) {
				counts[i]++
			}
		}
	}
	return map[string]any{"documents": documents, "counts": counts}, err
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
