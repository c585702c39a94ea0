package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/usage"
)

func toolsList(call *Call, _ context.Context, _ abi.ToolsListRequest) (abi.ToolsListResponse, error) {
	out := abi.ToolsListResponse{Tools: []abi.ForeignTool{}}
	for _, t := range call.Tools.List() {
		if call.mayCall(t.Name) {
			out.Tools = append(out.Tools, t)
		}
	}
	return out, nil
}

// toolsCall calls a tool of another family in the same stage. If it fails, its staged work is dropped.
func toolsCall(call *Call, ctx context.Context, r abi.ToolsCallRequest) (out abi.ToolsCallResponse, err error) {
	name := call.Tools.Name(r.Tool)
	if !call.Powers.Allows(abi.CanToolsCall, name) {
		name = r.Tool // the error reveals no other
	}
	if err := call.Powers.Check(abi.CanToolsCall, name); err != nil {
		return out, err
	}
	if !call.mayCall(name) {
		return out, &abi.Error{Code: abi.CodeDenied, Details: map[string]any{"capability": string(abi.CanToolsCall)},
			Message: name + " is a core tool, which * does not include: name it in the scope of tools.call, in the manifest and in the grant"}
	}
	if len(r.Arguments) == 0 {
		r.Arguments = json.RawMessage("{}")
	}
	before := call.Stage.Save()
	if call.Tools.IsCore(name) {
		out.Result, err = call.Tools.CallCore(ctx, name, r.Arguments, call.memoryRights())
	} else {
		out.Result, err = call.Tools.Call(ctx, name, r.Tool, r.Arguments)
	}
	if err != nil {
		call.Stage.Restore(before)
	}
	return out, err
}

// mayCall reports whether the family may call a tool. Core tools must be named: * was granted for families' tools.
func (call *Call) mayCall(name string) bool {
	return call.Powers.Allows(abi.CanToolsCall, name) &&
		(!call.Tools.IsCore(name) || slices.Contains(call.Powers.Scope(abi.CanToolsCall), name))
}

// memoryRights returns the rights of a core tool for the family: to read where it may, and to write where it may do both, because
// answers reveal what was there.
func (call *Call) memoryRights() memory.Rights {
	read := call.Powers.Scope(abi.CanMemoryRead)
	return memory.RightsTo(read, policy.Common(call.Powers.Scope(abi.CanMemoryWrite), read))
}

func toolsPublish(call *Call, ctx context.Context, r abi.ToolsPublishRequest) (out abi.ToolsPublishResponse, err error) {
	var t abi.Tool
	if err := json.Unmarshal(r.Tool, &t); err != nil {
		return out, invalid("the tool could not be in a manifest: %v", err)
	}
	return out, call.Tools.Publish(ctx, t)
}

func toolsWithdraw(call *Call, ctx context.Context, r abi.ToolsWithdrawRequest) (out abi.ToolsWithdrawResponse, err error) {
	return out, call.Tools.Withdraw(ctx, r.Name)
}

// toolsOffered lists what the caller could list itself, so that no capability guards it.
func toolsOffered(call *Call, _ context.Context, r abi.ToolsOfferedRequest) (abi.ToolsOfferedResponse, error) {
	out := abi.ToolsOfferedResponse{Tools: []abi.ForeignTool{}}
	past := r.After == ""
	for _, t := range call.Tools.Offered() {
		switch {
		case !past:
			past = t.Name == r.After
		case len(r.Families) > 0 && !slices.Contains(r.Families, t.Family) || !strings.HasPrefix(t.Name, r.Prefix):
		case len(out.Tools) == cmp.Or(r.Limit, 100):
			out.Next = out.Tools[len(out.Tools)-1].Name
			return out, nil
		default:
			out.Tools = append(out.Tools, t)
		}
	}
	if !past {
		return out, invalid("there is no tool %.64q after which a page could begin: start with the first page", r.After)
	}
	return out, nil
}

// toolsUsage reports the use of tools: by all agents, or for a caller who may not read everything, by that caller alone.
func toolsUsage(call *Call, ctx context.Context, r abi.ToolsUsageRequest) (out abi.ToolsUsageResponse, err error) {
	if call.host.Usage == nil {
		return out, &abi.Error{Code: abi.CodeUnavailable, Message: "this server does not count the calls of tools"}
	}
	q := usage.Query{Days: cmp.Or(r.Days, 30), Tools: r.Tools}
	if _, all := call.Caller.Rights.Ceiling().Readable(); !all {
		q.Agent = &call.Caller.Agent
	}
	rows, err := call.host.Usage.Usage(ctx, q)
	if err != nil {
		return out, err
	}
	out.Usage = make([]abi.ToolUsage, len(rows))
	for i, row := range rows {
		out.Usage[i] = abi.ToolUsage{Agent: row.Agent, Tool: row.Tool, As: row.Alias, Calls: int(row.Calls), Errors: int(row.Errors), Last: memory.FormatTime(row.Last)}
	}
	return out, nil
}
