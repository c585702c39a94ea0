package ops

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// nearestPage is how many records are read at a time.
const nearestPage = 1000

// recordNearest scans a collection for the vectors nearest to one.
func recordNearest(call *Call, ctx context.Context, r abi.RecordNearestRequest) (out abi.RecordNearestResponse, err error) {
	c, namespace, err := call.readRecords(r.Family, r.Collection, r.Namespace)
	if err != nil {
		return out, err
	}
	tests, err := fieldTests(r.Filters)
	if err != nil {
		return out, err
	}
	path := strings.Split(cmp.Or(r.Field, "vector"), ".")
	near := neighbors{k: cmp.Or(r.K, 10), query: r.Vector, metric: cmp.Or(r.Metric, "cosine")}
	for after := ""; ; {
		page, next, err := call.Stage.ListRecords(ctx, c, namespace, r.Prefix, after, nearestPage)
		if err != nil {
			return out, err
		}
		for i := range page {
			near.consider(&page[i], path, tests)
		}
		if after = next; next == "" {
			break
		}
	}
	out = abi.RecordNearestResponse{Hits: []abi.RecordNeighbor{}, Total: near.total}
	for _, n := range near.best {
		if r.OmitVector && len(path) == 1 {
			if n.record.Value, err = without(n.record.Value, path[0]); err != nil {
				return out, err
			}
		}
		out.Hits = append(out.Hits, abi.RecordNeighbor{Record: *recordOf(n.record), Score: n.score})
	}
	return out, nil
}

// without returns an object without a member.
func without(object json.RawMessage, name string) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	delete(members, name)
	return json.Marshal(members)
}

// neighbor is a record and how near it is.
type neighbor struct {
	record *memory.Record
	score  float64
}

// neighbors collects the k nearest records, the best first.
type neighbors struct {
	k      int
	query  []float32
	metric string
	best   []neighbor
	total  int
	buffer []float32
}

// consider compares a record, unless it fails a test or has no vector of the query's length.
func (n *neighbors) consider(r *memory.Record, path []string, tests []fieldTest) {
	value, ok := member(r.Value, path)
	if !ok {
		return
	}
	if n.buffer, ok = appendFloats(n.buffer[:0], value); !ok || len(n.buffer) != len(n.query) {
		return
	}
	for _, t := range tests {
		if !t.holds(r.Value) {
			return
		}
	}
	n.total++
	score := nearness(n.metric, n.query, n.buffer)
	if len(n.best) == n.k && score <= n.best[n.k-1].score {
		return
	}
	kept := *r
	at, _ := slices.BinarySearchFunc(n.best, score, func(b neighbor, score float64) int {
		if b.score >= score { // behind the equally near ones, whose keys are smaller
			return -1
		}
		return 1
	})
	n.best = slices.Insert(n.best, at, neighbor{&kept, score})
	n.best = n.best[:min(len(n.best), n.k)]
}

// nearness computes how near two vectors of one length are; a vector of zeros is as near to all.
func nearness(metric string, a, b []float32) float64 {
	var dot, aa, bb, distance float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb, distance = dot+x*y, aa+x*x, bb+y*y, distance+(x-y)*(x-y)
	}
	switch metric {
	case "euclidean":
		return 1 / (1 + math.Sqrt(distance))
	case "dot_product":
		return dot
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// appendFloats appends the numbers of a JSON list; false: it is something else.
func appendFloats(dst []float32, list json.RawMessage) ([]float32, bool) {
	inner, isList := bytes.CutPrefix(bytes.TrimSpace(list), []byte("["))
	inner, closed := bytes.CutSuffix(inner, []byte("]"))
	if !isList || !closed {
		return dst, false
	}
	for len(inner) > 0 {
		number, rest, _ := bytes.Cut(inner, []byte(","))
		v, err := strconv.ParseFloat(string(bytes.TrimSpace(number)), 32)
		if err != nil {
			return dst, false
		}
		dst, inner = append(dst, float32(v)), rest
	}
	return dst, true
}

// member returns the field of a JSON object at a path.
func member(value json.RawMessage, path []string) (json.RawMessage, bool) {
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(value, &members) != nil {
			return nil, false
		}
		found, ok := members[name]
		if !ok {
			return nil, false
		}
		value = found
	}
	return value, true
}

// fieldTest is a condition on a field of records.
type fieldTest struct {
	path  []string
	op    string
	value any
}

// mostTested bounds the list that in compares with.
const mostTested = 1000

func fieldTests(list []abi.RecordTest) (tests []fieldTest, err error) {
	for _, t := range list {
		test := fieldTest{path: strings.Split(t.Field, "."), op: t.Op}
		if err := json.Unmarshal(t.Value, &test.value); err != nil {
			return nil, invalid("filters: the value for %.128q is not JSON: %v", t.Field, err)
		}
		several, isList := test.value.([]any)
		switch test.op {
		case "in":
			if !isList || len(several) > mostTested {
				return nil, invalid("filters: in takes a list of at most %d values, for %.128q", mostTested, t.Field)
			}
		case "gt", "gte", "lt", "lte":
			switch test.value.(type) {
			case float64, string:
			default:
				return nil, invalid("filters: %s takes a number or a string, for %.128q", t.Op, t.Field)
			}
		}
		tests = append(tests, test)
	}
	return tests, nil
}

// holds reports whether a record's value satisfies the test.
func (t fieldTest) holds(value json.RawMessage) bool {
	raw, found := member(value, t.path)
	var field any
	if !found || json.Unmarshal(raw, &field) != nil {
		return t.op == "ne"
	}
	switch t.op {
	case "eq":
		return same(field, t.value)
	case "ne":
		return !same(field, t.value)
	case "in":
		return slices.ContainsFunc(t.value.([]any), func(v any) bool { return same(field, v) })
	case "contains":
		return contains(field, t.value)
	}
	order, comparable := compared(field, t.value)
	switch t.op {
	case "gt":
		return comparable && order > 0
	case "gte":
		return comparable && order >= 0
	case "lt":
		return comparable && order < 0
	}
	return comparable && order <= 0
}

// contains reports whether a string contains a part, or a list an element.
func contains(whole, part any) bool {
	switch whole := whole.(type) {
	case string:
		text, ok := part.(string)
		return ok && strings.Contains(whole, text)
	case []any:
		return slices.ContainsFunc(whole, func(v any) bool { return same(v, part) })
	}
	return false
}

// compared compares two numbers, or two strings.
func compared(a, b any) (order int, comparable bool) {
	switch a := a.(type) {
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b), true
		}
	case string:
		if b, ok := b.(string); ok {
			return cmp.Compare(a, b), true
		}
	}
	return 0, false
}

// same compares values as encoding/json reads them.
func same(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, v := range a {
			other, there := b[name]
			if !there || !same(v, other) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}
