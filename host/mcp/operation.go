package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

const (
	operationName    = "memory_operation"
	operationVersion = "1.0"
	longestTimeout   = 10 * time.Minute
)

func operationTool() tool {
	return tool{
		name:        operationName,
		description: "Call any tool by name, also of families that are not loaded. options: timeout_ms, dry_run, namespace, branch.",
		docs: "method is the tool's name (memory_store or memory.store), params are its arguments. The answer has result or error {code, message, details}, and metadata with the request's id and how long it took. " +
			"dry_run says what would be done and writes nothing. timeout_ms ends what takes longer. namespace and branch say where, unless params do.",
		input: `{
			"type": "object",
			"properties": {
				"method": {"type": "string", "description": "The name of the tool to call."},
				"params": {"type": "object", "description": "Its arguments."},
				"options": {"type": "object", "description": "timeout_ms, dry_run, namespace, branch."}
			},
			"required": ["method"]
		}`,
		output: `{
			"type": "object",
			"properties": {
				"version": {"type": "string"},
				"method": {"type": "string"},
				"result": {"description": "What the tool answered."},
				"error": {"type": "object", "description": "code, message, details; instead of result."},
				"metadata": {"type": "object", "description": "request_id, timestamp, duration_ms; notes, version and proposal where there are any."}
			},
			"required": ["version", "method", "metadata"]
		}`,
		hints: hints{destructive: true, openWorld: true, mixed: true},
		run:   operate,
	}
}

// operation is a call of a tool by its name.
type operation struct {
	method    string
	params    *arguments
	timeout   time.Duration // 0: none
	dryRun    bool
	namespace string
	branch    string
}

// operated is what came of an operation.
type operated struct {
	Version  string            `json:"version"`
	Method   string            `json:"method"`
	Result   any               `json:"result,omitempty"`
	Error    *operationError   `json:"error,omitempty"`
	Metadata operationMetadata `json:"metadata"`
}

// operationError is an error as operations tell of it.
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
	Commit    uint64   `json:"version,omitempty"`  // that has what was written
	Proposal  string   `json:"proposal,omitempty"` // the branch that has what is proposed
	Notes     []string `json:"notes,omitempty"`
}

func operate(ctx context.Context, c *call) (answer, error) {
	o, err := decodeOperation(c.arguments)
	r := operated{Version: operationVersion, Method: clip(o.method, longestName)}
	r.Metadata = operationMetadata{RequestID: cmp.Or(c.requestID, rand.Text()), Timestamp: memory.FormatTime(c.now), DryRun: o.dryRun}
	var a answer
	if err == nil {
		a, err = c.server.operate(ctx, c, o)
	}
	r.Metadata.Duration = float64(max(0, c.server.options.Clock().Sub(c.now)).Microseconds()) / 1000
	if err != nil {
		r.Error = errorOf(c.server.failure(ctx, operationName, err))
		return answer{structured: r, plain: r, failed: true}, nil
	}
	if r.Result = a.structured; a.family != nil {
		r.Result, r.Metadata.Commit, r.Metadata.Proposal = a.plain, a.family.Version, a.family.Proposal
	}
	if r.Result == nil {
		r.Result = json.RawMessage("null")
	}
	r.Metadata.Notes = a.notes()
	return answer{structured: r, plain: r}, nil
}

func errorOf(f failure) *operationError {
	return &operationError{Code: "E_" + strings.ToUpper(string(f.Code)), Message: f.Message, Retryable: f.Retryable, Details: f.Details}
}

// decodeOperation reads an operation. Unknown options are refused: a misspelled dry_run is rejected, never executed.
func decodeOperation(a *arguments) (operation, error) {
	o := operation{method: a.needText("method", "the name of the tool to call")}
	if version := a.text("version"); version != "" && version != operationVersion {
		a.fault("version", fmt.Sprintf("version must be %s, got %q", operationVersion, clip(version, gotLength)))
	}
	for _, later := range []string{"batch", "then"} {
		if _, given := a.get(later); given {
			a.fault(later, later+" is not there yet: send one operation at a time")
		}
	}
	options := &arguments{tool: a.tool, within: "options.", members: a.object("options"), problems: a.problems}
	for name := range options.members {
		switch name {
		case "timeout_ms", "dry_run", "namespace", "branch":
		default:
			options.fault(name, fmt.Sprintf("there is no option %q: there are timeout_ms, dry_run, namespace and branch", clip(name, gotLength)))
		}
	}
	o.timeout = time.Duration(options.whole("timeout_ms", 0, 1, longestTimeout.Milliseconds())) * time.Millisecond
	o.dryRun, o.namespace, o.branch = options.flag("dry_run"), options.text("namespace"), options.text("branch")
	o.params = &arguments{tool: o.method, members: a.object("params"), problems: &problems{}}
	if o.params.members == nil {
		o.params.members = map[string]json.RawMessage{}
	}
	return o, a.err()
}

// operate carries out an operation.
func (s *Server) operate(ctx context.Context, c *call, o operation) (answer, error) {
	at, ok := s.resolve(o.method)
	switch {
	case !ok:
		return answer{}, &memory.Error{Code: memory.NotFound, Message: s.unknown(o.method, c.readOnly),
			Details: map[string]any{"method": clip(o.method, gotLength), "searched_families": append([]string{coreFamily}, s.shelf.catalogue().names()...)}}
	case at.core != nil && at.core.name == operationName:
		return answer{}, invalid(map[string]any{"method": operationName}, "%s cannot call itself: give the tool that is meant", operationName)
	}
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	inner := *c
	inner.arguments, inner.dryRun, inner.branch, inner.namespace = o.params, o.dryRun, o.branch, o.namespace
	a, err := s.survive(func() (answer, error) {
		if at.family != nil {
			return s.callFamily(ctx, at.family, &inner)
		}
		inner.arguments.tool = at.core.name
		o.locate(at.core.name)
		return s.callCore(ctx, *at.core, &inner)
	})
	if err != nil && o.timeout > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) && !tellsOfEffects(err) {
		return answer{}, late(o, at)
	}
	return a, err
}

// locate puts the options that say where into the parameters of a core tool, unless those say so themselves.
func (o operation) locate(tool string) {
	put := func(name, value string) {
		if _, given := o.params.get(name); given || value == "" {
			return
		}
		if raw, err := encode(value); err == nil { // text can be encoded
			o.params.members[name] = raw
		}
	}
	put("branch", o.branch)
	// Where a session is to go is not where a call goes.
	if tool != branchName || o.params.text("action") != "switch" {
		put("namespace", o.namespace)
	}
}

// tellsOfEffects reports whether an error says what was done outside of the server, or would have been.
func tellsOfEffects(err error) bool {
	var known *memory.Error
	return errors.As(err, &known) && (known.Details["sent"] != nil || known.Details["not_sent"] != nil)
}

// late is the error of an operation that took too long.
func late(o operation, at target) error {
	text := fmt.Sprintf("%s was not done within %s", clip(o.method, longestName), o.timeout)
	if at.writes() {
		text += ": whether it wrote anything is not known, so look before you do it again"
	}
	return &memory.Error{Code: memory.Timeout, Message: text, Retryable: true, Details: map[string]any{"timeout_ms": o.timeout.Milliseconds()}}
}

// writes reports whether a tool may write.
func (t target) writes() bool {
	if t.family != nil {
		return !t.family.ReadOnly
	}
	return !t.core.hints.readOnly
}
