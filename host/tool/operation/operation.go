// Package operation runs what one JSON object describes: a call of a tool, a chain of calls, or a batch of both.
package operation

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

const (
	// Name is the name of the tool that runs operations.
	Name    = "memory_operation"
	version = "1.0"
)

// Spec specifies the tool that runs operations.
func Spec() tool.Spec {
	d, steps := request.Declare[operationRequest](), request.Declare[stepRequest]()
	return tool.Spec{
		Name:        Name,
		Aliases:     []string{"katra_operation"},
		Description: "Call any tool by name, loaded or not; several as a batch. options: timeout_ms, dry_run, namespace, branch.",
		Docs: "method is the tool's name (memory_store, memory.store or store), params are its arguments, which may also stand beside method. The answer has result or error {code, message, details}, and metadata with the request's id and how long it took. " +
			"dry_run says what would be done and writes nothing. timeout_ms ends what takes longer. namespace and branch say where, unless params do. " +
			"batch, instead of method, is a list of operations that run in parallel: the result has one {method, result or error} each. " +
			"then is an operation, or a list of them, that runs afterwards: {\"$result\": \"/results/0/key\"} in its params is replaced by that part of the result before it, * being each element of a list; {\"$result\": \"\", \"step\": 1} is all of the first result. " +
			"metadata.request_id makes a repetition harmless. With version \"1.0\", the answer is the whole state: params and options, too, with null where there is no result or error. " +
			"A required parameter that a step leaves out is taken from the result before, or from each element of its list, unless the tool destroys: recall, then update_metadata.",
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"version": {"type": "string"},
				"method": {"type": "string"},
				"result": {"description": "What the tool answered; of a batch, a list of method and result or error."},
				"params": {"type": ["object", "null"], "description": "Where the request has version: the arguments of the call."},
				"options": {"type": "object", "description": "Where the request has version: those that applied."},
				"error": {"type": ["object", "null"], "description": "code, message, retryable, details; instead of result, or beside a partial one."},
				"steps": {"type": "array", "items": {"type": "object"}, "description": "Of a chain, method and result of the steps before the last."},
				"metadata": {"type": "object", "description": "request_id, timestamp, duration_ms; notes, version and proposal where there are any."}
			},
			"required": ["version", "metadata"]
		}`),
		Annotations: tool.Annotations{Destructive: true, OpenWorld: true, Mixed: true},
		Input:       d.Input,
		Parameters:  d.Spellings,
		Beside:      d.Beside,
		Lenient:     true,
		Handler:     func(ctx context.Context, c *tool.Call) (tool.Answer, error) { return operate(ctx, c, d, steps) },
	}
}

// answer is the answer to an operation.
type answer struct {
	Version  string    `json:"version"`
	Method   *string   `json:"method,omitempty"` // nil: a batch
	Result   any       `json:"result,omitempty"`
	Error    *failure  `json:"error,omitempty"`
	Steps    []outcome `json:"steps,omitempty"`
	Metadata metadata  `json:"metadata"`
}

// state is the answer to an operation that was sent as a state, with its version: all that was asked is in it.
type state struct {
	Version  string          `json:"version"`
	Method   *string         `json:"method,omitempty"`
	Params   json.RawMessage `json:"params"`
	Options  optionsState    `json:"options"`
	Result   any             `json:"result"`
	Error    *failure        `json:"error"`
	Steps    []outcome       `json:"steps,omitempty"`
	Metadata metadata        `json:"metadata"`
}

// optionsState are the options that applied.
type optionsState struct {
	Timeout   *int64 `json:"timeout_ms"` // null: none
	DryRun    bool   `json:"dry_run"`
	Namespace string `json:"namespace"`
	Branch    string `json:"branch"`
}

// stateOf is the state with an answer. Without a chain, params are those of the request; of a chain, those of its last call.
func stateOf(c *tool.Call, a answer, p plan, last outcome) state {
	s := state{a.Version, a.Method, last.params, optionsState{DryRun: p.dryRun}, a.Result, a.Error, a.Steps, a.Metadata}
	at := c.Location()
	if len(p.steps) > 0 {
		first := p.steps[0]
		at.Branch, at.Namespace = cmp.Or(first.options.branch, at.Branch), cmp.Or(first.options.namespace, at.Namespace)
		if s.Params == nil && len(p.steps) == 1 {
			s.Params = first.params
		}
	}
	s.Options.Namespace, s.Options.Branch = at.Namespace, at.Branch
	if p.timeout > 0 {
		ms := p.timeout.Milliseconds()
		s.Options.Timeout = &ms
	}
	return s
}

// failure is an error as operations report it.
type failure struct {
	Code      string         `json:"code"` // E_NOT_FOUND and the like
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable,omitempty"`
	Details   map[string]any `json:"details,omitempty"`
}

type metadata struct {
	RequestID string  `json:"request_id"`
	Timestamp string  `json:"timestamp"`
	Duration  float64 `json:"duration_ms"`
	DryRun    bool    `json:"dry_run,omitempty"`
	remarks
}

// remarks are what is known of a call beside its result.
type remarks struct {
	Commit   uint64   `json:"version,omitempty"`  // with the writes
	Proposal string   `json:"proposal,omitempty"` // the branch with the proposal
	Notes    []string `json:"notes,omitempty"`
}

// outcome is the answer to a step of a chain or an item of a batch.
type outcome struct {
	Method   string          `json:"method,omitempty"` // empty: a batch
	Result   json.RawMessage `json:"result,omitempty"`
	Error    *failure        `json:"error,omitempty"`
	Steps    []outcome       `json:"steps,omitempty"`
	Metadata *remarks        `json:"metadata,omitempty"`

	params  json.RawMessage     // of the call, with what was taken from results before
	decoded func() (any, error) // Result, for references
}

// set sets the result, which references decode when they need it.
func (o *outcome) set(result json.RawMessage) {
	o.Result, o.decoded = result, sync.OnceValues(func() (any, error) { return decode(result) })
}

// operate handles a call of the tool.
func operate(ctx context.Context, c *tool.Call, d *request.Declaration[operationRequest], steps *request.Declaration[stepRequest]) (tool.Answer, error) {
	whole := c.Arguments.Has("version")
	plan, err := parse(c, d.Read(c.Arguments, c.Now), steps)
	r := answer{Version: version, Method: &plan.method}
	r.Metadata = metadata{RequestID: cmp.Or(plan.requestID, c.Caller.Call), Timestamp: memory.FormatTime(c.Now), DryRun: plan.dryRun}
	said := c.TakeNotes() // of unknown members; calls add theirs to their own
	var last outcome
	if err == nil {
		last = newRunner(c, plan).run(ctx, plan)
		r.Error, r.Steps, r.Metadata.remarks = last.Error, last.Steps, *last.Metadata
		if last.Result != nil {
			r.Result = last.Result
		}
		if r.Method = &last.Method; last.Method == "" {
			r.Method = nil
		}
	} else {
		r.Error = failureOf(err)
	}
	r.Metadata.Duration = float64(max(0, c.Since(c.Now)).Microseconds()) / 1000
	r.Metadata.Notes = append(said, r.Metadata.Notes...)
	if whole {
		s := stateOf(c, r, plan, last)
		return tool.Answer{Structured: s, Plain: s, Failed: r.Error != nil}, nil
	}
	return tool.Answer{Structured: r, Plain: r, Failed: r.Error != nil}, nil
}

func failureOf(err error) *failure {
	f := tool.FailureOf(err)
	return &failure{Code: "E_" + strings.ToUpper(string(f.Code)), Message: f.Message, Retryable: f.Retryable, Details: f.Details}
}
