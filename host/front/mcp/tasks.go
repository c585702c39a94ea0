package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// tasksExtension is the extension by which clients of 2026-07-28 say that they know tasks. The tasks of 2025-11-25 are another, experimental
// form, which it replaced.
const tasksExtension = "io.modelcontextprotocol/tasks"

const (
	methodTaskGet    = "tasks/get"
	methodTaskUpdate = "tasks/update"
	methodTaskCancel = "tasks/cancel"

	taskLasts     = time.Hour       // from its creation: then it ends, and its result goes
	taskPoll      = time.Second     // how often to ask, as clients are told
	longCall      = 5 * time.Second // after which a call becomes a task of a client that knows them
	mostTasks     = 32              // of one caller
	mostAllTasks  = 1000            // of all callers
	longestTaskID = 128             // bytes of an id that a client gives
)

// Statuses of tasks.
const (
	taskWorking   = "working"
	taskInput     = "input_required"
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

// taskOwner is whose a task is.
type taskOwner struct{ key, agent, principal string }

func ownerOf(session Session) taskOwner {
	return taskOwner{session.Key, AgentName(session.Agent), session.Principal}
}

// tasks are the calls that go on after their requests were answered. They end with the server, and with the key of their caller; what a
// call writes is committed whole or not at all.
type tasks struct {
	running sync.WaitGroup
	mu      sync.Mutex
	known   map[string]*task
}

// wait returns when no task runs any more, or when ctx ends.
func (all *tasks) wait(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		all.running.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// task is a call that goes on.
type task struct {
	id      string
	owner   taskOwner
	created time.Time
	cancel  context.CancelFunc
	begun   bool          // its client was told of it; guarded by tasks.mu
	ended   chan struct{} // closed when it has its outcome

	mu        sync.Mutex
	status    string
	updated   time.Time
	message   string
	result    json.RawMessage                    // of taskCompleted
	failure   *protocol.JSONRPCErrorDetails      // of taskFailed
	asks      protocol.InputRequests             // of taskInput: what is not answered yet
	answers   protocol.InputResponses            // to the round of questions
	answered  chan struct{}                      // closed when all are
	tell      func(protocol.JSONRPCNotification) // until its client was told of it
	told      *protocol.CallToolResult           // the outcome as an answer, if it came before
	undecided bool                               // it may be answered yet, and be no task
	refused   *protocol.JSONRPCError             // or the error in its place
	over      bool                               // it has an outcome
}

// knowsTasks reports whether the client of a message said that it knows tasks.
func knowsTasks(ctx context.Context) bool {
	info := server.RequestProtocolInfoFromContext(ctx)
	if info == nil || !info.Modern || info.ClientCapabilities == nil {
		return false
	}
	_, knows := info.ClientCapabilities.Extensions[tasksExtension]
	return knows
}

// add registers a task, unless its caller, or all together, have too many.
func (all *tasks) add(t *task, now time.Time) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.expire(now)
	own := 0
	for _, other := range all.known {
		if other.owner == t.owner {
			own++
		}
	}
	if own >= mostTasks || len(all.known) >= mostAllTasks {
		return &memory.Error{Code: memory.Exhausted, Retryable: true, Details: map[string]any{"limit": "tasks", "tasks": mostTasks},
			Message: fmt.Sprintf("%d tasks of this caller are kept, and %d of all: at most %d and %d are; a task goes %s after its creation", own, len(all.known), mostTasks, mostAllTasks, taskLasts)}
	}
	all.known[t.id] = t
	return nil
}

// expire drops the tasks whose time is over; the caller holds mu.
func (all *tasks) expire(now time.Time) {
	for id, t := range all.known {
		if now.Sub(t.created) >= taskLasts {
			t.cancel()
			delete(all.known, id)
		}
	}
}

// drop forgets a task that never became one for its client.
func (all *tasks) drop(t *task) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.known, t.id)
}

// of returns a caller's task by its id; nil: there is none.
func (all *tasks) of(owner taskOwner, id string, now time.Time) *task {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.expire(now)
	if t := all.known[id]; t != nil && t.owner == owner && t.begun {
		return t
	}
	return nil
}

// begin marks a task as one that its client knows.
func (all *tasks) begin(t *task) {
	all.mu.Lock()
	defer all.mu.Unlock()
	t.begun = true
}

// orTask makes a call of a client that knows tasks: it is answered, or goes on as a task.
func (c *toolCall) orTask(ctx context.Context) *protocol.CallToolResult {
	kind := tool.TaskIfLong
	if found, ok := c.server.registry.FindFor(c.server.rights(SessionOf(ctx)), c.message.tool); ok {
		kind = found.Task
	}
	if !knowsTasks(ctx) {
		if kind == tool.TaskRequired && server.IsModernRequest(ctx) {
			failure := lacksTasks(c.message.id)
			c.failure = &failure
			return &protocol.CallToolResult{Content: []protocol.Content{}}
		}
		return c.result(ctx)
	}
	session, err := c.server.caller(SessionOf(ctx), c.message.key)
	if err != nil || kind == tool.TaskAfterInput && len(c.answered.InputResponses) == 0 {
		return c.result(ctx)
	}
	t, err := c.begin(ctx, session, kind)
	if err != nil && kind == tool.TaskRequired {
		return failed(tool.FailureOf(err))
	}
	if err != nil {
		return c.result(ctx)
	}
	if kind == tool.TaskIfLong {
		if answer := c.soon(ctx, t); answer != nil {
			return answer
		}
	}
	t.detach()
	c.server.tasks.begin(t)
	created := t.wire("task", false)
	c.replaced = &created
	return &protocol.CallToolResult{Content: []protocol.Content{}}
}

// begin begins a task with the call.
func (c *toolCall) begin(ctx context.Context, session Session, kind tool.Task) (*task, error) {
	own, fault := parseMessage(bytes.Clone(c.message.read.Line)) // the line is the reader's
	if fault != nil {
		return nil, fmt.Errorf("read the call again: %s", fault.Text)
	}
	own.found = c.message.found
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	now := c.server.options.Clock()
	t := &task{id: rand.Text(), owner: ownerOf(session), created: now, updated: now, cancel: cancel, status: taskWorking, ended: make(chan struct{}), tell: c.tell, undecided: kind == tool.TaskIfLong}
	if err := c.server.tasks.add(t, now); err != nil {
		cancel()
		return nil, err
	}
	stop := context.AfterFunc(c.server.open, cancel)
	call := &toolCall{server: c.server, message: own, tell: t.notify, listChanged: func() {}, answered: c.answered, lasting: kind != tool.TaskIfLong}
	if own.progress == nil {
		own.progress = json.RawMessage(`""`) // for the status; no client is told
		call.tell = t.watch(nil)
	} else {
		call.tell = t.watch(t.notify)
	}
	c.server.tasks.running.Go(func() {
		defer stop()
		defer cancel()
		t.run(ctx, call)
	})
	return t, nil
}

// soon waits for a call that may be short. It returns the answer, if it came, or if the client left.
func (c *toolCall) soon(ctx context.Context, t *task) *protocol.CallToolResult {
	long := time.NewTimer(cmp.Or(c.server.options.LongCall, longCall))
	defer long.Stop()
	select {
	case <-t.ended:
	case <-long.C:
		if t.decide() {
			return nil
		}
		<-t.ended // it asks, or is over
	case <-ctx.Done():
		t.cancel()
		<-t.ended
	}
	c.server.tasks.drop(t)
	if t.refused != nil {
		t.refused.ID = protocol.NewRequestId(c.message.id)
		c.failure = t.refused
		return &protocol.CallToolResult{Content: []protocol.Content{}}
	}
	if t.told == nil {
		return failed(tool.FailureOf(context.Cause(ctx)))
	}
	return t.told
}

// run makes the call, and asks the client as often as the tool does.
func (t *task) run(ctx context.Context, call *toolCall) {
	for round := 1; ; round++ {
		answer := call.result(ctx)
		switch {
		case ctx.Err() != nil && (call.made.err != nil || call.made.input != nil):
			t.end(call, taskCancelled, nil, nil)
			return
		case call.failure != nil:
			t.refused = call.failure
			t.end(call, taskFailed, nil, &call.failure.Error)
			return
		case call.made.input != nil && t.decide():
			t.told = answer // it asks at once, as calls do that are no tasks
			t.end(call, taskCancelled, nil, nil)
			return
		case call.made.input != nil:
			answers, ok := t.ask(ctx, call, answer, round)
			if !ok {
				t.end(call, taskCancelled, nil, nil)
				return
			}
			call.answered = protocol.MultiRoundTripParams{InputResponses: answers, RequestState: answer.RequestState}
		case broken(call.made.err):
			t.told = answer
			t.end(call, taskFailed, nil, &protocol.JSONRPCErrorDetails{Code: protocol.INTERNAL_ERROR, Message: tool.FailureOf(call.made.err).Message})
			return
		default:
			t.told = answer
			t.end(call, taskCompleted, answer, nil)
			return
		}
	}
}

// decide ends the time in which the call may be answered yet, and reports whether it was not over.
func (t *task) decide() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.undecided || t.over {
		return false
	}
	t.undecided = false
	return true
}

// broken reports whether a call failed by a fault of the server or of a family's code.
func broken(err error) bool {
	if err == nil {
		return false
	}
	f := tool.FailureOf(err)
	return f.Code == memory.Internal || f.Details["class"] != nil
}

// end gives the task its outcome.
func (t *task) end(call *toolCall, status string, result *protocol.CallToolResult, failure *protocol.JSONRPCErrorDetails) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer close(t.ended)
	t.over = true
	t.status, t.failure, t.asks, t.updated = status, failure, nil, call.server.options.Clock()
	if result == nil {
		return
	}
	encoded, err := encodeResult(result)
	if err != nil {
		t.status, t.failure = taskFailed, &protocol.JSONRPCErrorDetails{Code: protocol.INTERNAL_ERROR, Message: "the result could not be encoded"}
		return
	}
	t.result = encoded
}

// encodeResult returns the result of a call as JSON.
func encodeResult(result *protocol.CallToolResult) (json.RawMessage, error) {
	plain := *result
	plain.ResultType = protocol.ResultTypeComplete
	if structured, ok := plain.StructuredContent.(tool.Encoded); ok {
		plain.StructuredContent = json.RawMessage(structured)
	}
	return tool.Encode(plain)
}

// ask has the client answer questions, each under a name that the task uses once. Not ok: the task was cancelled.
func (t *task) ask(ctx context.Context, call *toolCall, q *protocol.CallToolResult, round int) (protocol.InputResponses, bool) {
	prefix := fmt.Sprintf("%d.", round)
	t.mu.Lock()
	t.asks, t.answers, t.answered = protocol.InputRequests{}, protocol.InputResponses{}, make(chan struct{})
	for name, request := range q.InputRequests {
		t.asks[prefix+name] = request
	}
	t.status, t.updated = taskInput, call.server.options.Clock()
	answered := t.answered
	t.mu.Unlock()
	select {
	case <-answered:
	case <-ctx.Done():
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	answers := protocol.InputResponses{}
	for name, answer := range t.answers {
		answers[name[len(prefix):]] = answer
	}
	t.status, t.updated = taskWorking, call.server.options.Clock()
	return answers, true
}

// answer takes answers to what the task asks. Those to anything else are dropped.
func (t *task) answer(given protocol.InputResponses, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status != taskInput {
		return
	}
	for name, answer := range given {
		if _, asked := t.asks[name]; asked {
			delete(t.asks, name)
			t.answers[name], t.updated = answer, now
		}
	}
	if len(t.asks) == 0 && t.answered != nil {
		close(t.answered)
		t.answered, t.status = nil, taskWorking
	}
}

// detach ends what the client is told with its request.
func (t *task) detach() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell = nil
}

// notify tells the client, while its request lasts.
func (t *task) notify(n protocol.JSONRPCNotification) {
	t.mu.Lock()
	tell := t.tell
	t.mu.Unlock()
	if tell != nil {
		tell(n)
	}
}

// watch returns what is told of the call: progress is the status of the task, too.
func (t *task) watch(next func(protocol.JSONRPCNotification)) func(protocol.JSONRPCNotification) {
	return func(n protocol.JSONRPCNotification) {
		isProgress := n.Method == string(protocol.MethodNotificationProgress)
		if isProgress {
			t.mu.Lock()
			t.message = said(n.Params.AdditionalFields)
			t.mu.Unlock()
		}
		if next != nil || !isProgress {
			t.notify(n)
		}
	}
}

// said is progress as a sentence.
func said(progress map[string]any) string {
	text := fmt.Sprint(progress["progress"])
	if total := progress["total"]; total != nil {
		text += fmt.Sprintf(" of %v", total)
	}
	if message, _ := progress["message"].(string); message != "" {
		text += ": " + message
	}
	return text
}

// wire returns the task as clients see it.
func (t *task) wire(resultType string, detailed bool) map[string]any {
	t.mu.Lock()
	defer t.mu.Unlock()
	members := map[string]any{
		"resultType": resultType, "taskId": t.id, "status": t.status, "createdAt": t.created.UTC().Format(time.RFC3339Nano),
		"lastUpdatedAt": t.updated.UTC().Format(time.RFC3339Nano), "ttlMs": taskLasts.Milliseconds(), "pollIntervalMs": taskPoll.Milliseconds(),
	}
	if t.message != "" {
		members["statusMessage"] = t.message
	}
	if !detailed {
		return members
	}
	switch t.status {
	case taskCompleted:
		members["result"] = t.result
	case taskFailed:
		members["error"] = t.failure
	case taskInput:
		members["inputRequests"] = maps.Clone(t.asks)
	}
	return members
}

func isTaskMethod(method string) bool {
	return method == methodTaskGet || method == methodTaskUpdate || method == methodTaskCancel
}

// lacksTasks is the error response to a client that would have to know tasks.
func lacksTasks(id json.RawMessage) protocol.JSONRPCError {
	answer := errorMessage(id, protocol.MISSING_REQUIRED_CLIENT_CAPABILITY, "this needs the client extension "+tasksExtension+", which the client did not declare")
	answer.Error.Data = map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{tasksExtension: map[string]any{}}}}
	return answer
}

// taskMessage is a message about a task.
type taskMessage struct {
	Meta struct {
		Version      string                      `json:"io.modelcontextprotocol/protocolVersion"`
		Capabilities protocol.ClientCapabilities `json:"io.modelcontextprotocol/clientCapabilities"`
		Key          json.RawMessage             `json:"alcove/key"`
	} `json:"_meta"`
	TaskID         string                  `json:"taskId"`
	InputResponses protocol.InputResponses `json:"inputResponses"`
}

// serveTask answers a message about a task.
func (s *Server) serveTask(ctx context.Context, m *message) protocol.JSONRPCMessage {
	var q taskMessage
	if err := json.Unmarshal(m.paramsForLibrary(), &q); err != nil {
		return errorMessage(m.id, jsonrpc.CodeInvalidParams, fmt.Sprintf("params of %s cannot be read: %v", m.method, err))
	}
	if _, knows := q.Meta.Capabilities.Extensions[tasksExtension]; !knows {
		return lacksTasks(m.id)
	}
	session, err := s.caller(SessionOf(ctx), q.Meta.Key)
	if err != nil {
		return limitMessage(m.id, err)
	}
	t := s.tasks.of(ownerOf(session), q.TaskID, s.options.Clock())
	if t == nil {
		return errorMessage(m.id, jsonrpc.CodeInvalidParams, fmt.Sprintf("there is no task %q: it may have ended with the server, or %s after its creation", tool.Clip(q.TaskID, longestTaskID), taskLasts))
	}
	result := map[string]any{"resultType": protocol.ResultTypeComplete}
	switch m.method {
	case methodTaskGet:
		result = t.wire(string(protocol.ResultTypeComplete), true)
	case methodTaskUpdate:
		t.answer(q.InputResponses, s.options.Clock())
	case methodTaskCancel:
		t.cancel()
	}
	return protocol.NewJSONRPCResultResponse(protocol.NewRequestId(m.id), result)
}
