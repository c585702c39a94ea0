package operation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// world is a dispatcher with tools that tests look into.
type world struct {
	t          *testing.T
	dispatcher *tool.Dispatcher

	mu    sync.Mutex
	calls []seen
}

// seen is a call that reached a tool.
type seen struct {
	tool, arguments, requestID, branch, namespace string
	dryRun                                        bool
}

// open makes a world in which memory_echo answers with its arguments, memory_put needs a key, memory_fail fails as told,
// memory_hang works until it is cancelled, and memory_big answers with many bytes.
func open(t *testing.T) *world {
	w := &world{t: t}
	spec := func(name, input string, run tool.Handler) tool.Spec {
		return tool.Spec{Name: name, Input: json.RawMessage(input), Handler: func(ctx context.Context, c *tool.Call) (tool.Answer, error) {
			w.mu.Lock()
			w.calls = append(w.calls, seen{name, string(c.JSON), c.RequestID, c.Branch, c.Namespace, c.DryRun})
			w.mu.Unlock()
			return run(ctx, c)
		}}
	}
	echo := func(_ context.Context, c *tool.Call) (tool.Answer, error) {
		return c.Tool.Answer(tool.Result{Output: c.JSON}), nil
	}
	registry := tool.NewRegistry(nil)
	if err := registry.Add(
		spec("memory_echo", `{"type":"object"}`, echo),
		spec("memory_put", `{"type":"object","properties":{"key":{"type":"string"},"value":{}},"required":["key"]}`, func(ctx context.Context, c *tool.Call) (tool.Answer, error) {
			a, err := echo(ctx, c)
			a.Version, a.Notes = 7, []string{"put"}
			return a, err
		}),
		spec("memory_fail", `{"type":"object"}`, func(_ context.Context, c *tool.Call) (tool.Answer, error) {
			return tool.Answer{}, &memory.Error{Code: memory.NotFound, Message: "there is no such thing"}
		}),
		spec("memory_hang", `{"type":"object"}`, func(ctx context.Context, c *tool.Call) (tool.Answer, error) {
			c.Progress(1, 4, "first")
			<-ctx.Done()
			return tool.Answer{}, ctx.Err()
		}),
		spec("memory_big", `{"type":"object"}`, func(context.Context, *tool.Call) (tool.Answer, error) {
			return tool.Answer{Structured: strings.Repeat("x", 3<<20)}, nil
		}),
		spec("memory_part", `{"type":"object"}`, func(context.Context, *tool.Call) (tool.Answer, error) {
			return tool.Answer{Structured: map[string]any{"results": []int{1}, "partial": true}, Partial: true}, nil
		}),
		tool.Spec{Name: "memory_mark", Input: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`), Parameters: map[string]string{"memory_id": "id", "key": "id"}, Handler: echo},
		tool.Spec{Name: "memory_mark_all", Input: json.RawMessage(`{"type":"object","properties":{"ids":{"type":"array"}},"required":["ids"]}`), Parameters: map[string]string{"memory_id": "ids"}, Handler: echo},
		tool.Spec{Name: "memory_drop", Input: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`), Parameters: map[string]string{"memory_id": "id"},
			Annotations: tool.Annotations{Destructive: true}, Handler: echo},
		spec("plain", `{"type":"object"}`, echo),
		spec("memory_plain", `{"type":"object"}`, echo),
		Spec(),
	); err != nil {
		t.Fatal(err)
	}
	w.dispatcher = tool.NewDispatcher(registry, tool.Options{})
	return w
}

// run runs an operation.
func (w *world) run(arguments string) (r answered) {
	w.t.Helper()
	return w.runAs(w.t.Context(), tool.Request{Arguments: json.RawMessage(arguments), RequestID: "r"})
}

func (w *world) runAs(ctx context.Context, r tool.Request) (read answered) {
	w.t.Helper()
	r.Tool, r.Caller = Name, memory.Caller{Rights: memory.FullRights()}
	a, err := w.dispatcher.Dispatch(ctx, r)
	if err != nil {
		w.t.Fatalf("run %.200s: %v", r.Arguments, err)
	}
	text, err := tool.Encode(a.Structured)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &read); err != nil {
		w.t.Fatalf("answered %s: %v", text, err)
	}
	if read.text = string(text); a.Failed != (read.Error != nil) {
		w.t.Errorf("%s is an answer that failed: %t", text, a.Failed)
	}
	return read
}

// answered is an answer as clients read it.
type answered struct {
	text     string
	Method   string
	Result   json.RawMessage
	Error    *failure
	Steps    []outcome
	Metadata metadata
}

// results lists the results or error codes of a batch.
func (a answered) results(t *testing.T) (list []string) {
	t.Helper()
	var outcomes []outcome
	if err := json.Unmarshal(a.Result, &outcomes); err != nil {
		t.Fatalf("%s is not the result of a batch: %v", a.text, err)
	}
	for _, o := range outcomes {
		if o.Error != nil {
			list = append(list, o.Error.Code)
		} else {
			list = append(list, string(o.Result))
		}
	}
	return list
}

func TestMethodsHaveManySpellings(t *testing.T) {
	w := open(t)
	for given, want := range map[string]string{
		`{"method":"echo"}`: "memory_echo", `{"method":"memory.echo"}`: "memory_echo", `{"operation":"echo"}`: "memory_echo",
		`{"METHOD":"memory_echo"}`: "memory_echo", `{"method":"plain"}`: "plain", `{"method":"memory_plain"}`: "memory_plain",
		`{"tool":"put","arguments":{"key":"a"}}`: "memory_put",
	} {
		w.calls = nil
		if r := w.run(given); r.Error != nil || len(w.calls) != 1 || w.calls[0].tool != want {
			t.Errorf("%s called %v: %s", given, w.calls, r.text)
		}
	}
	for _, given := range []string{"recal", "Echo", "memory_memory_echo", ".echo", ""} {
		if r := w.run(`{"method":"` + given + `"}`); r.Error == nil {
			t.Errorf("%q is answered with %s", given, r.text)
		}
	}
}

func TestArgumentsMayStandBesideTheMethod(t *testing.T) {
	w := open(t)
	for _, c := range []struct{ name, arguments, want, note string }{
		{"without params", `{"method":"memory_put","key":"k","value":1}`, `{"key":"k","value":1}`, ""},
		{"in another spelling", `{"method":"memory_mark","memoryId":"m"}`, `{"id":"m"}`, ""},
		{"beside params", `{"method":"put","params":{"value":1},"key":"k"}`, `{"key":"k","value":1}`, ""},
		{"of a name that is also one of method", `{"method":"echo","name":"x"}`, `{"name":"x"}`, ""},
		{"metadata that is no operation's", `{"method":"memory_put","key":"k","metadata":{"source":"mail"}}`, `{"key":"k"}`, ""},
		{"in a chain", `{"method":"echo","a":1,"then":{"method":"echo","b":{"$result":"/a"}}}`, `{"b":1}`, ""},
		{"a misspelled member beside params", `{"method":"memory_put","params":{"key":"k"},"optoins":{}}`, `{"key":"k"}`, `memory_operation has no parameter "optoins": it was ignored.`},
	} {
		r := w.run(c.arguments)
		if got := string(r.Result); r.Error != nil || got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, r.text, c.want)
		}
		if notes := strings.Join(r.Metadata.Notes, " "); c.note != "" && !strings.Contains(notes, c.note) {
			t.Errorf("%s: noted %q, want %q", c.name, notes, c.note)
		}
	}
	if r := w.run(`{"method":"put","params":{"key":"k"},"key":"l"}`); r.Error == nil || !strings.Contains(r.Error.Message, "key is given twice: give it in params") {
		t.Errorf("an argument that is given twice: %s", r.text)
	}
	if r := w.run(`{"batch":[{"method":"echo","x":1},{"method":"echo","name":"memory_put"}]}`); string(r.Result) != `[{"method":"echo","result":{"x":1}},{"method":"echo","result":{"name":"memory_put"}}]` {
		t.Errorf("in a batch: %s", r.text)
	}
}

func TestStepsOfAChainReceiveResults(t *testing.T) {
	w := open(t)
	for given, want := range map[string]string{
		`{"method":"echo","params":{"a":1},"then":{"method":"echo","params":{"b":{"$result":"/a"}}}}`:                                                                       `{"b":1}`,
		`{"method":"echo","params":{"a":9007199254740993},"then":[{"method":"echo","params":{"b":{"$result":""}}}]}`:                                                        `{"b":{"a":9007199254740993}}`,
		`{"method":"echo","params":{"list":[{"k":"x"},{"k":"y"}]},"then":{"method":"echo","params":{"keys":{"$result":"/list/*/k"}}}}`:                                      `{"keys":["x","y"]}`,
		`{"method":"echo","params":{"a/b":{"c~d":[5]}},"then":{"method":"echo","params":{"v":[{"$result":"/a~1b/c~0d/0"}]}}}`:                                               `{"v":[5]}`,
		`{"method":"echo","params":{"n":1},"then":{"method":"echo","params":{"n":2},"then":{"method":"echo","params":{"v":[{"$result":"/n"},{"$result":"/n","step":1}]}}}}`: `{"v":[2,1]}`,
		`{"method":"echo","params":{"key":"k"},"then":{"method":"put","params":{"value":1}}}`:                                                                               `{"key":"k","value":1}`,
		`{"method":"echo","params":{"key":"k"},"then":{"method":"put"}}`:                                                                                                    `{"key":"k"}`,
		`{"method":"echo","params":{"key":"k"},"then":{"method":"put","params":{"KEY":"mine"}}}`:                                                                            `{"key":"mine"}`,
		`{"method":"echo","params":{"text":"{\"$result\":\"\"}"},"then":{"method":"echo","params":{"v":{"$result":"/text"}}}}`:                                              `{"v":"{\"$result\":\"\"}"}`,
	} {
		r := w.run(given)
		if r.Error != nil || string(r.Result) != want {
			t.Errorf("%s is answered with %s", given, r.text)
		}
		if len(r.Steps) == 0 || r.Steps[0].Method != "echo" || r.Steps[0].Result == nil {
			t.Errorf("%s has the steps %v", given, r.Steps)
		}
	}
}

func TestAMissingParameterIsTakenFromTheResultBeforeInItsOtherSpellings(t *testing.T) {
	for result, want := range map[string]string{
		`{"memory_id":"a"}`: `{"id":"a"}`, `{"id":"b","memory_id":"a"}`: `{"id":"b"}`, `{"memory_id":"a","key":"b"}`: "", `{"other":"a"}`: "",
	} {
		r := open(t).run(`{"method":"echo","params":` + result + `,"then":{"method":"mark"}}`)
		if got := string(r.Result); (want == "") != (r.Error != nil) || want != "" && got != want {
			t.Errorf("after %s: %s, %+v", result, got, r.Error)
		}
	}
}

func TestAMissingParameterIsTakenFromEachElementOfTheListBefore(t *testing.T) {
	many := `{"memory_id":"a"}` + strings.Repeat(`,{"memory_id":"b"}`, mostEach)
	for _, c := range []struct{ result, then, want, note string }{
		{`{"memories":[{"memory_id":"a"},{"memory_id":"b"}],"count":2}`, `{"method":"mark","params":{"to":"x"}}`, `[{"id":"a","to":"x"},{"id":"b","to":"x"}]`, "each of the 2 memories"},
		{`{"memories":[{"memory_id":"a"},{"memory_id":"b"}]}`, `{"method":"mark_all"}`, `{"ids":["a","b"]}`, "each of the 2 memories"},
		{`{"results":[{"key":"a","namespace":"n"},{"key":"b"}]}`, `{"method":"mark"}`, `[{"id":"n#a"},{"id":"b"}]`, "results"},
		{`{"memories":[]}`, `{"method":"mark"}`, `[]`, "was not called"},
		{`{"memories":[{"memory_id":"a"}]}`, `{"method":"mark","params":{"id":"mine"}}`, `{"id":"mine"}`, ""},
		{`{"memories":[{"memory_id":"a"}]}`, `{"method":"drop"}`, "", ""},
		{`{"memories":[{"memory_id":"a"}],"others":[]}`, `{"method":"mark"}`, "", ""},
		{`{"memories":[{"memory_id":"a"},{"other":"b"}]}`, `{"method":"mark"}`, "", ""},
		{`{"memories":[` + many + `]}`, `{"method":"mark"}`, "", ""},
	} {
		r := open(t).run(`{"method":"echo","params":` + c.result + `,"then":` + c.then + `}`)
		if got := string(r.Result); (c.want == "") != (r.Error != nil) || got != c.want || !strings.Contains(strings.Join(r.Metadata.Notes, " "), c.note) {
			t.Errorf("%.80s then %s: got %s, %+v, notes %q; want %s and %q", c.result, c.then, got, r.Error, r.Metadata.Notes, c.want, c.note)
		}
	}
}

func TestAnOperationThatIsSentAsAStateIsAnsweredWithAllOfIt(t *testing.T) {
	for given, want := range map[string]string{
		`{"version":"1.0","method":"echo","params":{"a":1},"options":{"timeout_ms":5000,"namespace":"n"}}`:    `"method":"echo","params":{"a":1},"options":{"timeout_ms":5000,"dry_run":false,"namespace":"n","branch":"default"},"result":{"a":1},"error":null,`,
		`{"version":"1.0","method":"fail","result":null,"error":null}`:                                        `"method":"fail","params":null,"options":{"timeout_ms":null,"dry_run":false,"namespace":"default","branch":"default"},"result":null,"error":{"code":"E_NOT_FOUND"`,
		`{"version":"1.0","method":"echo","params":{"key":"k"},"then":{"method":"put","params":{"value":1}}}`: `"method":"put","params":{"key":"k","value":1},`,
		`{"version":"2.0","method":"echo","params":{"a":1}}`:                                                  `"params":{"a":1},`,
		`{"method":"echo","params":{"a":1}}`:                                                                  `{"version":"1.0","method":"echo","result":{"a":1},"metadata"`,
	} {
		if r := open(t).run(given); !strings.Contains(r.text, want) {
			t.Errorf("%s: got %s, want %s", given, r.text, want)
		}
	}
}

func TestAReferenceThatCannotBeResolvedIsRefused(t *testing.T) {
	w := open(t)
	then := func(params string) string {
		return `{"method":"echo","params":{"a":[1],"b":{}},"then":{"method":"echo","params":` + params + `}}`
	}
	for given, want := range map[string]string{
		`{"method":"echo","params":{"a":{"$result":"/a"}}}`:                                        "this is the first",
		then(`{"v":{"$result":"/c"}}`):                                                             `no member \"c\"`,
		then(`{"v":{"$result":"/a/1"}}`):                                                           "has 1 elements",
		then(`{"v":{"$result":"/a/-1"}}`):                                                          "has 1 elements",
		then(`{"v":{"$result":"/a/0/x"}}`):                                                         "neither an object nor a list",
		then(`{"v":{"$result":"/a/*/x"}}`):                                                         "element 0",
		then(`{"v":{"$result":"a"}}`):                                                              "JSON Pointer",
		then(`{"v":{"$result":5}}`):                                                                "JSON Pointer",
		then(`{"v":{"$result":"/a","else":1}}`):                                                    `got \"else\"`,
		then(`{"v":{"$result":"/a","step":0}}`):                                                    "from 1",
		then(`{"v":{"$result":"/a","step":"1"}}`):                                                  "from 1",
		then(`{"v":{"$result":"/a","step":2}}`):                                                    "refers to step 2, which has not run",
		then(`{"v":{"$result":"/a","step":3}}`):                                                    "refers to step 3, which has not run",
		then(`{"pad":"` + strings.Repeat("$result", 1<<18) + `"}`):                                 "may have 1048576 bytes",
		then(`{"v":[` + strings.Repeat(`{"$result":""},`, 1000) + `{"$result":""}]}`):              "more than 1000 references",
		`{"method":"big","then":{"method":"echo","params":{"v":[{"$result":""},{"$result":""}]}}}`: "4194304 bytes in all",
	} {
		r := w.run(given)
		if r.Error == nil || r.Error.Code != "E_INVALID_ARGUMENT" || !strings.Contains(r.text, want) || r.Result != nil {
			t.Errorf("%.200s is answered with %.500s, not %q", given, r.text, want)
		}
	}
}

func TestAChainEndsAtTheFirstErrorAndTellsWhatWasDone(t *testing.T) {
	w := open(t)
	r := w.run(`{"method":"put","params":{"key":"k"},"then":[{"method":"fail"},{"method":"put","params":{"key":"never"}}]}`)
	if r.Error == nil || r.Error.Code != "E_NOT_FOUND" || r.Error.Details["step"] != 2.0 || r.Method != "fail" || r.Result != nil {
		t.Errorf("answered %s", r.text)
	}
	if len(r.Steps) != 1 || r.Steps[0].Method != "put" || r.Steps[0].Metadata.Commit != 7 || len(w.calls) != 2 {
		t.Errorf("answered %s after %v", r.text, w.calls)
	}
}

func TestABatchHasAnAnswerForEachOperation(t *testing.T) {
	w := open(t)
	r := w.run(`{"batch":[{"method":"echo","params":{"n":1}},{"method":"fail"},{"method":"none"},{"method":"put","params":{}},{"method":"memory_operation"},
		{"method":"echo","params":{"n":2},"then":{"method":"echo","params":{"m":{"$result":"/n"}}}}]}`)
	want := []string{`{"n":1}`, "E_NOT_FOUND", "E_NOT_FOUND", "E_INVALID_ARGUMENT", "E_INVALID_ARGUMENT", `{"m":2}`}
	if got := r.results(t); !slices.Equal(got, want) || r.Error != nil || r.Method != "" {
		t.Errorf("answered %s", r.text)
	}
	if r := w.run(`{"batch":[]}`); r.Error != nil || string(r.Result) != "[]" {
		t.Errorf("an empty batch is answered with %s", r.text)
	}
	r = w.run(`{"batch":[{"method":"echo","params":{"k":"a"}},{"method":"echo","params":{"k":"b"}}],"then":{"method":"echo","params":{"v":{"$result":"/*/result/k"}}}}`)
	if string(r.Result) != `{"v":["a","b"]}` || len(r.Steps) != 1 {
		t.Errorf("answered %s", r.text)
	}
	r = w.run(`{"method":"echo","params":{"k":"a"},"then":{"batch":[{"method":"echo","params":{"v":{"$result":"/k"}}},{"method":"echo","params":{"v":{"$result":"/k"}}}]}}`)
	if got := r.results(t); !slices.Equal(got, []string{`{"v":"a"}`, `{"v":"a"}`}) {
		t.Errorf("answered %s", r.text)
	}
}

func TestOperationsOfABatchRunInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		items := slices.Repeat([]string{`{"method":"hang"}`}, inParallel+3)
		r := w.run(`{"batch":[` + strings.Join(items, ",") + `],"options":{"timeout_ms":1000}}`)
		if len(w.calls) != inParallel || r.Error == nil || r.Error.Code != "E_TIMEOUT" {
			t.Errorf("%d calls ran beside each other: %s", len(w.calls), r.text)
		}
		if strings.Count(r.text, `"begun":false`) != 3 {
			t.Errorf("answered %s", r.text)
		}
	})
}

func TestWhatTakesTooLongAnswersWithWhatWasDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		r := w.run(`{"method":"hang","options":{"timeout_ms":20}}`)
		if r.Error == nil || r.Error.Code != "E_TIMEOUT" || !strings.Contains(r.Error.Message, "within 20ms") || !strings.Contains(r.text, `"progress":{"done":1,"message":"first","total":4}`) {
			t.Errorf("a call is answered with %s", r.text)
		}
		r = w.run(`{"batch":[{"method":"echo"},{"method":"hang"},{"method":"put","params":{"key":"k"}},{"method":"hang","options":{"timeout_ms":5}}],"options":{"timeout_ms":20}}`)
		if got := r.results(t); !slices.Equal(got, []string{`{}`, "E_TIMEOUT", `{"key":"k"}`, "E_TIMEOUT"}) {
			t.Errorf("a batch has the results %v", got)
		}
		if r.Error == nil || r.Error.Code != "E_TIMEOUT" || !strings.Contains(r.text, `"not_done":[1,3]`) || !strings.Contains(r.text, "within 5ms") {
			t.Errorf("a batch is answered with %s", r.text)
		}
		r = w.run(`{"method":"put","params":{"key":"k"},"options":{"timeout_ms":20},"then":[{"method":"hang"},{"method":"echo"}]}`)
		if r.Error == nil || r.Error.Code != "E_TIMEOUT" || len(r.Steps) != 1 || r.Error.Details["step"] != 2.0 {
			t.Errorf("a chain is answered with %s", r.text)
		}
		if r = w.run(`{"batch":[{"method":"hang","options":{"timeout_ms":5}}]}`); r.Error != nil {
			t.Errorf("a batch in time is answered with %s", r.text)
		}
	})
}

func TestACancelledOperationBeginsNothingMore(t *testing.T) {
	w := open(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&memory.Error{Code: memory.Unavailable, Message: "the server is stopping", Retryable: true})
	r := w.runAs(ctx, tool.Request{Arguments: json.RawMessage(`{"batch":[{"method":"echo"},{"method":"echo"}]}`)})
	if got := r.results(t); !slices.Equal(got, []string{"E_UNAVAILABLE", "E_UNAVAILABLE"}) || len(w.calls) != 0 {
		t.Errorf("answered %s after %v", r.text, w.calls)
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	stop := context.AfterFunc(ctx, func() {})
	defer stop()
	go cancel(&memory.Error{Code: memory.Unavailable, Message: "the server is stopping", Retryable: true})
	r = w.runAs(ctx, tool.Request{Arguments: json.RawMessage(`{"method":"hang"}`)})
	if r.Error == nil || r.Error.Code != "E_UNAVAILABLE" || !r.Error.Retryable {
		t.Errorf("answered %s", r.text)
	}
}

func TestOptionsAreInherited(t *testing.T) {
	w := open(t)
	w.run(`{"batch":[{"method":"echo","options":{"namespace":"m"}},{"method":"echo","then":{"method":"echo","options":{"branch":"c"}}}],"options":{"namespace":"n","branch":"b","dry_run":true}}`)
	var got []string
	for _, c := range w.calls {
		got = append(got, fmt.Sprint(c.branch, " ", c.namespace, " ", c.dryRun))
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"b m true", "b n true", "c n true"}) {
		t.Errorf("called at %q", got)
	}
}

func TestEachCallOfAnOperationHasItsRequestID(t *testing.T) {
	w := open(t)
	ids := func(arguments string) (list []string) {
		w.calls = nil
		w.run(arguments)
		for _, c := range w.calls {
			list = append(list, c.requestID)
		}
		slices.Sort(list)
		return list
	}
	batch := `{"batch":[{"method":"echo"},{"method":"echo","then":{"method":"echo"}}],"then":{"method":"echo"}}`
	first, again := ids(batch), ids(batch)
	if !slices.Equal(first, again) || len(slices.Compact(slices.Clone(first))) != 4 || slices.Contains(first, "") {
		t.Errorf("the ids are %q, then %q", first, again)
	}
	if got := ids(`{"method":"echo","metadata":{"request_id":"mine"}}`); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("the ids are %q", got)
	}
	if got := ids(`{"method":"echo"}`); !slices.Equal(got, []string{"r"}) {
		t.Errorf("the ids are %q", got)
	}
	r := w.run(`{"method":"echo","metadata":{"request_id":"mine"}}`)
	if r.Metadata.RequestID != "mine" {
		t.Errorf("answered %s", r.text)
	}
	r = w.runAs(t.Context(), tool.Request{Arguments: json.RawMessage(`{"method":"echo","then":{"method":"echo"}}`)})
	if r.Error != nil || w.calls[len(w.calls)-1].requestID != "" {
		t.Errorf("without an id, %v are called", w.calls)
	}
}

func TestErrorsTellWhatWasSearched(t *testing.T) {
	w := open(t)
	for given, want := range map[string]string{
		`{"method":"none"}`: `"searched_families":["core"]`,
		`{"method":"fail"}`: `"searched":{"branch":"default","namespace":"default"}`,
		`{"method":"fail","params":{"namespace":"n"},"options":{"branch":"b","namespace":"m"}}`: `"searched":{"branch":"b","namespace":"n"}`,
	} {
		if r := w.run(given); r.Error == nil || r.Error.Code != "E_NOT_FOUND" || !strings.Contains(r.text, want) {
			t.Errorf("%s is answered with %s", given, r.text)
		}
	}
}

func TestAnOperationOfTheWrongFormDoesNothing(t *testing.T) {
	w := open(t)
	repeat := func(n int, item string) string { return strings.Join(slices.Repeat([]string{item}, n), ",") }
	deep := func(n int) string {
		return strings.Repeat(`{"method":"echo","then":`, n) + `{"method":"echo"}` + strings.Repeat("}", n)
	}
	for given, want := range map[string]string{
		`{}`:                          "needs method",
		`{"batch":[{}]}`:              "batch[0].method",
		`{"batch":[5]}`:               "batch[0] must be an object",
		`{"batch":5}`:                 "batch must be a list of objects",
		`{"method":"echo","then":5}`:  "then must be a list of objects",
		`{"method":"echo","then":{}}`: "then[0].method",
		`{"method":"echo","then":[{"method":"echo","options":{"dryrun":true}}]}`:                            `no option "dryrun"`,
		`{"method":"echo","batch":[]}`:                                                                      "one operation at a time",
		`{"params":{},"batch":[]}`:                                                                          "one operation at a time",
		`{"batch":[{"batch":[]}]}`:                                                                          "inside of another",
		`{"batch":[{"method":"echo","then":{"batch":[]}}]}`:                                                 "inside of another",
		`{"batch":[` + repeat(101, `{"method":"echo"}`) + `]}`:                                              "batch has 101 operations: at most 100",
		`{"method":"echo","then":[` + repeat(16, `{"method":"echo"}`) + `]}`:                                "17 steps is too long: at most 16",
		`{"method":"echo","then":[` + repeat(10_001, `{}`) + `]}`:                                           "10001 elements: at most 10000",
		`{"batch":[` + repeat(100, `{"method":"echo","then":[{"method":"echo"},{"method":"echo"}]}`) + `]}`: "more than 200 calls",
		deep(17):  "nested more than 16 deep",
		deep(200): "nested more than 16 deep",
		deep(600): "at most 512 are allowed",
		`{"method":"echo","metadata":{"request_id":"` + strings.Repeat("i", 129) + `"}}`: "request_id has 129 bytes",
		`{"method":"echo","params":[]}`:                     "params must be an object",
		`{"method":"echo","options":{"timeout_ms":600001}}`: "from 1 to 600000",
	} {
		a, err := w.dispatcher.Dispatch(t.Context(), tool.Request{Tool: Name, Arguments: json.RawMessage(given), Caller: memory.Caller{Rights: memory.FullRights()}})
		text, _ := tool.Encode(a.Structured)
		if err != nil {
			text = []byte(err.Error())
		}
		var read answered
		if json.Unmarshal(text, &read) == nil && read.Error != nil {
			text = []byte(read.Error.Message)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%.100s is answered with %.300s, not %q", given, text, want)
		}
	}
	if len(w.calls) != 0 {
		t.Errorf("%d calls were made", len(w.calls))
	}
}

func TestResultsAreBounded(t *testing.T) {
	r, long := &runner{}, tool.Answer{Structured: strings.Repeat("x", 100)}
	r.size.Store(mostResults - 150)
	var fits, left outcome
	if err := r.keep(&fits, long); err != nil || len(fits.Result) != 102 {
		t.Errorf("kept %s, %v", fits.Result, err)
	}
	err := r.keep(&left, long)
	if f := failureOf(err); f.Code != "E_EXHAUSTED" || f.Details["called"] != true || left.Result != nil {
		t.Errorf("kept %s, %v", left.Result, err)
	}
}

func FuzzOperations(f *testing.F) {
	for _, seed := range []string{
		`{"method":"echo","params":{"a":[1]},"then":{"method":"put","params":{"key":{"$result":"/a/0"}}}}`,
		`{"batch":[{"method":"echo"},{"method":"echo","then":[{"method":"echo","params":{"a":{"$result":"/*","step":1}}}]}],"options":{"timeout_ms":1}}`,
		`{"method":"echo","metadata":{"request_id":"x"},"options":{"dry_run":true}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		w := open(t)
		a, err := w.dispatcher.Dispatch(t.Context(), tool.Request{Tool: Name, Arguments: json.RawMessage(arguments), Caller: memory.Caller{Rights: memory.FullRights()}})
		var known *memory.Error
		if err != nil && (!errors.As(err, &known) || known.Code == memory.Internal) {
			t.Fatalf("Dispatch of %q: %v, want no internal error", arguments, err)
		}
		if text, encodes := tool.Encode(a.Structured); encodes != nil || strings.Contains(string(text), "E_INTERNAL") {
			t.Fatalf("%q is answered with %s, %v", arguments, text, encodes)
		}
		if len(w.calls) > mostCalls {
			t.Errorf("%d calls were made", len(w.calls))
		}
	})
}

func TestAPartialResultStandsBesideItsError(t *testing.T) {
	w := open(t)
	r := w.run(`{"method":"part","options":{"timeout_ms":60000},"then":{"method":"echo"}}`)
	if string(r.Result) != `{"partial":true,"results":[1]}` || r.Error == nil || r.Error.Code != "E_TIMEOUT" || !r.Error.Retryable || !strings.Contains(r.Error.Message, "not done completely within 1m0s") || r.Method != "part" {
		t.Errorf("answered %s", r.text)
	}
	batch := w.run(`{"batch":[{"method":"part"},{"method":"echo"}]}`)
	if batch.Error != nil || !strings.Contains(string(batch.Result), `"result":{"partial":true,"results":[1]},"error":{"code":"E_TIMEOUT"`) {
		t.Errorf("a batch is answered %s", batch.text)
	}
}
