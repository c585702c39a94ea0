package developer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

type arguments = map[string]any

// world is a space with the family.
type world struct {
	*alcovetest.Space
	t *testing.T
}

func open(t *testing.T) world {
	t.Helper()
	return world{alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json")), t}
}

// do calls a tool, and returns its result as JSON.
func (w world) do(tool string, a arguments) map[string]any {
	w.t.Helper()
	var out map[string]any
	if err := w.Tool(tool, a, &out); err != nil {
		w.t.Fatalf("call %s with %v: %v", tool, a, err)
	}
	return out
}

// refused calls a tool that must fail with a code.
func (w world) refused(code alcove.Code, tool string, a arguments) string {
	w.t.Helper()
	err := w.Tool(tool, a, nil)
	if alcove.CodeOf(err) != code {
		w.t.Errorf("%s %v: %v, not %s", tool, a, err, code)
		return ""
	}
	if known := (*alcove.Error)(nil); errors.As(err, &known) && code == alcove.Conflict && known.Retryable {
		w.t.Errorf("%s %v: %v is retryable, and would be refused again", tool, a, err)
	}
	return err.Error()
}

// says compares a result with what it should be, as JSON; members that are not named do not count.
func (w world) says(got map[string]any, want string) {
	w.t.Helper()
	var wanted map[string]any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		w.t.Fatal(err)
	}
	for name, v := range wanted {
		if text(w.t, got[name]) != text(w.t, v) {
			w.t.Errorf("%s is %s, not %s", name, text(w.t, got[name]), text(w.t, v))
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestKeysAreKeptListedAndDeleted(t *testing.T) {
	w := open(t)
	w.says(w.do("memory_kv", arguments{"action": "put", "key": "a", "value": map[string]any{"n": 1}}), `{"key":"a","stored":1}`)
	w.says(w.do("strata_kv_put", arguments{"key": "a", "value": 2}), `{"key":"a"}`)
	w.says(w.do("strata_kv_put_many", arguments{"items": []any{arguments{"key": "b", "value": "x"}, arguments{"key": "c", "value": nil}}}), `{"stored":2}`)
	w.says(w.do("memory_kv", arguments{"action": "get", "key": "a"}), `{"key":"a","value":2,"found":true}`)
	w.says(w.do("memory_kv", arguments{"action": "get", "key": "none"}), `{"key":"none","found":false,"value":null}`)
	many := w.do("strata_kv_get_many", arguments{"keys": []string{"b", "none"}})
	if items := many["items"].([]any); len(items) != 2 || items[0].(map[string]any)["value"] != "x" || items[1].(map[string]any)["found"] != false {
		t.Errorf("strata_kv_get_many = %v, want x for b and none not found", many)
	}
	w.says(w.do("memory_kv", arguments{"action": "list", "limit": 2}), `{"keys":["a","b"],"truncated":true,"next_cursor":"b"}`)
	w.says(w.do("memory_kv", arguments{"action": "list", "cursor": "b"}), `{"keys":["c"]}`)
	page := w.do("strata_kv_history", arguments{"key": "a", "limit": 1})
	again := w.do("strata_kv_history", arguments{"key": "a", "cursor": page["next_cursor"]})
	if page["versions"].([]any)[0].(map[string]any)["value"] != 2.0 || text(t, again["versions"].([]any)[0].(map[string]any)["value"]) != `{"n":1}` {
		t.Errorf("%v, then %v", page, again)
	}
	w.says(w.do("strata_kv_delete_many", arguments{"keys": []string{"a", "none"}}), `{"deleted":1}`)
	w.says(w.do("memory_kv", arguments{"action": "list"}), `{"keys":["b","c"]}`)
	for _, a := range []arguments{{"action": "put", "key": "a"}, {"action": "put"}, {"action": "get"}, {"action": "delete"}, {"action": "history"}, {"action": "increment"}, {"action": "history", "key": "a", "cursor": "x"}} {
		w.refused(alcove.InvalidArgument, "memory_kv", a)
	}
	if says := w.refused(alcove.InvalidArgument, "memory_kv", arguments{"action": "increment"}); !strings.Contains(says, "history") {
		t.Errorf("an unknown action: %s", says)
	}
}

func TestDocumentsAreReadAndChangedByPath(t *testing.T) {
	w := open(t)
	w.do("memory_json", arguments{"action": "set", "key": "d", "value": map[string]any{"items": []any{map[string]any{"p": 5, "n": "a"}, map[string]any{"p": 20, "n": "b"}}}})
	w.do("strata_json_set", arguments{"key": "d", "path": "$.meta.by", "value": "ann"})
	w.says(w.do("memory_json", arguments{"action": "get", "key": "d", "path": "$.items[?@.p < 10].n"}), `{"value":["a"],"found":true}`)
	w.says(w.do("memory_json", arguments{"action": "get", "key": "d", "path": "$.meta.by"}), `{"value":"ann","found":true}`)
	w.says(w.do("memory_json", arguments{"action": "get", "key": "d", "path": "$.meta.at"}), `{"value":null,"found":false}`)
	w.says(w.do("memory_json", arguments{"action": "get", "key": "none"}), `{"found":false}`)
	w.says(w.do("strata_json_delete", arguments{"key": "d", "path": "$.items[0]"}), `{"deleted":1}`)
	w.says(w.do("strata_json_delete", arguments{"key": "d", "path": "$.none"}), `{"deleted":0}`)
	w.says(w.do("memory_json", arguments{"action": "get", "key": "d"}), `{"value":{"items":[{"n":"b","p":20}],"meta":{"by":"ann"}}}`)
	w.says(w.do("memory_json", arguments{"action": "list"}), `{"keys":["d"]}`)
	if versions := w.do("strata_json_history", arguments{"key": "d"})["versions"].([]any); len(versions) != 3 {
		t.Errorf("versions of the document = %v, want 3", versions)
	}
	w.refused(alcove.InvalidArgument, "memory_json", arguments{"action": "get", "key": "d", "path": "$.["})
	w.refused(alcove.InvalidArgument, "memory_json", arguments{"action": "set", "key": "d", "path": "$..n", "value": 1})
	w.refused(alcove.InvalidArgument, "memory_json", arguments{"action": "set", "key": "d", "path": "$.items[9]", "value": 1})
	w.refused(alcove.InvalidArgument, "memory_json", arguments{"action": "delete", "key": "d", "path": "$.*"})
	w.says(w.do("memory_json", arguments{"action": "delete", "key": "d"}), `{"deleted":1}`)
	w.says(w.do("memory_json", arguments{"action": "get", "key": "d"}), `{"found":false}`)
}

func TestACellIsSwappedOnlyByItsCounter(t *testing.T) {
	w := open(t)
	w.says(w.do("memory_cell", arguments{"action": "cas", "cell": "lock", "value": "x", "expected_counter": 3}), `{"swapped":false,"found":false}`)
	w.says(w.do("strata_state_init", arguments{"cell": "lock", "value": "free"}), `{"swapped":true,"counter":1,"value":"free"}`)
	w.says(w.do("strata_state_init", arguments{"cell": "lock", "value": "again"}), `{"swapped":false,"counter":1,"value":"free"}`)
	w.says(w.do("strata_state_cas", arguments{"cell": "lock", "value": "ann", "expected_counter": 1}), `{"swapped":true,"counter":2}`)
	w.says(w.do("strata_state_cas", arguments{"cell": "lock", "value": "bob", "expected_counter": 1}), `{"swapped":false,"counter":2,"value":"ann"}`)
	w.says(w.do("strata_state_cas", arguments{"cell": "lock", "value": "bob"}), `{"swapped":false}`)
	w.says(w.do("strata_state_set", arguments{"cell": "lock", "value": "eve"}), `{"counter":3}`)
	w.says(w.do("strata_state_get", arguments{"cell": "lock"}), `{"value":"eve","counter":3}`)
	if versions := w.do("strata_state_history", arguments{"cell": "lock"})["versions"].([]any); len(versions) != 3 {
		t.Errorf("versions of the cell = %v, want 3", versions)
	}
	w.says(w.do("strata_state_list", arguments{"prefix": "lo"}), `{"keys":["lock"]}`)
	w.says(w.do("strata_state_delete", arguments{"cell": "lock"}), `{"deleted":1}`)
	w.refused(alcove.InvalidArgument, "memory_cell", arguments{"action": "set", "cell": "lock"})
}

// The nearest vectors are those of a loop over all.
func TestTheNearestVectorsAreThoseOfAPlainLoop(t *testing.T) {
	const dimension, count = 12, 400
	w := open(t)
	w.do("strata_vector_create_collection", arguments{"collection": "docs", "dimension": dimension})
	w.do("memory_vectors", arguments{"action": "create", "collection": "docs2", "dimension": dimension, "metric": "euclidean"})
	random := rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 {
		v := make([]float32, dimension)
		for i := range v {
			v[i] = float32(random.NormFloat64())
		}
		return v
	}
	stored, colors := map[string][]float32{}, []string{"red", "green", "blue"}
	var items []any
	for i := range count {
		key := fmt.Sprintf("k%03d", i)
		stored[key] = vector()
		items = append(items, arguments{"key": key, "vector": stored[key], "metadata": arguments{"n": i, "color": colors[i%3], "tags": []any{colors[i%3], i % 7}}})
	}
	w.says(w.do("strata_vector_batch_upsert", arguments{"collection": "docs", "entries": items}), `{"stored":400}`)
	w.do("memory_vectors", arguments{"action": "upsert", "collection": "docs2", "key": "other", "vector": vector()})
	filters := []struct {
		filter []any
		holds  func(i int) bool
	}{
		{nil, func(int) bool { return true }},
		{[]any{arguments{"field": "n", "op": "lt", "value": 50}}, func(i int) bool { return i < 50 }},
		{[]any{arguments{"field": "n", "op": "lte", "value": 50}, arguments{"field": "n", "op": "gt", "value": 10}}, func(i int) bool { return i > 10 && i <= 50 }},
		{[]any{arguments{"field": "n", "op": "gte", "value": 390}}, func(i int) bool { return i >= 390 }},
		{[]any{arguments{"field": "color", "op": "eq", "value": "red"}}, func(i int) bool { return i%3 == 0 }},
		{[]any{arguments{"field": "color", "op": "ne", "value": "red"}}, func(i int) bool { return i%3 != 0 }},
		{[]any{arguments{"field": "none", "op": "ne", "value": "red"}}, func(int) bool { return true }},
		{[]any{arguments{"field": "none", "op": "eq", "value": "red"}}, func(int) bool { return false }},
		{[]any{arguments{"field": "color", "op": "in", "value": []any{"red", "blue"}}}, func(i int) bool { return i%3 != 1 }},
		{[]any{arguments{"field": "color", "op": "contains", "value": "ee"}}, func(i int) bool { return i%3 == 1 }},
		{[]any{arguments{"field": "tags", "op": "contains", "value": 3}}, func(i int) bool { return i%7 == 3 }},
	}
	for _, metric := range []string{"", "cosine", "euclidean", "dot_product"} {
		for _, f := range filters {
			query := vector()
			a := arguments{"action": "search", "collection": "docs", "query": query, "k": 10}
			if metric != "" {
				a["metric"] = metric
			}
			if f.filter != nil {
				a["filter"] = f.filter
			}
			var found vectorAnswer
			if err := w.Tool("memory_vectors", a, &found); err != nil {
				t.Fatal(err)
			}
			var want []vectorHit
			for key, v := range stored {
				var i int
				if _, err := fmt.Sscanf(key, "k%d", &i); err != nil {
					t.Fatal(err)
				}
				if f.holds(i) {
					want = append(want, vectorHit{Key: key, Score: plainScore(metric, query, v)})
				}
			}
			slices.SortFunc(want, func(a, b vectorHit) int {
				if a.Score != b.Score {
					return int(math.Copysign(1, b.Score-a.Score))
				}
				return strings.Compare(a.Key, b.Key)
			})
			if *found.Count != len(want) || len(found.Hits) != min(len(want), 10) {
				t.Fatalf("%s %v: %d of %d, not of %d", metric, f.filter, len(found.Hits), *found.Count, len(want))
			}
			for i, hit := range found.Hits {
				if hit.Key != want[i].Key || math.Abs(hit.Score-want[i].Score) > 1e-5 {
					t.Fatalf("%s %v: hit %d is %+v, not %+v", metric, f.filter, i, hit, want[i])
				}
			}
		}
	}
	w.says(w.do("strata_vector_stats", arguments{"collection": "docs"}), `{"count":400,"dimension":12,"metric":"cosine"}`)
	w.says(w.do("strata_vector_list_collections", nil), `{"collections":[{"collection":"docs","dimension":12,"metric":"cosine"},{"collection":"docs2","dimension":12,"metric":"euclidean"}]}`)
	got := w.do("strata_vector_get", arguments{"collection": "docs", "key": "k007"})
	if got["found"] != true || len(got["vector"].([]any)) != dimension || got["metadata"].(map[string]any)["n"] != 7.0 {
		t.Errorf("strata_vector_get = %v, want a vector of %d with the metadata of k007", got, dimension)
	}
	w.says(w.do("strata_vector_delete", arguments{"collection": "docs", "key": "k007"}), `{"deleted":1}`)
	w.refused(alcove.InvalidArgument, "memory_vectors", arguments{"action": "upsert", "collection": "docs", "key": "x", "vector": []float32{1}})
	w.refused(alcove.InvalidArgument, "memory_vectors", arguments{"action": "search", "collection": "docs", "query": []float32{1}})
	w.refused(alcove.InvalidArgument, "memory_vectors", arguments{"action": "search", "collection": "docs", "query": vector(), "filter": []any{arguments{"field": "n", "op": "like", "value": 1}}})
	w.refused(alcove.NotFound, "memory_vectors", arguments{"action": "upsert", "collection": "none", "key": "x", "vector": []float32{1}})
	w.refused(alcove.Conflict, "memory_vectors", arguments{"action": "create", "collection": "docs", "dimension": 3})
	w.refused(alcove.InvalidArgument, "memory_vectors", arguments{"action": "create", "collection": "a|b", "dimension": 3})
	w.says(w.do("strata_vector_delete_collection", arguments{"collection": "docs"}), `{"deleted":399}`)
	w.says(w.do("memory_vectors", arguments{"action": "stats", "collection": "docs2"}), `{"count":1}`)
	w.refused(alcove.NotFound, "memory_vectors", arguments{"action": "stats", "collection": "docs"})
}

func plainScore(metric string, a, b []float32) float64 {
	var dot, aa, bb, distance float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		aa += x * x
		bb += y * y
		distance += (x - y) * (x - y)
	}
	switch metric {
	case "euclidean":
		return 1 / (1 + math.Sqrt(distance))
	case "dot_product":
		return dot
	}
	return dot / (math.Sqrt(aa) * math.Sqrt(bb))
}

func TestATransactionAppliesTogetherOrNotAtAll(t *testing.T) {
	w := open(t)
	w.do("memory_kv", arguments{"action": "put", "key": "a", "value": 1})
	begun := w.do("strata_txn_begin", nil)
	w.do("memory_kv", arguments{"action": "put", "key": "a", "value": 2, "branch": begun["branch"]})
	w.do("memory_kv", arguments{"action": "put", "key": "b", "value": 3, "branch": begun["branch"]})
	w.says(w.do("memory_kv", arguments{"action": "get", "key": "a"}), `{"value":1}`)
	w.says(w.do("strata_txn_info", nil), `{"state":"active","target":"default"}`)
	w.says(w.do("strata_txn_commit", nil), `{"state":"committed","applied":2}`)
	w.says(w.do("memory_kv", arguments{"action": "get", "key": "a"}), `{"value":2}`)
	w.says(w.do("memory_kv", arguments{"action": "get", "key": "b"}), `{"value":3}`)
	w.says(w.do("memory_transaction", arguments{"action": "info", "id": begun["id"]}), `{"state":"committed"}`)
	w.says(w.do("memory_transaction", arguments{"action": "commit", "id": begun["id"]}), `{"state":"committed"}`)
	w.refused(alcove.Conflict, "memory_transaction", arguments{"action": "rollback", "id": begun["id"]})
	w.says(w.do("strata_txn_active", nil), `{"open":0}`)

	begun = w.do("memory_transaction", arguments{"action": "begin"})
	w.do("memory_kv", arguments{"action": "put", "key": "a", "value": 20, "branch": begun["branch"]})
	w.do("memory_kv", arguments{"action": "put", "key": "c", "value": 30, "branch": begun["branch"]})
	w.do("memory_kv", arguments{"action": "put", "key": "a", "value": 9}) // outside
	w.says(w.do("memory_transaction", arguments{"action": "commit", "id": begun["id"]}), `{"state":"active","conflicts":[{"namespace":"default","key":"a","collection":"kv"}]}`)
	w.says(w.do("memory_kv", arguments{"action": "get", "key": "a"}), `{"value":9}`)
	w.says(w.do("memory_kv", arguments{"action": "get", "key": "c"}), `{"found":false}`)
	w.says(w.do("memory_transaction", arguments{"action": "rollback", "id": begun["id"]}), `{"state":"rolled_back"}`)
	w.says(w.do("memory_transaction", arguments{"action": "rollback", "id": begun["id"]}), `{"state":"rolled_back"}`)
	w.refused(alcove.Conflict, "memory_transaction", arguments{"action": "commit", "id": begun["id"]})
	w.refused(alcove.NotFound, "memory_transaction", arguments{"action": "commit", "id": "txn:none"})
	w.refused(alcove.InvalidArgument, "memory_transaction", arguments{"action": "commit"})
}

func TestATransactionThatIsReadOnlyPinsAVersionAndRefusesWrites(t *testing.T) {
	w := open(t)
	w.do("memory_kv", arguments{"action": "put", "key": "a", "value": 1})
	begun := w.do("memory_transaction", arguments{"action": "begin", "read_only": true})
	if begun["branch"] == "default" || begun["target"] != "default" {
		t.Errorf("a read-only transaction of default has the branch %v and the target %v, want a branch of its own", begun["branch"], begun["target"])
	}
	w.do("memory_kv", arguments{"action": "put", "key": "a", "value": 2})
	w.says(w.do("memory_kv", arguments{"action": "get", "key": "a", "as_of": begun["as_of"]}), `{"value":1}`)
	w.refused(alcove.Denied, "memory_kv", arguments{"action": "put", "key": "a", "value": 3, "as_of": begun["as_of"]})
	w.says(w.do("memory_kv", arguments{"action": "get", "key": "a", "branch": begun["branch"]}), `{"value":1}`)
	for tool, written := range map[string]arguments{
		"memory_kv":     {"action": "put", "key": "a", "value": 3},
		"memory_cell":   {"action": "set", "key": "n", "value": 3},
		"memory_json":   {"action": "set", "key": "doc", "path": "$", "value": arguments{"n": 1}},
		"memory_events": {"action": "append", "event": "moved"},
	} {
		written["branch"] = begun["branch"]
		w.refused(alcove.Denied, tool, written)
	}
	w.says(w.do("memory_kv", arguments{"action": "get", "key": "a"}), `{"value":2}`)
	w.says(w.do("memory_transaction", arguments{"action": "commit", "id": begun["id"]}), `{"state":"committed","applied":0}`)
}

func TestTransactionsExpireAndAreLimited(t *testing.T) {
	w := open(t)
	w.do("memory_kv", arguments{"action": "put", "key": "a", "value": 1})
	var first map[string]any
	for i := range 20 {
		if begun := w.do("memory_transaction", arguments{"action": "begin"}); i == 0 {
			first = begun
		}
	}
	w.refused(alcove.Exhausted, "memory_transaction", arguments{"action": "begin"})
	w.Now = w.Now.Add(16 * time.Minute)
	w.says(w.do("memory_transaction", arguments{"action": "info", "id": first["id"]}), `{"state":"expired"}`)
	w.refused(alcove.Conflict, "memory_transaction", arguments{"action": "commit", "id": first["id"]})
	if err := w.RunJobs(); err != nil {
		t.Fatal(err)
	}
	w.says(w.do("memory_store_info", arguments{"action": "info"}), `{"branches":1}`)
	w.do("memory_transaction", arguments{"action": "begin"})
	if open := w.do("memory_transaction", arguments{"action": "active"})["transactions"].([]any); len(open) != 1 {
		t.Errorf("active transactions = %v, want 1", open)
	}
}

func TestATransactionIsItsCallersAlone(t *testing.T) {
	w := open(t)
	w.do("memory_kv", arguments{"action": "put", "key": "a", "value": 1})
	begun := w.do("memory_transaction", arguments{"action": "begin"})
	w.Caller = "eve"
	for _, action := range []string{"info", "commit", "rollback"} {
		w.refused(alcove.NotFound, "memory_transaction", arguments{"action": action, "id": begun["id"]})
		w.refused(alcove.NotFound, "memory_transaction", arguments{"action": action, "id": begun["branch"]})
	}
	w.says(w.do("memory_transaction", arguments{"action": "active"}), `{"open":0}`)
}

func TestTheLogIsAppendedToAndRead(t *testing.T) {
	w := open(t)
	w.says(w.do("strata_event_append", arguments{"event_type": "moved", "payload": arguments{"to": "x"}}), `{"sequence":1}`)
	w.do("memory_events", arguments{"action": "append", "event": "stayed"})
	w.do("memory_events", arguments{"action": "append", "event": "moved", "data": 2})
	w.says(w.do("strata_event_get", arguments{"sequence": 1}), `{"event":"moved","data":{"to":"x"},"found":true}`)
	w.says(w.do("strata_event_get", arguments{"sequence": 9}), `{"found":false}`)
	w.says(w.do("strata_event_len", nil), `{"count":3}`)
	moved := w.do("strata_event_list", arguments{"event_type": "moved", "after_sequence": 1})
	if events := moved["events"].([]any); len(events) != 1 || events[0].(map[string]any)["sequence"] != 3.0 {
		t.Errorf("events of type moved after the first = %v, want the one with sequence 3", moved)
	}
	w.says(w.do("memory_events", arguments{"action": "list", "limit": 2}), `{"next":2,"truncated":true}`)
	w.refused(alcove.InvalidArgument, "memory_events", arguments{"action": "append"})
	w.refused(alcove.InvalidArgument, "memory_events", arguments{"action": "get"})
}

func TestNamespacesAreListedAsATreeAndDeleted(t *testing.T) {
	w := open(t)
	for _, namespace := range []string{"team", "team/a", "team/a/x", "team/b", "other"} {
		w.Put(alcove.Memory{Namespace: namespace, Key: "k", Value: alcove.Raw(`"v"`)})
	}
	w.says(w.do("strata_space_create", arguments{"space": "empty"}), `{"created":true}`)
	w.says(w.do("strata_space_create", arguments{"space": "empty"}), `{"created":false}`)
	w.says(w.do("strata_space_list", nil), `{"namespaces":["empty","other","team","team/a","team/a/x","team/b"]}`)
	w.says(w.do("memory_namespaces", arguments{"action": "list", "limit": 2}), `{"namespaces":["empty","other"],"next_cursor":"other","truncated":true}`)
	w.says(w.do("memory_namespaces", arguments{"action": "tree", "prefix": "team", "depth": 2}),
		`{"total_count":4,"tree":{"name":"","namespace":"team","count":0,"total":4,"children":[{"name":"team","namespace":"team","count":1,"total":4,"children":[{"name":"a","namespace":"team/a","count":2,"total":2},{"name":"b","namespace":"team/b","count":1,"total":1}]}]}}`)
	w.says(w.do("strata_space_exists", arguments{"space": "empty"}), `{"exists":true}`)
	w.says(w.do("strata_space_exists", arguments{"space": "none"}), `{"exists":false}`)
	w.do("memory_kv", arguments{"action": "put", "key": "a", "value": 1, "namespace": "keyed"})
	w.says(w.do("strata_space_exists", arguments{"space": "keyed"}), `{"exists":true}`)
	w.refused(alcove.Conflict, "memory_namespaces", arguments{"action": "delete", "name": "keyed"})
	w.refused(alcove.Conflict, "memory_namespaces", arguments{"action": "delete", "name": "team/a"})
	w.says(w.do("strata_space_delete", arguments{"space": "team/a", "force": true}), `{"deleted":1}`)
	w.says(w.do("strata_space_delete", arguments{"space": "keyed", "force": true}), `{"deleted":1}`)
	w.do("strata_space_delete", arguments{"space": "empty"})
	w.says(w.do("strata_space_list", nil), `{"namespaces":["other","team","team/a/x","team/b"]}`)
	w.refused(alcove.InvalidArgument, "memory_namespaces", arguments{"action": "create"})
}

func TestABundleBringsABranchToAnother(t *testing.T) {
	w := open(t)
	kind, importance := "plan", 0.7
	w.Put(alcove.Memory{Namespace: "default", Key: "m", Value: alcove.Raw(`{"text":"tea"}`), Tags: []string{"drink"}, Type: kind, Importance: &importance})
	w.do("memory_kv", arguments{"action": "put", "key": "a", "value": 1.5, "namespace": "work"})
	w.Put(alcove.Memory{Namespace: "work", Key: "m", Value: alcove.Raw(`"x"`)})
	w.do("memory_vectors", arguments{"action": "create", "collection": "v", "dimension": 2})
	w.do("memory_vectors", arguments{"action": "upsert", "collection": "v", "key": "p", "vector": []float32{1, 0.5}})
	exported := w.do("strata_bundle_export", nil)
	w.says(exported, `{"counts":{"memories":2,"records":3},"branch":"default"}`)
	content := exported["content"].(string)
	body := content[:strings.LastIndex(strings.TrimSuffix(content, "\n"), "\n")+1]
	if sum := sha256sum(body); exported["digest"] != sum {
		t.Errorf("the digest is %v, not %s", exported["digest"], sum)
	}
	w.says(w.do("strata_bundle_validate", arguments{"content": content}), `{"valid":true,"counts":{"memories":2,"records":3}}`)
	other := open(t)
	other.says(other.do("strata_bundle_import", arguments{"content": content}), `{"imported":true}`)
	if m := other.Memory("m"); m == nil || m.Type != kind || m.Tags[0] != "drink" || *m.Importance != importance {
		t.Errorf("the imported memory is %+v, want type %q, tag drink, importance %v", m, kind, importance)
	}
	other.says(other.do("memory_kv", arguments{"action": "get", "key": "a", "namespace": "work"}), `{"value":1.5}`)
	other.says(other.do("memory_vectors", arguments{"action": "get", "collection": "v", "key": "p"}), `{"vector":[1,0.5]}`)
	for _, bad := range []string{"x", strings.Replace(content, "tea", "sea", 1), body, strings.Replace(content, `"kv"`, `"txn"`, 1), content + content, `{"end":true}`} {
		if w.do("memory_bundle", arguments{"action": "validate", "content": bad})["valid"] != false {
			t.Errorf("%.60q is valid", bad)
		}
		w.refused(alcove.InvalidArgument, "memory_bundle", arguments{"action": "import", "content": bad})
	}
}

func sha256sum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestDigestsAreThoseOfTheStandardLibrary(t *testing.T) {
	for n := range 200 {
		data := strings.Repeat("a\x00é", n)[:n]
		if got := hexOf(digestOf([]byte(data))); got != sha256sum(data) {
			t.Errorf("of %d bytes: %s", n, got)
		}
	}
}

func TestTheStoreTellsAboutItself(t *testing.T) {
	w := open(t)
	w.do("memory_kv", arguments{"action": "put", "key": "a", "value": 1})
	w.says(w.do("strata_db_ping", nil), `{"ok":true}`)
	w.says(w.do("strata_db_info", nil), `{"branch":"default","memories":0}`)
	if span := w.do("strata_db_time_range", nil); span["oldest"] == nil || span["latest_version"] == nil {
		t.Errorf("strata_db_time_range = %v, want the oldest memory and the latest version", span)
	}
	if d := w.do("strata_durability_counters", nil)["durability"].(map[string]any); d["commits"].(float64) < 1 {
		t.Errorf("strata_durability_counters = %v, want at least one commit", d)
	}
	for name, command := range map[string]string{"strata_db_flush": "alcove flush", "strata_db_compact": "alcove compact", "strata_retention_apply": "alcove retention run",
		"strata_models_pull": "alcove embedder set", "strata_configure_model": "alcove endpoint add", "strata_generate_unload": "alcove endpoint list"} {
		if says := w.refused(alcove.Denied, name, arguments{}); !strings.Contains(says, command) {
			t.Errorf("%s is refused with %q, want it to name %q", name, says, command)
		}
	}
}

func TestModelsTokenizeEmbedAndGenerate(t *testing.T) {
	w := open(t)
	w.Ops = map[alcove.Op]func([]byte) (any, error){
		alcove.OpEmbedTexts: func([]byte) (any, error) {
			return alcove.EmbedTextsResponse{Model: "e", Dimensions: 2, Vectors: [][]float32{{1, 2}}}, nil
		},
		alcove.OpLLMComplete: func([]byte) (any, error) {
			return alcove.LLMCompleteResponse{Text: "tea", Model: "m", TokensIn: 2, TokensOut: 1}, nil
		},
	}
	w.says(w.do("strata_tokenize", arguments{"model": "x", "text": "green tea"}), `{"ids":[13553,15600],"count":2}`)
	w.says(w.do("strata_detokenize", arguments{"model": "x", "ids": []int{13553, 15600}}), `{"text":"green tea"}`)
	w.says(w.do("strata_generate", arguments{"model": "m", "prompt": "What?"}), `{"text":"tea","prompt_tokens":2,"completion_tokens":1}`)
	w.refused(alcove.InvalidArgument, "memory_models", arguments{"action": "generate"})
	w.says(w.do("strata_embed", arguments{"text": "tea"}), `{"model":"e","dimension":2,"vector":[1,2]}`)
	w.says(w.do("strata_embed_batch", arguments{"texts": []string{"tea"}}), `{"vectors":[[1,2]]}`)
	w.do("strata_models_list", nil)
	w.says(w.do("strata_embed_status", nil), `{"idle":true,"waiting":0}`)
}

func TestRowsAreThoseThatTheFilterAdmits(t *testing.T) {
	w := open(t)
	for i := range 60 {
		w.do("memory_kv", arguments{"action": "put", "key": fmt.Sprintf("k%02d", i), "value": arguments{"n": i, "color": []string{"red", "blue"}[i%2], "in": arguments{"deep": i}}})
	}
	w.Put(alcove.Memory{Namespace: "default", Key: "m", Value: alcove.Raw(`{"text":"tea"}`), Tags: []string{"drink"}, Type: "plan"})
	page := w.do("memory_query_raw", arguments{"table": "kv"})
	rest := w.do("memory_query_raw", arguments{"table": "developer/kv", "cursor": page["next_cursor"]})
	if len(page["rows"].([]any)) != 50 || page["truncated"] != true || len(rest["rows"].([]any)) != 10 || rest["truncated"] != nil {
		t.Errorf("%d rows, %v; then %d, %v", len(page["rows"].([]any)), page["truncated"], len(rest["rows"].([]any)), rest["truncated"])
	}
	for _, x := range []struct {
		filter arguments
		rows   int
	}{
		{arguments{"color": "red", "n": arguments{"lt": 10}}, 5}, {arguments{"in.deep": arguments{"gte": 58}}, 2}, {arguments{"key": "k07"}, 1}, {arguments{"value.n": 3}, 1},
		{arguments{"n": arguments{"in": []any{1, 2, 99}}}, 2}, {arguments{"key": arguments{"contains": "k1"}}, 10}, {arguments{"none": 1}, 0}, {arguments{"n": arguments{"lte": 3}, "color": arguments{"ne": "red"}}, 2},
	} {
		if rows := w.do("query_raw", arguments{"table": "kv", "filter": x.filter})["rows"].([]any); len(rows) != x.rows {
			t.Errorf("%v: %d rows, not %d", x.filter, len(rows), x.rows)
		}
	}
	if rows := w.do("memory_query_raw", arguments{"table": "memories", "filter": arguments{"tags": arguments{"contains": "drink"}, "type": "plan"}})["rows"].([]any); len(rows) != 1 {
		t.Errorf("rows of memories tagged drink = %v, want 1", rows)
	}
	w.do("memory_events", arguments{"action": "append", "event": "moved", "data": arguments{"to": "x"}})
	if rows := w.do("memory_query_raw", arguments{"table": "events", "filter": arguments{"data.to": "x"}})["rows"].([]any); len(rows) != 1 {
		t.Errorf("rows of events with data.to x = %v, want 1", rows)
	}
	if says := w.refused(alcove.NotFound, "memory_query_raw", arguments{"table": "none"}); !strings.Contains(says, "developer/kv") {
		t.Errorf("the refusal of a table that is not there says %q, want it to name developer/kv", says)
	}
	w.refused(alcove.InvalidArgument, "memory_query_raw", arguments{"table": "kv", "filter": arguments{"n": arguments{"like": 1}}})
	w.refused(alcove.InvalidArgument, "memory_query_raw", arguments{"table": "kv", "limit": 51})
}
