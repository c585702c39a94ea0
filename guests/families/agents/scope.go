package agents

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// CreateScope creates a scope: a namespace that its members share.
//
// Its id is the name, in lower case and with hyphens for blanks; the key of the caller must cover it, as team/board for team/*. Nobody
// grants a right to write that they lack.
//
//alcove:description Create a shared scope.
//alcove:title Create a scope
//alcove:camel
type CreateScope struct {
	Name          string   `alcove:"required,min=1,max=200"`
	Description   string   `alcove:"max=2000"`
	Members       []string `alcove:"many,max=1000"` // Agents besides you.
	ReadPolicy    string   `alcove:"default=members,enum=members|all|creator"`
	WritePolicy   string   `alcove:"default=members,enum=members|all|creator"`
	RetentionDays int      `alcove:"min=0,max=36500"` // 0: unlimited.
}

//alcove:camel
type createdScope struct {
	ScopeID string
}

// Call creates the scope.
func (in CreateScope) Call(c *alcove.Call) (out createdScope, err error) {
	if out.ScopeID, err = idOf(in.Name); err != nil {
		return out, err
	}
	r := alcove.ScopePutRequest{Namespace: out.ScopeID, Create: true, Name: &in.Name, Members: in.Members, Read: in.ReadPolicy, Write: in.WritePolicy}
	if in.Description != "" {
		r.Description = &in.Description
	}
	if in.RetentionDays > 0 {
		r.RetentionDays = &in.RetentionDays
	}
	if _, err := c.ScopePut(r); err != nil {
		return out, err
	}
	return out, emit(c, "scope_created", c.Caller, out.ScopeID, changes{Name: in.Name, Add: in.Members})
}

// idOf is the id of a scope with a name.
func idOf(name string) (string, error) {
	id := make([]byte, 0, len(name))
	for _, r := range name {
		switch {
		case 'A' <= r && r <= 'Z':
			id = append(id, byte(r)+'a'-'A')
		case r < 128 && inNamespace(byte(r)):
			id = append(id, byte(r))
		case len(id) > 0 && id[len(id)-1] != '-':
			id = append(id, '-')
		}
	}
	for len(id) > 0 && id[len(id)-1] == '-' {
		id = id[:len(id)-1]
	}
	if len(id) == 0 || len(id) > longestNamespace {
		return "", alcove.Errorf(alcove.InvalidArgument, "the name %q makes no id of 1 to %d letters, digits, dots, hyphens and slashes", name, longestNamespace)
	}
	return string(id), nil
}

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

// DeleteScope archives a scope: nobody with a key may write it any more.
//
// It is refused while the scope holds memories on the call's branch, unless force is set. With hard the rights record is deleted, and what
// the namespace holds stays closed to all but the owner.
//
//alcove:description Archive a scope; refuses while it holds facts.
//alcove:title Delete a scope
//alcove:tool destructive
//alcove:camel
type DeleteScope struct {
	ScopeID string `alcove:"required"`
	Force   bool
	Hard    bool
}

//alcove:camel
type deletedScope struct {
	Success  bool
	EntityID string
}

// Call deletes the scope.
func (in DeleteScope) Call(c *alcove.Call) (out deletedScope, err error) {
	if _, err := c.ScopeGet(alcove.ScopeGetRequest{Namespace: in.ScopeID}); err != nil {
		return out, err
	}
	if !in.Force {
		held, err := c.MemoryList(alcove.MemoryListRequest{Namespace: in.ScopeID, Count: "only"})
		if err != nil {
			return out, err
		}
		if held.Total != nil && *held.Total > 0 {
			return out, alcove.Errorf(alcove.Conflict, "scope %s holds %d memories: move or archive them, or repeat this with force", in.ScopeID, *held.Total).Final()
		}
	}
	if in.Hard {
		err = c.ScopeDelete(alcove.ScopeDeleteRequest{Namespace: in.ScopeID, Force: in.Force})
	} else {
		archived := true
		_, err = c.ScopePut(alcove.ScopePutRequest{Namespace: in.ScopeID, Archived: &archived})
	}
	return deletedScope{err == nil, in.ScopeID}, err
}
