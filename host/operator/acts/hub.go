package acts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/scope"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

func (a Acts) hub() []operator.Binding {
	return []operator.Binding{
		operator.InvitePerson.By(a.invite).Changing(),
		operator.ListInvitations.By(query(func(context.Context) ([]operator.Invitation, error) { return a.Keys.Invitations(), nil })).Reading(),
		operator.WithdrawInvitation.By(a.withdraw).Changing(),
		operator.SetGroup.By(a.setGroup),
		operator.ListGroups.By(query(a.groups)).Reading(),
	}
}

func (a Acts) invite(_ context.Context, r operator.InvitationRequest) (operator.IssuedInvitation, error) {
	now := a.Clock()
	g := keys.Grant{Agent: r.Agent, Namespaces: r.Namespaces, Rights: r.Rights, Limits: r.Limits, Device: r.Device}
	usual := a.usual(r.Agent)
	if len(g.Namespaces) == 0 {
		g.Namespaces = usual.Namespaces
	}
	if len(g.Rights) == 0 {
		g.Rights = usual.Rights
	}
	if g.Limits == (keys.Limits{}) {
		g.Limits = usual.Limits
	}
	out := operator.IssuedInvitation{Address: a.Address}
	expires, err := expiry("key_expires", r.KeyExpires, now)
	if err != nil {
		return out, err
	}
	g.Expires = expires
	until, err := expiry("expires", r.Expires, now)
	if err != nil {
		return out, err
	}
	err = a.changeKeys("invite", g, func() (err error) { out.Invitation, out.Code, err = a.Keys.Invite(g, until); return err })
	return out, err
}

// usual is what a person's next device gets: what their newest key has, or else the newest invitation, or else what new persons get.
func (a Acts) usual(agent string) keys.Grant {
	g := keys.Grant{Namespaces: []string{agent, agent + "/*", operator.GroupPrefix + "*"},
		Rights: []memory.Right{memory.ToRead, memory.ToWrite, memory.ToBranch, memory.ToUse(memory.AllFamilies)}}
	for _, i := range a.Keys.Invitations() {
		if i.Agent == agent {
			g = i.Grant
		}
	}
	for _, k := range a.Keys.List() {
		if k.Agent == agent && k.By == nil && k.Subject == nil && k.Holds(a.Clock()) == nil {
			g = k.Grant
		}
	}
	return g
}

func (a Acts) withdraw(_ context.Context, r operator.InvitationID) (i operator.Invitation, err error) {
	err = a.changeKeys("withdraw the invitation", r.ID, func() (err error) { i, err = a.Keys.Withdraw(r.ID); return err })
	return i, err
}

// Join accepts an invitation.
func (a Acts) Join(code, device string) (key keys.Key, secret string, err error) {
	invited, err := a.Keys.Invited(code)
	if err != nil {
		return key, "", err
	}
	if _, err := a.narrow("others join it"); err != nil {
		return key, "", err
	}
	err = a.changeKeys("accept the invitation", invited, func() (err error) { key, secret, err = a.Keys.Join(code, device); return err })
	if err == nil {
		_ = a.auditKey("created", key.ID) // the log reports a failed write
	}
	return key, secret, err
}

// setGroup makes a group, or changes its members: it is a scope below GroupPrefix.
func (a Acts) setGroup(ctx context.Context, r operator.Group) (operator.Group, error) {
	stage, err := a.Space.Memory.As(memory.Caller{Agent: operatorAgent, Rights: memory.FullRights()}).Stage(ctx, memory.Default)
	if err != nil {
		return r, err
	}
	members := r.Members
	if _, _, err = stage.PutScope(ctx, operator.GroupPrefix+r.Name, scope.Change{Members: &members}, memory.CreateOrChangeScope); err == nil {
		_, err = stage.Commit(ctx, memory.Commit{})
	}
	if err != nil {
		return r, fmt.Errorf("change the group %s: %w", r.Name, err)
	}
	slices.Sort(r.Members)
	return r, nil
}

func (a Acts) groups(ctx context.Context) ([]operator.Group, error) {
	stage, err := a.everything().Stage(ctx, memory.Default)
	if err != nil {
		return nil, err
	}
	list := []operator.Group{}
	for q := (memory.ScopeQuery{Prefix: operator.GroupPrefix}); ; {
		page, next := stage.Scopes(q)
		for _, r := range page {
			list = append(list, operator.Group{Name: strings.TrimPrefix(r.Namespace, operator.GroupPrefix), Members: append([]string{}, r.Members...)})
		}
		if next == "" {
			return list, nil
		}
		q.After = next
	}
}

// expiry reads when something ends; zero: nobody said so.
func expiry(what, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := memory.ParseExpiry(text, now)
	if err != nil {
		return at, fmt.Errorf("%s: %w", what, err)
	}
	return at, nil
}
