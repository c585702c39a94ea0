package governance

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// pending is a change that waits for approval, under the branch that it is on. Its agents are principals: what a delegate writes or votes
// is of the agent that delegated to it.
//
//alcove:json
type pending struct {
	Op      string // write, promote or delete
	Keys    []string
	By      string
	Session string `json:",omitzero"` // of the one who made it
	Into    string // the branch that it was made on
	At      string
	State   string // pending, approved or rejected
	Reason  string `json:",omitzero"`
	Votes   []string
	Space   string `json:",omitzero"` // where the votes were given: imported ones do not count
	// With are the ids of the API keys with which agents voted. A vote counts only while its key holds.
	With map[string]string `json:",omitzero"`
}

// decision is what was decided for later changes of an agent.
//
//alcove:json
type decision struct {
	Approve bool
	Session string `json:",omitzero"` // only in this one
	By      string
	Space   string `json:",omitzero"` // where it was decided: imported approvals do not hold
	Agent   string `json:",omitzero"` // the principal who decided; empty: an operator
	Key     string `json:",omitzero"` // the id of its API key, or of its delegate's
}

// holds reports whether a decision applies to the caller. Rejections hold for good. An agent's approval is one of this space, and ends with
// the agent's right to write the namespace and with the API key that it had.
func (d *decision) holds(c *alcove.Call, namespace string, who alcove.CallerGetResponse) (bool, error) {
	if !d.Approve || d.Space != who.Space || d.Agent == "" {
		return !d.Approve || d.Space == who.Space, nil
	}
	return newElectorate(c, namespace, who).includes(voter{d.Agent, d.Key})
}

// decisionKey is the key of a decision for a session of a principal or its delegate, or for all of them.
func decisionKey(op, agent, session string) string {
	if session == "" {
		return op + "|" + agent
	}
	return op + "|" + agent + "|" + session
}

// decided is what was decided for a change that the caller makes: for its session, or else for all of them; nil: nothing.
func decided(c *alcove.Call, namespace, op string, who alcove.CallerGetResponse) (*decision, error) {
	if c.Caller == "" {
		return nil, nil
	}
	for _, session := range []string{who.Session, ""} {
		d, there, err := decisions.In(namespace).Get(c, decisionKey(op, who.Principal, session))
		if err != nil {
			return nil, err
		}
		if !there || d.Session != session {
			continue
		}
		if holds, err := d.holds(c, namespace, who); err != nil || holds {
			return &d, err
		}
	}
	return nil, nil
}

// mostKeys is how many keys a pending change names.
const mostKeys = 100

// Hooks enforce the rules and seal what was stored, once there is a rule. They cover what a namespace says to all who read it: its memories,
// and the open collections of other families, which are on branches.
//
//alcove:store collections=memory,developer/kv,developer/json,developer/cell,developer/vec,developer/vec-info,graph/entity,graph/alias,graph/edge,graph/theme on_failure=refuse changes=store,delete,state when_settings=standards
//alcove:stored collections=memory own when_settings=standards,seal_always
type Hooks struct{}

// Store allows, refuses or proposes a change. All its entries are of one namespace and of one kind.
func (Hooks) Store(c *alcove.Call, cfg Config, entries []alcove.Entry) ([]*alcove.Change, error) {
	changes := make([]*alcove.Change, len(entries))
	if cfg.Standards == "" || len(entries) == 0 || c.Operator {
		return changes, nil
	}
	b, err := cfg.book()
	if err != nil {
		return nil, err
	}
	op, namespace := opOf(entries[0].Change), entries[0].Namespace
	switch r := b.of(namespace, op); r.who {
	case anyone:
	case approve:
		return changes, hold(c, namespace, op, entries)
	default:
		if !includes(c, namespace, r) {
			return nil, alcove.Refuse("a " + op + " in " + namespace + " is for " + r.who + " agents, by its rule")
		}
	}
	return changes, nil
}

func opOf(change string) string {
	switch change {
	case "delete":
		return "delete"
	case "state":
		return "promote"
	}
	return "write"
}

// includes reports whether a rule lets the caller change a namespace.
func includes(c *alcove.Call, namespace string, r rule) bool {
	if c.Caller == "" {
		return false
	}
	s, err := c.ScopeGet(alcove.ScopeGetRequest{Namespace: namespace})
	scoped := err == nil
	if r.who == owner {
		return scoped && s.Scope.Creator == c.Caller || !scoped && r.by == c.Caller
	}
	if !scoped {
		return true // a name is all that is known of agents
	}
	for _, member := range append(s.Scope.Members, s.Scope.Creator) {
		if member == c.Caller {
			return true
		}
	}
	return false
}

// hold proposes a change, unless it was decided before what becomes of such.
func hold(c *alcove.Call, namespace, op string, entries []alcove.Entry) error {
	who, err := c.CallerGet()
	if err != nil {
		return err
	}
	d, err := decided(c, namespace, op, who)
	switch {
	case err != nil:
		return err
	case d != nil && d.Approve:
		return nil
	case d != nil:
		return alcove.Refuse("changes of this kind by " + c.Caller + " are rejected, as " + d.By + " decided")
	}
	if c.Proposal == "" {
		return alcove.Refuse("it needs approval, and the operator has to turn the hook on with: alcove family grant governance --hook store=refuse")
	}
	p := pending{Op: op, By: who.Principal, Session: who.Session, Into: c.Branch, At: c.Now, State: waiting}
	if was, there, err := pendings.In(namespace).Get(c, c.Proposal); err != nil {
		return err
	} else if there { // another part of the same change
		p.Keys = was.Keys
		if was.Op != op {
			p.Op = was.Op
		}
	}
	for i := range entries {
		if len(p.Keys) < mostKeys {
			p.Keys = append(p.Keys, entries[i].Key)
		}
	}
	if err := pendings.In(namespace).Put(c, c.Proposal, p); err != nil {
		return err
	}
	return alcove.Propose("it waits for approval as " + alcove.ID{Namespace: namespace, Key: c.Proposal}.String())
}
