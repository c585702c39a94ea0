package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/core"
)

var taskMeta = strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, 1)

// taskAnswer is the answer to a message about a task, or to a call that may have become one.
type taskAnswer struct {
	Result struct {
		ResultType, TaskID, Status, StatusMessage, CreatedAt string
		TTLMs                                                int
		Content                                              []struct{ Text string }
		Result                                               *struct {
			IsError bool
			Content []struct{ Text string }
		}
		Error         *struct{ Code int }
		InputRequests map[string]struct{ Method string }
	}
	Error *struct {
		Code    int
		Message string
	}
}

func (p *peer) task(method, params string) (a taskAnswer) {
	p.t.Helper()
	answer := p.request(method, `{`+params+`,`+taskMeta+`}`)
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		p.t.Fatalf("%s was answered with %s: %v", method, answer, err)
	}
	return a
}

// begun begins a task.
func (p *peer) begun(name, arguments string) (id string) {
	p.t.Helper()
	a := p.task("tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments))
	if a.Result.ResultType != "task" || a.Result.TaskID == "" || a.Result.CreatedAt == "" || a.Result.TTLMs == 0 {
		p.t.Fatalf("the call of %s comes to %+v, want a task", name, a)
	}
	return a.Result.TaskID
}

func (p *peer) polled(id string) taskAnswer {
	p.t.Helper()
	return p.task("tasks/get", fmt.Sprintf(`"taskId":%q`, id))
}

// settled waits until a task has a status.
func (p *peer) settled(id, status string) (a taskAnswer) {
	p.t.Helper()
	await.That(p.t, "the task is "+status, func() bool {
		a = p.polled(id)
		return a.Result.Status == status
	})
	return a
}

// workshop is a family with long tools. Those of its tools wait until the test goes on, or until their call ends.
func workshop() (f *fake, goOn chan string) {
	f, goOn = newFake(), make(chan string, 64)
	long := func(name string, kind tool.Task) tool.Spec {
		return tool.Spec{Name: name, Description: "Takes long.", Task: kind, Asks: true, Input: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}}}`)}
	}
	f.all = append(f.all, tool.Family{Name: "workshop", Version: "1.0.0", Description: "Makes things.", Tools: []tool.Spec{
		long("make_at_once", tool.TaskAtOnce), long("make_as_task", tool.TaskRequired), long("make_after", tool.TaskAfterInput), long("make", tool.TaskIfLong),
	}})
	wait := func(ctx context.Context, c familyCall) (tool.Result, error) {
		if c.Progress != nil {
			c.Progress(1, 4, "sawing")
		}
		select {
		case made := <-goOn:
			if made == "broken" {
				return tool.Result{}, &memory.Error{Code: memory.Unavailable, Message: "it trapped", Details: map[string]any{"class": "trap"}}
			}
			if made == "" {
				return tool.Result{}, &memory.Error{Code: memory.InvalidArgument, Message: "it cannot be made"}
			}
			return tool.Result{Output: fmt.Appendf(nil, `{"made":%q}`, made)}, nil
		case <-ctx.Done():
			return tool.Result{}, context.Cause(ctx)
		}
	}
	for _, name := range []string{"make_at_once", "make_as_task", "make"} {
		f.answers[name] = wait
	}
	f.answers["make_after"] = func(ctx context.Context, c familyCall) (tool.Result, error) {
		if _, answered := c.Client.Answers["sure"]; !answered {
			return lends(ctx, c)
		}
		return wait(ctx, c)
	}
	return f, goOn
}

func TestALongCallGoesOnAsATask(t *testing.T) {
	f, goOn := workshop()
	s := newServer(t, Options{}, f)
	id := connect(t, s, owner()).begun("make_at_once", `{"id":"x"}`)
	p := connect(t, s, owner()) // the client connects again
	if a := p.settled(id, "working"); a.Result.Result != nil {
		t.Errorf("a task that works is %+v, want no result", a)
	}
	await.That(t, "the progress is its status", func() bool { return strings.Contains(p.polled(id).Result.StatusMessage, "1 of 4: sawing") })
	goOn <- "a table"
	if a := p.settled(id, "completed"); a.Result.Result == nil || a.Result.Result.IsError || !strings.Contains(a.Result.Result.Content[0].Text, "a table") || a.Result.ResultType != "complete" {
		t.Errorf("the task comes to %+v, want its result", a)
	}
	p.task("tasks/cancel", fmt.Sprintf(`"taskId":%q`, id))
	if a := p.polled(id); a.Result.Status != "completed" {
		t.Errorf("a task that was cancelled after its end is %+v, want it as it ended", a)
	}
}

func TestFailuresOfTasksAreToldApart(t *testing.T) {
	f, goOn := workshop()
	p := connect(t, newServer(t, Options{}, f), owner())
	id := p.begun("make_at_once", `{}`)
	goOn <- ""
	if a := p.settled(id, "completed"); a.Result.Result == nil || !a.Result.Result.IsError {
		t.Errorf("a tool that fails comes to %+v, want a result that says so", a)
	}
	id = p.begun("make_at_once", `{}`)
	goOn <- "broken"
	if a := p.settled(id, "failed"); a.Result.Error == nil || a.Result.Error.Code != -32603 || a.Result.Result != nil {
		t.Errorf("a family that breaks comes to %+v, want an error of the protocol", a)
	}
}

func TestACancelledTaskKeepsNothing(t *testing.T) {
	f, _ := workshop()
	s := newServer(t, Options{LongCall: time.Nanosecond}, f)
	begun := make(chan struct{})
	addTool(t, s, "store_slowly", func(ctx context.Context, c *tool.Call) (tool.Answer, error) {
		close(begun)
		<-ctx.Done()
		return tool.Answer{}, context.Cause(ctx)
	})
	p := connect(t, s, owner())
	id := p.begun("store_slowly", `{}`)
	<-begun
	if a := p.task("tasks/cancel", fmt.Sprintf(`"taskId":%q`, id)); a.Error != nil || a.Result.ResultType != "complete" || a.Result.Status != "" {
		t.Errorf("the cancellation is answered with %+v, want nothing but complete", a)
	}
	if a := p.settled(id, "cancelled"); a.Result.Result != nil || a.Result.Error != nil {
		t.Errorf("the task comes to %+v, want neither result nor error", a)
	}
}

func TestAShortCallIsAnsweredAtOnce(t *testing.T) {
	f, goOn := workshop()
	p := connect(t, newServer(t, Options{LongCall: time.Hour}, f), owner())
	goOn <- "a chair"
	if a := p.task("tools/call", `"name":"make","arguments":{}`); a.Result.ResultType != "complete" || a.Result.TaskID != "" || !strings.Contains(a.Result.Content[0].Text, "a chair") {
		t.Errorf("the call comes to %+v, want its result", a)
	}
}

func TestACallThatIsNoTaskYetAsksAtOnce(t *testing.T) {
	f, _ := workshop()
	f.answers["make"] = lends
	p := connect(t, newServer(t, Options{LongCall: time.Hour}, f), owner())
	first := p.task("tools/call", `"name":"make","arguments":{}`)
	if first.Result.ResultType != "input_required" || first.Result.TaskID != "" || first.Result.InputRequests["sure"].Method == "" {
		t.Fatalf("the call comes to %+v, want its question", first)
	}
	if a := p.task("tools/call", `"name":"make","arguments":{},"requestState":"forged"`); a.Error == nil || a.Error.Code != -32602 {
		t.Errorf("with a forged state it comes to %+v, want an error of the protocol", a)
	}
	second := p.task("tools/call", `"name":"make","arguments":{},"inputResponses":{"sure":{"action":"accept","content":{}}}`)
	if second.Result.ResultType != "complete" || !strings.Contains(second.Result.Content[0].Text, "lent") {
		t.Errorf("with the answer it comes to %+v, want its result", second)
	}
}

func TestACallBecomesATaskOnceItTakesLong(t *testing.T) {
	f, goOn := workshop()
	p := connect(t, newServer(t, Options{LongCall: time.Nanosecond}, f), owner())
	id := p.begun("make", `{}`)
	goOn <- "a chair"
	p.settled(id, "completed")
}

func TestClientsThatDoNotKnowTasksGetNone(t *testing.T) {
	f, goOn := workshop()
	p := connect(t, newServer(t, Options{LongCall: time.Nanosecond}, f), owner())
	goOn <- "a stool"
	if got := p.request("tools/call", `{"name":"make_at_once","arguments":{},`+modernMeta+`}`); !strings.Contains(got, "a stool") || strings.Contains(got, "taskId") {
		t.Errorf("the call comes to %s, want its result", got)
	}
	for _, message := range [][2]string{{"tools/call", `"name":"make_as_task","arguments":{}`}, {"tasks/get", `"taskId":"x"`}, {"tasks/update", `"taskId":"x"`}, {"tasks/cancel", `"taskId":"x"`}} {
		if got := p.request(message[0], `{`+message[1]+`,`+modernMeta+`}`); !strings.Contains(got, `"code":-32021`) || !strings.Contains(got, `"extensions":{"io.modelcontextprotocol/tasks":{}}`) {
			t.Errorf("%s is answered with %s, want the extension that the client lacks", message[0], got)
		}
	}
}

func TestATaskBelongsToItsCaller(t *testing.T) {
	f, _ := workshop()
	s := newServer(t, Options{}, f)
	ann, bob := owner(), owner()
	ann.Key, ann.Agent, bob.Key, bob.Agent = "k1", "ann", "k2", "bob"
	id := connect(t, s, ann).begun("make_at_once", `{}`)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		if a := connect(t, s, bob).task(method, fmt.Sprintf(`"taskId":%q`, id)); a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("%s of another's task is answered with %+v, want that there is none", method, a)
		}
	}
	if a := connect(t, s, ann).polled(id); a.Result.Status != "working" {
		t.Errorf("the task is %+v, want it to go on", a)
	}
}

func TestTasksAskTheClient(t *testing.T) {
	f, goOn := workshop()
	f.answers["make_at_once"] = func(ctx context.Context, c familyCall) (tool.Result, error) {
		if len(c.Client.Answers) < 2 {
			question := map[string]any{"ask": "user", "params": map[string]any{"message": "Really?", "requestedSchema": map[string]any{"type": "object"}}}
			return tool.Result{}, &memory.Error{Code: memory.InputRequired, Details: map[string]any{"state": "s", "requests": map[string]any{"a": question, "b": question}}}
		}
		return tool.Result{Output: fmt.Appendf(nil, `{"state":%q}`, c.Client.State)}, nil
	}
	p := connect(t, newServer(t, Options{}, f), owner())
	id := p.begun("make_at_once", `{}`)
	if a := p.settled(id, "input_required"); len(a.Result.InputRequests) != 2 || a.Result.InputRequests["1.a"].Method != "elicitation/create" {
		t.Fatalf("the task asks %+v, want two questions", a)
	}
	answer := func(name string) {
		t.Helper()
		if a := p.task("tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":{%q:{"action":"accept","content":{}},"other":{"action":"accept"}}`, id, name)); a.Error != nil || a.Result.ResultType != "complete" || a.Result.Status != "" {
			t.Errorf("an answer is acknowledged with %+v, want nothing but complete", a)
		}
	}
	answer("1.a")
	if a := p.polled(id); a.Result.Status != "input_required" || len(a.Result.InputRequests) != 1 || a.Result.InputRequests["1.b"].Method == "" {
		t.Errorf("after one answer the task is %+v, want one question", a)
	}
	answer("1.b")
	if a := p.settled(id, "completed"); !strings.Contains(a.Result.Result.Content[0].Text, `"state":"s"`) {
		t.Errorf("the task comes to %+v, want what the tool made of the answers", a)
	}
	id = ""
	first := p.task("tools/call", `"name":"make_after","arguments":{}`)
	if first.Result.ResultType != "input_required" || first.Result.TaskID != "" {
		t.Fatalf("a tool that asks first comes to %+v, want its question", first)
	}
	goOn <- "a shelf"
	second := p.task("tools/call", `"name":"make_after","arguments":{},"inputResponses":{"sure":{"action":"accept","content":{}}}`)
	if second.Result.ResultType != "task" {
		t.Fatalf("with the answer it comes to %+v, want a task", second)
	}
	p.settled(second.Result.TaskID, "completed")
}

func TestTasksHaveALimitAndATime(t *testing.T) {
	f, _ := workshop()
	clock := testclock.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	p := connect(t, newServer(t, Options{Clock: clock.Now}, f), owner())
	var first string
	for n := range mostTasks {
		if id := p.begun("make_as_task", `{}`); n == 0 {
			first = id
		}
	}
	if a := p.task("tools/call", `"name":"make_as_task","arguments":{}`); len(a.Result.Content) == 0 || !strings.Contains(a.Result.Content[0].Text, "at most 32") {
		t.Errorf("one task more comes to %+v, want an error that names the limit", a)
	}
	clock.Add(taskLasts - time.Second)
	if a := p.polled(first); a.Result.Status != "working" {
		t.Errorf("within its time a task is %+v, want it to go on", a)
	}
	clock.Add(time.Second)
	if a := p.polled(first); a.Error == nil || a.Error.Code != -32602 {
		t.Errorf("after its time a task is %+v, want that there is none", a)
	}
	p.begun("make_as_task", `{}`)
}

// ending are limits under which a key can end.
type ending struct {
	mu   sync.Mutex
	held []context.CancelFunc
	open int
}

func (e *ending) Begin(string) (func(), error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open++
	return func() { e.mu.Lock(); defer e.mu.Unlock(); e.open-- }, nil
}
func (e *ending) Charge(string) error { return nil }
func (e *ending) While(ctx context.Context, _ string) (context.Context, func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	held, cancel := context.WithCancel(ctx)
	e.held = append(e.held, cancel)
	return held, cancel
}

func TestATaskEndsWithTheKeyOfItsCaller(t *testing.T) {
	f, _ := workshop()
	limits, space := &ending{}, newSpace(t)
	all := tool.NewRegistry(f)
	if err := all.Add(core.Specs(core.Options{Space: space})...); err != nil {
		t.Fatal(err)
	}
	s := New(tool.NewDispatcher(all, tool.Options{Limits: limits}), Options{Space: space})
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	p := connect(t, s, owner())
	id := p.begun("make_at_once", `{}`)
	await.That(t, "the task counts as a call of its key", func() bool { limits.mu.Lock(); defer limits.mu.Unlock(); return limits.open == 1 })
	limits.mu.Lock()
	for _, end := range limits.held {
		end()
	}
	limits.mu.Unlock()
	await.That(t, "the task ends", func() bool { a := p.polled(id); return a.Result.Status != "working" })
	await.That(t, "it counts no more", func() bool { limits.mu.Lock(); defer limits.mu.Unlock(); return limits.open == 0 })
}

func TestTasksEndWithTheServer(t *testing.T) {
	f, _ := workshop()
	s := newServer(t, Options{}, f)
	p := connect(t, s, owner())
	id := p.begun("make_at_once", `{}`)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := p.polled(id); a.Result.Status != "cancelled" {
		t.Errorf("after the server's end the task is %+v, want it cancelled", a)
	}
}

func TestHeadersOfMessagesAboutTasksRepeatThem(t *testing.T) {
	f, _ := workshop()
	web := httptest.NewServer(as(owner(), newServer(t, Options{}, f).Handler()))
	t.Cleanup(web.Close)
	post := func(method, name, header, params string) (int, taskAnswer) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,%s}}`, method, params, taskMeta)))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": header, "Mcp-Name": name} {
			r.Header.Set(name, value)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var a taskAnswer
		if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, a
	}
	_, created := post("tools/call", "make_at_once", "tools/call", `"name":"make_at_once","arguments":{}`)
	id := created.Result.TaskID
	if status, a := post("tasks/get", id, "tasks/get", fmt.Sprintf(`"taskId":%q`, id)); status != 200 || a.Result.Status != "working" {
		t.Errorf("the task is %d %+v, want it to work", status, a)
	}
	for _, c := range [][2]string{{"other", "tasks/get"}, {id, "tasks/cancel"}, {"", ""}} {
		if status, a := post("tasks/get", c[0], c[1], fmt.Sprintf(`"taskId":%q`, id)); status != 400 || a.Error == nil || a.Error.Code != -32020 {
			t.Errorf("with the headers %q it is %d %+v, want that they do not match", c, status, a)
		}
	}
}
