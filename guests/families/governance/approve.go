package governance

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// PendingApprove merges a change that waits.
//
// Where agents approve by consensus it is a vote, and the last one merges. A vote counts while its agent may write the namespace and the
// API key that it had holds. An agent and its delegates have one vote, and none on their own change. remember allows later changes of this kind by the same agent, for its session or forever, as long as a vote
// would count. A change that clashes with what was written since is not merged.
//
//alcove:title Approve a change
//alcove:description Accept a proposed change: approve one that is waiting.
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
	x, err := cfg.decide(c, in.ID, false)
	if err != nil {
		return out, err
	}
	enough, err := x.vote(c)
	if err != nil {
		return out, err
	}
	out.Votes, out.Needed = len(x.Votes), x.rule.voters()
	if !enough {
		return out, x.keep(c)
	}
	if err := x.merge(c); err != nil {
		return out, err
	}
	x.State, out.Merged = approved, true
	if err := x.keep(c); err != nil {
		return out, err
	}
	if err := x.remember(c, in.Remember, true); err != nil {
		return out, err
	}
	return out, announce(c, "pending_approved", x.at.Namespace, map[string]any{"id": x.at.String(), "by": x.By})
}

// vote adds the caller's vote, or that of the agent which delegated to it, to those that count.
func (x *undecided) vote(c *alcove.Call) (enough bool, err error) {
	if c.Operator {
		return true, nil
	}
	if err := x.dropVotes(newElectorate(c, x.at.Namespace, x.who)); err != nil {
		return false, err
	}
	if !slices.Contains(x.Votes, x.who.Principal) {
		x.Votes = append(x.Votes, x.who.Principal)
	}
	delete(x.With, x.who.Principal)
	if x.who.Key != "" {
		if x.With == nil {
			x.With = map[string]string{}
		}
		x.With[x.who.Principal] = x.who.Key
	}
	return len(x.Votes) >= x.rule.voters(), nil
}

// dropVotes drops the votes that do not count: those of agents that may not write the namespace any more, those that were given with an API
// key that does not hold any more, and imported ones.
func (p *pending) dropVotes(e *electorate) error {
	if p.Space != e.who.Space {
		p.Space, p.Votes, p.With = e.who.Space, nil, nil
	}
	var counted []string
	for _, agent := range p.Votes {
		includes, err := e.includes(voter{agent, p.With[agent]})
		if err != nil {
			return err
		}
		if includes {
			counted = append(counted, agent)
		} else {
			delete(p.With, agent)
		}
	}
	p.Votes = counted
	return nil
}

// electorate is the agents whose decisions about a namespace count.
type electorate struct {
	call      *alcove.Call
	who       alcove.CallerGetResponse
	namespace string
	known     map[voter]bool
}

// voter is a principal, with the id of the API key that it or its delegate had; empty: none.
type voter struct{ agent, key string }

func newElectorate(c *alcove.Call, namespace string, who alcove.CallerGetResponse) *electorate {
	return &electorate{c, who, namespace, map[voter]bool{}}
}

// includes reports whether an agent may still write the namespace, and its key still holds.
func (e *electorate) includes(v voter) (bool, error) {
	if may, ok := e.known[v]; ok {
		return may, nil
	}
	err := mayWrite(e.call, v.agent, v.key, e.namespace)
	may := err == nil
	if err != nil && alcove.CodeOf(err) != alcove.Denied {
		return false, err
	}
	e.known[v] = may
	return may, nil
}

// merge brings a change into its branch after the commit. A caller that may not is refused now: then the change would count as approved.
func (x *undecided) merge(c *alcove.Call) error {
	if !c.Operator {
		can, err := c.CallerCan(alcove.CallerCanRequest{Action: "branch", Namespace: x.at.Namespace})
		if err != nil {
			return err
		}
		if !can.Allowed {
			return alcove.Errorf(alcove.Denied, "%s may not merge branches, which this approval does: it needs the right branch", c.Caller)
		}
	}
	out, err := c.BranchMerge(alcove.BranchMergeRequest{Source: x.at.Key, Target: x.Into, Strategy: "strict", Namespaces: []string{x.at.Namespace}})
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
