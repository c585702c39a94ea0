package agents

import alcove "github.com/alcove-memory/alcove/sdk/go"

// Whoami tells who the server takes the caller for.
//
// A registration is of one namespace: in another, the caller has no name and role. rights are those of the caller's key here; an owner
// without a key has all.
//
//alcove:description Who the server thinks you are.
//alcove:title Who am I
//alcove:tool read-only
//alcove:camel
type Whoami struct{}

//alcove:camel
type self struct {
	AgentID    string
	Name       string `json:"name,omitzero"`
	Role       string `json:"role,omitzero"`
	Registered bool   // In this namespace.
	Namespace  string
	Branch     string
	Client     string   `json:"client,omitzero"`
	SessionID  string   `json:"sessionId,omitzero"`
	Rights     []string // Of read, write, branch, config, scope.admin, site.admin and act_as.
}

// Call tells it.
func (Whoami) Call(c *alcove.Call) (out self, err error) {
	who, err := c.CallerGet()
	if err != nil {
		return out, err
	}
	out = self{AgentID: who.Caller, Namespace: who.Namespace, Branch: who.Branch, Client: who.Client, SessionID: who.Session}
	for _, right := range []string{"read", "write", "branch", "config", "scope.admin", "site.admin", "act_as"} {
		may, err := c.CallerCan(alcove.CallerCanRequest{Action: right})
		if err != nil {
			return out, err
		}
		if may.Allowed {
			out.Rights = append(out.Rights, right)
		}
	}
	if who.Caller == "" {
		return out, nil
	}
	a, here, err := registered.Get(c, who.Caller)
	if here {
		out.Name, out.Role, out.Registered = a.Name, a.Role, true
	}
	return out, err
}
