package agents

import alcove "github.com/alcove-memory/alcove/sdk/go"

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
