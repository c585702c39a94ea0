package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/scope"
	"github.com/alcove-memory/alcove/host/store"
)

// Allowance is the quota of each agent in a namespace, and AllowedTotal that of the namespace, whoever writes.
type (
	Allowance    = scope.Quota
	AllowedTotal = scope.Total
)

// SetQuota stages the quota of a namespace; the zero Quota is none. Only the owner of the data directory may.
func (t *Stage) SetQuota(ctx context.Context, namespace string, q scope.Quota) error {
	if !t.access.caller.IsOwner() {
		return &Error{Code: Denied, Message: "quotas are set by the operator: alcove quota set"}
	}
	if err := t.space.limits.checkName("namespace", namespace); err != nil {
		return err
	}
	if err := q.Check(); err != nil {
		return invalid("%v", err)
	}
	now, _, err := t.scope(ctx, namespace)
	if err != nil {
		return err
	}
	r := scope.Limited(namespace, t.now)
	if now != nil {
		r = *now
	}
	r.Quota = q
	t.held = nil
	if q.Total != (scope.Total{}) {
		held, err := t.space.countHeld(ctx, namespace)
		if err != nil {
			return err
		}
		w, err := keptWrite(spentKey(namespace, everybody), held)
		if err != nil {
			return err
		}
		t.held = []store.Write{w}
	}
	return t.keepScope(ctx, r)
}

// spend charges the changes of the stage to the quotas of namespaces and of the caller's key, in the same commit, or returns the error of an
// exceeded quota. The caller calls release after the commit.
func (t *Stage) spend(ctx context.Context, c Commit) (release func(), err error) {
	t.spent = slices.Clone(t.held)
	limits := t.keyLimits()
	limited := t.limitedSites(len(limits) > 0)
	if len(limited) == 0 {
		return func() {}, nil
	}
	names := slices.Sorted(maps.Keys(limited))
	locks := slices.Clone(names)
	for _, k := range limits {
		locks = append(locks, ofKey+k.ID)
	}
	slices.Sort(locks)
	release = t.space.quotas.Lock(locks)
	var cost Spent // of the key
	for _, name := range names {
		writes, of, err := t.spendIn(ctx, c, name, limited[name])
		if err != nil {
			release()
			return nil, err
		}
		t.spent = append(t.spent, writes...)
		cost.Memories, cost.Links, cost.Bytes = cost.Memories+of.Memories, cost.Links+of.Links, cost.Bytes+of.Bytes
	}
	for _, k := range limits {
		w, err := t.space.spendOfKey(ctx, k, cost)
		if err != nil {
			release()
			return nil, err
		}
		t.spent = append(t.spent, w)
	}
	return release, nil
}

// limitedSites returns the changed memories and received versions by namespace: of namespaces with a quota, or of all.
func (t *Stage) limitedSites(all bool) map[string][]site {
	limited := map[string][]site{}
	for _, at := range t.order {
		counts := at.Collection == memories || at.Collection == pasts
		if counts && !at.system && (all || !t.space.quotaOf(at.Namespace).Unlimited()) {
			limited[at.Namespace] = append(limited[at.Namespace], at)
		}
	}
	return limited
}

// spendIn is spend for one namespace, whose lock is held. It also returns the cost of the changes for the committing agent.
func (t *Stage) spendIn(ctx context.Context, c Commit, namespace string, sites []site) (writes []store.Write, own Spent, err error) {
	costs, held, err := t.costs(ctx, c, sites)
	if err != nil {
		return nil, own, err
	}
	own = costs[t.payer()]
	quota := t.space.quotaOf(namespace)
	if quota.Total != (scope.Total{}) {
		w, err := t.space.spendTotal(ctx, namespace, held)
		if err != nil {
			return nil, own, err
		}
		writes = append(writes, w)
	}
	if quota.Total = (scope.Total{}); quota.Unlimited() {
		return writes, own, nil
	}
	each, err := t.spendOfAgents(ctx, namespace, quota, costs)
	return append(writes, each...), own, err
}

// spendOfAgents adds to what each agent stored in a namespace.
func (t *Stage) spendOfAgents(ctx context.Context, namespace string, quota scope.Quota, costs map[string]Spent) (writes []store.Write, err error) {
	agents := slices.Sorted(maps.Keys(costs))
	known, err := t.space.spent(ctx, namespace, agents)
	if err != nil {
		return nil, err
	}
	day := dayOf(t.space.clock())
	for i, agent := range agents {
		was, cost := known[i].on(day), costs[agent]
		will := Spent{Day: day, Memories: was.Memories + cost.Memories, Links: was.Links + cost.Links, Bytes: max(0, was.Bytes+cost.Bytes)}
		if err := fits(quota, namespace, agent, was, will); err != nil {
			return nil, err
		}
		w, err := spentWrite(namespace, agent, will)
		if err != nil {
			return nil, err
		}
		writes = append(writes, w)
	}
	return writes, nil
}

// costs returns the cost of changes of a namespace's memories, by agent, and their effect on the holdings.
func (t *Stage) costs(ctx context.Context, c Commit, sites []site) (map[string]Spent, Holdings, error) {
	var held Holdings
	from := t.branch.Lineage // its newest versions; only the holder of the lock changes them
	if t.forks(c) {
		from = t.ground()
	}
	keys := make([]store.Key, len(sites))
	for i, at := range sites {
		keys[i] = at.Key
	}
	found, err := t.space.engine.GetAt(ctx, from, keys)
	if err != nil {
		return nil, held, t.space.translate("read what is changed", err)
	}
	costs := map[string]Spent{t.payer(): {}}
	for i, at := range sites {
		if at.Collection == pasts { // a version of another space does not count as held
			spent := costs[t.payer()]
			spent.Memories++
			costs[t.payer()] = spent
			continue
		}
		var was *record.Record
		if found[i].Exists() {
			r, err := record.Decode(found[i])
			if err != nil {
				return nil, held, err
			}
			was = &r
		}
		t.cost(costs, was, t.changed[at])
		held.change(was, t.changed[at])
	}
	return costs, held, nil
}

// payer returns the agent whose quota is charged: for a delegated key, the delegating agent.
func (t *Stage) payer() string { return cmp.Or(t.access.caller.Principal, t.access.caller.author()) }

// cost adds the cost of a change. The bytes of the former version are credited to its author.
func (t *Stage) cost(costs map[string]Spent, was, will *record.Record) {
	if was != nil {
		by := was.Agent
		if by == t.agent || by == t.access.caller.Agent {
			by = t.payer()
		}
		s := costs[by]
		s.Bytes -= weight(was)
		costs[by] = s
	}
	if will == nil {
		return
	}
	s := costs[t.payer()]
	s.Bytes += weight(will)
	s.Links += added(was, will)
	if was == nil || !sameBut(*was, *will) {
		s.Memories++
	}
	costs[t.payer()] = s
}

// added counts the new links of a version.
func added(was, will *record.Record) (n int64) {
	for _, link := range will.Links {
		if was == nil || !slices.Contains(was.Links, link) {
			n++
		}
	}
	return n
}

// sameBut reports whether two versions differ only in links and state.
func sameBut(was, will record.Record) bool {
	was.Links, will.Links, was.State, will.State = nil, nil, "", ""
	return was.SameContent(will)
}

// fits returns an error if a change exceeds a quota. A change that adds nothing is never refused.
func fits(q scope.Quota, namespace, agent string, was, will Spent) error {
	for _, of := range []struct {
		limit, what    string
		was, will, max int64
	}{
		{"memories_a_day", "memories today", was.Memories, will.Memories, q.Memories},
		{"links_a_day", "links today", was.Links, will.Links, q.Links},
		{"bytes", "bytes", was.Bytes, will.Bytes, q.Bytes},
	} {
		if of.max > 0 && of.will > of.max && of.will > of.was {
			return &Error{Code: Exhausted, Message: fmt.Sprintf("agent %q would have %d %s in namespace %q, and its quota is %d: nothing was stored; an operator can change the quota", agent, of.will, of.what, namespace, of.max),
				Rule: "quota " + of.limit, Details: map[string]any{"limit": of.limit, "value": of.max, "used": of.was, "namespace": namespace}}
		}
	}
	return nil
}

// QuotaUse is the use of an agent in a namespace, with its quota.
type QuotaUse struct {
	Namespace string      `json:"namespace"`
	Agent     string      `json:"agent,omitempty"` // empty: nobody stored anything yet
	Quota     scope.Quota `json:"quota"`
	Spent     Spent       `json:"spent"` // of today
	Holds     Holdings    `json:"holds"` // the namespace, if it has a total quota
}

// QuotaUses lists the quotas of namespaces that the caller may read, with the use of agents. Callers that are neither the owner nor
// administrators of scopes see only their own use. An empty agent selects all.
func (a *Access) QuotaUses(ctx context.Context, agent string) (list []QuotaUse, err error) {
	if !a.caller.Rights.ReadsAnything() {
		return nil, &Error{Code: Denied, Message: "this caller may read no namespace"}
	}
	own := ""
	if !a.caller.IsOwner() && !a.caller.Rights.May(ToAdministerScopes) {
		own = cmp.Or(a.caller.Principal, a.caller.author())
	}
	for _, r := range a.space.scopes.List() {
		if r.Quota.Unlimited() || !a.caller.Rights.MayRead(r.Namespace) {
			continue
		}
		uses, err := a.space.usesOf(ctx, r)
		if err != nil {
			return nil, err
		}
		held, err := a.space.holdings(ctx, r.Namespace)
		if err != nil {
			return nil, err
		}
		uses = slices.DeleteFunc(uses, func(u QuotaUse) bool { return own != "" && u.Agent != own || agent != "" && u.Agent != agent })
		if len(uses) == 0 {
			uses = []QuotaUse{{Namespace: r.Namespace, Agent: cmp.Or(own, agent), Quota: r.Quota, Spent: Spent{Day: dayOf(a.space.clock())}}}
		}
		for i := range uses {
			uses[i].Holds = held
		}
		list = append(list, uses...)
	}
	return list, nil
}

func (s *Space) usesOf(ctx context.Context, r *scope.Record) (list []QuotaUse, err error) {
	b := s.catalogue.System()
	if b == nil {
		return nil, nil
	}
	within := store.Range{Namespace: lineage.Namespace, Collection: spending, Prefix: r.Namespace + "#"}
	for page, err := range store.Pages(ctx, s.engine.ScanAt, b.Lineage, within, cataloguePage) {
		if err != nil {
			return nil, s.translate("read what was stored", err)
		}
		for _, e := range page {
			kept, err := decodeSpent(e)
			if err != nil {
				return nil, err
			}
			agent := strings.TrimPrefix(e.Key.Name, r.Namespace+"#")
			if agent == everybody {
				continue
			}
			list = append(list, QuotaUse{Namespace: r.Namespace, Agent: agent, Quota: r.Quota, Spent: kept.on(dayOf(s.clock()))})
		}
	}
	return list, nil
}
