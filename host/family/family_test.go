package family

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/testspace"
	"github.com/alcove-memory/alcove/host/tool/core"
	"github.com/alcove-memory/alcove/registry"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compile-module" {
		os.Exit(sandbox.RunCompiler(os.Args[2:], os.Stdin, os.Stderr))
	}
	os.Exit(withCompiled(m.Run))
}

// compiled is where the modules of this run are kept compiled: most tests use the same few.
const compiled = "ALCOVE_TEST_COMPILED"

// withCompiled makes the directory of compiled modules, and removes it after the tests.
func withCompiled(run func() int) int {
	dir, err := os.MkdirTemp("", "alcove-compiled")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv(compiled, dir)
	return run()
}

// world is a space with families.
type world struct {
	*Families
	t     testing.TB
	space *memory.Space
	dir   string
}

// open makes a world. change may change its options.
func open(t testing.TB, change func(*Options)) *world {
	t.Helper()
	return openIn(t, t.TempDir(), change)
}

func openIn(t testing.TB, dir string, change func(*Options)) *world {
	t.Helper()
	return openWith(t, dir, nil, change)
}

// openAt makes a world with a clock of its own.
func openAt(t testing.TB, clock func() time.Time, change func(*Options)) *world {
	t.Helper()
	return openWith(t, t.TempDir(), clock, change)
}

// openWith makes a world in a directory; a nil clock is the machine's.
func openWith(t testing.TB, dir string, clock func() time.Time, change func(*Options)) *world {
	t.Helper()
	proxy := NewProxy(nil)
	space := testspace.Open(t, testspace.Options{Dir: dir, Clock: clock, IsPrivate: proxy.IsPrivate, Hooks: proxy.Hooks})
	box, err := sandbox.New(sandbox.Config{Cache: sandbox.Cache{Dir: filepath.Join(os.Getenv(compiled), "cache")}})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Core: core.Names(), Space: space, Proxy: proxy, Callable: exact{proxy: proxy}, Sandbox: box, Dir: dir, Clock: clock, Retry: 10 * time.Millisecond, Poll: 10 * time.Millisecond}
	if change != nil {
		change(&o)
	}
	f, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(f.Close(), box.Close()); err != nil {
			t.Error(err)
		}
	})
	return &world{Families: f, t: t, space: space, dir: dir}
}

// with installs a family and grants it everything, hooks too.
func (w *world) with(m *abi.Manifest, s script) *world {
	w.t.Helper()
	if _, err := w.Install(pack(w.t, m, s)); err != nil {
		w.t.Fatal(err)
	}
	hooks := map[abi.Hook]registry.On{}
	for _, h := range []abi.Hook{abi.HookStore, abi.HookStored, abi.HookMerged, abi.HookRank, abi.HookJob} {
		if grants.Has(m.Hooks, h) {
			hooks[h] = registry.On{}
		}
	}
	if m.Hooks.Store != nil {
		hooks[abi.HookStore] = registry.On{OnFailure: m.Hooks.Store.OnFailure}
	}
	if _, err := w.Grant(grants.Request{Family: m.Name, All: true, Hooks: hooks}); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Load(w.t.Context(), m.Name); err != nil {
		w.t.Fatal(err)
	}
	return w
}

// given is a call of a tool by its name.
type given struct {
	Tool      string
	Arguments json.RawMessage
	memory.Location
	Caller    memory.Caller
	RequestID string
	DryRun    bool
	AsOf      memory.AsOf
	Progress  func(done, total float64, message string)
	Ended     func(*sandbox.Result)
}

// Call calls the tool that the caller finds, which nothing else decides.
func (w *world) Call(ctx context.Context, c given) (Result, error) {
	t, err := w.Find(c.Caller, c.Tool)
	if err != nil {
		return Result{}, err
	}
	return w.Families.Call(WithEnded(ctx, c.Ended), t, Call{Arguments: c.Arguments, Location: c.Location, Caller: c.Caller, RequestID: c.RequestID, DryRun: c.DryRun, AsOf: c.AsOf, Progress: c.Progress})
}

// exact are the tools of families, by their exact names. Their arguments are taken as they are.
type exact struct {
	noTools
	proxy *Proxy
}

// Prepare implements Callable.
func (e exact) Prepare(c ToolCall) (Prepared, error) {
	t, err := e.proxy.Families().Find(c.Caller, c.Tool)
	return Prepared{Tool: t, Arguments: c.Arguments}, err
}

// Offered implements Callable.
func (e exact) Offered(rights memory.Rights) (list []abi.ForeignTool) {
	for _, d := range e.proxy.All() {
		for _, t := range d.Tools {
			if rights.May(memory.ToUse(d.Manifest.Name)) {
				list = append(list, abi.ForeignTool{Name: t.Name, Family: d.Manifest.Name, Description: t.Description, InputSchema: t.InputSchema})
			}
		}
	}
	return list
}

// call calls a family's tool.
func (w *world) call(c given) (Result, error) {
	if readable, all := c.Caller.Rights.Readable(); !all && len(readable) == 0 {
		c.Caller.Rights = memory.FullRights()
	}
	if c.Arguments == nil {
		c.Arguments = json.RawMessage(`{}`)
	}
	return w.Call(w.t.Context(), c)
}

// do calls the only tool of a family, and gives the responses of its calls of the host.
func (w *world) do(name string) ([]response, Result) {
	w.t.Helper()
	result, err := w.call(given{Tool: name + "_do"})
	if err != nil {
		w.t.Fatalf("call %s_do: %v", name, err)
	}
	return responses(w.t, result.Output), result
}

// response is what the host answered.
type response struct {
	OK    json.RawMessage
	Error *abi.Error
}

func responses(t testing.TB, output json.RawMessage) []response {
	t.Helper()
	var list []response
	if err := json.Unmarshal(output, &list); err != nil {
		t.Fatalf("decode %s: %v", output, err)
	}
	return list
}

func (w *world) store(key, value string) {
	w.t.Helper()
	if _, err := w.space.As(owner("")).Store(w.t.Context(), memory.Location{}, []memory.Item{{Key: key, Value: json.RawMessage(value)}}, memory.Write{}); err != nil {
		w.t.Fatal(err)
	}
}

// value is what is under a key on a branch, as JSON; empty when there is nothing.
func (w *world) value(branch, key string) string {
	w.t.Helper()
	m, err := w.space.As(owner("")).Recall(w.t.Context(), memory.Location{Branch: branch}, key, memory.AsOf{})
	if err != nil {
		w.t.Fatal(err)
	}
	if m == nil {
		return ""
	}
	return string(m.Value)
}

func code(err error) memory.Code {
	var known *memory.Error
	if errors.As(err, &known) {
		return known.Code
	}
	return ""
}

func TestAToolsWritesAreCommittedTogetherWithItsAnswer(t *testing.T) {
	w := open(t, nil).with(aFamily("tidy"), script{steps: []step{
		{"memory.put", `{"items":[{"key":"a","value":1},{"key":"b","value":2,"tags":["t"]}]}`},
		{"memory.get", `{"keys":["a","nothing"]}`},
		{"log.append", `{"event":"tidied","data":{}}`},
	}})
	got, result := w.do("tidy")
	if string(got[1].OK) != `{"memories":[{"namespace":"default","key":"a","value":1,"state":"active","agent":"family:tidy","version":0},null]}` {
		t.Errorf("it saw %s of its own", got[1].OK)
	}
	if w.value("", "a") != "1" || w.value("", "b") != "2" || result.Version == 0 || result.Proposal != "" {
		t.Errorf("committed %+v", result)
	}
	events, err := w.space.As(owner("")).Events(t.Context(), memory.Location{}, memory.AsOf{}, 0, 0)
	if err != nil || len(events) != 1 || events[0].Version != result.Version {
		t.Errorf("the event is %+v, %v: not of the same commit", events, err)
	}
}

func TestOfAToolThatFailsNothingIsKept(t *testing.T) {
	put := []step{{"memory.put", `{"items":[{"key":"a","value":1}]}`}}
	schema := aFamily("lies")
	schema.Tools[0].OutputSchema = json.RawMessage(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)
	spins := aFamily("spins")
	spins.Limits.CPUMS = 50
	cases := []struct {
		manifest *abi.Manifest
		script   script
		code     memory.Code
		says     string
	}{
		{aFamily("fails"), script{steps: put, fails: `{"code":"not_found","message":"no such thing"}`}, memory.NotFound, "no such thing"},
		{aFamily("traps"), script{steps: put, traps: true}, memory.Unavailable, "family traps failed"},
		{spins, script{steps: put, spins: true}, memory.Exhausted, "nothing of it was kept"},
		{aFamily("floods"), script{steps: put, says: " ", floods: true}, memory.Exhausted, "nothing of it was kept"},
		{schema, script{steps: put, says: `{"n":"many"}`}, memory.Unavailable, "does not match its output_schema"},
		{aFamily("mumbles"), script{steps: put, says: `{`}, memory.Unavailable, "nothing of it was kept"},
	}
	for _, c := range cases {
		w := open(t, nil).with(c.manifest, c.script)
		_, err := w.call(given{Tool: c.manifest.Name + "_do"})
		if code(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: code %s, %v, want %s with %q", c.manifest.Name, code(err), err, c.code, c.says)
		}
		if w.value("", "a") != "" {
			t.Errorf("%s: a part was kept", c.manifest.Name)
		}
	}
}

func TestAFamilyThatMayOnlyProposeWritesToABranchOfItsOwn(t *testing.T) {
	w := open(t, nil).with(aFamily("tidy"), script{steps: []step{{"memory.put", `{"items":[{"key":"a","value":1}]}`}, {"caller.get", `{}`}}})
	if _, err := w.Grant(grants.Request{Family: "tidy", Revoke: []string{"memory.write"}}); err != nil {
		t.Fatal(err)
	}
	got, result := w.do("tidy")
	if !strings.HasPrefix(result.Proposal, "proposals/tidy/") || w.value("", "a") != "" || w.value(result.Proposal, "a") != "1" {
		t.Errorf("after %+v a is %q, and %q in the proposal", result, w.value("", "a"), w.value(result.Proposal, "a"))
	}
	if !strings.Contains(string(got[1].OK), `"proposes":true`) || len(result.Notes) == 0 {
		t.Errorf("it was told %s, and its caller %q", got[1].OK, result.Notes)
	}
}

func TestAFamilyDoesWhatManifestOperatorAndCallerAllAllow(t *testing.T) {
	steps := []step{{"memory.get", `{"keys":["a"]}`}, {"memory.put", `{"items":[{"key":"a","value":1}]}`}, {"memory.get", `{"keys":["a"],"namespace":"other"}`}}
	narrow := aFamily("narrow")
	narrow.Capabilities = []abi.Request{{Name: abi.CanMemoryRead, Scope: []string{"default"}, Reason: "to read"}}
	w := open(t, nil).with(narrow, script{steps: steps})
	got, _ := w.do("narrow")
	if got[0].Error != nil || got[1].Error == nil || got[1].Error.Code != abi.CodeDenied || got[2].Error == nil {
		t.Errorf("beyond its manifest: %+v", got)
	}

	w = open(t, nil).with(aFamily("plain"), script{steps: steps})
	if _, err := w.Grant(grants.Request{Family: "plain", Revoke: []string{"*"}}); err != nil {
		t.Fatal(err)
	}
	for i, r := range func() []response { got, _ := w.do("plain"); return got }() {
		if r.Error == nil || r.Error.Code != abi.CodeDenied {
			t.Errorf("without grants call %d gives %s", i, r.OK)
		}
	}

	reads := aFamily("reads")
	yes := true
	reads.Tools[0].Annotations.ReadOnly = &yes
	w = open(t, nil).with(reads, script{steps: steps})
	result, err := w.call(given{Tool: "reads_do", Caller: readingCaller()})
	if err != nil {
		t.Fatal(err)
	}
	if got := responses(t, result.Output); got[0].Error != nil || got[1].Error == nil || got[1].Error.Code != abi.CodeDenied {
		t.Errorf("for a caller who may only read: %+v", got)
	}
}

func TestAnotherDigestHasNothingOfWhatWasGranted(t *testing.T) {
	w := open(t, nil).with(aFamily("tidy"), script{steps: []step{{"memory.get", `{"keys":["a"]}`}}})
	if got, _ := w.do("tidy"); got[0].Error != nil {
		t.Fatalf("granted: %v", got[0].Error)
	}
	if _, err := w.Install(pack(t, aFamily("tidy"), script{steps: []step{{"memory.get", `{"keys":["b"]}`}}})); err != nil {
		t.Fatal(err)
	}
	if got, _ := w.do("tidy"); got[0].Error == nil || !strings.Contains(got[0].Error.Message, "was not granted") {
		t.Errorf("the new version may do what the old one was granted: %+v", got[0])
	}
}

func TestAnUnknownToolIsToldWithTheKnownOnes(t *testing.T) {
	w := open(t, nil).with(aFamily("strict"), script{})
	if _, err := w.call(given{Tool: "nothing"}); code(err) != memory.NotFound || !strings.Contains(err.Error(), "strict_do") {
		t.Errorf("an unknown tool: %v", err)
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	w := open(t, nil).with(aFamily("tidy"), script{steps: []step{{"memory.put", `{"items":[{"key":"a","value":1}]}`}}})
	if result, err := w.call(given{Tool: "tidy_do", DryRun: true}); err != nil || result.Version != 0 || w.value("", "a") != "" {
		t.Errorf("a dry run = %+v, %v, want nothing written", result, err)
	}
}

func TestARepeatedRequestIsAnsweredAsTheFirstTimeAndDoneOnce(t *testing.T) {
	w := open(t, nil).with(aFamily("tidy"), script{steps: []step{{"record.append", `{"collection":"list","values":[1]}`}}})
	m := aFamily("tidy")
	m.Collections = []abi.Collection{{Name: "list"}}
	w.with(m, script{steps: []step{{"record.append", `{"collection":"list","values":[1]}`}}})
	first, err := w.call(given{Tool: "tidy_do", RequestID: "r1"})
	if err != nil || string(first.Output) != `[{"ok":{"sequences":[1]}}]` {
		t.Fatalf("Call = %s, %v, want sequence 1", first.Output, err)
	}
	again, err := w.call(given{Tool: "tidy_do", RequestID: "r1"})
	if err != nil || string(again.Output) != string(first.Output) || again.Version != 0 {
		t.Errorf("the repetition was answered with %s, %v", again.Output, err)
	}
	if next, err := w.call(given{Tool: "tidy_do", RequestID: "r2"}); err != nil || string(next.Output) != `[{"ok":{"sequences":[2]}}]` {
		t.Errorf("the next was answered with %s, %v", next.Output, err)
	}
}
