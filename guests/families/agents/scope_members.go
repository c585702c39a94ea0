package agents

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// ScopeMembers adds and removes members of a scope, and lists them.
//
// Its creator may change it, and a caller with the right scope.admin. A removed member loses the scope at once.
//
//alcove:description Add or remove members.
//alcove:title Members of a scope
//alcove:camel
type ScopeMembers struct {
	ScopeID string   `alcove:"required"`
	Add     []string `alcove:"many,max=1000"`
	Remove  []string `alcove:"many,max=1000"`
}

type members struct{ Members []string }

// Call changes the members.
func (in ScopeMembers) Call(c *alcove.Call) (out members, err error) {
	if len(in.Add)+len(in.Remove) == 0 {
		return in.list(c)
	}
	changed, err := c.ScopeMembers(alcove.ScopeMembersRequest{Namespace: in.ScopeID, Add: in.Add, Remove: in.Remove})
	if err != nil {
		return out, err
	}
	out.Members = changed.Members
	err = emit(c, "scope_members_changed", c.Caller, in.ScopeID, changes{Add: in.Add, Remove: in.Remove})
	if alcove.CodeOf(err) == alcove.Denied { // an archived scope has no news
		err = nil
	}
	return out, err
}

func (in ScopeMembers) list(c *alcove.Call) (out members, err error) {
	found, err := c.ScopeGet(alcove.ScopeGetRequest{Namespace: in.ScopeID})
	if err != nil {
		return out, err
	}
	out.Members = found.Scope.Members
	if found.Scope.Creator != "" {
		out.Members = append(out.Members, found.Scope.Creator)
	}
	slices.Sort(out.Members)
	return out, nil
}
