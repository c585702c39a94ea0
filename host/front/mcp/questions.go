package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

const (
	askBeyond   = 20               // keys that a client forgets at once without a question to its user
	mostClashes = 10               // clashes that a question lists one by one
	askWithin   = 10 * time.Minute // for a person to answer
	quoteLength = 80               // characters of a value in a question

	forgetName = "memory_forget"
	branchTool = "memory_branch"
)

// question is what a call asks the user of its client, if that can ask: a form. Where it cannot, a parameter of the tool says the same. No
// dispatch is under way while a person thinks.
type question struct {
	message    string
	properties map[string]any // schemas of the form's fields
	required   []string
	// toArguments returns the arguments with which an answer has the tool called; nil: as if nothing had been asked.
	toArguments func(answer map[string]any) map[string]any
	refuse      error // what a refusal comes to; nil: the outcome without an answer
}

// id identifies the question by what it says, so that the answer to an earlier one does not count.
func (q *question) id() string {
	said, _ := tool.Encode([]any{q.message, q.properties}) // both are JSON
	sum := sha256.Sum256(said)
	return "alcove-" + base64.RawURLEncoding.EncodeToString(sum[:12])
}

func (q *question) params() protocol.ElicitationParams {
	return protocol.ElicitationParams{Mode: protocol.ElicitationModeForm, Message: q.message,
		RequestedSchema: map[string]any{"type": "object", "properties": q.properties, "required": q.required}}
}

// callOutcome is what a call comes to.
type callOutcome struct {
	answer tool.Answer
	err    error
	input  *protocol.CallToolResult // the client is to ask its user, and to call again; nil: the call is over
}

// run makes the call, and asks its client's user where it needs a decision.
func (c *toolCall) run(ctx context.Context) callOutcome {
	if !c.canAsk(ctx) || !asksBefore(c.toolName()) {
		a, err := c.dispatch(ctx, c.message.arguments)
		return c.asking(ctx, a, err)
	}
	name := c.toolName()
	given := map[string]any{}
	exact := json.NewDecoder(bytes.NewReader(c.message.arguments))
	exact.UseNumber()
	if exact.Decode(&given) != nil || given == nil {
		given = map[string]any{} // the dispatcher says what is wrong
	}
	if q := beforehand(name, given); q != nil {
		return c.ask(ctx, q, func() callOutcome { return callOutcome{err: q.refuse} })
	}
	a, err := c.dispatch(ctx, c.message.arguments)
	made := callOutcome{answer: a, err: err}
	if q := afterwards(name, given, a, err); q != nil {
		return c.ask(ctx, q, func() callOutcome { return made })
	}
	return made
}

// asksBefore reports whether the server asks of its own accord about calls of a tool.
func asksBefore(name string) bool { return name == forgetName || name == branchTool }

// asking returns what a call comes to whose tool may have asked the client.
func (c *toolCall) asking(ctx context.Context, a tool.Answer, err error) callOutcome {
	session, _ := c.server.caller(SessionOf(ctx), c.message.key) // the dispatch checked it
	q, wrong := c.exchange(session).questions(ctx, err)
	if q != nil {
		return callOutcome{input: q.ToolResult()}
	}
	if wrong != nil {
		err = wrong
	}
	return callOutcome{answer: a, err: err}
}

// toolName returns the name of the called tool, whatever the client calls it.
func (c *toolCall) toolName() string {
	if found, ok := c.server.registry.Find(c.message.tool); ok {
		return found.Name
	}
	return c.message.tool
}

// ask puts a question, and makes the call as the answer says. otherwise is the outcome without an answer.
func (c *toolCall) ask(ctx context.Context, q *question, otherwise func() callOutcome) callOutcome {
	var answer *protocol.ElicitationResult
	if server.IsModernRequest(ctx) {
		if answer = server.ElicitationResponse(c.answered.InputResponses, q.id()); answer == nil {
			return callOutcome{input: server.NewInputRequestBuilder("").Elicit(q.id(), q.params()).ToolResult()}
		}
	} else if answer = c.put(ctx, q); ctx.Err() != nil {
		return callOutcome{err: context.Cause(ctx)}
	}
	if answer == nil || answer.Action != protocol.ElicitationResponseActionAccept {
		return otherwise()
	}
	content, _ := answer.Content.(map[string]any)
	arguments := q.toArguments(content)
	if arguments == nil {
		return otherwise()
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		return callOutcome{err: fmt.Errorf("encode the arguments after the answer: %w", err)}
	}
	a, err := c.dispatch(ctx, raw)
	return callOutcome{answer: a, err: err}
}

// put asks the user of a client with initialize, and waits for the answer; nil: none came in time.
func (c *toolCall) put(ctx context.Context, q *question) *protocol.ElicitationResult {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.server.options.AskWithin, askWithin))
	defer cancel()
	request := protocol.ElicitationRequest{Request: protocol.Request{Method: string(protocol.MethodElicitationCreate)}, Params: q.params()}
	client := innerOf(server.ClientSessionFromContext(ctx))
	asked, ok := client.(server.SessionWithElicitation)
	if !ok {
		return nil
	}
	answer, err := asked.RequestElicitation(ctx, request)
	if err != nil {
		c.server.options.Logger.InfoContext(ctx, "a question to the user had no answer", "tool", c.message.tool, "error", err)
		return nil
	}
	return answer
}

// canAsk reports whether the client said that it can ask its user.
func (c *toolCall) canAsk(ctx context.Context) bool {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		return info.ClientCapabilities != nil && info.ClientCapabilities.Elicitation != nil
	}
	client, ok := innerOf(server.ClientSessionFromContext(ctx)).(server.SessionWithClientInfo)
	return ok && client.GetClientCapabilities().Elicitation != nil
}

// beforehand returns what a call asks before anything is done, or nil.
func beforehand(name string, given map[string]any) *question {
	if name != forgetName || given["dry_run"] == true {
		return nil
	}
	n := 0
	for _, value := range given {
		if keys, ok := value.([]any); ok {
			n = max(n, len(keys))
		}
	}
	if n <= askBeyond {
		return nil
	}
	act := "Forget"
	if given["archive"] == true {
		act = "Set aside"
	}
	return &question{
		message:    fmt.Sprintf("%s %d memories at once? The history keeps them.", act, n),
		properties: map[string]any{"forget": map[string]any{"type": "boolean", "title": act + " them", "default": false}}, required: []string{"forget"},
		toArguments: func(answer map[string]any) map[string]any {
			if answer["forget"] != true {
				return nil
			}
			return given
		},
		refuse: &memory.Error{Code: memory.Denied, Message: fmt.Sprintf("the user did not agree to forget %d memories at once: nothing was changed; at most %d are forgotten without a question", n, askBeyond)},
	}
}

// afterwards returns what a call that changed nothing asks, or nil.
func afterwards(name string, given map[string]any, a tool.Answer, err error) *question {
	if name != branchTool {
		return nil
	}
	var known *memory.Error
	if errors.As(err, &known) && known.Code == memory.Conflict && known.Details["unmerged"] != nil && given["force"] != true {
		return deletion(given, known)
	}
	if err != nil || given["preview"] == true || given["strategy"] != nil && given["strategy"] != string(memory.Strict) {
		return nil
	}
	var merge struct {
		Source, Target, Current string
		Merged                  bool
		Unresolved              int
		Clashes                 []clash
	}
	structured, err := tool.Encode(a.Structured)
	if err != nil || json.Unmarshal(structured, &merge) != nil || merge.Merged || merge.Unresolved == 0 {
		return nil
	}
	if merge.Unresolved > mostClashes || len(merge.Clashes) < merge.Unresolved || slices.ContainsFunc(merge.Clashes, func(c clash) bool { return c.Collection != "" }) {
		return strategies(given, merge.Source, merge.Target, merge.Unresolved)
	}
	return clashes(given, merge.Source, merge.Target, merge.Clashes)
}

// clash is a memory that both sides of a merge changed.
type clash struct {
	Namespace, Collection, Key string
	Source, Target             *struct{ Value json.RawMessage }
}

// deletion asks about the deletion of a branch with unmerged changes.
func deletion(given map[string]any, why *memory.Error) *question {
	return &question{
		message:    fmt.Sprintf("Delete a branch with its changes? %s", tool.Clip(why.Message, 500)),
		properties: map[string]any{"delete": map[string]any{"type": "boolean", "title": "Delete it", "default": false}}, required: []string{"delete"},
		toArguments: func(answer map[string]any) map[string]any {
			if answer["delete"] != true {
				return nil
			}
			return with(given, "force", true)
		},
	}
}

// strategies asks how to resolve more clashes than a form has fields for.
func strategies(given map[string]any, source, target string, n int) *question {
	return &question{
		message: fmt.Sprintf("%q and %q both changed %d memories. Which of them to keep?", source, target, n),
		properties: map[string]any{"keep": map[string]any{"type": "string", "title": "Keep",
			"oneOf": []any{choice("source", source), choice("target", target), choice("newest", "the later one"), choice("leave", "do not merge")}}}, required: []string{"keep"},
		toArguments: func(answer map[string]any) map[string]any {
			keep, _ := answer["keep"].(string)
			if keep != "source" && keep != "target" && keep != "newest" {
				return nil
			}
			return with(given, "strategy", keep)
		},
	}
}

// clashes asks about each clash of a merge.
func clashes(given map[string]any, source, target string, list []clash) *question {
	q := &question{message: fmt.Sprintf("%q and %q both changed what follows. Which to keep?", source, target), properties: map[string]any{}}
	for i, c := range list {
		field := fmt.Sprintf("clash%d", i+1)
		q.properties[field] = map[string]any{"type": "string", "title": c.Key, "oneOf": []any{
			choice("source", source+": "+c.said(c.Source)), choice("target", target+": "+c.said(c.Target)),
		}}
		q.required = append(q.required, field)
	}
	q.toArguments = func(answer map[string]any) map[string]any {
		settled, _ := given["resolutions"].([]any)
		settled = slices.Clone(settled)
		for i, c := range list {
			take, _ := answer[fmt.Sprintf("clash%d", i+1)].(string)
			if take != "source" && take != "target" {
				return nil
			}
			resolution := map[string]any{"key": c.Key, "take": take}
			if called, _ := given["namespace"].(string); c.Namespace != "" || called != "" {
				resolution["namespace"] = cmp.Or(c.Namespace, called)
			}
			settled = append(settled, resolution)
		}
		return with(given, "resolutions", settled)
	}
	return q
}

// said returns the beginning of a value in a question.
func (clash) said(side *struct{ Value json.RawMessage }) string {
	if side == nil || len(side.Value) == 0 {
		return "(deleted)"
	}
	return tool.Clip(strings.ToValidUTF8(string(side.Value), ""), quoteLength)
}

func choice(value, title string) map[string]any {
	return map[string]any{"const": value, "title": title}
}

// with returns arguments with one set.
func with(given map[string]any, name string, value any) map[string]any {
	given = maps.Clone(given)
	given[name] = value
	return given
}
