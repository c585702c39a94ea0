package family

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/outside/outbound"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/registry"
)

// answering is an endpoint that answers as it is asked to by the path, and as a language model.
func answering(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/silent"):
			<-r.Context().Done()
		case strings.HasSuffix(r.URL.Path, "/api/chat"):
			io.WriteString(w, `{"model":"m","message":{"content":"hi"},"prompt_eval_count":300,"eval_count":200}`)
		default:
			io.WriteString(w, strings.Repeat("x", 100))
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// spending opens a world with two families that send the same requests to the same endpoints.
func spending(t *testing.T, dir string, change func(*Options), steps ...step) *world {
	t.Helper()
	url := answering(t)
	w := openWith(t, dir, testclock.At(time.Now()).Now, func(o *Options) { // no period ends, however long a test takes
		o.Outside = outbound.Client{Env: func(string) string { return "s3cret-key" }}
		if change != nil {
			change(o)
		}
	})
	for name, e := range map[string]registry.Endpoint{"web": {Kind: "http", URL: url, KeyEnv: "KEY"}, "llm": {Kind: "ollama", URL: url, Model: "m", KeyEnv: "KEY"}} {
		if err := w.SetEndpoint(name, &e); err != nil {
			t.Fatal(err)
		}
	}
	return w.with(aFamily("one"), script{steps: steps}).with(aFamily("two"), script{steps: steps})
}

var (
	web  = step{"http.fetch", `{"endpoint":"web","path":"/a","body":"0123456789"}`}
	chat = step{"llm.complete", `{"endpoint":"llm","prompt":"hello","max_tokens":400}`}
)

func TestAnExceededBudgetNamesItselfAndWhatAnOperatorCanDo(t *testing.T) {
	for name, c := range map[string]struct {
		limit int64
		steps []step
		ok    int // of the steps
		code  abi.Code
	}{
		registry.HTTPCallsMinute:   {2, []step{web, web, web}, 2, abi.CodeExhausted},
		registry.HTTPRequestBytes:  {11, []step{web}, 0, abi.CodeExhausted},
		registry.HTTPResponseBytes: {99, []step{web}, 0, abi.CodeExhausted},
		registry.HTTPMS:            {1, []step{{"http.fetch", `{"endpoint":"web","path":"/silent"}`}}, 0, abi.CodeTimeout},
		registry.LLMCallsMinute:    {1, []step{chat, chat}, 1, abi.CodeExhausted},
		registry.LLMRequestBytes:   {4, []step{chat}, 0, abi.CodeExhausted},
		registry.LLMResponseBytes:  {50, []step{chat}, 0, abi.CodeExhausted},
		registry.LLMMS:             {1, []step{{"llm.complete", `{"endpoint":"silent","prompt":"hello"}`}}, 0, abi.CodeTimeout},
		registry.LLMTokensDay:      {1000, []step{chat, chat, chat}, 2, abi.CodeExhausted},
	} {
		t.Run(name, func(t *testing.T) {
			w := spending(t, t.TempDir(), nil, c.steps...)
			silent := w.Endpoints()["llm"]
			stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // so that the server notices that the client left
				<-r.Context().Done()
			}))
			t.Cleanup(stuck.Close)
			silent.URL = stuck.URL
			if err := w.SetEndpoint("silent", &silent); err != nil {
				t.Fatal(err)
			}
			w.grant(grants.Request{Family: "one", Limits: map[string]int64{name: c.limit}})
			got, _ := w.do("one")
			for i, r := range got {
				if i < c.ok != (r.Error == nil) {
					t.Errorf("step %d: %s, %+v", i, r.OK, r.Error)
				}
			}
			last := got[len(got)-1].Error
			if last == nil || last.Code != c.code || !strings.Contains(last.Message, name) || !strings.Contains(last.Message, "alcove family grant one --limit "+name) {
				t.Errorf("the last error is %+v, want code %s with %s and the command that raises it", last, c.code, name)
			}
			if info, err := w.Info(t.Context(), "one"); err != nil || info.Limits[name] != (Limit{Value: c.limit, Set: true}) {
				t.Errorf("Info: limits %+v, %v, want %s set to %d", info.Limits, err, name, c.limit)
			}
		})
	}
}

func TestABodyInBase64CountsAsItIsSent(t *testing.T) {
	coded := step{"http.fetch", `{"endpoint":"web","path":"/a","body":"MDEyMzQ1Njc4OQ==","base64":true}`}
	for limit, want := range map[int64]bool{11: false, 12: true} {
		w := spending(t, t.TempDir(), nil, coded)
		w.grant(grants.Request{Family: "one", Limits: map[string]int64{registry.HTTPRequestBytes: limit}})
		if got, _ := w.do("one"); (got[0].Error == nil) != want {
			t.Errorf("12 bytes with a limit of %d: %s, %+v, want it sent: %t", limit, got[0].OK, got[0].Error, want)
		}
	}
}

func TestOnlyAllowedMethodsAreSent(t *testing.T) {
	w := spending(t, t.TempDir(), nil, web, step{"http.fetch", `{"endpoint":"web","method":"POST"}`})
	w.grant(grants.Request{Family: "one", Methods: []string{"GET", "HEAD"}})
	got, _ := w.do("one")
	if got[0].Error != nil || got[1].Error == nil || got[1].Error.Code != abi.CodeDenied || !strings.Contains(got[1].Error.Message, "--http-methods GET,HEAD,POST") {
		t.Errorf("answers %+v, want POST denied with the command that allows it", got)
	}
	if _, err := w.Grant(grants.Request{Family: "one", Methods: []string{"TRACE"}}); err == nil || !strings.Contains(err.Error(), `method "TRACE" is not one of`) {
		t.Errorf("an unknown method: %v", err)
	}
	w.grant(grants.Request{Family: "one", Methods: []string{"*"}})
	if got, _ := w.do("one"); got[1].Error != nil {
		t.Errorf("with all methods: %+v, want no error", got[1].Error)
	}
}

// spent returns what a family spent of its tokens.
func (w *world) spent(name string) (amount int64) {
	w.t.Helper()
	list, err := w.Stats(name)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range list[0].Spent {
		amount += s.Amount
	}
	return amount
}

func TestABudgetIsTheFamilysAndNeitherARestartNorAnUpdateRefillsIt(t *testing.T) {
	dir := t.TempDir()
	w := spending(t, dir, nil, chat, chat, chat)
	limits := map[string]int64{registry.LLMTokensDay: 1000}
	w.grant(grants.Request{Family: "one", Limits: limits})
	w.grant(grants.Request{Family: "two", Limits: limits})
	w.do("one")
	if w.spent("one") != 1000 || w.spent("two") != 0 {
		t.Errorf("one spent %d of 1000, two %d", w.spent("one"), w.spent("two"))
	}
	if got, _ := w.do("two"); got[1].Error != nil {
		t.Errorf("the budget of one was that of two: %v", got[1].Error)
	}
	again := openIn(t, snapshot(w), func(o *Options) { o.Outside = outsider{} }) // after a crash
	if got, _ := again.do("one"); got[0].Error == nil || again.spent("one") != 1000 {
		t.Errorf("a restart refilled it: %s", got[0].OK)
	}
	newer := aFamily("one")
	newer.Version = "2.0.0"
	if _, err := again.Update(t.Context(), "one", pack(t, newer, script{steps: []step{chat}})); err != nil {
		t.Fatal(err)
	}
	if got, _ := again.do("one"); got[0].Error == nil || !strings.Contains(got[0].Error.Message, registry.LLMTokensDay) {
		t.Errorf("an update refilled it: %s", got[0].OK)
	}
}

func TestNoSecretOfAnEndpointIsSeenByAGuestOrInALog(t *testing.T) {
	var log strings.Builder
	w := spending(t, t.TempDir(), func(o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}, web, chat, step{"http.fetch", `{"endpoint":"web","path":"/silent"}`})
	w.grant(grants.Request{Family: "one", Limits: map[string]int64{registry.HTTPMS: 1000, registry.HTTPCallsMinute: 1}})
	got, _ := w.do("one")
	for _, r := range got {
		if strings.Contains(string(r.OK), "s3cret") || r.Error != nil && strings.Contains(r.Error.Message, "s3cret") {
			t.Errorf("a guest saw the key: %s, %v", r.OK, r.Error)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), "s3cret") || got[2].Error == nil {
		t.Errorf("the log has the key, or nothing failed: %s", log.String())
	}
}
