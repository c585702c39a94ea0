// Package ops serves the operations that guests call: it decodes their requests, checks the powers of the call, and carries them
// out on its stage.
package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/jsontext"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/policy"
	"github.com/alcove-memory/alcove/host/usage"
	"github.com/alcove-memory/alcove/registry"
)

// SystemNamespace is where families' records about themselves are: configuration, jobs, published tools.
const SystemNamespace = "_"

// LongestNesting is how deep requests and arguments may be nested.
const LongestNesting = 512

// Embedder makes vectors of texts.
type Embedder interface {
	// Embed makes a vector of each text. purpose is document or query.
	Embed(ctx context.Context, texts []string, purpose string) (model string, vectors [][]float32, err error)
}

// Outside reaches what an operator named: language models and other servers. leaving is called right before a request goes out,
// once all is known to be well with it; with its error the request stays in. Errors with NoEffect() true say that nothing happened
// at the endpoint.
type Outside interface {
	Complete(ctx context.Context, e registry.Endpoint, c abi.LLMCompleteRequest, leaving Leaving) (abi.LLMCompleteResponse, error)
	// Fetch makes one request. One that is not GET or HEAD goes out once at most.
	Fetch(ctx context.Context, e registry.Endpoint, f abi.HTTPFetchRequest, leaving Leaving) (abi.HTTPFetchResponse, error)
}

// Leaving is told that a request is about to go out, and may keep it in.
type Leaving func(ctx context.Context) error

// Config is the configuration of the family that calls.
type Config interface {
	Config(ctx context.Context) (map[string]json.RawMessage, error)
	// Configure stages changes, of which null resets a key to its default, and returns all of the configuration.
	Configure(ctx context.Context, values map[string]json.RawMessage) (map[string]json.RawMessage, error)
}

// Tools are those of other families, and those that the family publishes itself.
type Tools interface {
	List() []abi.ForeignTool
	// Name is the tool that a spelling of its name, or an alias, means; the spelling itself when there is none.
	Name(spelling string) string
	// Call calls a family's tool inside of the caller's stage, with no more than the caller's rights. spelling is the name that
	// was asked for, such as an alias that stands for arguments, too.
	Call(ctx context.Context, name, spelling string, arguments json.RawMessage) (json.RawMessage, error)
	// IsCore reports whether a tool is one of the core.
	IsCore(name string) bool
	// CallCore calls a core tool inside of the caller's stage, within rights.
	CallCore(ctx context.Context, name string, arguments json.RawMessage, rights memory.Rights) (json.RawMessage, error)
	Publish(ctx context.Context, t abi.Tool) error
	Withdraw(ctx context.Context, tool string) error
}

// Usage counts the calls of tools.
type Usage interface {
	Usage(ctx context.Context, q usage.Query) ([]usage.Row, error)
}

// Jobs are the background jobs of the family that calls.
type Jobs interface {
	Enqueue(ctx context.Context, r abi.JobEnqueueRequest) (id string, err error)
	Status(ctx context.Context, id string) (abi.JobStatusResponse, error)
	Cancel(ctx context.Context, id string) (cancelled bool, err error)
}

// Host is what the operations of every call reach beside its stage.
type Host struct {
	Space     *memory.Space
	Embedder  Embedder                            // nil: there is none
	Outside   Outside                             // nil: nothing outside can be reached
	Endpoints func() map[string]registry.Endpoint // that an operator named; nil: none
	Usage     Usage                               // nil: the calls of tools are not counted
	Manifest  func(family string) *abi.Manifest   // of a family, nil: there is none; a nil function: there are no others
	Logger    *slog.Logger
	// Trace is told of every operation that a guest asks for, known or not, before it is served. It must not keep the request,
	// nor wait. Nil: nobody asks.
	Trace func(family string, op abi.Op, request []byte)
	table map[abi.Op]operation
}

// NewHost is a host with all operations.
func NewHost(h Host) *Host {
	h.table = operations()
	return &h
}

// Request is what a call is made of. All fields but Progress are required.
type Request struct {
	Manifest  *abi.Manifest // of the family that is asked
	Stage     *memory.Stage
	Caller    memory.Caller
	Powers    policy.Powers
	Namespace string // that operations mean when they name none
	RequestID string // empty: none
	DryRun    bool
	Quota     memory.Quota                              // of the family's records
	Progress  func(done, total float64, message string) // nil: nobody asks
	Config    Config
	Tools     Tools
	Jobs      Jobs
}

// Call is one request to a family, and what the operations of its guest reach. It is for one goroutine at a time, as the guest
// is.
type Call struct {
	host *Host
	Request

	proposes bool                              // something is staged that only a proposal may change
	later    []func(ctx context.Context) error // to be done behind the commit
}

// space is the space for the caller, for what the stage does not do.
func (call *Call) space() *memory.Access { return call.host.Space.As(call.Caller) }

// OwnCaller is a family itself, or with an empty name all families: no caller's rights bound what it keeps, and its guest is bounded
// by its grant alone.
func OwnCaller(family string) memory.Caller {
	return memory.Caller{Family: family, Rights: memory.FullRights()}
}

// Begin begins a call.
func (h *Host) Begin(r Request) *Call { return &Call{host: h, Request: r} }

// Proposes reports whether the call staged changes of memories that only a proposal may make.
func (call *Call) Proposes() bool { return call.proposes && call.Stage.ChangesMemories() }

// Adopt takes over what a call of another family's tool inside of the same stage is to do.
func (call *Call) Adopt(inner *Call) {
	call.proposes, call.later = call.proposes || inner.proposes, append(call.later, inner.later...)
}

// Context is what the guest is told of the call.
func (call *Call) Context() abi.Context {
	return abi.Context{Family: call.Manifest.Name, Caller: call.Caller.Agent, Namespace: call.Namespace, Branch: call.Stage.Branch(), Now: memory.FormatTime(call.Stage.Now()),
		RequestID: call.RequestID, DryRun: call.DryRun}
}

// operation serves an operation: it decodes the request, checks the powers, and answers what is encoded as JSON.
type operation func(call *Call, ctx context.Context, request json.RawMessage) (any, error)

// Call serves a guest's call of the host.
func (call *Call) Call(ctx context.Context, op abi.Op, request []byte) ([]byte, error) {
	if trace := call.host.Trace; trace != nil {
		trace(call.Manifest.Name, op, request)
	}
	serve, known := call.host.table[op]
	if !known {
		return nil, &abi.Error{Code: abi.CodeNotFound, Message: fmt.Sprintf("there is no operation %.64q", op)}
	}
	if needs := abi.Ops()[op]; needs != "" && !call.Powers.Has(needs) && !call.mayInstead(needs) {
		return nil, call.Powers.Check(needs, call.meant(needs, request))
	}
	if depth := jsontext.Depth(request); depth > LongestNesting {
		return nil, invalid("the request is nested %d deep: at most %d are allowed", depth, LongestNesting)
	}
	answer, err := serve(call, ctx, request)
	if err != nil {
		return nil, AsABI(err)
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("answer %s: %w", op, err)
	}
	return data, nil
}

// mayInstead reports whether another capability may do what an operation needs one for.
func (call *Call) mayInstead(needs abi.Capability) bool {
	switch needs {
	case abi.CanMemoryWrite, abi.CanLogAppend, abi.CanLinkWrite:
		return call.Powers.Has(abi.CanMemoryPropose)
	case abi.CanRecord: // of another family, which the operation checks
		return call.Powers.Has(abi.CanRecordsRead)
	}
	return false
}

// mayChange checks the right to change memories of a namespace. Where only a proposal may, all of the work becomes one.
func (call *Call) mayChange(c abi.Capability, namespace string) error {
	if call.Powers.Allows(c, namespace) {
		return nil
	}
	if call.Powers.Allows(abi.CanMemoryPropose, namespace) {
		call.proposes = true
		return nil
	}
	return call.Powers.Check(c, namespace)
}

// in is the namespace that a request means.
func (call *Call) in(namespace string) string {
	if namespace == "" {
		return call.Namespace
	}
	return namespace
}

// among are the namespaces that a request means, for a capability; nil stands for all.
func (call *Call) among(c abi.Capability, namespaces []string) ([]string, error) {
	if len(namespaces) == 0 {
		namespaces = []string{call.Namespace}
	}
	if slices.Contains(namespaces, policy.Everything) {
		scope := call.Powers.Scope(c)
		switch {
		case len(scope) == 0: // which must not become nil, that stands for all
			return nil, call.Powers.Check(c, policy.Everything)
		case slices.Contains(scope, policy.Everything):
			return nil, nil
		}
		return scope, nil
	}
	for _, namespace := range namespaces {
		if err := call.Powers.Check(c, namespace); err != nil {
			return nil, err
		}
	}
	return namespaces, nil
}

// both are the namespaces in two lists, each nil for all.
func both(a, b []string) []string {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return !slices.Contains(b, name) })
}

// decoded is an operation whose request is decoded and held to the bounds of its fields first.
func decoded[In, Out any, P interface {
	*In
	Check() error
}](serve func(w *Call, ctx context.Context, r In) (Out, error)) operation {
	return func(call *Call, ctx context.Context, request json.RawMessage) (any, error) {
		var r In
		if err := abi.DecodeRequest(request, P(&r)); err != nil {
			return nil, err
		}
		return serve(call, ctx, r)
	}
}

func invalid(format string, args ...any) error {
	return &abi.Error{Code: abi.CodeInvalidArgument, Message: fmt.Sprintf(format, args...)}
}

// operations are all that the host has.
func operations() map[abi.Op]operation {
	return map[abi.Op]operation{
		abi.OpMemoryNamespaces: decoded(memoryNamespaces),

		abi.OpMemoryGet:     decoded(memoryGet),
		abi.OpMemoryList:    decoded(memoryList),
		abi.OpMemoryHistory: decoded(memoryHistory),
		abi.OpMemorySearch:  decoded(memorySearch),
		abi.OpMemoryPut:     decoded(memoryPut),
		abi.OpMemoryPatch:   decoded(memoryPatch),
		abi.OpMemoryDelete:  decoded(memoryDelete),
		abi.OpMemoryTouch:   decoded(memoryTouch),

		abi.OpRecordGet:     decoded(recordGet),
		abi.OpRecordPut:     decoded(recordPut),
		abi.OpRecordDelete:  decoded(recordDelete),
		abi.OpRecordList:    decoded(recordList),
		abi.OpRecordSearch:  decoded(recordSearch),
		abi.OpRecordAppend:  decoded(recordAppend),
		abi.OpRecordHistory: decoded(recordHistory),

		abi.OpLogAppend: decoded(logAppend),
		abi.OpLogRead:   decoded(logRead),
		abi.OpFeedRead:  decoded(feedRead),
		abi.OpFeedEmit:  decoded(feedEmit),

		abi.OpBranchList:   decoded(branchList),
		abi.OpBranchDiff:   decoded(branchDiff),
		abi.OpBranchFork:   decoded(branchFork),
		abi.OpBranchMerge:  decoded(branchMerge),
		abi.OpBranchDelete: decoded(branchDelete),

		abi.OpLinkList:   decoded(linkList),
		abi.OpLinkAdd:    decoded(linkAdd),
		abi.OpLinkRemove: decoded(linkRemove),

		abi.OpConfigGet:      decoded(configGet),
		abi.OpConfigSet:      decoded(configSet),
		abi.OpCallerGet:      decoded(callerGet),
		abi.OpCallerProgress: decoded(callerProgress),

		abi.OpJobEnqueue: decoded(jobEnqueue),
		abi.OpJobStatus:  decoded(jobStatus),
		abi.OpJobCancel:  decoded(jobCancel),

		abi.OpTextAnalyze: decoded(textAnalyze),
		abi.OpTextCount:   decoded(textCount),

		abi.OpEmbedTexts:  decoded(embedTexts),
		abi.OpLLMComplete: decoded(llmComplete),
		abi.OpHTTPFetch:   decoded(httpFetch),

		abi.OpToolsList:     decoded(toolsList),
		abi.OpToolsCall:     decoded(toolsCall),
		abi.OpToolsPublish:  decoded(toolsPublish),
		abi.OpToolsWithdraw: decoded(toolsWithdraw),
		abi.OpToolsUsage:    decoded(toolsUsage),
	}
}

// AsABI is an error of the server as guests see it. One that is the server's fault says nothing of the inside.
func AsABI(err error) error {
	var known *memory.Error
	var ready *abi.Error
	switch {
	case errors.As(err, &ready):
		return ready
	case errors.As(err, &known) && known.Code != memory.Internal:
		return &abi.Error{Code: abi.Code(known.Code), Message: known.Message, Retryable: known.Retryable, Details: known.Details}
	}
	return err
}

// After has something done once the call is committed; its failure is told to the caller.
func (call *Call) After(what string, do func(ctx context.Context) error) {
	call.later = append(call.later, func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return fmt.Errorf("could not %s: %w", what, err)
		}
		return nil
	})
}

// Finish does what was to be done once the call is committed, and returns notes on what failed. It stops there: what follows may
// depend on it.
func (call *Call) Finish(ctx context.Context) []string {
	for i, do := range call.later {
		if err := do(ctx); err != nil {
			return []string{fmt.Sprintf("%v; %d more were not tried", err, len(call.later)-i-1)}
		}
	}
	return nil
}

// FinishUnseen is Finish where nobody waits to be told.
func (call *Call) FinishUnseen(ctx context.Context) {
	for _, note := range call.Finish(ctx) {
		call.host.Logger.Warn("a family did not do all it wanted", "family", call.Manifest.Name, "note", note)
	}
}
