package fronts_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/requestlog"
	"github.com/alcove-memory/alcove/host/testing/asm"
	"github.com/alcove-memory/alcove/host/testing/guest"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
)

// redacting puts a word in place of what is stored.
func redacting(m *asm.Module, _, write, _ uint32) asm.Code {
	const at, answer = 1024, `{"entries":[{"value":"removed"}]}`
	m.Put(at, []byte(answer))
	return asm.Seq(asm.Drop(asm.Call(write, asm.I32(0), asm.I32(at), asm.I32(int32(len(answer))))), asm.I32(0))
}

func logged(t *testing.T, dir string) (list []requestlog.Entry, text string) {
	t.Helper()
	list, err := requestlog.ReadSince(owner.RequestsPath(dir), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(owner.RequestsPath(dir), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
	return list, text
}

func TestCallsAreLoggedOnlyIfAskedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := server.Start(t, host.Options{Dir: dir})
	s.Operate(`{"method":"store","params":{"key":"a","value":1}}`, nil)
	if _, err := os.Stat(owner.RequestsPath(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the log: %v", err)
	}
}

func TestTheCallsOfOperationsAreLogged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := server.Start(t, host.Options{Dir: dir, LogRequests: true})
	s.Operate(`{"method":"store","params":{"key":"tea","value":"green"},"options":{"namespace":"work"},"then":{"method":"recall"}}`, func(r *http.Request) { r.Header.Set("Alcove-Agent", "ann") })
	s.Operate(`{"method":"recall","params":{"query":"green"},"options":{"dry_run":true}}`, nil)
	s.Operate(`{"method":"recall","params":{"key":"k","branch":"none"}}`, nil)
	list, _ := logged(t, dir)
	if len(list) != 4 {
		t.Fatalf("logged are %+v", list)
	}
	if e := list[0]; e.Tool != "memory_store" || e.Agent != "ann" || e.Namespace != "work" || e.Branch != "default" || string(e.Arguments) != `{"key":"tea","value":"green"}` || e.Outcome != requestlog.Succeeded || e.Result != "" {
		t.Errorf("the store is %+v", e)
	}
	if e := list[1]; e.Tool != "memory_recall" || string(e.Arguments) != `{"key":"tea"}` || e.Result == "" {
		t.Errorf("the recall is %+v", e)
	}
	if !list[2].DryRun || list[3].Outcome != "not_found" {
		t.Errorf("the others are %+v", list[2:])
	}
}

func TestNothingThatAFamilyRedactsReachesTheLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := server.Start(t, host.Options{Dir: dir, LogRequests: true})
	o := server.Operator(t, dir)
	server.Install(t, o, abi.Manifest{Name: "vault", Tools: []abi.Tool{guest.Tool("vault_open", `{"user":{"type":"string"},"pass_phrase":{"type":"string","writeOnly":true},"pin":{"type":"string","format":"password"}}`)}}, guest.Echo)
	s.Operate(`{"batch":[{"method":"vault_open","params":{"user":"ann","passPhrase":"hunter2 one"}},{"method":"vault_open","params":{"pin":"hunter2 two"}},{"method":"vault_open","params":{"user":"bob"}}]}`, nil)
	list, text := logged(t, dir)
	withheld := 0
	for _, e := range list {
		if strings.HasPrefix(e.Withheld, "secret: p") && e.Arguments == nil {
			withheld++
		}
	}
	if len(list) != 3 || withheld != 2 || strings.Contains(text, "hunter2") || !strings.Contains(text, "bob") {
		t.Errorf("logged is %s", text)
	}
	server.Install(t, o, abi.Manifest{Name: "redactor", Hooks: abi.Hooks{Store: &abi.StoreHook{Redacts: true, OnFailure: abi.OnFailureSkip}},
		Tools: []abi.Tool{guest.Tool("redactor_do", `{}`)}, Capabilities: []abi.Request{{Name: abi.CanMemoryRead, Scope: []string{"*"}, Reason: "To redact."}}}, redacting)
	if _, err := operator.Call(t.Context(), o, operator.GrantFamily, operator.GrantRequest{Family: "redactor", Hooks: map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}}); err != nil {
		t.Fatal(err)
	}
	s.Operate(`{"batch":[{"method":"store","params":{"key":"k","value":"hunter2 three"}},{"method":"search","params":{"query":"hunter2 four"}},{"method":"store","params":{"key":"none\n","value":"hunter2 five"}}]}`, nil)
	if got := s.Operate(`{"method":"recall","params":{"key":"k"}}`, nil); !strings.Contains(string(got.Result), "removed") {
		t.Errorf("the redactor is not asked: %s %+v", got.Result, got.Error)
	}
	list, text = logged(t, dir)
	if len(list) != 7 || strings.Contains(text, "hunter2") || list[6].Withheld != "a family redacts what is stored" {
		t.Errorf("logged is %s", text)
	}
}

func TestAPurgeErasesFromTheLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := server.Start(t, host.Options{Dir: dir, LogRequests: true})
	for _, body := range []string{
		`{"method":"store","params":{"key":"private","value":"the number is 0151-234567"}}`,
		`{"method":"recall","params":{"id":"default#private"}}`,
		`{"method":"search","params":{"query":"what is the number is 0151-234567 for"}}`,
		`{"method":"store","params":{"key":"tea","value":"green"}}`,
		`{"method":"recall","params":{"key":"tea"}}`,
		`{"method":"store","params":{"key":"never-stored","value":1,"if_version":7}}`,
	} {
		s.Operate(body, nil)
	}
	if _, err := operator.Call(t.Context(), server.Operator(t, dir), operator.Purge, operator.PurgeRequest{Request: purge.Request{Key: "private"}}); err != nil {
		t.Fatal(err)
	}
	list, text := logged(t, dir)
	if len(list) != 3 || strings.Contains(text, "private") || strings.Contains(text, "0151-") || list[1].Result != "" {
		t.Errorf("after the purge the log has %s", text)
	}
	s.Stop()
	server.Start(t, host.Options{Dir: dir}) // which logs no calls
	if _, err := operator.Call(t.Context(), server.Operator(t, dir), operator.Purge, operator.PurgeRequest{Request: purge.Request{Key: "never-stored"}}); err == nil {
		t.Error("something was purged that was never stored")
	}
	if list, text := logged(t, dir); len(list) != 2 || strings.Contains(text, "never") {
		t.Errorf("after the second purge the log has %s", text)
	}
}
