package family

import (
	"context"
	"encoding/json"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/effect"
)

// toolsOf implements ops.Tools for a request's family.
type toolsOf struct{ *request }

// List implements ops.Tools.
func (r toolsOf) List() []abi.ForeignTool {
	list := r.families.o.Callable.Core()
	for _, t := range r.families.catalogue.ToolsBeside(r.family, r.Caller.Rights) {
		list = append(list, abi.ForeignTool{Name: t.Name, Family: t.Family.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	return list
}

// Offered implements ops.Tools.
func (r toolsOf) Offered() []abi.ForeignTool { return r.families.o.Callable.Offered(r.offered) }

// Call implements ops.Tools: the tool's family has its own powers, bounded by its caller's.
func (r toolsOf) Call(ctx context.Context, name, spelling string, arguments json.RawMessage) (json.RawMessage, error) {
	p, err := r.families.o.Callable.Prepare(r.toolCall(spelling, arguments, r.Caller))
	r.logNotes(name, p.Notes)
	if err != nil {
		return nil, err
	}
	if p.Tool.Name != name { // which the family may call
		return nil, &abi.Error{Code: abi.CodeUnavailable, Retryable: true, Message: spelling + " has just become the name of another tool: try again"}
	}
	m, release, err := r.families.catalogue.Acquire(ctx, p.Tool.Family)
	if err != nil {
		return nil, err
	}
	defer release()
	inner, sent := r.within(p.Tool), effect.Of(ctx).Count()
	output, err := inner.callTool(ctx, m, p.Tool, p.Arguments)
	if err != nil {
		return nil, effect.Of(ctx).FailedSince(sent, err)
	}
	r.Adopt(inner.Call)
	r.queued = append(r.queued, inner.queued...)
	return output, nil
}

// Name implements ops.Tools.
func (r toolsOf) Name(spelling string) string { return r.families.o.Callable.Name(spelling) }

// IsCore implements ops.Tools.
func (r toolsOf) IsCore(name string) bool { return r.families.o.Callable.IsCore(name) }

// toolCall returns a call of a tool in the request's stage.
func (r *request) toolCall(tool string, arguments json.RawMessage, caller memory.Caller) ToolCall {
	return ToolCall{Tool: tool, Arguments: arguments, Caller: caller, Stage: r.Stage.For(caller), Branch: r.Stage.Branch(), Namespace: r.Namespace, DryRun: r.DryRun}
}

// CallCore implements ops.Tools.
func (r toolsOf) CallCore(ctx context.Context, tool string, arguments json.RawMessage, rights memory.Rights) (json.RawMessage, error) {
	caller := r.Caller
	caller.Rights = caller.Rights.Within(rights)
	result, notes, err := r.families.o.Callable.CallCore(ctx, r.toolCall(tool, arguments, caller))
	r.logNotes(tool, notes)
	return result, err
}

// logNotes logs notes on a call: its caller is a program.
func (r *request) logNotes(tool string, notes []string) {
	for _, note := range notes {
		r.families.o.Logger.Warn("a family's call of a tool was answered with a note", "family", r.family.Name, "tool", tool, "note", note)
	}
}
