package ops

import (
	"context"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/internal/namespace"
)

func callerGet(call *Call, _ context.Context, _ abi.CallerGetRequest) (abi.CallerGetResponse, error) {
	out := abi.CallerGetResponse{Caller: call.Caller.Agent, Principal: call.Caller.AsMember(), Namespace: call.Namespace, Branch: call.Stage.Branch(), Capabilities: []abi.Power{}, Hooks: []string{},
		ReadOnly: call.Caller.Rights.WritesNothing(), Proposes: !call.Powers.Has(abi.CanMemoryWrite) && call.Powers.Has(abi.CanMemoryPropose)}
	out.Client, out.Session, out.Space, out.Key = call.Caller.Client, call.Caller.Session, call.host.Space.ID(), call.Caller.Key
	for _, g := range call.Powers.List() {
		out.Capabilities = append(out.Capabilities, abi.Power{Name: string(g.Name), Scope: namespace.Names(g.Scope)})
	}
	if call.Hooks == nil {
		return out, nil
	}
	for _, h := range call.Hooks() {
		out.Hooks = append(out.Hooks, string(h))
	}
	return out, nil
}

// longestProgress bounds a progress message, in bytes.
const longestProgress = 1000

func callerProgress(call *Call, _ context.Context, r abi.CallerProgressRequest) (out abi.CallerProgressResponse, err error) {
	if len(r.Message) > longestProgress {
		return out, invalid("the message has %d bytes: at most %d are allowed", len(r.Message), longestProgress)
	}
	if call.Progress != nil {
		call.Progress(r.Done, r.Total, r.Message)
	}
	return out, nil
}
