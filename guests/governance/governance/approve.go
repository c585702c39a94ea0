package governance

import alcove "github.com/alcove-memory/alcove/sdk/go"

// PendingApprove merges a change that waits.
//
// Where agents approve by consensus it is a vote, and the last one merges. A vote counts while its agent may write the namespace and the
// API key that it had holds. remember allows later changes of this kind by the same agent, for its session or forever, as long as a vote
// would count. A change that clashes with what was written since is not merged.
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

// vote adds the caller's vote. Votes of agents that may not write the namespace any more do not count, and neither do those that were given
// with an API key that does not hold any more, and imported ones.
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
	with := map[string]string{}
	for _, agent := range p.Votes {
		if agent == c.Caller {
			continue
		}
		switch err := mayWrite(c, agent, p.With[agent], at.Namespace); alcove.CodeOf(err) {
		case alcove.Denied:
		case "":
			if err != nil {
				return false, err
			}
			valid = append(valid, agent)
			if key := p.With[agent]; key != "" {
				with[agent] = key
			}
		default:
			return false, err
		}
	}
	if who.Key != "" {
		with[c.Caller] = who.Key
	}
	p.Votes, p.With = append(valid, c.Caller), with
	return len(p.Votes) >= r.voters(), nil
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
		return alcove.Errorf(alcove.Conflict, "what it changes was changed since: %v; reject it, or have it made again", keys).Final()
	}
	return nil
}
