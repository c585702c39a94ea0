package family

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/abi/vectors"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/family/outside/files"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/recalls"
	"github.com/alcove-memory/alcove/host/memory/sessions"
	"github.com/alcove-memory/alcove/host/memory/usage"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

var update = flag.Bool("update", false, "write the host's answers into the vectors")

// standing is the instant at which the clock of the vectors stands.
var standing = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// sample is the world of the vectors: the family of family.json, another one, two endpoints and an embedder.
type sample struct {
	*world
	family *catalogue.Family
	calls  int
}

// sampleNotes is a directory with one file of the sample's instant.
func sampleNotes(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	file := filepath.Join(dir, "work", "plan.md")
	if err = errors.Join(err, os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("Buy tea.\n"), 0o600), os.Chtimes(file, standing, standing)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func openSample(t *testing.T) *sample {
	t.Helper()
	names := 0
	w := openAt(t, func() time.Time { return standing }, func(o *Options) {
		o.Outside, o.Embedder, o.Usage = sampleOutside{}, sampleEmbedder{}, sampleUsage{}
		o.Sessions, o.Delegates, o.Recalls = sampleSessions, sampleDelegates{}, sampleRecalls{}
		o.Files = &files.Files{Private: []string{o.Dir}}
		o.Rand = func() string { names++; return fmt.Sprintf("r%d", names) }
	})
	for name, e := range map[string]registry.Endpoint{"model": {Kind: "openai", URL: "http://model", Model: "m"}, "web": {Kind: "http", URL: "http://web"}} {
		if err := w.SetEndpoint(name, &e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetRoot("notes", &registry.Root{Dir: sampleNotes(t)}); err != nil {
		t.Fatal(err)
	}
	other := aFamily("other")
	other.Tools[0].Name, other.Collections = "other_echo", []abi.Collection{{Name: "kept"}}
	shareWeights(other)
	w.installed(other, script{says: `{"echo":true}`})
	data, err := vectors.Family()
	if err != nil {
		t.Fatal(err)
	}
	m := &abi.Manifest{}
	if err := json.Unmarshal(data, m); err != nil {
		t.Fatal(err)
	}
	w.installed(m, script{says: "{}"})
	if _, err := w.Grant(grants.Request{Family: m.Name, Limits: map[string]int64{abi.QuotaJobs: 1}, Hooks: map[abi.Hook]registry.On{abi.HookJob: {}}}); err != nil {
		t.Fatal(err)
	}
	x, err := w.catalogue.Named(m.Name)
	if err != nil {
		t.Fatal(err)
	}
	return &sample{world: w, family: x}
}

// shareWeights has a family share two settings that add up to 1.
func shareWeights(m *abi.Manifest) {
	between := json.RawMessage(`{"type":"number","minimum":0,"maximum":1}`)
	m.Config = []abi.Setting{
		{Key: "weight_a", Description: "Weighs A.", Shared: true, Category: "weights", Schema: between, Default: json.RawMessage("0.7")},
		{Key: "weight_b", Description: "Weighs B.", Shared: true, Category: "weights", Schema: between, Default: json.RawMessage("0.3")},
	}
	m.ConfigRules = []abi.ConfigRule{{Rule: abi.RuleSum, Keys: []string{"weight_a", "weight_b"}, Equals: 1, Within: 0.01}}
}

// installed installs a family and grants it all that it asks for, without compiling it.
func (w *world) installed(m *abi.Manifest, s script) {
	w.t.Helper()
	if _, err := w.Install(pack(w.t, m, s)); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.Grant(grants.Request{Family: m.Name, All: true}); err != nil {
		w.t.Fatal(err)
	}
}

type sampleOutside struct{}

func (sampleOutside) Complete(context.Context, registry.Endpoint, abi.LLMCompleteRequest, ops.Leaving) (abi.LLMCompleteResponse, error) {
	return abi.LLMCompleteResponse{Text: "It is tea.", Model: "m", TokensIn: 4, TokensOut: 4}, nil
}

func (sampleOutside) Fetch(_ context.Context, _ registry.Endpoint, f abi.HTTPFetchRequest, _ ops.Leaving) (abi.HTTPFetchResponse, error) {
	if f.Path == "/down" {
		return abi.HTTPFetchResponse{}, errors.New("the endpoint cannot be reached")
	}
	return abi.HTTPFetchResponse{Status: 200, Headers: map[string]string{"Content-Type": "text/plain"}, Body: f.Path}, nil
}

// sampleUsage has counted one agent's calls of one tool.
type sampleUsage struct{}

func (sampleUsage) Usage(_ context.Context, q usage.Query) ([]usage.Row, error) {
	if q.Days != 7 || !slices.Equal(q.Tools, []string{"other_echo"}) || q.Agent != nil {
		return nil, fmt.Errorf("asked for %+v", q)
	}
	return []usage.Row{{Agent: "ann", Tool: "other_echo", Alias: "other_say", Calls: 3, Errors: 1, Last: time.Date(2026, 5, 20, 10, 0, 0, 0, time.UTC)}}, nil
}

// sampleSessions are the open sessions of two agents.
func sampleSessions() []sessions.Session {
	of := func(id, agent string) sessions.Session {
		return sessions.Session{ID: id, Caller: memory.Caller{Agent: agent, Client: "editor"}, Location: memory.Location{Branch: "default", Namespace: "work"}, Began: standing, Calls: 2}
	}
	return []sessions.Session{of("s2", "bob"), of("s1", "ann")}
}

// sampleDelegates makes one key for each name.
type sampleDelegates struct{}

func (sampleDelegates) Draft(c memory.Caller, d ops.Delegation) (ops.Delegated, error) {
	return ops.Delegated{Secret: "secret of " + d.Name, ID: "id of " + d.Name, Agent: c.Agent + "/" + d.Name, Expires: standing.Add(d.Lasts)}, nil
}
func (sampleDelegates) Issue(string) error { return nil }
func (sampleDelegates) Check(_ memory.Caller, family, id string) error {
	if family == "sample" && id == "id of task" {
		return nil
	}
	return &memory.Error{Code: memory.NotFound, Message: "this family made no such key for this caller"}
}
func (sampleDelegates) Revoke(string) error { return nil }

// sampleRecalls has two recalls, one of a namespace that the family may not read.
type sampleRecalls struct{}

func (sampleRecalls) Get(_ context.Context, _ memory.Caller, id string) (*recalls.Recall, error) {
	at := time.Date(2026, 5, 20, 10, 0, 0, 0, time.UTC)
	r := recalls.Recall{ID: id, Branch: "default", Query: "tea", Agent: "ann", Timestamp: at, ExpiresAt: at.AddDate(0, 0, recalls.Kept)}
	switch id {
	case "rec:1":
		r.Facts = []recalls.Fact{{Namespace: "default", Key: "tea"}, {Namespace: "work", Key: "plan"}}
	case "rec:2":
		r.Facts = []recalls.Fact{{Namespace: "default", Key: "tea"}, {Namespace: "home", Key: "plan"}}
	default:
		return nil, nil
	}
	return &r, nil
}

// sampleEmbedder fails on two texts.
type sampleEmbedder struct{ embedder }

func (e sampleEmbedder) Embed(ctx context.Context, texts []string, purpose string) (string, [][]float32, error) {
	switch texts[0] {
	case "slow":
		return "", nil, context.DeadlineExceeded
	case "broken":
		return "", nil, errors.New("the model of the vectors is broken")
	}
	return e.embedder.Embed(ctx, texts, purpose)
}

// begin begins a call of the family.
func (s *sample) begin(t *testing.T) *request {
	t.Helper()
	stage, err := s.space.As(owner("ann")).Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	s.calls++
	return s.newRequest(s.family, registry.Calls, stage, owner("ann"), "", fmt.Sprint("call ", s.calls))
}

func mustAsk(t testing.TB, w *request, a vectors.Ask) {
	t.Helper()
	if _, err := w.Call.Call(t.Context(), a.Op, a.Request); err != nil {
		t.Fatalf("%s of %s: %v", a.Op, a.Request, err)
	}
}

// run carries a case out and gives it with the host's answer.
func (s *sample) run(t *testing.T, v vectors.Operation) vectors.Operation {
	t.Helper()
	for _, a := range v.Before {
		w := s.begin(t)
		mustAsk(t, w, a)
		if _, err := w.commit(t.Context(), s.space.As(owner("ann")), &catalogue.Tool{}, json.RawMessage(`{}`), memory.Commit{}); err != nil {
			t.Fatalf("commit %s: %v", a.Op, err)
		}
	}
	w := s.begin(t)
	for _, a := range v.Within {
		mustAsk(t, w, a)
	}
	v.Response, v.Error = nil, nil
	answer, err := w.Call.Call(t.Context(), v.Op, v.Request)
	if err == nil {
		v.Response = spaceID.ReplaceAll(answer, []byte(`"space":"the id of the space"`))
	} else if !errors.As(err, &v.Error) {
		v.Error = s.asGuestsSee(t, w, v)
	}
	return v
}

// asGuestsSee asks again in a guest, which sees no error that is not of the ABI.
func (s *sample) asGuestsSee(t *testing.T, w *request, v vectors.Operation) *abi.Error {
	t.Helper()
	module, err := s.o.Sandbox.Admit(t.Context(), script{steps: []step{{string(v.Op), string(v.Request)}}}.module(), sandbox.Options{Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	defer module.Close()
	result, err := module.Call(t.Context(), sandbox.Request{Kind: abi.KindTool, Payload: []byte("{}"), Host: w.Call})
	if err != nil || result.Class != abi.ClassOK {
		t.Fatalf("ask in a guest: %+v, %v", result, err)
	}
	return responses(t, result.Output)[0].Error
}

func TestTheHostAnswersAsTheVectorsSay(t *testing.T) {
	if testing.Short() {
		t.Skip("each of its worlds has one caller: the tests without -short run it")
	}
	cases, err := vectors.Read[vectors.Operation]("operations.json")
	if err != nil {
		t.Fatal(err)
	}
	var answered []vectors.Operation
	shown, failed := map[abi.Op]bool{}, map[abi.Code]bool{}
	for _, v := range cases {
		t.Run(string(v.Op)+" "+v.Name, func(t *testing.T) {
			got := openSample(t).run(t, v)
			answered = append(answered, got)
			shown[v.Op] = shown[v.Op] || got.Response != nil
			if got.Error != nil {
				failed[got.Error.Code] = true
			}
			if want, is := line(t, v), line(t, got); !*update && want != is {
				t.Errorf("the host answers\n%s\nthe vector says\n%s", is, want)
			}
		})
	}
	for op := range abi.Ops() {
		if !shown[op] {
			t.Errorf("no vector shows what %s answers", op)
		}
	}
	for _, code := range abi.Codes() {
		if !failed[code] && code != abi.CodeInputRequired { // which tools answer alone
			t.Errorf("no vector shows the error %s", code)
		}
	}
	if *update && !t.Failed() {
		writeOperations(t, answered)
	}
}

// line is a case as one line of JSON.
func line(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// member is a member of a case.
type member struct {
	name  string
	value any
	there bool
}

func writeOperations(t *testing.T, cases []vectors.Operation) {
	var all [][]member
	for _, v := range cases {
		all = append(all, []member{{"name", v.Name, true}, {"before", v.Before, v.Before != nil}, {"within", v.Within, v.Within != nil}, {"op", v.Op, true},
			{"request", v.Request, true}, {"response", v.Response, v.Response != nil}, {"error", v.Error, v.Error != nil}})
	}
	writeCases(t, "operations.json", all)
}

func writeMessages(t *testing.T, cases []vectors.Message) {
	var all [][]member
	for _, v := range cases {
		all = append(all, []member{{"name", v.Name, true}, {"kind", v.Kind, true}, {"request", v.Request, true}, {"columns", v.Columns, v.Columns != nil},
			{"result", v.Result, v.Result != nil}, {"scores", v.Scores, v.Scores != nil}, {"vectors", v.Vectors, v.Vectors != nil}, {"error", v.Error, v.Error != nil}})
	}
	writeCases(t, "messages.json", all)
}

// writeCases replaces the cases of a file, one member a line.
func writeCases(t *testing.T, name string, cases [][]member) {
	t.Helper()
	path := filepath.Join("..", "..", "abi", "vectors", name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ About string }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, members := range cases {
		var lines []string
		for _, m := range members {
			if m.there {
				lines = append(lines, fmt.Sprintf("%q: %s", m.name, plainJSON(t, m.value)))
			}
		}
		all = append(all, "\n    {"+strings.Join(lines, ",\n     ")+"}")
	}
	text := fmt.Sprintf("{\n  \"about\": %s,\n  \"cases\": [%s\n  ]\n}\n", plainJSON(t, file.About), strings.Join(all, ","))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// plainJSON is a value as JSON on one line, with < > and & as they are.
func plainJSON(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(out.Bytes()))
}
