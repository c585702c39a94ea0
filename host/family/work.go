package family

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/policy"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// work is one request to a family, and what the family's calls of the host reach. It is for one goroutine at a time, as the
// guest is.
type work struct {
	families  *Families
	family    *family
	stage     *memory.Stage
	caller    memory.Caller
	powers    policy.Powers
	namespace string
	requestID string
	dryRun    bool
	progress  func(done, total float64, message string) // nil: nobody asks

	ended    func(*sandbox.Result) // nil: nobody asks
	notes    []string
	proposes bool                              // something is staged that only a proposal may change
	later    []func(ctx context.Context) error // to be done behind the commit
	queued   []Job                             // that were staged
}

func (f *Families) newWork(x *family, stage *memory.Stage, caller memory.Caller, namespace, requestID string) *work {
	if namespace == "" {
		namespace = memory.Default
	}
	return &work{families: f, family: x, stage: stage, caller: caller, powers: f.powersOf(x, caller), namespace: namespace, requestID: requestID}
}

// within is the work of another family's tool inside of the same stage.
func (w *work) within(x *family, t *abi.Tool) *work {
	inner := w.families.newWork(x, w.stage, forTool(w.caller, t), w.namespace, w.requestID)
	inner.dryRun = w.dryRun
	return inner
}

func (w *work) context() abi.Context {
	return abi.Context{Family: w.family.name, Caller: w.caller.Agent, Namespace: w.namespace, Branch: w.stage.Branch(), Now: stampOf(w.stage.Now()), RequestID: w.requestID, DryRun: w.dryRun}
}

func (w *work) configJSON(ctx context.Context) (json.RawMessage, error) {
	config, err := w.family.config(ctx, w.stage)
	if err != nil {
		return nil, err
	}
	return json.Marshal(config)
}

// operation serves an operation: it decodes the request, checks the powers, and answers what is encoded as JSON.
type operation func(w *work, ctx context.Context, request json.RawMessage) (any, error)

// Call serves a guest's call of the host.
func (w *work) Call(ctx context.Context, op abi.Op, request []byte) ([]byte, error) {
	serve, known := w.families.operations[op]
	if !known {
		return nil, &abi.Error{Code: abi.CodeNotFound, Message: fmt.Sprintf("there is no operation %.64q", op)}
	}
	if needs := abi.Ops()[op]; needs != "" && !w.powers.Has(needs) && !w.mayInstead(needs) {
		return nil, w.powers.Check(needs, w.meant(needs, request))
	}
	if depth := memory.Nesting(request); depth > longestArguments {
		return nil, invalid("the request is nested %d deep: at most %d are allowed", depth, longestArguments)
	}
	answer, err := serve(w, ctx, request)
	if err != nil {
		return nil, asABI(err)
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("answer %s: %w", op, err)
	}
	return data, nil
}

// mayInstead reports whether a proposal may do what the capability would allow to do directly.
func (w *work) mayInstead(needs abi.Capability) bool {
	switch needs {
	case abi.CanMemoryWrite, abi.CanLogAppend, abi.CanLinkWrite:
		return w.powers.Has(abi.CanMemoryPropose)
	}
	return false
}

// mayChange checks the right to change memories of a namespace. Where only a proposal may, all of the work becomes one.
func (w *work) mayChange(c abi.Capability, namespace string) error {
	if w.powers.Allows(c, namespace) {
		return nil
	}
	if w.powers.Allows(abi.CanMemoryPropose, namespace) {
		w.proposes = true
		return nil
	}
	return w.powers.Check(c, namespace)
}

// in is the namespace that a request means.
func (w *work) in(namespace string) string {
	if namespace == "" {
		return w.namespace
	}
	return namespace
}

// among are the namespaces that a request means, for a capability; nil stands for all.
func (w *work) among(c abi.Capability, namespaces []string) ([]string, error) {
	if len(namespaces) == 0 {
		namespaces = []string{w.namespace}
	}
	if slices.Contains(namespaces, policy.Everything) {
		scope := w.powers.Scope(c)
		switch {
		case len(scope) == 0: // which must not become nil, that stands for all
			return nil, w.powers.Check(c, policy.Everything)
		case slices.Contains(scope, policy.Everything):
			return nil, nil
		}
		return scope, nil
	}
	for _, namespace := range namespaces {
		if err := w.powers.Check(c, namespace); err != nil {
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
}](serve func(w *work, ctx context.Context, r In) (Out, error)) operation {
	return func(w *work, ctx context.Context, request json.RawMessage) (any, error) {
		var r In
		if err := abi.DecodeRequest(request, P(&r)); err != nil {
			return nil, err
		}
		return serve(w, ctx, r)
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

		abi.OpRecordGet:    decoded(recordGet),
		abi.OpRecordPut:    decoded(recordPut),
		abi.OpRecordDelete: decoded(recordDelete),
		abi.OpRecordList:   decoded(recordList),
		abi.OpRecordSearch: decoded(recordSearch),
		abi.OpRecordAppend: decoded(recordAppend),

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
	}
}
