package ops

import (
	"context"
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// recallGet returns a recall that caller and family may read. Any other appears not to exist.
func recallGet(call *Call, ctx context.Context, r abi.RecallGetRequest) (out abi.RecallGetResponse, err error) {
	none := &abi.Error{Code: abi.CodeNotFound, Message: fmt.Sprintf("there is no recall %.64q that the caller may read: recalls by query are kept for 90 days", r.RecallID)}
	found, err := call.host.Recalls.Get(ctx, call.Caller, r.RecallID)
	if err != nil {
		return out, err
	}
	if found == nil {
		return out, none
	}
	out.Recall = abi.Recall{RecallID: found.ID, Branch: found.Branch, Query: found.Query, Agent: found.Agent, Facts: []abi.RecalledFact{},
		Timestamp: memory.FormatTime(found.Timestamp), ExpiresAt: memory.FormatTime(found.ExpiresAt)}
	for _, f := range found.Facts {
		if !call.Powers.Allows(abi.CanMemoryRead, f.Namespace) {
			return abi.RecallGetResponse{}, none
		}
		out.Recall.Facts = append(out.Recall.Facts, abi.RecalledFact{Namespace: f.Namespace, Key: f.Key})
	}
	return out, nil
}
