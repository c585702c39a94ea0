package agents

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/alcove-memory/alcove/guests/lib/meaning"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Routing notifies agents of memories that match their capabilities.
//
//alcove:stored collections=memory
type Routing struct{}

// routes are the memories that were routed, so that a later version is not routed again to the same agents.
var routes = alcove.Records[routed]{Name: "routed", Per: "space", Expires: "7d", Unversioned: true}

type routed struct{ Agents []string }

// Stored routes what was stored.
func (Routing) Stored(c *alcove.Call, cfg Config, entries []alcove.Entry) error {
	if !cfg.RouteEnabled {
		return nil
	}
	byNamespace := map[string][]*alcove.Entry{}
	var order []string
	for i := range entries {
		e := &entries[i]
		if e.Deleted || e.State != "" && e.State != "active" || e.Importance == nil || *e.Importance <= cfg.RouteMinImportance {
			continue
		}
		if byNamespace[e.Namespace] == nil {
			order = append(order, e.Namespace)
		}
		byNamespace[e.Namespace] = append(byNamespace[e.Namespace], e)
	}
	for _, namespace := range order {
		r, err := newRouter(c, cfg, namespace)
		if err == nil && len(r.agents) > 0 {
			err = r.route(byNamespace[namespace])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// router routes the memories of one namespace.
type router struct {
	c         *alcove.Call
	cfg       Config
	namespace string
	agents    []agent           // that may read the namespace and have capabilities
	words     []map[string]bool // of the capabilities of each
	model     string            // of the agents' vectors; empty: there is no embedder
}

func newRouter(c *alcove.Call, cfg Config, namespace string) (*router, error) {
	r := &router{c: c, cfg: cfg, namespace: namespace}
	all, err := candidates(c, namespace)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if len(a.Capabilities) == 0 {
			continue
		}
		may, err := c.CallerCan(alcove.CallerCanRequest{Action: "read", Namespace: namespace, Agent: a.AgentID})
		if err != nil {
			return nil, err
		}
		if may.Allowed {
			r.agents = append(r.agents, a)
		}
	}
	return r, nil
}

// candidates are the agents that are registered in a namespace, and the members of its scope that are registered in their private scopes.
func candidates(c *alcove.Call, namespace string) ([]agent, error) {
	all, _, err := everyone(c, namespace, nil)
	if err != nil {
		return nil, err
	}
	found, err := c.ScopeGet(alcove.ScopeGetRequest{Namespace: namespace})
	if alcove.CodeOf(err) == alcove.NotFound {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	for _, member := range append(found.Scope.Members, found.Scope.Creator) {
		if slices.ContainsFunc(all, func(a agent) bool { return a.AgentID == member }) {
			continue
		}
		a, err := inPrivate(c, member)
		if err != nil {
			return nil, err
		}
		if a != nil {
			all = append(all, *a)
		}
	}
	return all, nil
}

// route notifies the agents of some memories.
func (r *router) route(entries []*alcove.Entry) error {
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = said(e)
	}
	v, err := r.prepare(texts)
	if err != nil {
		return err
	}
	found, err := terms(r.c, texts)
	if err != nil {
		return err
	}
	for i, e := range entries {
		m := match{words: found[i]}
		if v.Model != "" {
			m.vector = v.Of[i]
		}
		if err := r.notify(e, texts[i], r.choose(e, m)); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes the vectors of texts, and of agents' capabilities that have none of this model yet.
func (r *router) prepare(texts []string) (meaning.Vectors, error) {
	abilities := make([]string, len(r.agents))
	for i := range r.agents {
		abilities[i] = r.agents[i].text()
	}
	var err error
	if r.words, err = needed(r.c, abilities); err != nil {
		return meaning.Vectors{}, err
	}
	v, err := meaning.Embed(r.c, "document", texts)
	if err != nil || v.Model == "" {
		return v, err
	}
	r.model = v.Model
	for i := range r.agents {
		a := &r.agents[i]
		if a.VectorModel == v.Model {
			continue
		}
		own, err := meaning.Embed(r.c, "document", abilities[i:i+1])
		if err != nil {
			return meaning.Vectors{}, err
		}
		if own.Model == v.Model {
			a.CapabilityVector, a.VectorModel = own.Of[0], own.Model
		}
	}
	return v, nil
}

// match is what is compared of a memory.
type match struct {
	words  map[string]bool
	vector []float32
}

// receiver is an agent to be notified.
type receiver struct {
	agentID   string
	relevance float64
}

// choose returns the agents that a memory is for, the best first. Its writer is none of them.
func (r *router) choose(e *alcove.Entry, m match) (list []receiver) {
	for i := range r.agents {
		a := &r.agents[i]
		if a.AgentID == e.Agent {
			continue
		}
		relevance, enough := share(r.words[i], m.words), false
		if m.vector != nil && a.VectorModel == r.model {
			relevance = meaning.Cosine(m.vector, a.CapabilityVector)
			enough = relevance > r.cfg.RouteMinSimilarity
		} else {
			enough = relevance > 0 && relevance >= r.cfg.RouteMinSimilarity
		}
		if enough {
			list = append(list, receiver{a.AgentID, relevance})
		}
	}
	slices.SortFunc(list, func(a, b receiver) int {
		return cmp.Or(cmp.Compare(b.relevance, a.relevance), cmp.Compare(a.agentID, b.agentID))
	})
	return list[:min(len(list), r.cfg.RouteMaxAgents)]
}

// notice are the arguments of memory_notify.
//
//alcove:json
type notice struct {
	TargetAgentID string
	Title         string
	Payload       summary
	FactID        alcove.ID `json:"factId"`
	Reason        string
	Namespace     string
}

type summary struct {
	Text string
	Type string `json:"type,omitzero"`
}

const (
	longestTitle   = 120
	longestSummary = 1000
)

// notify notifies the agents that were not notified of the memory before.
func (r *router) notify(e *alcove.Entry, text string, list []receiver) error {
	if len(list) == 0 {
		return nil
	}
	before, _, err := routes.In(r.namespace).Get(r.c, e.Key)
	if err != nil {
		return err
	}
	known := len(before.Agents)
	for _, to := range list {
		if slices.Contains(before.Agents, to.agentID) {
			continue
		}
		n := notice{TargetAgentID: to.agentID, Title: words.Cut(text, longestTitle), Payload: summary{words.Cut(text, longestSummary), e.Type},
			FactID: alcove.ID{Namespace: e.Namespace, Key: e.Key}, Reason: "relevance:" + thousandths(to.relevance), Namespace: r.namespace}
		switch err := r.c.CallTool("memory_notify", n, nil); alcove.CodeOf(err) {
		case "":
			before.Agents = append(before.Agents, to.agentID)
		case alcove.NotFound, alcove.Denied, alcove.InvalidArgument:
			r.c.Log("agent %s is not notified of %s: %v", to.agentID, n.FactID, err)
		default:
			return err
		}
	}
	if len(before.Agents) == known {
		return nil
	}
	return routes.In(r.namespace).Put(r.c, e.Key, before)
}

func thousandths(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// said is what a memory says.
func said(e *alcove.Entry) string {
	if text, ok := e.Value.Text(); ok {
		return text
	}
	return words.Text(e.Value, words.Long)
}
