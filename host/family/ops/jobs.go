package ops

import (
	"context"

	"github.com/alcove-memory/alcove/abi"
)

func jobEnqueue(call *Call, ctx context.Context, r abi.JobEnqueueRequest) (out abi.JobEnqueueResponse, err error) {
	if err := call.Powers.Check(abi.CanJob, ""); err != nil {
		return out, err
	}
	out.ID, err = call.Jobs.Enqueue(ctx, r)
	return out, err
}

func jobStatus(call *Call, ctx context.Context, r abi.JobStatusRequest) (abi.JobStatusResponse, error) {
	return call.Jobs.Status(ctx, r.ID)
}

func jobCancel(call *Call, ctx context.Context, r abi.JobCancelRequest) (out abi.JobCancelResponse, err error) {
	out.Cancelled, err = call.Jobs.Cancel(ctx, r.ID)
	return out, err
}
