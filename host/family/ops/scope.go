package ops

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/scope"
	"github.com/alcove-memory/alcove/host/memory/sessions"
)

func scopeGet(call *Call, ctx context.Context, r abi.ScopeGetRequest) (out abi.ScopeGetResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.mayScope(abi.CanScopeRead, namespace); err != nil {
		return out, err
	}
	found, err := call.Stage.Scope(ctx, namespace)
	if err == nil && found == nil {
		err = memory.NoScope(namespace)
	}
	if err != nil {
		return out, err
	}
	return abi.ScopeGetResponse{Scope: scopeOf(found)}, nil
}

// mayScope checks the family's capability for a namespace. If only the caller lacks the right to it, the operation answers as if it had
// no record.
func (call *Call) mayScope(c abi.Capability, namespace string) error {
	if !call.Caller.Rights.MayRead(namespace) {
		return nil
	}
	return call.Powers.Check(c, namespace)
}

func scopeOf(r *scope.Record) abi.Scope {
	return abi.Scope{Namespace: r.Namespace, Name: r.Name, Description: r.Description, Creator: r.Creator, Members: append([]string{}, r.Members...),
		Read: string(r.Read), Write: string(r.Write), RetentionDays: r.RetentionDays, Archived: r.Archived, CreatedAt: memory.FormatTime(r.Created)}
}

func scopeList(call *Call, _ context.Context, r abi.ScopeListRequest) (out abi.ScopeListResponse, err error) {
	q := memory.ScopeQuery{Prefix: r.Prefix, After: r.After, Limit: r.Limit,
		Only: func(namespace string) bool { return call.Powers.Allows(abi.CanScopeRead, namespace) }}
	if r.Limit == 0 {
		q.Limit = defaultPage
	}
	if r.Archived {
		q.Archived = memory.WithArchived
	}
	list, next := call.Stage.Scopes(q)
	out = abi.ScopeListResponse{Scopes: make([]abi.Scope, len(list)), Next: next}
	for i, found := range list {
		out.Scopes[i] = scopeOf(found)
	}
	return out, nil
}

func scopePut(call *Call, ctx context.Context, r abi.ScopePutRequest) (out abi.ScopePutResponse, err error) {
	only := memory.CreateOrChangeScope
	if r.Create {
		only = memory.CreateScope
	}
	c := scope.Change{Name: r.Name, Description: r.Description, Read: policyOf(r.Read), Write: policyOf(r.Write), RetentionDays: r.RetentionDays, Archived: r.Archived}
	if r.Members != nil {
		c.Members = &r.Members
	}
	if err := call.mayScope(abi.CanScopeWrite, r.Namespace); err != nil {
		return out, err
	}
	put, created, err := call.Stage.PutScope(ctx, r.Namespace, c, only)
	if err != nil {
		return out, err
	}
	return abi.ScopePutResponse{Scope: scopeOf(&put), Created: created}, nil
}

func policyOf(name string) *scope.Policy {
	if name == "" {
		return nil
	}
	p := scope.Policy(name)
	return &p
}

func scopeMembers(call *Call, ctx context.Context, r abi.ScopeMembersRequest) (out abi.ScopeMembersResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.mayScope(abi.CanScopeWrite, namespace); err != nil {
		return out, err
	}
	put, _, err := call.Stage.PutScope(ctx, namespace, scope.Change{Add: r.Add, Remove: r.Remove}, memory.ChangeScope)
	if err != nil {
		return out, err
	}
	out.Members = append([]string{}, put.Members...)
	if put.Creator != "" {
		out.Members = append(out.Members, put.Creator)
	}
	slices.Sort(out.Members)
	return out, nil
}

func scopeDelete(call *Call, ctx context.Context, r abi.ScopeDeleteRequest) (out abi.ScopeDeleteResponse, err error) {
	if err := call.mayScope(abi.CanScopeWrite, r.Namespace); err != nil {
		return out, err
	}
	of := memory.EmptyScope
	if r.Force {
		of = memory.AnyScope
	}
	return out, call.Stage.DeleteScope(ctx, r.Namespace, of)
}

func callerCan(call *Call, _ context.Context, r abi.CallerCanRequest) (out abi.CallerCanResponse, err error) {
	right := memory.Right(r.Action)
	if !memory.IsRight(right) {
		return out, invalid("the action %.64q is none of read, write, branch, config, scope.admin, site.admin, act_as and family:NAME", r.Action)
	}
	who := call.Caller
	if call.Held != nil {
		who.Rights = *call.Held
	}
	access := call.host.Space.As(who)
	switch {
	case r.Agent == "" || r.Agent == call.Caller.Agent:
		err = access.Has(right, call.in(r.Namespace))
	case right == memory.ToRead || right == memory.ToWrite:
		if err := call.Powers.Check(abi.CanScopeRead, call.in(r.Namespace)); err != nil {
			return out, err
		}
		err = access.HasAgent(r.Agent, right, call.in(r.Namespace))
	default:
		return out, invalid("of another agent only read and write are known: its key decides about the rest")
	}
	if err == nil && r.Key != "" && call.CheckKey != nil {
		err = call.CheckKey(r.Key)
	}
	if err != nil {
		return abi.CallerCanResponse{Reason: err.Error()}, nil
	}
	return abi.CallerCanResponse{Allowed: true}, nil
}

func sessionList(call *Call, _ context.Context, r abi.SessionListRequest) (out abi.SessionListResponse, err error) {
	out.Sessions = []abi.Session{}
	if call.host.Sessions == nil {
		return out, nil
	}
	shown := call.peers()
	if r.Namespace != "" {
		if shown, err = call.present(r.Namespace); err != nil {
			return out, err
		}
	}
	limit := r.Limit
	if limit == 0 {
		limit = defaultPage
	}
	all := call.host.Sessions()
	if r.RecentS > 0 && call.host.Recent != nil {
		all = append(all, call.host.Recent(time.Duration(r.RecentS)*time.Second)...)
	}
	for _, s := range all {
		if r.Namespace != "" && cmp.Or(s.Namespace, memory.Default) != r.Namespace {
			continue
		}
		if r.Agent != "" && s.Caller.Agent != r.Agent || !shown(s.Caller) {
			continue
		}
		if len(out.Sessions) == limit {
			out.More = true
			break
		}
		out.Sessions = append(out.Sessions, SessionOf(s))
	}
	return out, nil
}

// SessionOf returns a session as guests see it.
func SessionOf(s sessions.Session) abi.Session {
	out := abi.Session{Session: s.ID, Agent: s.Caller.Agent, Client: s.Caller.Client, BeganAt: memory.FormatTime(s.Began), Calls: s.Calls,
		Namespace: s.Namespace, Branch: s.Branch}
	if !s.Last.IsZero() {
		out.LastAt = memory.FormatTime(s.Last)
	}
	if !s.Ended.IsZero() {
		out.EndedAt = memory.FormatTime(s.Ended)
	}
	return out
}

// present returns whose sessions in a namespace the caller is shown: those of all that may read it, as far as rights records decide.
func (call *Call) present(namespace string) (func(memory.Caller) bool, error) {
	if err := call.mayRead(namespace); err != nil {
		return nil, err
	}
	space := call.space()
	return func(c memory.Caller) bool {
		return c.IsOwner() || space.HasAgent(c.AsMember(), memory.ToRead, namespace) == nil
	}, nil
}

// peers returns whose sessions the caller is shown: those of its principal, and of members of the scopes that it may read; or for the
// owner, all.
func (call *Call) peers() func(memory.Caller) bool {
	if call.Caller.IsOwner() {
		return func(memory.Caller) bool { return true }
	}
	known := map[string]bool{}
	for after := ""; ; {
		list, next := call.Stage.Scopes(memory.ScopeQuery{After: after, Limit: 1000})
		for _, r := range list {
			if !r.Includes(call.Caller.AsMember()) {
				continue
			}
			known[r.Creator] = true
			for _, member := range r.Members {
				known[member] = true
			}
		}
		if after = next; next == "" {
			break
		}
	}
	own := call.Caller.AsMember()
	return func(c memory.Caller) bool { return c.AsMember() == own || known[c.AsMember()] }
}

func quotaList(call *Call, ctx context.Context, r abi.QuotaListRequest) (out abi.QuotaListResponse, err error) {
	list, err := call.space().QuotaUses(ctx, r.Agent)
	out.Quotas = []abi.QuotaUse{}
	for _, u := range list {
		if call.Powers.Allows(abi.CanScopeRead, u.Namespace) {
			out.Quotas = append(out.Quotas, abi.QuotaUse{Namespace: u.Namespace, Agent: u.Agent, Day: u.Spent.Day, Memories: int(u.Spent.Memories), MostMemories: int(u.Quota.Memories),
				Links: int(u.Spent.Links), MostLinks: int(u.Quota.Links), Bytes: int(u.Spent.Bytes), MostBytes: int(u.Quota.Bytes)})
		}
	}
	return out, err
}
