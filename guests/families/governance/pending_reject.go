package governance

import alcove "github.com/alcove-memory/alcove/sdk/go"

// PendingReject drops a change.
//
// Its approver may, and its author.
//
//alcove:title Reject a change
//alcove:description Reject a waiting change.
//alcove:tool destructive
type PendingReject struct {
	ID       alcove.ID `alcove:"required"`
	Reason   string
	Remember string `alcove:"default=once,enum=once|session|forever"`
}

type rejection struct{ Rejected bool }

// Call rejects it.
func (in PendingReject) Call(c *alcove.Call, cfg Config) (out rejection, err error) {
	b, err := cfg.book()
	if err != nil {
		return out, err
	}
	at, p, version, err := find(c, in.ID)
	if err != nil {
		return out, err
	}
	who, err := c.CallerGet()
	if err != nil {
		return out, err
	}
	own := c.Caller != "" && who.Principal == p.By && in.Remember == "once"
	if err := mayDecide(c, who, at, p, b.of(at.Namespace, p.Op)); err != nil && !own {
		return out, err
	}
	p.State, p.Reason = rejected, in.Reason
	if err := keep(c, at, p, version); err != nil {
		return out, err
	}
	if err := remember(c, who, at, p, in.Remember, false); err != nil {
		return out, err
	}
	if err := c.BranchDelete(alcove.BranchDeleteRequest{Name: at.Key, Force: true}); err != nil && alcove.CodeOf(err) != alcove.Denied { // it stays, and nobody may merge it
		return out, err
	}
	out.Rejected = true
	return out, announce(c, "pending_rejected", at.Namespace, map[string]any{"id": at.String(), "by": p.By, "reason": in.Reason})
}
