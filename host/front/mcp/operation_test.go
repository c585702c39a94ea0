package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/tool"
)

// operated is what memory_operation answers.
type operated struct {
	Version string
	Method  string
	Result  any
	Error   *struct {
		Code, Message string
		Details       map[string]any
	}
	Metadata struct {
		RequestID string `json:"request_id"`
		Timestamp string
		DryRun    bool   `json:"dry_run"`
		Commit    uint64 `json:"version"`
		Proposal  string
		Notes     []string
	}
}

// operation is the whole answer of memory_operation.
func (p *peer) operation(arguments string) (operated, outcome) {
	p.t.Helper()
	o := p.call("memory_operation", arguments)
	var r operated
	o.into(&r)
	return r, o
}

func TestAnOperationCallsACoreTool(t *testing.T) {
	p := use(t)
	r, o := p.operation(`{"version":"1.0","method":"memory_store","params":{"key":"k","value":{"n":9007199254740993}}}`)
	if r.Version != "1.0" || r.Method != "memory_store" || r.Error != nil || r.Metadata.RequestID == "" || r.Metadata.Timestamp == "" || o.text != string(o.structured) {
		t.Errorf("answered %s", o.text)
	}
	_, o = p.operation(`{"method":"memory.recall","params":{"key":"k"}}`)
	if !strings.Contains(o.text, `"result":{"found":true,"key":"k","value":{"n":9007199254740993}`) {
		t.Errorf("answered %s", o.text)
	}
}

func TestAnOperationCallsAToolOfAFamilyThatIsNotLoaded(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{})
	f.answers["memory_tag_suggest"] = func(context.Context, familyCall) (tool.Result, error) {
		return tool.Result{Output: json.RawMessage(`["a","b"]`), Version: 7, Proposal: "proposals/1", Notes: []string{"the hook x was skipped"}}, nil
	}
	r, o := p.operation(`{"method":"memory_tag_suggest","params":"{\"text\":\"x\"}"}`)
	if !strings.Contains(o.text, `"result":["a","b"]`) || r.Metadata.Commit != 7 || r.Metadata.Proposal != "proposals/1" || len(r.Metadata.Notes) != 2 || r.Metadata.Notes[0] != "the hook x was skipped" {
		t.Errorf("answered %s", o.text)
	}
	p.quiet() // the list of those who call this way stays as it is
	if got := p.beyondCore(`{}`); got != "" {
		t.Errorf("listed are %s", got)
	}
	p.operation(`{"method":"site.memory.store","params":{"content":"x"}}`)
	if got := f.last(t).Tool; got != "site.memory.store" {
		t.Errorf("called %s", got)
	}
}

func TestAnOperationThatFailsHasACodeAMessageAndDetails(t *testing.T) {
	f := newFake()
	f.answers["memory_tag_suggest"] = func(context.Context, familyCall) (tool.Result, error) {
		return tool.Result{}, errors.New("secret path")
	}
	p := withFamilies(t, f, Session{})
	for arguments, want := range map[string][3]string{
		`{"method":"memory_recal","params":{}}`: {"E_NOT_FOUND", "there is no tool", `"searched_families":["core","auto-tag"`},
		`{"method":"memory_recall"}`:            {"E_INVALID_ARGUMENT", "memory_recall needs key", `"parameters":["key"]`},
		`{"method":"memory_recall","params":[]}`: {
			"E_INVALID_ARGUMENT", "params must be an object", `"parameters":["params"]`},
		`{}`: {"E_INVALID_ARGUMENT", "memory_operation needs method", ""},
		`{"method":"memory_status","options":{"dryrun":true}}`:                    {"E_INVALID_ARGUMENT", `there is no option "dryrun"`, `"options.dryrun"`},
		`{"method":"memory_status","options":{"timeout_ms":0}}`:                   {"E_INVALID_ARGUMENT", "options.timeout_ms must be a whole number from 1 to 600000", ""},
		`{"method":"memory_status","options":5}`:                                  {"E_INVALID_ARGUMENT", "options must be an object", ""},
		`{"method":"memory_status","version":"2.0"}`:                              {"E_INVALID_ARGUMENT", "version must be 1.0", ""},
		`{"method":"memory_status","batch":[]}`:                                   {"E_INVALID_ARGUMENT", "one operation at a time", ""},
		`{"method":"memory_operation","params":{"method":"memory_status"}}`:       {"E_INVALID_ARGUMENT", "cannot call itself", ""},
		`{"method":"memory_status","params":{"branch":"nowhere"}}`:                {"E_NOT_FOUND", "nowhere", ""},
		`{"method":"memory_store","params":{"key":"k","value":1,"if_version":9}}`: {"E_CONFLICT", "k", ""},
		`{"method":"memory_tag_suggest","params":{}}`:                             {"E_INTERNAL", "its log says why", ""},
		`{"method":"memory_auto_tag","params":{}}`:                                {"E_INVALID_ARGUMENT", "memory_auto_tag needs id", `"parameters":["id"]`},
		`{"method":"broken_tool"}`:                                                {"E_UNAVAILABLE", "out of memory", ""},
	} {
		raw := p.request("tools/call", `{"name":"memory_operation","arguments":`+arguments+`}`)
		r, o := p.operation(arguments)
		if !strings.Contains(raw, `"isError":true`) || r.Error == nil || r.Result != nil || r.Metadata.RequestID == "" {
			t.Errorf("%s is answered with %s", arguments, raw)
			continue
		}
		if r.Error.Code != want[0] || !strings.Contains(r.Error.Message, want[1]) || !strings.Contains(o.text, want[2]) {
			t.Errorf("%s is answered with %s", arguments, o.text)
		}
	}
}

func TestOptionsSayWhereAnOperationGoes(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{})
	p.must("memory_branch", `{"action":"fork","name":"side"}`)
	options := `"options":{"namespace":"n","branch":"side"}`
	p.operation(`{"method":"memory_store","params":{"key":"k","value":1},` + options + `}`)
	if got := p.must("memory_recall", `{"key":"k","namespace":"n","branch":"side"}`).field("value"); got != "1" {
		t.Errorf("recalled %s", got)
	}
	p.operation(`{"method":"memory_store","params":{"key":"k","value":2,"namespace":"mine"},` + options + `}`)
	if got := p.must("memory_recall", `{"key":"k","namespace":"mine","branch":"side"}`).field("value"); got != "2" {
		t.Errorf("recalled %s", got)
	}
	p.operation(`{"method":"memory_auto_tag","params":{"id":"k"},` + options + `}`)
	if c := f.last(t); c.Branch != "side" || c.Namespace != "n" || string(c.Arguments) != `{"id":"k"}` {
		t.Errorf("called with %+v", c)
	}
	p.operation(`{"method":"memory_auto_tag","params":{"id":"k","branch":"default"},` + options + `}`)
	if c := f.last(t); c.Branch != "default" || c.Namespace != "n" || string(c.Arguments) != `{"id":"k"}` {
		t.Errorf("called with %+v", c)
	}
	p.operation(`{"method":"memory_branch","params":{"action":"switch","name":"side"},"options":{"namespace":"n"}}`)
	if o := p.must("memory_status", `{}`); o.field("branch") != `"side"` || o.field("namespace") != `"default"` {
		t.Errorf("the session is at %s", o.text)
	}
}

func TestAParameterOfTheFamilysOwnIsTheFamilys(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{})
	p.must("site.memory.store", `{"content":"x","namespace":"theirs","branch":"b"}`)
	if c := f.last(t); c.Namespace != "default" || c.Branch != "b" || string(c.Arguments) != `{"content":"x","namespace":"theirs"}` {
		t.Errorf("called with %+v, %s", c, c.Arguments)
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{})
	p.must("memory_store", `{"key":"k","value":1}`)
	latest := p.must("memory_status", `{}`).field("latest_version")
	for arguments, want := range map[string]string{
		`{"method":"memory_store","params":{"key":"k","value":2}`:                           `"store":[{"key":"k","replaces_version":`,
		`{"method":"memory_store","params":{"items":[{"value":2},{"key":"new","value":3}]}`: `"store":[{"key":"m-m1f48tinqfhabdh5"},{"key":"new"}]`,
		`{"method":"memory_store","params":{"key":"k","value":2,"if_version":0}`:            `E_CONFLICT`,
		`{"method":"memory_store","params":{"key":"k"}`:                                     `needs value`,
		`{"method":"memory_forget","params":{"key":["k","none"]}`:                           `"forget":["k"]`,
		`{"method":"memory_log","params":{"event":"e","data":1}`:                            `"event":"e"`,
		`{"method":"memory_branch","params":{"action":"fork","name":"b"}`:                   `"action":"fork"`,
		`{"method":"memory_branch","params":{"action":"merge","source":"default"}`:          `E_INVALID_ARGUMENT`,
		`{"method":"memory_recall","params":{"key":"k"}`:                                    `"value":1`,
		`{"method":"memory_store","params":{"key":"k","value":2,"branch":"none"}`:           `E_NOT_FOUND`,
		`{"method":"memory_log","params":{"event":"e","data":1,"branch":"none"}`:            `E_NOT_FOUND`,
		`{"method":"memory_forget","params":{"key":"k","branch":"none"}`:                    `E_NOT_FOUND`,
	} {
		r, o := p.operation(arguments + `,"options":{"dry_run":true}}`)
		if !strings.Contains(o.text, want) || !r.Metadata.DryRun {
			t.Errorf("%s is answered with %s", arguments, o.text)
		}
	}
	if got := p.must("memory_status", `{}`).field("latest_version"); got != latest {
		t.Errorf("version %s became %s", latest, got)
	}
	p.operation(`{"method":"memory_auto_tag","params":{"id":"k"},"options":{"dry_run":true}}`)
	if !f.last(t).DryRun {
		t.Error("the family was not told that the run is dry")
	}
}

func TestAnOperationThatTakesTooLongEnds(t *testing.T) {
	f := newFake()
	hang := func(ctx context.Context, _ familyCall) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	f.answers["memory_auto_tag"], f.answers["memory_tag_suggest"] = hang, hang
	p := withFamilies(t, f, Session{})
	r, o := p.operation(`{"method":"memory_auto_tag","params":{"id":"k"},"options":{"timeout_ms":20}}`)
	if r.Error == nil || r.Error.Code != "E_TIMEOUT" || !strings.Contains(r.Error.Message, "within 20ms") || !strings.Contains(r.Error.Message, "not known") {
		t.Errorf("answered %s", o.text)
	}
	if r, _ = p.operation(`{"method":"memory_tag_suggest","options":{"timeout_ms":1}}`); strings.Contains(r.Error.Message, "not known") {
		t.Errorf("a tool that only reads is said to %s", r.Error.Message)
	}
	sent := &memory.Error{Code: memory.Timeout, Message: "POST hooks/notify was sent", Details: map[string]any{"sent": []string{"POST hooks/notify was sent"}}}
	f.answers["memory_auto_tag"] = func(ctx context.Context, _ familyCall) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, sent
	}
	if r, o = p.operation(`{"method":"memory_auto_tag","params":{"id":"k"},"options":{"timeout_ms":20}}`); r.Error == nil || r.Error.Message != sent.Message {
		t.Errorf("one that sent something is answered with %s", o.text)
	}
}

func TestACancelledCallReachesTheFamily(t *testing.T) {
	f := newFake()
	begun, ended := make(chan struct{}), make(chan error, 1)
	f.answers["memory_auto_tag"] = func(ctx context.Context, _ familyCall) (tool.Result, error) {
		close(begun)
		<-ctx.Done()
		ended <- ctx.Err()
		return tool.Result{}, ctx.Err()
	}
	p := withFamilies(t, f, Session{})
	id, _ := p.start("tools/call", `{"name":"memory_auto_tag","arguments":{"id":"k"}}`)
	await.Value(t, "the call", begun)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	if err := await.Value(t, "the end of the call", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestAnOperationThatIsSentAgainHappensOnce(t *testing.T) {
	p := use(t)
	params := `{"name":"memory_operation","arguments":{"method":"memory_log","params":{"event":"paid","data":1}},"_meta":{"alcove/request-id":"r-1"}}`
	for range 2 {
		o := parseOutcome(t, "memory_operation", []byte(p.request("tools/call", params)))
		if !strings.Contains(o.text, `"sequence":1`) || !strings.Contains(o.text, `"request_id":"r-1"`) {
			t.Errorf("answered %s", o.text)
		}
	}
}

func TestAnOperationOfAClientThatMayOnlyReadOnlyReads(t *testing.T) {
	f := newFake()
	p := withFamilies(t, f, Session{Rights: owner().Rights.ReadOnly()})
	for _, arguments := range []string{`{"method":"memory_store","params":{"key":"k","value":1}}`, `{"method":"memory_auto_tag","params":{"id":"k"}}`} {
		r, o := p.operation(arguments)
		if r.Error == nil || r.Error.Code != "E_DENIED" {
			t.Errorf("%s is answered with %s", arguments, o.text)
		}
	}
	if r, o := p.operation(`{"method":"memory_tag_suggest"}`); r.Error != nil || !f.last(t).ReadOnly {
		t.Errorf("answered %s", o.text)
	}
	if got := p.refused("memory_auto_tag", `{"id":"k"}`); got.Code != memory.Denied {
		t.Errorf("refused with %+v", got)
	}
}
