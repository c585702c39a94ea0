package agents

import (
	"cmp"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/meaning"
	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// ListAgents lists the agents that are registered in the namespace.
//
// With a query, those whose capabilities, role, purpose and name match it best come first, by words and by meaning, and those that do not
// match are left out. Where nobody matches, all come with their score, the nearest first, and nothing_matches says so.
//
//alcove:description Known agents, best match for a need first.
//alcove:title List agents
//alcove:tool read-only
//alcove:camel
type ListAgents struct {
	Query    string   `alcove:"max=2000"`              // What somebody is needed for.
	AgentIDs []string `alcove:"name=agentIds,max=100"` // Only these.
	Limit    int      `alcove:"default=50,min=1,max=500,alias=k"`
	Cursor   string
}

//alcove:camel
type agents struct {
	Agents         []listed
	NothingMatches bool   `json:"nothing_matches,omitzero"` // No agent matches the query: these are all, the nearest first.
	NextCursor     string `json:"next_cursor,omitzero"`
	Truncated      bool   `json:"truncated,omitzero"`
}

//alcove:camel
type listed struct {
	AgentID      string
	Name         string
	Role         string      `json:"role,omitzero"`
	Capabilities []string    `json:"capabilities,omitzero"`
	Telos        string      `json:"telos,omitzero"`
	RegisteredAt alcove.Time `json:"registered_at"`
	Score        *float64    `json:"score,omitzero"` // How well the agent matches the query, 0 to 1.
}

// mostMatched is how many agents of a namespace a query is compared with.
const mostMatched = 5000

// Call lists them.
func (in ListAgents) Call(c *alcove.Call, cfg Config) (out agents, err error) {
	switch {
	case strings.TrimSpace(in.Query) != "":
		return in.match(c, cfg)
	case len(in.AgentIDs) > 0:
		found, err := registered.GetAll(c, in.AgentIDs)
		for _, item := range found {
			if item != nil {
				out.Agents = append(out.Agents, shown(&item.Value))
			}
		}
		return out, err
	}
	page, err := registered.List(c, "", in.Cursor, in.Limit)
	for i := range page.Items {
		out.Agents = append(out.Agents, shown(&page.Items[i].Value))
	}
	out.NextCursor, out.Truncated = page.Next, page.Next != ""
	return out, err
}

func shown(a *agent) listed {
	return listed{AgentID: a.AgentID, Name: a.Name, Role: a.Role, Capabilities: a.Capabilities, Telos: a.Telos, RegisteredAt: a.RegisteredAt}
}

// match lists agents by how well they match the query.
func (in ListAgents) match(c *alcove.Call, cfg Config) (out agents, err error) {
	all, cut, err := everyone(c, c.Namespace, in.AgentIDs)
	if err != nil || len(all) == 0 {
		return out, err
	}
	fits, err := compare(c, in.Query, all)
	if err != nil {
		return out, err
	}
	matches := func(f fit) bool { return f.words > 0 || f.meaning > 0 && f.meaning >= cfg.RouteMinSimilarity }
	out.NothingMatches = !slices.ContainsFunc(fits, matches)
	for i, f := range fits {
		if out.NothingMatches || matches(f) {
			one := shown(&all[i])
			one.Score = new(score.Rounded(max(f.words, f.meaning, 0)))
			out.Agents = append(out.Agents, one)
		}
	}
	slices.SortFunc(out.Agents, func(a, b listed) int {
		return cmp.Or(cmp.Compare(*b.Score, *a.Score), cmp.Compare(a.AgentID, b.AgentID))
	})
	out.Truncated = cut || len(out.Agents) > in.Limit
	out.Agents = out.Agents[:min(len(out.Agents), in.Limit)]
	return out, nil
}

// everyone are the agents of a namespace, or those named; cut: there are more than are compared.
func everyone(c *alcove.Call, namespace string, only []string) (all []agent, cut bool, err error) {
	for item, err := range registered.In(namespace).All(c, "") {
		if err != nil {
			return nil, false, err
		}
		if len(all) == mostMatched {
			return all, true, nil
		}
		if len(only) == 0 || slices.Contains(only, item.Value.AgentID) {
			all = append(all, item.Value)
		}
	}
	return all, false, nil
}

// fit is how well an agent matches a query.
type fit struct {
	words   float64 // the share of the query's words that the agent has
	meaning float64 // the likeness of the query's vector and that of the capabilities; 0 without vectors
}

// compare tells how well agents match a query.
func compare(c *alcove.Call, query string, all []agent) ([]fit, error) {
	var texts []string
	for i := range all {
		a := &all[i]
		texts = append(texts, strings.Join([]string{a.text(), a.Role, a.Telos, a.Name}, "\n"))
	}
	has, err := terms(c, texts)
	if err != nil {
		return nil, err
	}
	wanted, err := needed(c, []string{query})
	if err != nil {
		return nil, err
	}
	v, err := meaning.Embed(c, "query", []string{query})
	if err != nil {
		return nil, err
	}
	if v.Model != "" {
		if err := complete(c, all, v.Model); err != nil {
			return nil, err
		}
	}
	list := make([]fit, len(all))
	for i := range all {
		list[i].words = share(wanted[0], has[i])
		if v.Model != "" && all[i].VectorModel == v.Model {
			list[i].meaning = meaning.Cosine(v.Of[0], all[i].CapabilityVector)
		}
	}
	return list, nil
}

// mostCompleted is how many agents get a vector for one query.
const mostCompleted = 256

// complete gives agents the vectors of a model for their capabilities, as far as they have none.
func complete(c *alcove.Call, all []agent, model string) error {
	var which []int
	var texts []string
	for i := range all {
		if all[i].VectorModel != model && len(all[i].Capabilities) > 0 && len(which) < mostCompleted {
			which, texts = append(which, i), append(texts, all[i].text())
		}
	}
	if len(which) == 0 {
		return nil
	}
	v, err := meaning.Embed(c, "document", texts)
	if err != nil || v.Model != model {
		return err
	}
	for n, i := range which {
		all[i].CapabilityVector, all[i].VectorModel = v.Of[n], model
	}
	return nil
}
