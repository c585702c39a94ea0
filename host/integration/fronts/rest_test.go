package fronts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/guest"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestOperationsAreServedOverHTTP(t *testing.T) {
	t.Parallel()
	s := server.Start(t, host.Options{})
	stored := s.Operate(`{"method":"store","params":{"key":"tea","value":"green"},"then":{"method":"recall"}}`, nil)
	if stored.Error != nil || !strings.Contains(string(stored.Result), `"value":"green"`) || stored.Method != "recall" || stored.Steps[0].Method != "store" {
		t.Errorf("a chain is answered with %+v", stored)
	}
	batch := s.Operate(`{"batch":[{"method":"memory.recall","params":{"key":"tea"}},{"method":"nothing"}]}`, nil)
	var items []server.Operated
	if err := json.Unmarshal(batch.Result, &items); err != nil || len(items) != 2 || items[0].Error != nil || items[1].Error == nil || items[1].Error.Code != "E_NOT_FOUND" {
		t.Errorf("a batch is answered with %s", batch.Result)
	}
	other := s.Operate(`{"method":"recall","params":{"key":"tea"},"options":{"namespace":"other"}}`, nil)
	if !strings.Contains(string(other.Result), `"found":false`) {
		t.Errorf("another namespace has %s", other.Result)
	}
	if status, text := s.Send("POST", "/operation/recall?branch=default", `{"key":"tea"}`, nil); status != 200 || !strings.Contains(text, `"green"`) {
		t.Errorf("a method in the path is answered with %d %s", status, text)
	}
	if status, text := s.Send("POST", "/operation/store?dry_run=true", `{"key":"dry","value":1}`, nil); status != 200 || !strings.Contains(text, `"dry_run":true`) {
		t.Errorf("a dry run is answered with %d %s", status, text)
	}
	if status, text := s.Send("GET", "/metrics", "", nil); status != 200 || !strings.Contains(text, `alcove_tool_calls_total{family="core",tool="memory_recall"} `) || strings.Contains(text, "tea") {
		t.Errorf("the metrics are %d %s", status, text)
	}
	if status, text := s.Send("POST", "/operation/status", "", nil); status != 200 || !strings.Contains(text, `"keys":1`) {
		t.Errorf("a method without params is answered with %d %s", status, text)
	}
}

func TestARepeatedOperationWritesOnce(t *testing.T) {
	t.Parallel()
	s := server.Start(t, host.Options{})
	key := func(id, agent string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Idempotency-Key", id); r.Header.Set("Alcove-Agent", agent) }
	}
	write := `{"batch":[{"method":"log","params":{"event":"paid","data":1}},{"method":"log","params":{"event":"paid","data":1}}],"then":{"method":"log","params":{"event":"told","data":1}}}`
	first := s.Operate(write, key("k1", "a"))
	again := s.Operate(write, key("k1", "a"))
	if first.Error != nil || again.Error != nil || string(first.Result) != string(again.Result) || first.Metadata.RequestID != "k1" {
		t.Errorf("answered %+v, then %+v", first, again)
	}
	events := func() int {
		var status struct{ Events int }
		o := s.Operate(`{"method":"status"}`, nil)
		if err := json.Unmarshal(o.Result, &status); err != nil || o.Error != nil {
			t.Fatalf("the status is %s, %v", o.Result, err)
		}
		return status.Events
	}
	if n := events(); n != 3 {
		t.Errorf("the log has %d events", n)
	}
	s.Operate(write, key("k1", "b")) // of another caller
	s.Operate(`{"method":"log","params":{"event":"paid","data":1},"metadata":{"request_id":"k2"}}`, key("k1", "a"))
	if n := events(); n != 7 {
		t.Errorf("the log has %d events", n)
	}
	if o := s.Operate(`{"method":"log","params":{"event":"other","data":2},"metadata":{"request_id":"k2"}}`, key("", "a")); o.Error == nil || o.Error.Code != "E_CONFLICT" {
		t.Errorf("another request with the same id is answered with %+v", o)
	}
}

func TestRequestsThatAreNoOperationsAreRefused(t *testing.T) {
	t.Parallel()
	s := server.Start(t, host.Options{})
	long := strings.Repeat("x", 129)
	for _, c := range []struct {
		method, path, body string
		edit               func(*http.Request)
		status             int
		want               string
	}{
		{"POST", "/operation", `{"method"`, nil, 400, "not valid JSON"},
		{"POST", "/operation", `[{"method":"status"}]`, nil, 400, "must be a JSON object"},
		{"POST", "/operation", strings.Repeat(`{"params":`, 600) + "1" + strings.Repeat("}", 600), nil, 400, "at most 512"},
		{"POST", "/operation", `{"method":"status"} {}`, nil, 400, "something follows"},
		{"POST", "/operation", `{"method":"a","method":"b"}`, nil, 400, "given twice"},
		{"POST", "/operation", "", nil, 200, "needs method"},
		{"POST", "/operation", strings.Repeat(" ", 16<<20+1), nil, 413, "16777216 bytes"},
		{"POST", "/operation?dry_run=true", `{"method":"status"}`, nil, 400, "options in the body"},
		{"GET", "/operation", "", nil, 405, "send POST"},
		{"POST", "/operation/status", `[]`, nil, 200, "params must be an object"},
		{"POST", "/operation/status", `{`, nil, 400, "not valid JSON"},
		{"POST", "/operation/status?dryrun=1", `{}`, nil, 400, `no option \"dryrun\"`},
		{"POST", "/operation/status?dry_run=perhaps", `{}`, nil, 400, "dry_run cannot be"},
		{"POST", "/operation/status?timeout_ms=1&timeout_ms=2", `{}`, nil, 400, "given 2 times"},
		{"POST", "/operation/status?timeout_ms=0", `{}`, nil, 200, "from 1 to 600000"},
		{"POST", "/operation/", `{}`, nil, 404, "a method follows"},
		{"POST", "/operation/a/b", `{}`, nil, 404, "a method follows"},
		{"POST", "/operation/none", `{}`, nil, 200, "E_NOT_FOUND"},
		{"POST", "/operation/tools", `{}`, nil, 405, "send GET"},
		{"DELETE", "/operation/tools", ``, nil, 405, "send GET"},
		{"POST", "/operation", `{}`, func(r *http.Request) { r.Header.Set("Idempotency-Key", long) }, 400, "at most 128"},
	} {
		status, text := s.Send(c.method, c.path, c.body, c.edit)
		if status != c.status || !strings.Contains(text, c.want) || !json.Valid([]byte(text)) {
			t.Errorf("%s %s %.60s is answered with %d %.300s", c.method, c.path, c.body, status, text)
		}
	}
}

func TestTheDataPlaneIsBehindTheSameChecks(t *testing.T) {
	t.Parallel()
	s := server.Start(t, host.Options{})
	for _, path := range []string{"/operation", "/operation/status", "/operation/tools", "/openapi.json", "/metrics", "/mcp"} {
		for want, edit := range map[int]func(*http.Request){
			http.StatusUnauthorized: func(r *http.Request) { r.Header.Del("Authorization") },
			http.StatusForbidden:    func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		} {
			if status, text := s.Send("POST", path, "{}", edit); status != want {
				t.Errorf("%s is answered with %d %s, not %d", path, status, text, want)
			}
		}
		if status, _ := s.Send("POST", path, "{}", func(r *http.Request) { r.Host = "evil.example" }); status != http.StatusForbidden {
			t.Errorf("%s of another host is answered with %d", path, status)
		}
	}
}

func TestTheListOfToolsIsTheCallers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names := func(s *server.Server) (names []string) {
		status, text := s.Send("GET", "/operation/tools", "", nil)
		var list struct {
			Tools []struct {
				Name, Description string
				InputSchema       map[string]any `json:"input_schema"`
			}
		}
		if err := json.Unmarshal([]byte(text), &list); err != nil || status != 200 {
			t.Fatalf("the list is %d %s", status, text)
		}
		for _, l := range list.Tools {
			if names = append(names, l.Name); l.Description == "" || l.InputSchema["type"] != "object" {
				t.Errorf("the list has %+v", l)
			}
		}
		return names
	}
	s := server.Start(t, host.Options{Dir: dir})
	all := names(s)
	s.Stop()
	s.Host.Close()
	reading := names(server.Start(t, host.Options{Dir: dir, ReadOnly: true}))
	if !slices.Contains(all, "memory_store") || slices.Contains(reading, "memory_store") || !slices.Contains(reading, "memory_recall") || slices.Contains(all, "memory_operation") {
		t.Errorf("all are %v, those that read are %v", all, reading)
	}
}

// Each store that a client sends while the server stops is either acknowledged and there, or refused and not there.
func TestAStopFinishesOrRefusesEachOperation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := server.Start(t, host.Options{Dir: dir})
	var mu sync.Mutex
	acknowledged, refused := map[string]bool{}, map[string]bool{}
	var clients sync.WaitGroup
	enough := make(chan struct{}, 1)
	for c := range 8 {
		clients.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("c%d-%d", c, i)
				status, text, err := s.Try("POST", "/operation", `{"method":"store","params":{"key":"`+key+`","value":1}}`, nil)
				mu.Lock()
				if done := err == nil && status == 200 && !strings.Contains(text, `"error"`); done {
					acknowledged[key] = true
				} else {
					refused[key] = true
				}
				n, failed := len(acknowledged), refused[key]
				mu.Unlock()
				if failed {
					return
				}
				if n == 50 {
					enough <- struct{}{}
				}
			}
		})
	}
	<-enough
	begun := time.Now()
	s.Stop()
	hurried := time.Since(begun) > 4*time.Second // calls may have been cancelled, which says nothing of what they did
	clients.Wait()
	after := server.Start(t, host.Options{Dir: dir})
	for key := range acknowledged {
		if o := after.Operate(`{"method":"recall","params":{"key":"`+key+`"}}`, nil); !strings.Contains(string(o.Result), `"found":true`) {
			t.Errorf("%s was acknowledged, and is %s", key, o.Result)
		}
	}
	if hurried {
		t.Log("the machine was so busy that the server cancelled calls: what was refused is not looked for")
		clear(refused)
	}
	for key := range refused {
		if o := after.Operate(`{"method":"recall","params":{"key":"`+key+`"}}`, nil); !strings.Contains(string(o.Result), `"found":false`) {
			t.Errorf("%s was refused, and is %s", key, o.Result)
		}
	}
	t.Logf("%d acknowledged, %d refused", len(acknowledged), len(refused))
}

func TestCurlExamplesWork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed: its examples are not tried")
	}
	s := server.Start(t, host.Options{})
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(s.Token()), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "sh", filepath.Join("testdata", "curl.sh"))
	command.Env = append(os.Environ(), "ALCOVE_URL="+s.URL(), "ALCOVE_TOKEN_FILE="+token)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Run(); err != nil {
		t.Errorf("the examples end with %v:\n%s", err, out.Bytes())
	}
}

// The holder of a key sees and reaches over HTTP what the key permits: all else is as if it were not there.
func TestTheHolderOfAKeyReachesOnlyItsPart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := server.Start(t, host.Options{Dir: dir})
	o := server.Operator(t, dir)
	server.Install(t, o, abi.Manifest{Name: "mine", Tools: []abi.Tool{guest.Tool("mine_echo", `{}`)}}, guest.Echo)
	server.Install(t, o, abi.Manifest{Name: "theirs", Tools: []abi.Tool{guest.Tool("theirs_echo", `{}`), guest.Tool("memory_hidden", `{}`)}}, guest.Echo)
	s.Operate(`{"batch":[{"method":"store","params":{"key":"secret","value":"hidden words","namespace":"b"}},{"method":"theirs_echo"},{"method":"mine_echo"}]}`, nil)
	key, err := operator.Call(t.Context(), o, operator.CreateKey, operator.KeyRequest{Agent: "ann", Namespaces: []string{"a"}, Rights: []operator.Right{"read", "write", "family:mine"}})
	must.Do(t, err)
	as := func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+key.Secret)
		r.Header.Set("Alcove-Agent", "mallory")
	}
	for path, shown := range map[string]string{"/operation/tools": `"mine_echo"`, "/openapi.json": "/operation/mine_echo", "/metrics": `family="mine"`} {
		status, text := s.Send("GET", path, "", as)
		if status != http.StatusOK || !strings.Contains(text, shown) {
			t.Errorf("%s is %d without %s", path, status, shown)
		}
		for _, hidden := range []string{"theirs_echo", "memory_hidden"} {
			if strings.Contains(text, hidden) {
				t.Errorf("%s shows %s", path, hidden)
			}
		}
	}
	stored := s.Operate(`{"method":"store","params":{"key":"k","value":1},"then":{"method":"recall"}}`, as)
	if stored.Error != nil || !strings.Contains(string(stored.Result), `"agent":"ann"`) {
		t.Errorf("the key's holder gets %s, %+v", stored.Result, stored.Error)
	}
	batch := s.Operate(`{"batch":[{"method":"recall","params":{"key":"secret","namespace":"b"}},{"method":"search","params":{"query":"hidden words"}},
		{"method":"theirs_echo"},{"method":"theirs_none"},{"method":"hidden"},{"method":"nothing"},{"method":"mine_echo"}]}`, as)
	var items []server.Operated
	if err := json.Unmarshal(batch.Result, &items); err != nil || len(items) != 7 {
		t.Fatalf("a batch is answered with %s", batch.Result)
	}
	for _, item := range items[:2] {
		if strings.Contains(string(item.Result), "hidden words") {
			t.Errorf("%s answers with %s", item.Method, item.Result)
		}
	}
	alike := func(o server.Operated) string {
		if o.Error == nil {
			return "no error"
		}
		return o.Error.Code + strings.ReplaceAll(o.Error.Message, o.Method, "METHOD")
	}
	if alike(items[2]) != alike(items[3]) || alike(items[4]) != alike(items[5]) || items[6].Error != nil {
		t.Errorf("what is forbidden is told from what is not there: %s", batch.Result)
	}
	if _, err := operator.Call(t.Context(), o, operator.RevokeKey, operator.KeyID{ID: key.ID}); err != nil {
		t.Fatal(err)
	}
	if status, text := s.Send("GET", "/operation/tools", "", as); status != http.StatusUnauthorized {
		t.Errorf("a revoked key is answered with %d %s", status, text)
	}
}
