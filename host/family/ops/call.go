// Package ops serves the operations that guests call: it decodes their requests, checks the call's powers, and executes
// them on its stage.
package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/internal/trace"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/recalls"
	"github.com/alcove-memory/alcove/host/memory/sessions"
	"github.com/alcove-memory/alcove/host/memory/usage"
	"github.com/alcove-memory/alcove/host/tool/tokens"
	"github.com/alcove-memory/alcove/registry"
)

// SystemNamespace holds families' internal records: configuration, jobs, published tools.
const SystemNamespace = "_"

// LongestNesting bounds the nesting of requests and arguments.
const LongestNesting = 512

// Embedder makes vectors of texts.
type Embedder interface {
	// Embed makes a vector of each text. purpose is document or query.
	Embed(ctx context.Context, texts []string, purpose string) (model string, vectors [][]float32, err error)
	// Rebuildable returns the name of the embedder whose vectors Rebuild remakes, and their number.
	Rebuildable() (name string, vectors int, err error)
	Rebuild(ctx context.Context, name string) error
}

// Outside reaches the servers that an operator named: language models and others. leaving is called right before a request is sent,
// after all checks; its error keeps the request back. Errors with NoEffect() true mean that nothing
// happened at the endpoint.
type Outside interface {
	Complete(ctx context.Context, e registry.Endpoint, c abi.LLMCompleteRequest, leaving Leaving) (abi.LLMCompleteResponse, error)
	// Fetch makes one request. Methods other than GET and HEAD are sent once at most.
	Fetch(ctx context.Context, e registry.Endpoint, f abi.HTTPFetchRequest, leaving Leaving) (abi.HTTPFetchResponse, error)
}

// Leaving is called before a request is sent; its error keeps the request back.
type Leaving func(ctx context.Context) error

// Config is the configuration of the calling family.
type Config interface {
	Config(ctx context.Context) (map[string]json.RawMessage, error)
	// Configure stages changes, of which null resets a key to its default, and returns the whole configuration.
	Configure(ctx context.Context, values map[string]json.RawMessage) (map[string]json.RawMessage, error)
	// Settings returns the family's and the shared settings in the call's stage; For returns the scopes that apply.
	Settings() config.Settings
	For() config.For
}

// Tools provides other families' tools, and publishes the family's own.
type Tools interface {
	List() []abi.ForeignTool
	// Offered lists the tools that lists show to the caller: the core's, then those of all families.
	Offered() []abi.ForeignTool
	// Name resolves the spelling of a tool's name, or an alias; without a match it returns the spelling.
	Name(spelling string) string
	// Call calls a family's tool in the caller's stage, within the caller's rights. spelling is the requested
	// name, such as an alias, which may imply arguments.
	Call(ctx context.Context, name, spelling string, arguments json.RawMessage) (json.RawMessage, error)
	// IsCore reports whether a tool is one of the core.
	IsCore(name string) bool
	// CallCore calls a core tool in the caller's stage, within rights.
	CallCore(ctx context.Context, name string, arguments json.RawMessage, rights memory.Rights) (json.RawMessage, error)
	Publish(ctx context.Context, t abi.Tool) error
	Withdraw(ctx context.Context, tool string) error
}

// Usage counts the calls of tools.
type Usage interface {
	Usage(ctx context.Context, q usage.Query) ([]usage.Row, error)
}

// Jobs provides the background jobs of the calling family.
type Jobs interface {
	Enqueue(ctx context.Context, r abi.JobEnqueueRequest) (id string, err error)
	Status(ctx context.Context, id string) (abi.JobStatusResponse, error)
	Cancel(ctx context.Context, id string) (cancelled bool, err error)
}

// Recalls keeps what recalls by query found.
type Recalls interface {
	// Get returns a recall, or nil if there is none that the caller may read.
	Get(ctx context.Context, who memory.Caller, id string) (*recalls.Recall, error)
}

// Host is what the operations of every call use beside its stage.
type Host struct {
	Space     *memory.Space
	Embedder  Embedder                            // nil: none
	Outside   Outside                             // nil: no external access
	Endpoints func() map[string]registry.Endpoint // named by an operator; nil: none
	Files     Files                               // nil: no files
	Roots     func() map[string]registry.Root     // named by an operator; nil: none
	Usage     Usage                               // nil: calls of tools are not counted
	Sessions  func() []sessions.Session           // the open ones, the newest first; nil: none are known
	// Recent lists the agents that called within some time, by namespace, each without a session's id; nil: none are known.
	Recent    func(within time.Duration) []sessions.Session
	Delegates Delegates                         // nil: no keys can be made
	Recalls   Recalls                           // nil: those of Space
	Manifest  func(family string) *abi.Manifest // of a family, nil: unknown; a nil function: no others
	Families  func() []string                   // the names of all families, sorted; nil: there are no others
	Logger    *slog.Logger
	// Trace is called for every operation that a guest requests, known or not, before it is served. It must not keep the request,
	// nor block. Nil: no trace.
	Trace func(family string, op abi.Op, request []byte)
	// Refused is called for every operation that fails as denied. It must not block. Nil: nobody asks.
	Refused func(family string, err error)
	table   map[abi.Op]operation

	rebuilds  *rebuildTimer
	tokenizer func() (*tokens.Tokenizer, error)
}

// NewHost returns a host with all operations.
func NewHost(h Host) *Host {
	if h.Recalls == nil {
		h.Recalls = recalls.New(recalls.Options{Space: h.Space})
	}
	h.table, h.rebuilds, h.tokenizer = operations(), &rebuildTimer{}, sync.OnceValues(tokens.Load)
	return &h
}

// Request configures a call. All fields but Held, Hooks and Progress are required.
type Request struct {
	Manifest  *abi.Manifest // of the called family
	Stage     *memory.Stage
	Caller    memory.Caller
	Held      *memory.Rights // the caller's, which the tool's declaration that it only reads does not narrow; nil: Caller's
	Powers    policy.Powers
	Hooks     func() []abi.Hook // those of the family that are on, sorted; nil: none
	Namespace string            // the default of operations
	RequestID string            // empty: none
	DryRun    bool
	Proposal  string                                    // the branch that the change gets which the request is asked about, if it proposes that
	Quota     memory.Quota                              // of the family's records
	Budget    Budget                                    // of requests to endpoints; nil: none
	Progress  func(done, total float64, message string) // nil: not reported
	Config    Config
	Tools     Tools
	Jobs      Jobs
	Served    func(op abi.Op, err error) // receives the outcome of each operation; nil: nobody asks
	// CheckKey returns why the API key with an id does not hold. It is asked at each operation: a key may be revoked during a call. Nil:
	// all hold.
	CheckKey func(id string) error
}

// Call is one request to a family, and the state of its guest's operations. Like the guest, it is not for concurrent
// use.
type Call struct {
	host *Host
	Request

	proposes bool          // something staged needs a proposal
	secret   bool          // its answer shows one, and is not kept
	apart    int           // commits beside that of the stage
	later    []afterCommit // to run after the commit
}

// space returns the space for the caller, for work outside the stage.
func (call *Call) space() *memory.Access { return call.host.Space.As(call.Caller) }

// OwnCaller returns the caller for a family itself, or with an empty name for all families: no caller's rights bound its records, and
// its guest is bounded by its grant alone.
func OwnCaller(family string) memory.Caller {
	return memory.Caller{Family: family, Rights: memory.FullRights()}
}

// Begin begins a call.
func (h *Host) Begin(r Request) *Call { return &Call{host: h, Request: r} }

// Proposes reports whether the call staged changes of memories that only a proposal may make.
func (call *Call) Proposes() bool { return call.proposes && call.Stage.ChangesMemories() }

// Adopt takes over the deferred work of a call of another family's tool in the same stage.
func (call *Call) Adopt(inner *Call) {
	call.proposes, call.later = call.proposes || inner.proposes, append(call.later, inner.later...)
	call.secret = call.secret || inner.secret
}

// Context returns the guest's view of the call.
func (call *Call) Context() abi.Context {
	return abi.Context{Family: call.Manifest.Name, Caller: call.Caller.Agent, Namespace: call.Namespace, Branch: call.Stage.Branch(), Now: memory.FormatTime(call.Stage.Now()),
		RequestID: call.RequestID, DryRun: call.DryRun, Operator: call.Caller.Operator, Proposal: call.Proposal}
}

// operation serves an operation: it decodes the request, checks the powers, and returns an answer to encode as JSON.
type operation func(call *Call, ctx context.Context, request json.RawMessage) (any, error)

// Call serves a guest's call of the host.
func (call *Call) Call(ctx context.Context, op abi.Op, request []byte) ([]byte, error) {
	ctx, ended := call.span(ctx, op)
	answer, err := call.serve(ctx, op, request)
	ended(failureOf(err))
	if call.Served != nil {
		call.Served(op, err)
	}
	var known *abi.Error
	if refused := call.host.Refused; refused != nil && errors.As(err, &known) && known.Code == abi.CodeDenied {
		refused(call.Manifest.Name, err)
	}
	return answer, err
}

// span begins the span of an operation. One that does not exist has a name of the guest's choice, which is not recorded.
func (call *Call) span(ctx context.Context, op abi.Op) (context.Context, func(failure string)) {
	if _, known := call.host.table[op]; !known {
		op = "unknown"
	}
	return trace.Begin(ctx, trace.Span{Name: "host " + string(op), Family: call.Manifest.Name, Op: string(op)})
}

// failureOf is how a span names an error; empty: there is none.
func failureOf(err error) string {
	var known *abi.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return string(known.Code)
	}
	return string(abi.CodeInternal)
}

func (call *Call) serve(ctx context.Context, op abi.Op, request []byte) ([]byte, error) {
	if traced := call.host.Trace; traced != nil {
		traced(call.Manifest.Name, op, request)
	}
	if call.Caller.Key != "" && call.CheckKey != nil {
		if err := call.CheckKey(call.Caller.Key); err != nil {
			return nil, asABI(err)
		}
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
		return nil, asABI(err)
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("answer %s: %w", op, err)
	}
	return data, nil
}

// mayInstead reports whether another capability permits an operation.
func (call *Call) mayInstead(needs abi.Capability) bool {
	switch needs {
	case abi.CanMemoryWrite, abi.CanLogAppend, abi.CanLinkWrite:
		return call.Powers.Has(abi.CanMemoryPropose)
	case abi.CanRecord: // of another family, which the operation checks
		return call.Powers.Has(abi.CanRecordsRead)
	}
	return false
}

// mayChange checks the right to change memories of a namespace. If only a proposal may, all of the work becomes one.
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

// in returns the namespace that a request means.
func (call *Call) in(namespace string) string {
	if namespace == "" {
		return call.Namespace
	}
	return namespace
}

// among returns the namespaces that a request means, for a capability; nil means all.
func (call *Call) among(c abi.Capability, namespaces []string) ([]string, error) {
	if err := memory.CheckAsked(namespaces); err != nil {
		return nil, err
	}
	if len(namespaces) == 0 {
		namespaces = []string{call.Namespace}
	}
	if slices.Contains(namespaces, policy.Everything) {
		scope := call.Powers.Scope(c)
		switch {
		case len(scope) == 0: // must not become nil, which means all
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

// both intersects two lists of namespaces; nil means all.
func both(a, b []string) []string {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return namespace.Common(a, b)
}

// decoded returns an operation that first decodes its request and checks the bounds of its fields.
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

// operations returns all operations of the host.
func operations() map[abi.Op]operation {
	return map[abi.Op]operation{
		abi.OpMemoryNamespaces: decoded(memoryNamespaces),

		abi.OpMemoryGet:     decoded(memoryGet),
		abi.OpMemoryStates:  decoded(memoryStates),
		abi.OpMemoryList:    decoded(memoryList),
		abi.OpMemoryHistory: decoded(memoryHistory),
		abi.OpMemorySearch:  decoded(memorySearch),
		abi.OpMemoryPairs:   decoded(memoryPairs),
		abi.OpMemoryPut:     decoded(memoryPut),
		abi.OpMemoryPatch:   decoded(memoryPatch),
		abi.OpMemoryDelete:  decoded(memoryDelete),
		abi.OpMemoryTouch:   decoded(memoryTouch),

		abi.OpRecallGet: decoded(recallGet),

		abi.OpRecordGet:     decoded(recordGet),
		abi.OpRecordPut:     decoded(recordPut),
		abi.OpRecordDelete:  decoded(recordDelete),
		abi.OpRecordList:    decoded(recordList),
		abi.OpRecordScan:    decoded(recordScan),
		abi.OpRecordSearch:  decoded(recordSearch),
		abi.OpRecordAppend:  decoded(recordAppend),
		abi.OpRecordHistory: decoded(recordHistory),
		abi.OpRecordNearest: decoded(recordNearest),

		abi.OpRecordCollections: decoded(recordCollections),

		abi.OpLogAppend: decoded(logAppend),
		abi.OpLogRead:   decoded(logRead),
		abi.OpLogVerify: decoded(logVerify),
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
		abi.OpConfigList:     decoded(configList),
		abi.OpConfigPut:      decoded(configPut),
		abi.OpConfigHistory:  decoded(configHistory),
		abi.OpConfigRollback: decoded(configRollback),
		abi.OpConfigUndo:     decoded(configUndo),
		abi.OpConfigRules:    decoded(configRules),
		abi.OpCallerGet:      decoded(callerGet),
		abi.OpCallerProgress: decoded(callerProgress),

		abi.OpJobEnqueue: decoded(jobEnqueue),
		abi.OpJobStatus:  decoded(jobStatus),
		abi.OpJobCancel:  decoded(jobCancel),

		abi.OpTextAnalyze: decoded(textAnalyze),
		abi.OpTextCount:   decoded(textCount),
		abi.OpTextTokens:  decoded(textTokens),

		abi.OpTextDetokenize: decoded(textDetokenize),

		abi.OpCallerCan:    decoded(callerCan),
		abi.OpSessionList:  decoded(sessionList),
		abi.OpScopeGet:     decoded(scopeGet),
		abi.OpScopeList:    decoded(scopeList),
		abi.OpScopePut:     decoded(scopePut),
		abi.OpScopeMembers: decoded(scopeMembers),
		abi.OpScopeDelete:  decoded(scopeDelete),

		abi.OpQuotaList: decoded(quotaList),

		abi.OpIdentityDelegate: decoded(identityDelegate),
		abi.OpIdentityRevoke:   decoded(identityRevoke),

		abi.OpNamespaceList:   decoded(namespaceList),
		abi.OpNamespaceDelete: decoded(namespaceDelete),
		abi.OpStatusGet:       decoded(statusGet),
		abi.OpVersionAt:       decoded(versionAt),

		abi.OpEmbedTexts:   decoded(embedTexts),
		abi.OpEmbedRebuild: decoded(embedRebuild),
		abi.OpLLMComplete:  decoded(llmComplete),
		abi.OpHTTPFetch:    decoded(httpFetch),

		abi.OpFileList:  decoded(fileList),
		abi.OpFileRead:  decoded(fileRead),
		abi.OpFileWrite: decoded(fileWrite),

		abi.OpToolsList:     decoded(toolsList),
		abi.OpToolsCall:     decoded(toolsCall),
		abi.OpToolsPublish:  decoded(toolsPublish),
		abi.OpToolsWithdraw: decoded(toolsWithdraw),
		abi.OpToolsOffered:  decoded(toolsOffered),
		abi.OpToolsUsage:    decoded(toolsUsage),
	}
}

// asABI converts an error of the server for guests. It hides the details of a server fault.
func asABI(err error) error {
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

// afterCommit is work for after the commit.
type afterCommit struct {
	do       func(ctx context.Context) error
	required bool // its failure is the call's
}

// After runs a function after the call is committed; its failure is reported to the caller in a note.
func (call *Call) After(what string, do func(ctx context.Context) error) { call.after(what, do, false) }

// after is After, for a failure that is the call's own where that is required.
func (call *Call) after(what string, do func(ctx context.Context) error, required bool) {
	call.later = append(call.later, afterCommit{required: required, do: func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return fmt.Errorf("could not %s: %w", what, err)
		}
		return nil
	}})
}

// Finish runs the functions of After once the call is committed, and returns notes on failures, or the failure of one that is required. It
// stops at the first: later ones may depend on it.
func (call *Call) Finish(ctx context.Context) (notes []string, err error) {
	for i, work := range call.later {
		err := work.do(ctx)
		switch {
		case err != nil && work.required:
			return nil, err
		case err != nil:
			return []string{fmt.Sprintf("%v; %d more were not tried", err, len(call.later)-i-1)}, nil
		}
	}
	return nil, nil
}

// FinishUnseen is Finish without a caller who reads notes.
func (call *Call) FinishUnseen(ctx context.Context) {
	notes, err := call.Finish(ctx)
	if err != nil {
		notes = append(notes, err.Error())
	}
	for _, note := range notes {
		call.host.Logger.Warn("a family could not do all that it tried", "family", call.Manifest.Name, "note", note)
	}
}
