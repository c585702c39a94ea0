package governance

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// PendingApprove merges a change that waits.
//
// Where agents approve by consensus it is a vote, and the last one merges. remember allows later changes of this kind by the same agent,
// for its session or forever. A change that clashes with what was written since is not merged.
//
//alcove:title Approve a change
//alcove:description Approve a waiting change.
type PendingApprove struct {
	ID       alcove.ID `alcove:"required"`
	Remember string    `alcove:"default=once,enum=once|session|forever"`
}

type approval struct {
	Merged  bool
	Votes   int    `json:"votes,omitzero"`
	Needed  int    `json:"needed,omitzero"`
	Version uint64 `json:"version,omitzero" alcove:"committed"`
}

// Call approves it.
func (in PendingApprove) Call(c *alcove.Call, cfg Config) (out approval, err error) {
	b, err := cfg.book()
	if err != nil {
		return out, err
	}
	at, p, version, err := find(c, in.ID)
	if err != nil {
		return out, err
	}
	r := b.of(at.Namespace, p.Op)
	if err := mayDecide(c, at, p, r); err != nil {
		return out, err
	}
	enough, err := p.vote(c, at, r)
	if err != nil {
		return out, err
	}
	out.Votes, out.Needed = len(p.Votes), r.voters()
	if !enough {
		return out, keep(c, at, p, version)
	}
	if err := merge(c, at, p); err != nil {
		return out, err
	}
	p.State, out.Merged = approved, true
	if err := keep(c, at, p, version); err != nil {
		return out, err
	}
	if err := remember(c, at, p, in.Remember, true); err != nil {
		return out, err
	}
	return out, announce(c, "pending_approved", at.Namespace, map[string]any{"id": at.String(), "by": p.By})
}

// vote adds the caller's vote. Votes of agents that may not write the namespace any more do not count, and neither do imported ones.
func (p *pending) vote(c *alcove.Call, at alcove.ID, r rule) (enough bool, err error) {
	if c.Operator {
		return true, nil
	}
	who, err := c.CallerGet()
	if err != nil {
		return false, err
	}
	if p.Space != who.Space {
		p.Space, p.Votes = who.Space, nil
	}
	var valid []string
	for _, agent := range p.Votes {
		switch err := mayWrite(c, agent, at.Namespace); alcove.CodeOf(err) {
		case alcove.Denied:
		case "":
			if err != nil {
				return false, err
			}
			valid = append(valid, agent)
		default:
			return false, err
		}
	}
	if !slices.Contains(valid, c.Caller) {
		valid = append(valid, c.Caller)
	}
	p.Votes = valid
	return len(valid) >= r.voters(), nil
}

// merge brings a change into its branch after the commit.
func merge(c *alcove.Call, at alcove.ID, p pending) error {
	out, err := c.BranchMerge(alcove.BranchMergeRequest{Source: at.Key, Target: p.Into, Strategy: "strict", Namespaces: []string{at.Namespace}})
	if err != nil {
		return err
	}
	if !out.Merged {
		var keys []string
		for _, d := range out.Clashes {
			keys = append(keys, d.Key)
		}
		e := alcove.Errorf(alcove.Conflict, "what it changes was changed since: %v; reject it, or have it made again", keys)
		e.Retryable = false
		return e
	}
	return nil
}
