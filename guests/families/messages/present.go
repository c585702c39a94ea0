package messages

import (
	"cmp"
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// WhoIsHere lists the agents that are active in the namespace, the latest first.
//
// They are those with an open connection that works there, which connected says, and those that called or spoke there in the last five
// minutes.
//
//alcove:description Who is active in this namespace.
//alcove:title Who is here
//alcove:tool read-only
type WhoIsHere struct{}

type company struct{ Agents []present }

type present struct {
	AgentID   string `json:"agentId"`
	Name      string
	Role      string `json:"role,omitzero"`
	JoinedAt  string
	LastSeen  string
	Connected bool
}

const (
	activeFor = 5 * alcove.Minute
	mostHere  = 1000
	mostAsked = 100 // agents whose profiles one call of memory_list_agents returns
)

// Call lists them.
func (WhoIsHere) Call(c *alcove.Call) (out company, err error) {
	here := map[string]*present{}
	list, err := c.SessionList(alcove.SessionListRequest{Namespace: c.Namespace, RecentS: int(activeFor.Seconds()), Limit: mostHere})
	if err != nil {
		return out, err
	}
	for _, s := range list.Sessions {
		see(here, s.Agent, s.BeganAt, cmp.Or(s.LastAt, s.BeganAt), s.Session != "")
	}
	if err := speakers(c, here); err != nil {
		return out, err
	}
	var names []string
	for agent := range here {
		names = append(names, agent)
	}
	known, err := profiles(c, names)
	if err != nil {
		return out, err
	}
	for agent, p := range here {
		p.Name, p.Role = cmp.Or(known[agent].Name, agent), known[agent].Role
		out.Agents = append(out.Agents, *p)
	}
	slices.SortFunc(out.Agents, func(a, b present) int {
		return cmp.Or(cmp.Compare(b.LastSeen, a.LastSeen), cmp.Compare(a.AgentID, b.AgentID))
	})
	return out, nil
}

// see adds what is known of an agent.
func see(here map[string]*present, agent, joined, last string, connected bool) {
	if agent == "" {
		return
	}
	p := here[agent]
	if p == nil {
		here[agent] = &present{AgentID: agent, JoinedAt: joined, LastSeen: last, Connected: connected}
		return
	}
	if connected && !p.Connected || connected == p.Connected && joined < p.JoinedAt {
		p.JoinedAt = joined
	}
	p.LastSeen, p.Connected = max(p.LastSeen, last), p.Connected || connected
}

// speakers adds those that spoke in the room.
func speakers(c *alcove.Call, here map[string]*present) error {
	l, err := open(c, ofRoom)
	if err != nil {
		return err
	}
	first, _, err := l.after(c, 0, c.Time().Add(-activeFor))
	for n := max(first, l.Next-min(l.Next, mostHere)); err == nil && n < l.Next; n++ {
		var item *alcove.Item[message]
		if item, err = l.one(c, n); err == nil && item != nil {
			at := item.Value.At.String()
			see(here, item.Value.From, at, at, false)
		}
	}
	return err
}

// profile is what an agent is registered with.
type profile struct {
	AgentID string `json:"agentId"`
	Name    string
	Role    string
}

//alcove:json
type profiled struct{ Agents []profile }

//alcove:json
type wanted struct {
	AgentIDs []string `json:"agentIds,omitzero"`
}

// profiles are the registrations of agents, by agent. Without the family agents there are none.
func profiles(c *alcove.Call, agents []string) (map[string]profile, error) {
	known := map[string]profile{}
	agents = slices.Compact(slices.Sorted(slices.Values(agents)))
	for len(agents) > 0 {
		part := agents[:min(len(agents), mostAsked)]
		agents = agents[len(part):]
		var out profiled
		switch err := c.CallTool("memory_list_agents", wanted{part}, &out); alcove.CodeOf(err) {
		case "":
		case alcove.Denied, alcove.NotFound, alcove.Unavailable:
			return known, nil
		default:
			return nil, err
		}
		for _, p := range out.Agents {
			known[p.AgentID] = p
		}
	}
	return known, nil
}
