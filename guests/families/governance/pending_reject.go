package governance

import alcove "github.com/alcove-memory/alcove/sdk/go"

// PendingReject drops a change.
//
// Its approver may, and its author.
//
//alcove:title Reject a change
//alcove:description Turn down a proposed change: reject one that is waiting.
//alcove:tool destructive
type PendingReject struct {
	ID       alcove.ID `alcove:"required"`
	Reason   string
	Remember string `alcove:"default=once,enum=once|session|forever"`
}

type rejection struct{ Rejected bool }

// Call rejects it.
func (in PendingReject) Call(c *alcove.Call, cfg Config) (out rejection, err error) {
	x, err := cfg.decide(c, in.ID, in.Remember == "once")
	if err != nil {
		return out, err
	}
	x.State, x.Reason = rejected, in.Reason
	if err := x.keep(c); err != nil {
		return out, err
	}
	if err := x.remember(c, in.Remember, false); err != nil {
		return out, err
	}
	if err := c.BranchDelete(alcove.BranchDeleteRequest{Name: x.at.Key, Force: true}); err != nil && alcove.CodeOf(err) != alcove.Denied { // it stays, and nobody may merge it
		return out, err
	}
	out.Rejected = true
	return out, announce(c, "pending_rejected", x.at.Namespace, map[string]any{"id": x.at.String(), "by": x.By, "reason": in.Reason})
}
