package core

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

const (
	operationName    = "memory_operation"
	operationVersion = "1.0"
	longestTimeout   = 10 * time.Minute
	longestMethod    = 64 // characters of a name quoted in an error
)

func (k *kit) operationTool() tool.Spec {
	return tool.Spec{
		Name:        operationName,
		Description: "Call any tool by name, also of families that are not loaded. options: timeout_ms, dry_run, namespace, branch.",
		Docs: "method is the tool's name (memory_store or memory.store), params are its arguments. The answer has result or error {code, message, details}, and metadata with the request's id and how long it took. " +
			"dry_run says what would be done and writes nothing. timeout_ms ends what takes longer. namespace and branch say where, unless params do.",
		Input: json.RawMessage(`{
			"type": "object",
			"properties": {
				"method": {"type": "string", "description": "The name of the tool to call."},
				"params": {"type": "object", "description": "Its arguments."},
				"options": {"type": "object", "description": "timeout_ms, dry_run, namespace, branch."}
			},
			"required": ["method"]
		}`),
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"version": {"type": "string"},
				"method": {"type": "string"},
				"result": {"description": "What the tool answered."},
				"error": {"type": "object", "description": "code, message, details; instead of result."},
				"metadata": {"type": "object", "description": "request_id, timestamp, duration_ms; notes, version and proposal where there are any."}
			},
			"required": ["version", "method", "metadata"]
		}`),
		Annotations: tool.Annotations{Destructive: true, OpenWorld: true, Mixed: true},
		Parameters: map[string]string{
			"tool":       "method",
			"name":       "method",
			"arguments":  "params",
			"args":       "params",
			"option":     "options",
			"version":    "version",
			"batch":      "batch",
			"then":       "then",
			"timeout_ms": "timeout_ms",
			"namespace":  "namespace",
			"branch":     "branch",
			"result":     "result",
			"error":      "error",
			"metadata":   "metadata",
		},
		Lenient: true,
		Handler: k.handler(operate),
	}
}

// operated is the result of an operation.
type operated struct {
	Version  string            `json:"version"`
	Method   string            `json:"method"`
	Result   any               `json:"result,omitempty"`
	Error    *operationError   `json:"error,omitempty"`
	Metadata operationMetadata `json:"metadata"`
}

// operationError is an error as operations report it.
type operationError struct {
	Code      string         `json:"code"` // E_NOT_FOUND and the like
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable,omitempty"`
	Details   map[string]any `json:"details,omitempty"`
}

type operationMetadata struct {
	RequestID string   `json:"request_id"`
	Timestamp string   `json:"timestamp"`
	Duration  float64  `json:"duration_ms"`
	DryRun    bool     `json:"dry_run,omitempty"`
	Commit    uint64   `json:"version,omitempty"`  // with the writes
	Proposal  string   `json:"proposal,omitempty"` // the branch with the proposal
	Notes     []string `json:"notes,omitempty"`
}

func operate(ctx context.Context, c *call) (tool.Answer, error) {
	o, err := decodeOperation(c)
	r := operated{Version: operationVersion, Method: tool.Clip(o.Tool, longestMethod)}
	r.Metadata = operationMetadata{RequestID: c.Caller.Call, Timestamp: memory.FormatTime(c.Now), DryRun: o.DryRun}
	var a tool.Answer
	if err == nil {
		a, err = c.Dispatch(ctx, o)
	}
	r.Metadata.Duration = float64(max(0, c.Since(c.Now)).Microseconds()) / 1000
	r.Metadata.Notes = c.TakeNotes()
	if err != nil {
		r.Error = errorOf(tool.FailureOf(err))
		return tool.Answer{Structured: r, Plain: r, Failed: true}, nil
	}
	if r.Result = a.Structured; a.Value != nil {
		r.Result = a.Value
	}
	if r.Result == nil {
		r.Result = json.RawMessage("null")
	}
	r.Metadata.Commit, r.Metadata.Proposal, r.Metadata.Notes = a.Version, a.Proposal, append(r.Metadata.Notes, a.Notes...)
	return tool.Answer{Structured: r, Plain: r}, nil
}

func errorOf(f tool.Failure) *operationError {
	return &operationError{Code: "E_" + strings.ToUpper(string(f.Code)), Message: f.Message, Retryable: f.Retryable, Details: f.Details}
}

// decodeOperation reads an operation. Unknown options are refused: a misspelled dry_run is rejected, never executed.
func decodeOperation(c *call) (tool.Request, error) {
	a := c.Arguments
	o := tool.Request{Caller: c.Caller, Session: c.Session, RequestID: c.RequestID, Progress: c.Progress}
	o.Tool = a.NeedText("method", "the name of the tool to call")
	if version := a.Text("version"); version != "" && version != operationVersion {
		a.Fault("version", fmt.Sprintf("version must be %s, got %q", operationVersion, tool.Clip(version, 60)))
	}
	for _, later := range []string{"batch", "then"} {
		if a.Has(later) {
			a.Fault(later, later+" is not there yet: send one operation at a time")
		}
	}
	decodeOptions(c, &o)
	o.Arguments = a.Raw("params")
	if err := a.Err(); err != nil {
		return o, err
	}
	if t, ok := c.Registry().Find(o.Tool); ok && t.Name == operationName {
		return o, tool.Invalid(map[string]any{"method": operationName}, "%s cannot call itself: give the tool that is meant", operationName)
	}
	return o, nil
}

// decodeOptions reads the options of an operation, which may also be given at the top level.
func decodeOptions(c *call, o *tool.Request) {
	a := c.Arguments
	options := a.Nested("options")
	for _, name := range options.Names() {
		switch name {
		case "timeout_ms", "dry_run", "namespace", "branch":
		default:
			options.Fault(name, fmt.Sprintf("there is no option %q: there are timeout_ms, dry_run, namespace and branch", tool.Clip(name, 60)))
		}
	}
	for _, name := range []string{"timeout_ms", "namespace", "branch"} { // given at the top level
		if options.Has(name) && a.Has(name) {
			a.Fault(name, name+" is given twice: give it in options")
		}
	}
	options.Inherit(a, "timeout_ms", "namespace", "branch")
	o.Timeout = time.Duration(options.Whole("timeout_ms", 0, 1, longestTimeout.Milliseconds())) * time.Millisecond
	o.DryRun = options.Flag("dry_run") || c.DryRun
	o.Namespace, o.Branch = cmp.Or(options.Text("namespace"), c.Namespace), cmp.Or(options.Text("branch"), c.Branch)
}
