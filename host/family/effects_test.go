package family

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

// webhooks is a server that counts what it is asked, by method.
type webhooks struct {
	url     string
	mu      sync.Mutex
	asked   []string
	handler atomic.Pointer[http.HandlerFunc] // what it does before it answers 201
}

func serveWebhooks(t *testing.T) *webhooks {
	t.Helper()
	h := &webhooks{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.asked = append(h.asked, r.Method+" "+r.URL.Path)
		h.mu.Unlock()
		if handler := h.handler.Load(); handler != nil {
			(*handler)(w, r)
		}
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{}`)
	}))
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

func (h *webhooks) do(handler http.HandlerFunc) { h.handler.Store(&handler) }

// got are the requests that came.
func (h *webhooks) got() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

// overHTTP reaches endpoints as the server does, one request each.
type overHTTP struct{}

func (overHTTP) Complete(ctx context.Context, e registry.Endpoint, c abi.LLMCompleteRequest, leaving ops.Leaving) (abi.LLMCompleteResponse, error) {
	got, err := overHTTP{}.Fetch(ctx, e, abi.HTTPFetchRequest{Method: "POST", Path: "/complete", Body: c.Prompt}, leaving)
	return abi.LLMCompleteResponse{Text: got.Body}, err
}

func (overHTTP) Fetch(ctx context.Context, e registry.Endpoint, f abi.HTTPFetchRequest, leaving ops.Leaving) (abi.HTTPFetchResponse, error) {
	if f.Method == "" {
		f.Method = "GET"
	}
	r, err := http.NewRequestWithContext(ctx, f.Method, e.URL+f.Path, strings.NewReader(f.Body))
	if err != nil {
		return abi.HTTPFetchResponse{}, err
	}
	if err := leaving(ctx); err != nil {
		return abi.HTTPFetchResponse{}, err
	}
	got, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return abi.HTTPFetchResponse{}, unsent{err, strings.Contains(err.Error(), "refused")}
	}
	defer got.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(got.Body)
	return abi.HTTPFetchResponse{Status: got.StatusCode, Body: body.String()}, err
}

type unsent struct {
	error
	never bool
}

func (u unsent) NoEffect() bool { return u.never }

// reaching opens a world whose families reach the webhooks as hooks, and as the language model llm.
func reaching(t *testing.T, dir string, h *webhooks) *world {
	t.Helper()
	return reachingWith(t, dir, h, func(o *Options) { o.Outside = overHTTP{} })
}

func reachingWith(t *testing.T, dir string, h *webhooks, change func(*Options)) *world {
	t.Helper()
	w := openIn(t, dir, change)
	for name, e := range map[string]registry.Endpoint{"hooks": {Kind: "http", URL: h.url}, "llm": {Kind: "ollama", URL: h.url, Model: "m"}} {
		if err := w.SetEndpoint(name, &e); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// snapshot is a directory with what a crash now would leave of a world.
func snapshot(w *world) string {
	dir := w.t.TempDir()
	err := os.CopyFS(dir, os.DirFS(w.dir))
	if err := errors.Join(err, os.RemoveAll(filepath.Join(dir, "modules"))); err != nil {
		w.t.Error(err)
	}
	return dir
}

var (
	readHot  = step{"memory.get", `{"keys":["hot"]}`}
	writeHot = step{"memory.put", `{"items":[{"key":"hot","value":"mine"}]}`}
	notify   = step{"http.fetch", `{"endpoint":"hooks","method":"POST","path":"/notify","body":"hello"}`}
	look     = step{"http.fetch", `{"endpoint":"hooks","path":"/look"}`}
	remove   = step{"http.fetch", `{"endpoint":"hooks","method":"DELETE","path":"/thing"}`}
	complete = step{"llm.complete", `{"endpoint":"llm","prompt":"hello"}`}
)

// overtakes has another client write hot whenever a request comes.
func (h *webhooks) overtakes(w *world) {
	var n atomic.Int32
	h.do(func(http.ResponseWriter, *http.Request) {
		value := json.RawMessage(fmt.Sprint(n.Add(1)))
		if _, err := w.space.As(owner("")).Store(context.Background(), memory.Location{}, []memory.Item{{Key: "hot", Value: value}}, memory.Write{}); err != nil {
			w.t.Error(err)
		}
	})
}

func details(err error) map[string]any {
	var known *memory.Error
	if !errors.As(err, &known) {
		return nil
	}
	return known.Details
}

func retryable(err error) bool {
	var known *memory.Error
	return errors.As(err, &known) && known.Retryable
}

func TestInADryRunOnlyGETAndHEADLeave(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h).with(aFamily("tidy"), script{steps: []step{look, {"http.fetch", `{"endpoint":"hooks","method":"HEAD"}`}, notify, remove, complete, writeHot}})
	result, err := w.call(given{Tool: "tidy_do", DryRun: true, RequestID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	if got := h.got(); !slices.Equal(got, []string{"GET /look", "HEAD /"}) {
		t.Errorf("what left: %q", got)
	}
	got := responses(t, result.Output)
	for i, r := range got[2:5] {
		if r.Error == nil || r.Error.Code != abi.CodeUnavailable || r.Error.Retryable || r.Error.Details["dry_run"] != true {
			t.Errorf("request %d was answered %s, %+v", i, r.OK, r.Error)
		}
	}
	want := []string{"dry run: POST hooks/notify was not sent", "dry run: DELETE hooks/thing was not sent", "dry run: llm.complete llm was not sent"}
	if !slices.Equal(result.Notes, want) || w.value("", "hot") != "" {
		t.Errorf("the notes are %q", result.Notes)
	}
	if _, err := w.call(given{Tool: "tidy_do", RequestID: "r"}); err != nil || len(h.got()) != 7 {
		t.Errorf("the same request in earnest: %v after %q", err, h.got())
	}
}

func TestADryRunThatFailsSaysWhatWasNotSent(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h).with(aFamily("inner"), script{steps: []step{notify}, fails: `{"code":"not_found","message":"no such thing"}`}).
		with(aFamily("outer"), script{steps: []step{{"tools.call", `{"tool":"inner_do","arguments":{}}`}, remove}, fails: `{"code":"denied","message":"gone"}`}).
		with(aFamily("traps"), script{steps: []step{notify}, traps: true})
	for tool, want := range map[string][]string{"inner_do": {"POST hooks/notify"}, "outer_do": {"POST hooks/notify", "DELETE hooks/thing"}, "traps_do": {"POST hooks/notify"}} {
		_, err := w.call(given{Tool: tool, DryRun: true})
		if err == nil || !slices.Equal(details(err)["not_sent"].([]string), want) || details(err)["dry_run"] != true {
			t.Errorf("dry run of %s: %v with %v, want %q not sent", tool, err, details(err), want)
		}
		for _, what := range want {
			if err != nil && !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %q is not in %v", tool, what, err)
			}
		}
	}
	if got := h.got(); len(got) != 0 {
		t.Errorf("what left: %q", got)
	}
}

func TestACallThatSentSomethingIsNotMadeAgainWhenItsCommitIsAConflict(t *testing.T) {
	h := serveWebhooks(t)
	nested := step{"tools.call", `{"tool":"posts_do","arguments":{}}`}
	w := reaching(t, t.TempDir(), h).with(aFamily("posts"), script{steps: []step{readHot, notify, writeHot}}).
		with(aFamily("asks"), script{steps: []step{readHot, complete, writeHot}}).with(aFamily("nests"), script{steps: []step{readHot, nested, writeHot}})
	w.store("hot", `"cold"`)
	h.overtakes(w)
	for tool, sent := range map[string]string{"posts_do": "POST hooks/notify was sent and answered 201", "asks_do": "llm.complete llm was sent and answered",
		"nests_do": "POST hooks/notify was sent and answered 201"} {
		before := len(h.got())
		_, err := w.call(given{Tool: tool, RequestID: tool})
		if code(err) != memory.Conflict || !strings.Contains(err.Error(), sent+"; nothing was stored: ") || retryable(err) {
			t.Errorf("%s: %v, want a conflict that says %q and is not retryable", tool, err, sent)
		}
		if got := h.got()[before:]; len(got) != 1 {
			t.Errorf("%s sent %q", tool, got)
		}
		if _, err := w.call(given{Tool: tool, RequestID: tool}); code(err) != memory.Conflict || !strings.Contains(err.Error(), sent) || !strings.Contains(err.Error(), "new request") {
			t.Errorf("%s sent again by its client: %v", tool, err)
		}
		if got := h.got()[before:]; len(got) != 1 {
			t.Errorf("%s sent again by its client sent %q", tool, got)
		}
	}
}

func TestACallThatOnlyLookedIsMadeAgainWhenItsCommitIsAConflict(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h).with(aFamily("looks"), script{steps: []step{readHot, look, writeHot}})
	w.store("hot", `"cold"`)
	var once sync.Once
	h.do(func(http.ResponseWriter, *http.Request) { once.Do(func() { w.store("hot", `"theirs"`) }) })
	if _, err := w.call(given{Tool: "looks_do"}); err != nil || len(h.got()) != 2 || w.value("", "hot") != `"mine"` {
		t.Errorf("after %q: %v", h.got(), err)
	}
}

func TestAnErrorOfACallSaysWhatItHadSent(t *testing.T) {
	h := serveWebhooks(t)
	schema := aFamily("lies")
	schema.Tools[0].OutputSchema = json.RawMessage(`{"type":"object","required":["n"]}`)
	w := reaching(t, t.TempDir(), h).with(aFamily("traps"), script{steps: []step{notify}, traps: true}).with(schema, script{steps: []step{notify}})
	for _, tool := range []string{"traps_do", "lies_do"} {
		_, err := w.call(given{Tool: tool})
		if err == nil || !strings.Contains(err.Error(), "POST hooks/notify was sent and answered 201") || retryable(err) || code(err) == memory.Internal {
			t.Errorf("%s: code %s, %v, want what was sent, and an error that is not retryable", tool, code(err), err)
		}
	}
}

func TestARequestThatSentSomethingAndChangedNothingIsAnsweredTwiceAndDoneOnce(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h).with(aFamily("posts"), script{steps: []step{notify}})
	first, err := w.call(given{Tool: "posts_do", RequestID: "r"})
	if err != nil || first.Version != 0 {
		t.Fatalf("Call = %+v, %v, want no new version", first, err)
	}
	for name, after := range map[string]*world{"at once": w, "after a crash": reaching(t, snapshot(w), h)} {
		again, err := after.call(given{Tool: "posts_do", RequestID: "r"})
		if err != nil || string(again.Output) != string(first.Output) || len(h.got()) != 1 {
			t.Errorf("%s: %s, %v, and %q was sent", name, again.Output, err, h.got())
		}
	}
}

func TestACallThatASentRequestSurvivedIsNotMadeAgain(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h).with(aFamily("posts"), script{steps: []step{notify, remove, writeHot}})
	var dir string
	h.do(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == "DELETE" && dir == "" {
			dir = snapshot(w) // the server dies while it waits for the second answer
		}
	})
	if _, err := w.call(given{Tool: "posts_do", RequestID: "r"}); err != nil {
		t.Fatal(err)
	}
	after := reaching(t, dir, h)
	_, err := after.call(given{Tool: "posts_do", RequestID: "r"})
	for _, part := range []string{"POST hooks/notify was sent and answered 201", "DELETE hooks/thing was sent, and its answer is not known", "new request"} {
		if code(err) != memory.Conflict || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
	if len(h.got()) != 2 || after.value("", "hot") != "" {
		t.Errorf("what was sent: %q", h.got())
	}
	if _, err := after.call(given{Tool: "posts_do", RequestID: "another"}); err != nil || len(h.got()) != 4 {
		t.Errorf("a new request: %v after %q", err, h.got())
	}
}

func TestTheSameRequestTwiceAtOnceSendsOnce(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h).with(aFamily("posts"), script{steps: []step{notify}})
	both := make(chan struct{})
	var failed atomic.Int32
	h.do(func(http.ResponseWriter, *http.Request) {
		if _, err := w.call(given{Tool: "posts_do", RequestID: "r"}); code(err) == memory.Conflict {
			failed.Add(1)
		}
		close(both)
	})
	if _, err := w.call(given{Tool: "posts_do", RequestID: "r"}); err != nil {
		t.Error(err)
	}
	<-both
	if len(h.got()) != 1 || failed.Load() != 1 {
		t.Errorf("%q was sent, and %d calls failed", h.got(), failed.Load())
	}
}

func TestACallWhoseRequestsNeverLeftMayBeMadeAgain(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h).with(aFamily("posts"), script{steps: []step{notify}, traps: true})
	nobody := httptest.NewServer(nil)
	nobody.Close()
	if err := w.SetEndpoint("hooks", &registry.Endpoint{Kind: "http", URL: nobody.URL}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.call(given{Tool: "posts_do", RequestID: "r"}); err == nil || strings.Contains(err.Error(), "was sent") {
		t.Errorf("nothing left, and it says: %v", err)
	}
	if err := w.SetEndpoint("hooks", &registry.Endpoint{Kind: "http", URL: h.url}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.call(given{Tool: "posts_do", RequestID: "r"}); !strings.Contains(err.Error(), "POST hooks/notify was sent and answered 201") || len(h.got()) != 1 {
		t.Errorf("the same request later: %v after %q", err, h.got())
	}
}

func TestManyEffectsAreNamedUpToABound(t *testing.T) {
	h := serveWebhooks(t)
	m := aFamily("posts")
	w := reaching(t, t.TempDir(), h).with(m, script{steps: slices.Repeat([]step{notify}, 40), traps: true})
	_, err := w.call(given{Tool: "posts_do", RequestID: "r"})
	if err == nil || len(h.got()) != 40 || len(details(err)["sent"].([]string)) != 17 || !strings.Contains(err.Error(), "24 or more others") {
		t.Errorf("Call: %v, want 16 effects and 24 others", err)
	}
	_, err = w.call(given{Tool: "posts_do", DryRun: true})
	if err == nil || len(details(err)["not_sent"].([]string)) != 16 || !strings.Contains(err.Error(), "and 24 more") {
		t.Errorf("a dry run: %v, want 16 effects and 24 more", err)
	}
}

func TestAnOvertakenCallRunsAgainWhateverTheKeyIsCalled(t *testing.T) {
	h := serveWebhooks(t)
	read := step{"memory.get", `{"keys":["request id"]}`}
	write := step{"memory.put", `{"items":[{"key":"request id","value":"mine"}]}`}
	w := reaching(t, t.TempDir(), h).with(aFamily("posts"), script{steps: []step{read, look, write}})
	w.store("request id", `"cold"`)
	var overtaken atomic.Bool
	h.do(func(http.ResponseWriter, *http.Request) {
		if !overtaken.Swap(true) {
			w.store("request id", `"theirs"`)
		}
	})
	if _, err := w.call(given{Tool: "posts_do", RequestID: "r"}); err != nil || len(h.got()) != 2 {
		t.Errorf("%v after %q", err, h.got())
	}
	if _, err := w.call(given{Tool: "posts_do", RequestID: "r", Arguments: json.RawMessage(`{"another":1}`)}); !errors.Is(err, memory.ErrRequestReused) || retryable(err) {
		t.Errorf("a request id that is used twice: %v", err)
	}
}

func TestAJobThatSentSomethingAndFailedIsNotTriedAgain(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h).with(withJob("traps", ""), script{steps: []step{notify}, traps: true}).
		with(withJob("loses", ""), script{steps: []step{readHot, notify, writeHot}})
	w.store("hot", `"cold"`)
	h.overtakes(w)
	for _, family := range []string{"traps", "loses"} {
		before := len(h.got())
		job := w.enqueue(family)
		await.That(t, "the job has failed", func() bool { return w.job(job.ID).State == jobs.Failed })
		got := w.job(job.ID)
		if got.Attempts != 1 || len(h.got())-before != 1 || !strings.Contains(got.Error, "POST hooks/notify was sent and answered 201; nothing was stored: ") || len(got.Sent) != 1 {
			t.Errorf("%s: %+v after %q", family, got, h.got())
		}
	}
}

func TestAJobWhoseRequestsNeverLeftIsTriedAgain(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h)
	nobody := httptest.NewServer(nil)
	nobody.Close()
	if err := w.SetEndpoint("hooks", &registry.Endpoint{Kind: "http", URL: nobody.URL}); err != nil {
		t.Fatal(err)
	}
	w.with(withJob("posts", ""), script{steps: []step{notify}, traps: true})
	job := w.enqueue("posts")
	await.That(t, "the job is given up", func() bool { return w.job(job.ID).State == jobs.Failed })
	if got := w.job(job.ID); got.Attempts != jobs.Attempts || len(got.Sent) != 0 {
		t.Errorf("the job is %+v, want %d attempts and nothing sent", got, jobs.Attempts)
	}
}

func TestAJobThatRanWhenTheServerStoppedIsNotBegunAgainIfItSentSomething(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h).with(withJob("posts", ""), script{steps: []step{notify, writeHot}})
	var dir string
	h.do(func(http.ResponseWriter, *http.Request) { dir = snapshot(w) })
	job := w.enqueue("posts")
	await.That(t, "the job is done", func() bool { return w.job(job.ID).State == jobs.Done })
	after := reaching(t, dir, h)
	await.That(t, "the job has failed after the crash", func() bool { return after.job(job.ID).State == jobs.Failed })
	got := after.job(job.ID)
	if len(h.got()) != 1 || after.value("", "hot") != "" || !strings.Contains(got.Error, "POST hooks/notify was sent, and its answer is not known") {
		t.Errorf("%+v after %q", got, h.got())
	}
	if done := w.job(job.ID); !slices.Equal(done.Sent, []string{"POST hooks/notify was sent and answered 201"}) {
		t.Errorf("the job that came to its end says it sent %q", done.Sent)
	}
}

func TestAJobThatIsCancelledSendsNothingMore(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h).with(withJob("posts", ""), script{steps: []step{look, notify}})
	ids := make(chan string, 1)
	h.do(func(http.ResponseWriter, *http.Request) {
		stage, err := w.space.As(owner("")).Stage(context.Background(), "")
		if err != nil {
			t.Error(err)
			return
		}
		job, err := w.jobs.Find(context.Background(), stage, <-ids)
		if err != nil || job == nil {
			t.Errorf("Find = %v, %v, want the job", job, err)
			return
		}
		job.State = jobs.Cancelled
		if err := w.jobs.Put(context.Background(), stage, *job); err != nil {
			t.Error(err)
		}
		if _, err := stage.Commit(context.Background(), memory.Commit{}); err != nil {
			t.Error(err)
		}
	})
	ids <- w.enqueue("posts").ID
	await.That(t, "it is over", func() bool { return len(h.got()) > 0 && w.jobs.Backlog("posts").Jobs == 0 })
	if got := h.got(); !slices.Equal(got, []string{"GET /look"}) {
		t.Errorf("it sent %q", got)
	}
}

func TestAStoreHookThatSentSomethingIsNotAskedAgain(t *testing.T) {
	h := serveWebhooks(t)
	for failure, want := range map[abi.OnFailure]string{abi.OnFailureSkip: "was skipped", abi.OnFailureDefer: "was skipped", abi.OnFailureRefuse: "has to be asked first"} {
		w := reaching(t, t.TempDir(), h).with(onStore("posts", failure), script{steps: []step{notify}, traps: true})
		before := len(h.got())
		stored, notes, err := w.keep("k", `"tea"`)
		said := strings.Join(notes, "\n")
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, want) || (stored == nil) != (failure == abi.OnFailureRefuse) || retryable(err) {
			t.Errorf("%s: stored %v, and it says %q, %v", failure, stored, notes, err)
		}
		if err != nil && !strings.Contains(said, "POST hooks/notify was sent and answered 201") {
			t.Errorf("%s: %v, want it to say what was sent", failure, err)
		}
		jobs, err := w.Jobs(t.Context())
		if err != nil || len(jobs) != 0 || len(h.got())-before != 1 {
			t.Errorf("%s: queued %+v after %q, %v", failure, jobs, h.got()[before:], err)
		}
	}
}

func TestAStoreThatIsAConflictSaysWhatItsHookSent(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h)
	w.store("hot", `"cold"`)
	w.with(onStore("posts", ""), script{steps: []step{notify}, says: `{}`})
	var others atomic.Bool
	h.do(func(http.ResponseWriter, *http.Request) {
		if others.CompareAndSwap(false, true) { // the other client's store has the hook asked, too
			w.store("hot", `"theirs"`)
		}
	})
	now, err := w.space.As(owner("")).Recall(t.Context(), memory.Location{}, "hot", memory.AsOf{})
	if err != nil {
		t.Fatal(err)
	}
	before := len(h.got())
	_, err = w.space.As(owner("")).Store(t.Context(), memory.Location{}, []memory.Item{{Key: "hot", Value: json.RawMessage(`1`), IfVersion: &now.Version}}, memory.Write{RequestID: "r"})
	if code(err) != memory.Conflict || !strings.Contains(err.Error(), "POST hooks/notify was sent and answered 201; nothing was stored: ") {
		t.Errorf("Store: %v, want a conflict that says what was sent", err)
	}
	if got := h.got()[before:]; len(got) != 2 { // with that of the other client's store
		t.Errorf("it sent %q", got)
	}
}

func TestAStoreThatIsSentAgainAfterACrashDoesNotAskItsHookAgain(t *testing.T) {
	h := serveWebhooks(t)
	for failure, kept := range map[abi.OnFailure]bool{abi.OnFailureSkip: true, abi.OnFailureDefer: true, abi.OnFailureRefuse: false} {
		before := len(h.got())
		w := reaching(t, t.TempDir(), h).with(onStore("posts", failure), script{steps: []step{notify}, says: `{}`})
		var dir string
		h.do(func(http.ResponseWriter, *http.Request) { dir = snapshot(w) })
		var notes []string
		item := []memory.Item{{Key: "k", Value: json.RawMessage(`"tea"`)}}
		write := memory.Write{RequestID: "r", Note: func(note string) { notes = append(notes, note) }}
		if _, err := w.space.As(owner("")).Store(t.Context(), memory.Location{}, item, write); err != nil {
			t.Fatal(err)
		}
		after := reaching(t, dir, h)
		if err := after.Load(t.Context(), "posts"); err != nil {
			t.Fatal(err)
		}
		_, err := after.space.As(owner("")).Store(t.Context(), memory.Location{}, item, write)
		said := strings.Join(notes, "\n")
		if err != nil {
			said = err.Error()
		}
		if (err == nil) != kept || (after.value("", "k") != "") != kept || !strings.Contains(said, "POST hooks/notify was sent, and its answer is not known") {
			t.Errorf("%s: notes %q, %v, want it stored: %t, and that something was sent", failure, notes, err, kept)
		}
		jobs, err := after.Jobs(t.Context())
		if err != nil || len(jobs) != 0 || len(h.got())-before != 1 {
			t.Errorf("%s: queued %+v after %q, %v", failure, jobs, h.got()[before:], err)
		}
		if _, err := w.space.As(owner("")).Store(t.Context(), memory.Location{}, item, write); err != nil || len(h.got())-before != 1 {
			t.Errorf("%s, sent again without a crash: %v after %q", failure, err, h.got()[before:])
		}
	}
}

func TestAStoreHookThatWasPutOffAndSentSomethingIsNotAskedAgain(t *testing.T) {
	h := serveWebhooks(t)
	w := reachingWith(t, t.TempDir(), h, func(o *Options) { o.Outside = overHTTP{}; storesAreOver(o) }).
		with(onStore("later", abi.OnFailureDefer), script{steps: []step{notify}, traps: true}).resting("later")
	if _, notes, err := w.keep("k", `"tea"`); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "asked later") {
		t.Fatalf("notes %q, %v, want one, that the family is asked later", notes, err)
	}
	await.That(t, "the hook has failed", func() bool {
		list, err := w.Jobs(t.Context())
		return err == nil && len(list) == 1 && list[0].State == jobs.Failed && len(list[0].Sent) == 1
	})
	if got := h.got(); len(got) != 1 {
		t.Errorf("it sent %q", got)
	}
}

func TestAStoredHookThatSentSomethingIsNotToldAgain(t *testing.T) {
	h := serveWebhooks(t)
	m := aFamily("told")
	m.Hooks.Stored = &abi.StoreHook{}
	w := reaching(t, t.TempDir(), h).with(m, script{steps: []step{notify}, traps: true})
	await.That(t, "its hook is seen on", func() bool {
		return w.isFollowed("told")
	})
	var once sync.Once
	dirs := make(chan string, 1)
	h.do(func(http.ResponseWriter, *http.Request) { once.Do(func() { dirs <- snapshot(w) }) })
	w.store("a", `1`)
	after := reaching(t, <-dirs, h)
	w.store("b", `2`)
	await.That(t, "it was told of the next alone", func() bool { return len(h.got()) == 2 })
	after.store("c", `3`)
	await.That(t, "after the crash it was told of the next alone", func() bool { return len(h.got()) == 3 })
	time.Sleep(100 * time.Millisecond) // ten times as long as until it would be told again
	if got := h.got(); len(got) != 3 {
		t.Errorf("it was told %d times", len(got))
	}
}

func TestADeletionThatIsAConflictAsksItsHookOnce(t *testing.T) {
	h := serveWebhooks(t)
	m := onStore("posts", abi.OnFailureRefuse)
	m.Hooks.Store.Changes = []string{"delete", "state"}
	w := reaching(t, t.TempDir(), h)
	w.store("hot", `"cold"`)
	w.with(m, script{steps: []step{notify}, says: `{}`})
	h.overtakes(w)
	a := w.space.As(owner("ann"))
	if keys, err := a.SetState(t.Context(), memory.Location{}, []string{"hot"}, memory.Archived, memory.Write{RequestID: "1"}); err != nil || len(keys) != 1 || len(h.got()) != 1 {
		t.Errorf("a state: %q, %v after %q", keys, err, h.got())
	}
	if keys, err := a.Forget(t.Context(), memory.Location{}, []string{"hot"}, memory.Write{RequestID: "2"}); err != nil || len(keys) != 1 || len(h.got()) != 2 {
		t.Errorf("a deletion: %q, %v after %q", keys, err, h.got())
	}
	w.store("k", `1`)
	var dir string
	h.do(func(http.ResponseWriter, *http.Request) { dir = snapshot(w) })
	if _, err := a.Forget(t.Context(), memory.Location{}, []string{"k"}, memory.Write{RequestID: "3"}); err != nil {
		t.Fatal(err)
	}
	after := reaching(t, dir, h)
	_, err := after.space.As(owner("ann")).Forget(t.Context(), memory.Location{}, []string{"k"}, memory.Write{RequestID: "3"})
	if err == nil || !strings.Contains(err.Error(), "POST hooks/notify was sent, and its answer is not known") || retryable(err) || len(h.got()) != 3 || after.value("", "k") != "1" {
		t.Errorf("after a crash: %v after %q", err, h.got())
	}
	if _, err := a.Forget(t.Context(), memory.Location{}, []string{"hot"}, memory.Write{DryRun: true}); err != nil || len(h.got()) != 3 {
		t.Errorf("in a dry run: %v after %q", err, h.got())
	}
}

func TestAMergedHookThatSentSomethingIsNotToldAgain(t *testing.T) {
	h := serveWebhooks(t)
	m := aFamily("told")
	m.Hooks.Merged = &abi.MergeHook{}
	w := reaching(t, t.TempDir(), h).with(m, script{steps: []step{notify}, traps: true}).followed("told")
	var once sync.Once
	dirs := make(chan string, 1)
	h.do(func(http.ResponseWriter, *http.Request) { once.Do(func() { dirs <- snapshot(w) }) })
	merge := func(w *world, branch string) {
		a := w.space.As(owner("ann"))
		if _, err := a.Fork(t.Context(), "", branch, memory.AsOf{}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Store(t.Context(), memory.Location{Branch: branch}, []memory.Item{{Key: branch, Value: json.RawMessage(`1`)}}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Merge(t.Context(), memory.Merge{Source: branch}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	merge(w, "a")
	after := reaching(t, <-dirs, h)
	merge(w, "b")
	await.That(t, "it was told of the next alone", func() bool { return len(h.got()) == 2 })
	merge(after, "c")
	await.That(t, "after the crash it was told of the next alone", func() bool { return len(h.got()) == 3 })
	w.settled()
	if got := h.got(); len(got) != 3 {
		t.Errorf("it was told %d times", len(got))
	}
}

func TestAGuestIsNotToldToRetryWhatWasSent(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h).with(aFamily("inner"), script{steps: []step{notify}, fails: `{"code":"unavailable","message":"not today","retryable":true}`}).
		with(aFamily("calm"), script{fails: `{"code":"unavailable","message":"not today","retryable":true}`}).
		with(aFamily("outer"), script{steps: []step{{"tools.call", `{"tool":"inner_do","arguments":{}}`}, {"tools.call", `{"tool":"calm_do","arguments":{}}`}}}).
		with(aFamily("posts"), script{steps: []step{notify, look}})
	got, _ := w.do("outer")
	if e := got[0].Error; e == nil || e.Retryable || fmt.Sprint(e.Details["sent"]) != "[POST hooks/notify was sent and answered 201]" {
		t.Errorf("a tool that sent something: %+v", e)
	}
	if e := got[1].Error; e == nil || !e.Retryable || e.Details["sent"] != nil {
		t.Errorf("a tool that sent nothing: %+v", e)
	}
	h.do(func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }) // it breaks off without an answer
	got, _ = w.do("posts")
	if e := got[0].Error; e == nil || e.Retryable || e.Code != abi.CodeUnavailable {
		t.Errorf("a POST without an answer: %+v", e)
	}
	if e := got[1].Error; e == nil || !e.Retryable {
		t.Errorf("a GET without an answer: %+v", e)
	}
}
