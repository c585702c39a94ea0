package agents

import alcove "github.com/alcove-memory/alcove/sdk/go"

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
