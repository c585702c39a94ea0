package alcove

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// exchange is an operation with its messages on both sides.
type exchange struct {
	op                        Op
	request, response         message
	hostRequest, hostResponse any
	call                      func(c *Call, request any) (any, error) // the method of the operation
}

// message is a message of the SDK.
type message interface{ CodeJSON(c *scan.Coder) }

// envelope is another message, on both sides.
type envelope struct {
	name, to  string // who reads it: guest, host or either
	sdk, host any
}

// echo is a host that keeps the request and gives an answer.
type echo struct {
	op              Op
	request, answer []byte
}

func (e *echo) Call(op Op, request []byte) ([]byte, error) {
	e.op, e.request = op, bytes.Clone(request)
	return e.answer, nil
}

func (e *echo) Log(string) {}

func TestEveryOperationOfTheHostHasAMethod(t *testing.T) {
	for _, e := range exchanges() {
		if _, ok := abi.Ops()[abi.Op(e.op)]; !ok {
			t.Errorf("the host has no %s", e.op)
		}
	}
	if got, want := len(exchanges()), len(abi.Ops()); got != want {
		t.Errorf("there are %d methods, and the host has %d operations", got, want)
	}
}

func TestMessagesAreTheSameOnBothSides(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, e := range exchanges() {
		for range 200 {
			checkExchange(t, r, e)
			if t.Failed() {
				return
			}
		}
	}
}

// checkExchange runs an operation with random messages: the host reads the request that the guest wrote, and the guest the
// response that the host wrote, and either is the same when it is written and read again.
func checkExchange(t *testing.T, r *rand.Rand, e exchange) {
	t.Helper()
	request, response, host := fresh(r, e.request), fresh(r, e.hostResponse), &echo{}
	host.answer = written(t, response)
	got, err := e.call(&Call{host: host}, request)
	if err != nil || host.op != e.op {
		t.Fatalf("%s asked for %s: %v", e.op, host.op, err)
	}
	if e.request == nil {
		if string(host.request) != "{}" {
			t.Fatalf("%s: without fields the request is %s", e.op, host.request)
		}
	} else {
		read, again := empty(e.hostRequest), empty(e.request)
		strictly(t, host.request, read)
		strictly(t, host.request, again)
		if err := differ(reflect.ValueOf(request), reflect.ValueOf(read)); err != nil {
			t.Fatalf("%s: request %s: %v", e.op, host.request, err)
		}
		if !reflect.DeepEqual(request, again) {
			t.Fatalf("%s: request %s is read as %+v, was %+v", e.op, host.request, again, request)
		}
	}
	if e.response != nil {
		if err := differ(reflect.ValueOf(got), reflect.ValueOf(response)); err != nil {
			t.Fatalf("%s: response %s: %v", e.op, host.answer, err)
		}
		again := empty(e.hostResponse)
		strictly(t, written(t, got), again)
		if !reflect.DeepEqual(response, again) {
			t.Fatalf("%s: response %s is written as %s", e.op, host.answer, written(t, got))
		}
	}
}

func TestEnvelopesAreTheSameOnBothSides(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, e := range envelopes() {
		for range 500 {
			checkEnvelope(t, r, e)
			if t.Failed() {
				return
			}
		}
	}
}

// checkEnvelope sends a random message: each side reads what the other wrote, and writes it again as it was.
func checkEnvelope(t *testing.T, r *rand.Rand, e envelope) {
	t.Helper()
	if e.to != "host" {
		sent, got := fresh(r, e.host), empty(e.sdk)
		data := written(t, sent)
		if err := decode(data, got.(message).CodeJSON); err != nil {
			t.Fatalf("%s: read %s: %v", e.name, data, err)
		}
		if err := differ(reflect.ValueOf(got), reflect.ValueOf(sent)); err != nil {
			t.Fatalf("%s: %s is read wrongly: %v", e.name, data, err)
		}
		again := empty(e.host)
		strictly(t, written(t, got), again)
		if !reflect.DeepEqual(sent, again) {
			t.Fatalf("%s: %s is written as %s", e.name, data, written(t, got))
		}
	}
	if e.to != "guest" {
		sent, got, again := fresh(r, e.sdk), empty(e.host), empty(e.sdk)
		data, err := encode(sent.(message).CodeJSON)
		if err != nil {
			t.Fatalf("%s: write %+v: %v", e.name, sent, err)
		}
		strictly(t, data, got)
		strictly(t, data, again)
		if err := differ(reflect.ValueOf(sent), reflect.ValueOf(got)); err != nil {
			t.Fatalf("%s: %s is written wrongly: %v", e.name, data, err)
		}
		if !reflect.DeepEqual(sent, again) {
			t.Fatalf("%s: %s is read as %+v, was %+v", e.name, data, again, sent)
		}
	}
}

// FuzzEnvelopes compares what guest and host read from the same bytes, and what the guest reads when it is written again.
func FuzzEnvelopes(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, e := range envelopes() {
		data, err := json.Marshal(fresh(r, e.host))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	for _, data := range []string{"", "null", "[]", `{"tool":1}`, `{"entries":null}`, `{"entries":[null,{}]}`, `{"entries":[{"version":-1}]}`, `{"context":null}`, `{"details":{"a":[1,null]}}`, `{"code":"x"} x`} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, e := range envelopes() {
			if e.to == "host" {
				continue
			}
			got, want := empty(e.sdk), empty(e.host)
			if decode(data, got.(message).CodeJSON) != nil {
				continue
			}
			if !json.Valid(data) {
				t.Fatalf("%s: %q is read as %+v", e.name, data, got)
			}
			again := empty(e.sdk)
			if err := decode(written(t, got), again.(message).CodeJSON); err != nil || !bytes.Equal(written(t, again), written(t, got)) {
				t.Fatalf("%s: %q is read as %+v, and that as %+v (%v)", e.name, data, got, again, err)
			}
			strictly(t, written(t, got), want)
			if err := differ(reflect.ValueOf(again), reflect.ValueOf(want)); err != nil {
				t.Fatalf("%s: %q is read otherwise than by encoding/json: %v", e.name, data, err)
			}
		}
	})
}

func written(t *testing.T, message any) []byte {
	t.Helper()
	data, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// strictly reads JSON with encoding/json; a field that there is not is an error.
func strictly(t *testing.T, data []byte, into any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("read %s as %T: %v", data, into, err)
	}
}

// empty is a zero message of the same type; nil for nil.
func empty(message any) any {
	if message == nil {
		return nil
	}
	return reflect.New(reflect.TypeOf(message).Elem()).Interface()
}

// fresh is a random message of the same type; nil for nil.
func fresh(r *rand.Rand, message any) any {
	m := empty(message)
	if m != nil {
		fill(r, reflect.ValueOf(m).Elem(), "")
	}
	return m
}

// fill makes a random value. What the tag of its field omits is never one that would come back as another: with omitempty a
// list is nil or has elements, with omitzero it may be empty, and without either it is not nil.
func fill(r *rand.Rand, v reflect.Value, tag string) {
	optional, least := strings.Contains(tag, ",omit"), 0
	if strings.Contains(tag, ",omitempty") {
		least = 1
	}
	if v.Type() == reflect.TypeFor[json.RawMessage]() || v.Type() == reflect.TypeFor[Raw]() {
		if !optional || r.IntN(3) > 0 {
			v.SetBytes([]byte(pick(r, "null", "0", `"text"`, `{"a":[1,{"b":null}],"é":"\n"}`, "[]", "-1.5e+300")))
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), v.Type().Field(i).Tag.Get("json"))
		}
	case reflect.Pointer:
		if tag != "" && r.IntN(3) > 0 || tag == "" && r.IntN(5) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), "")
			if least == 1 && v.Elem().Kind() == reflect.String && v.Elem().String() == "" {
				v.SetZero() // in a response it is the same as an absent one
			}
		}
	case reflect.Slice:
		if !optional || r.IntN(4) > 0 {
			n := least + r.IntN(3)
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(r, v.Index(i), "")
			}
		}
	case reflect.Map:
		if !optional || r.IntN(4) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for i := range least + r.IntN(3) {
				value := reflect.New(v.Type().Elem()).Elem()
				fill(r, value, "")
				v.SetMapIndex(reflect.ValueOf(fmt.Sprint(i, text(r))), value)
			}
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(pick[any](r, "text", 1.5, true, []any{"a", nil}, map[string]any{"b": "c"})))
	default:
		fillScalar(r, v)
	}
}

func fillScalar(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text(r))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int:
		v.SetInt(pick(r, 0, 1, -1, math.MaxInt32, math.MinInt32, int64(int32(r.Uint32()))))
	case reflect.Uint64:
		v.SetUint(pick(r, 0, 1, math.MaxUint64, r.Uint64()))
	case reflect.Float64:
		v.SetFloat(pick(r, 0, 1, -0.1, math.MaxFloat64, math.SmallestNonzeroFloat64, r.NormFloat64()))
	case reflect.Float32:
		v.SetFloat(float64(pick(r, 0, 1, -0.1, math.MaxFloat32, math.SmallestNonzeroFloat32, float32(r.NormFloat64()))))
	default:
		panic("no random " + v.Kind().String())
	}
}

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

func text(r *rand.Rand) string {
	return pick(r, "", "plain", "a\"b\\c/\n\t\x00\x1f\u007f", "é€😀\u2028", "<&>", strings.Repeat("x", r.IntN(100)))
}

// differ is what differs between a message of the SDK and one of package abi. An empty string of the SDK may stand for a missing
// one.
func differ(sdk, host reflect.Value) error {
	for sdk.Kind() == reflect.Pointer && host.Kind() == reflect.Pointer {
		if sdk.IsNil() || host.IsNil() {
			if sdk.IsNil() != host.IsNil() {
				return fmt.Errorf("one is nil: %v, %v", sdk, host)
			}
			return nil
		}
		sdk, host = sdk.Elem(), host.Elem()
	}
	if host.Kind() == reflect.Pointer && (sdk.Kind() == reflect.String || sdk.Kind() == reflect.Struct) {
		if host.IsNil() {
			host = reflect.Zero(host.Type().Elem())
		} else {
			host = host.Elem()
		}
	}
	switch host.Kind() {
	case reflect.String: // of types of either side's own
		if sdk.String() != host.String() {
			return fmt.Errorf("%q is not %q", sdk, host)
		}
		return nil
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(host.Type()) {
			if f.Anonymous {
				continue
			}
			of := sdk.FieldByName(f.Name)
			if !of.IsValid() {
				return fmt.Errorf("%s has no field %s", sdk.Type(), f.Name)
			}
			if err := differ(of, host.FieldByIndex(f.Index)); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		return nil
	case reflect.Map: // raw values have a type of either side's own
		if sdk.Len() != host.Len() || sdk.IsNil() != host.IsNil() {
			return fmt.Errorf("%v is not %v", sdk, host)
		}
		for _, key := range host.MapKeys() {
			of := sdk.MapIndex(key)
			if !of.IsValid() {
				return fmt.Errorf("%v is not there", key)
			}
			if err := differ(of, host.MapIndex(key)); err != nil {
				return fmt.Errorf("%v: %w", key, err)
			}
		}
		return nil
	case reflect.Slice:
		if sdk.Len() != host.Len() || sdk.IsNil() != host.IsNil() {
			return fmt.Errorf("%v is not %v", sdk, host)
		}
		for i := range host.Len() {
			if err := differ(sdk.Index(i), host.Index(i)); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	}
	if !reflect.DeepEqual(sdk.Interface(), host.Interface()) {
		return fmt.Errorf("%v is not %v", sdk, host)
	}
	return nil
}

func FuzzResponses(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, e := range exchanges() {
		if e.response != nil {
			data, err := json.Marshal(fresh(r, e.hostResponse))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
			f.Add(data[:len(data)/2])
		}
	}
	for _, data := range []string{"", "null", "[]", `{"memories":null}`, `{"memories":[null,{}]}`, `{"memories":{}}`, `{"total":-1}`, `{"next":18446744073709551616}`, `{"memories":[{"importance":null,"tags":[null]}]} x`} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, e := range exchanges() {
			if e.response == nil {
				continue
			}
			got, err := e.call(&Call{host: &echo{answer: data}}, empty(e.request))
			if err != nil {
				continue
			}
			if !json.Valid(data) {
				t.Fatalf("%s: %q is read as %+v", e.op, data, got)
			}
			again, err := e.call(&Call{host: &echo{answer: written(t, got)}}, empty(e.request))
			if err != nil || !bytes.Equal(written(t, again), written(t, got)) {
				t.Fatalf("%s: %q is read as %+v, and that as %+v (%v)", e.op, data, got, again, err)
			}
		}
	})
}

func TestWhatIsNotJSONNeverBecomesPartOfARequest(t *testing.T) {
	nan := math.NaN()
	for says, run := range map[string]func(*Call) error{
		"value is not one JSON value": func(c *Call) error {
			_, err := c.MemoryPut(MemoryPutRequest{Items: []MemoryItem{{Value: Raw(`1,"namespace":"other"`)}}})
			return err
		},
		"note is not one JSON value": func(c *Call) error {
			_, err := c.MemoryPatch(MemoryPatchRequest{Patches: []MemoryPatch{{Metadata: Metadata{"note": Raw(`"open`)}}}})
			return err
		},
		"importance is NaN": func(c *Call) error {
			_, err := c.MemoryPatch(MemoryPatchRequest{Patches: []MemoryPatch{{Importance: &nan}}})
			return err
		},
		"vector is +Inf": func(c *Call) error {
			_, err := c.MemorySearch(MemorySearchRequest{Vector: []float32{float32(math.Inf(1))}})
			return err
		},
	} {
		host := &echo{answer: []byte("{}")}
		if err := run(&Call{host: host}); CodeOf(err) != InvalidArgument || !strings.Contains(err.Error(), says) || host.request != nil {
			t.Errorf("the error is %v, and the host was asked %s", err, host.request)
		}
	}
}

func TestRequestsSayWhatIsMeant(t *testing.T) {
	patch := func(p MemoryPatch) func(*Call) error {
		return func(c *Call) error {
			_, err := c.MemoryPatch(MemoryPatchRequest{Patches: []MemoryPatch{p}})
			return err
		}
	}
	for _, c := range []struct {
		name string
		run  func(*Call) error
		want string
	}{
		{"a patch leaves out what is not given", patch(MemoryPatch{Key: "a"}), `{"patches":[{"key":"a"}]}`},
		{"a patch removes fields", patch(MemoryPatch{Key: "a", Clear: []string{"tags", "type", "importance", "metadata", "supersedes", "links", "expires_at"}}),
			`{"patches":[{"key":"a","clear":["tags","type","importance","metadata","supersedes","links","expires_at"]}]}`},
		{"a patch replaces lists by empty ones", patch(MemoryPatch{Key: "a", Tags: []string{}, Supersedes: []string{}, Links: []string{}}),
			`{"patches":[{"key":"a","tags":[],"supersedes":[],"links":[]}]}`},
		{"a patch sets zeros", patch(MemoryPatch{Key: "a", Type: new(""), Importance: new(0.0), ExpiresAt: new(""), IfVersion: new(uint64(0))}),
			`{"patches":[{"key":"a","type":"","importance":0,"expires_at":"","if_version":0}]}`},
		{"a patch removes one of the metadata", patch(MemoryPatch{Key: "a", Metadata: Metadata{"b": nil, "a": JSON("x")}}),
			`{"patches":[{"key":"a","metadata":{"a":"x","b":null}}]}`},
		{"a touch that counts no access", func(c *Call) error {
			_, err := c.MemoryTouch(MemoryTouchRequest{Keys: []string{"a"}, Accesses: new(0)})
			return err
		}, `{"keys":["a"],"accesses":0}`},
		{"terms are counted in a collection", func(c *Call) error {
			_, err := c.TextCount(TextCountRequest{Terms: []string{"tea"}, Collection: "notes"})
			return err
		}, `{"terms":["tea"],"collection":"notes"}`},
		{"a list that is needed is there", func(c *Call) error {
			_, err := c.MemoryGet(MemoryGetRequest{})
			return err
		}, `{"keys":[]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			host := &echo{answer: []byte("{}")}
			if err := c.run(&Call{host: host}); err != nil || string(host.request) != c.want {
				t.Errorf("%s (%v), want %s", host.request, err, c.want)
			}
		})
	}
}

func TestResponsesAreReadWhole(t *testing.T) {
	c := &Call{host: &echo{answer: []byte(`{"merged":true,"applied":[{"namespace":"n","key":"a","source":{"key":"a","value":1}}],"clashes":[{"key":"b","clash":"both changed"}],"unresolved":1}`)}}
	merged, err := c.BranchMerge(BranchMergeRequest{Source: "s"})
	if err != nil || len(merged.Applied) != 1 || string(merged.Applied[0].Source.Value) != "1" || len(merged.Clashes) != 1 || merged.Clashes[0].Clash != "both changed" || merged.Unresolved != 1 {
		t.Errorf("merged %+v (%v)", merged, err)
	}
	c = &Call{host: &echo{answer: []byte(`{"differences":[{"collection":"notes","key":"a"}]}`)}}
	if diff, err := c.BranchDiff(BranchDiffRequest{Source: "s"}); err != nil || len(diff.Differences) != 1 || diff.Differences[0].Collection != "notes" {
		t.Errorf("differences %+v (%v)", diff, err)
	}
	c = &Call{host: &echo{answer: []byte(`{"id":"1","state":"done","progress":{"done":3,"total":4},"error":"again","proposal":"proposals/7"}`)}}
	if job, err := c.JobStatus(JobStatusRequest{ID: "1"}); err != nil || job.Proposal != "proposals/7" || job.Progress.Total != 4 || job.Error != "again" {
		t.Errorf("job %+v (%v)", job, err)
	}
	c = &Call{host: &echo{answer: []byte(`{"of a later version":{"a":[]},"memories":[null,{"key":"a","new":true}]}`)}}
	if found, err := c.MemoryGet(MemoryGetRequest{}); err != nil || len(found.Memories) != 2 || found.Memories[0] != nil || found.Memories[1].Key != "a" {
		t.Errorf("memories %+v (%v)", found, err)
	}
	c = &Call{host: &echo{answer: []byte(`{"memories":7}`)}}
	if _, err := c.MemoryGet(MemoryGetRequest{}); err == nil || !strings.Contains(err.Error(), "read the response of memory.get") {
		t.Errorf("the error is %v", err)
	}
}

func TestAllPagesAreGoneThrough(t *testing.T) {
	s := &script{answers: []string{
		`{"versions":[{"version":9},{"version":7}],"next":7}`, `{"versions":[{"version":3}]}`,
		`{"memories":[{"key":"a"},{"key":"b"}],"next":"b"}`, `{"memories":[]}`,
		`{"records":[{"key":"a"}],"next":"a"}`, `-{"code":"denied","message":"not granted"}`,
		`{"memories":[{"key":"a"},{"key":"b"}],"next":"b"}`,
	}}
	c := &Call{host: portHost{s}}
	var versions []uint64
	for m, err := range c.Versions(MemoryHistoryRequest{Key: "k", Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, m.Version)
	}
	var keys []string
	for m, err := range c.Memories(MemoryListRequest{Prefix: "p"}) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, m.Key)
	}
	var failed error
	for r, err := range c.Records(RecordListRequest{Collection: "notes"}) {
		if failed = err; err == nil {
			keys = append(keys, r.Key)
		}
	}
	for m := range c.Memories(MemoryListRequest{}) {
		keys = append(keys, m.Key)
		break
	}
	if !slices.Equal(versions, []uint64{9, 7, 3}) || !slices.Equal(keys, []string{"a", "b", "a", "a"}) || CodeOf(failed) != Denied {
		t.Errorf("versions %v, keys %q, error %v", versions, keys, failed)
	}
	if want := []string{`memory.history{"key":"k","limit":2}`, `memory.history{"key":"k","before":7,"limit":2}`, `memory.list{"prefix":"p"}`, `memory.list{"prefix":"p","after":"b"}`,
		`record.list{"collection":"notes"}`, `record.list{"collection":"notes","after":"a"}`, `memory.list{}`}; !slices.Equal(s.asked, want) {
		t.Errorf("asked %q", s.asked)
	}
}

func TestPagesCanBeGoneThroughTwice(t *testing.T) {
	s := &script{answers: []string{`{"memories":[{"key":"b"}],"next":"b"}`, `{}`, `{"memories":[{"key":"b"}],"next":"b"}`, `{}`}}
	all := (&Call{host: portHost{s}}).Memories(MemoryListRequest{After: "a"})
	for range 2 {
		for range all {
		}
	}
	if want := `memory.list{"after":"a"}`; len(s.asked) != 4 || s.asked[0] != want || s.asked[2] != want {
		t.Errorf("asked %q", s.asked)
	}
}
