package ops

import (
	"context"
	"encoding/json"

	"github.com/alcove-memory/alcove/abi"
)

func toolsList(call *Call, _ context.Context, _ abi.ToolsListRequest) (abi.ToolsListResponse, error) {
	out := abi.ToolsListResponse{Tools: []abi.ForeignTool{}}
	for _, t := range call.Tools.List() {
		if call.Powers.Allows(abi.CanToolsCall, t.Name) {
			out.Tools = append(out.Tools, t)
		}
	}
	return out, nil
}

// toolsCall calls a tool of another family inside of the same stage. What it staged is dropped if it fails.
func toolsCall(call *Call, ctx context.Context, r abi.ToolsCallRequest) (out abi.ToolsCallResponse, err error) {
	name := call.Tools.Name(r.Tool)
	if !call.Powers.Allows(abi.CanToolsCall, name) {
		name = r.Tool // the error tells of no other
	}
	if err := call.Powers.Check(abi.CanToolsCall, name); err != nil {
		return out, err
	}
	if len(r.Arguments) == 0 {
		r.Arguments = json.RawMessage("{}")
	}
	before := call.Stage.Save()
	if out.Result, err = call.Tools.Call(ctx, name, r.Arguments); err != nil {
		call.Stage.Restore(before)
	}
	return out, err
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
