package agents

import (
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// registered are the registrations in a namespace, by agent.
var registered = alcove.Records[agent]{Name: "agent", Per: "space", Sync: "newest"}

// agent is a registration.
//
//alcove:camel
type agent struct {
	AgentID          string
	Name             string
	Role             string      `json:"role,omitzero"`
	Capabilities     []string    `json:"capabilities,omitzero"`
	CapabilityVector []float32   `json:"capability_vector,omitzero"`
	VectorModel      string      `json:"vector_model,omitzero"` // the model that made the vector
	Telos            string      `json:"telos,omitzero"`
	Settings         alcove.Raw  `json:"settings,omitzero"`
	DefaultScope     string      `json:"defaultScope,omitzero"`
	PromptStyle      string      `json:"promptStyle,omitzero"`
	RegisteredAt     alcove.Time `json:"registered_at"`
	UpdatedAt        alcove.Time `json:"updated_at,omitzero"`
}

// text is what the agent's capabilities say.
func (a *agent) text() string { return strings.Join(a.Capabilities, ", ") }

// private is the scope of an agent's own.
func private(agentID string) string { return "private-" + agentID }

// isNamespace reports whether a namespace may have a name.
func isNamespace(name string) bool {
	for i := range len(name) {
		if !inNamespace(name[i]) {
			return false
		}
	}
	return name != "" && len(name) <= longestNamespace
}

const longestNamespace = 128

func inNamespace(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '/' || c == '-'
}

// find is the registration of an agent: in the call's namespace, or else in the agent's private scope. Nil: there is none that the caller
// may read.
func find(c *alcove.Call, agentID string) (*agent, error) {
	a, ok, err := registered.Get(c, agentID)
	if err != nil || ok {
		return &a, err
	}
	return inPrivate(c, agentID)
}

func inPrivate(c *alcove.Call, agentID string) (*agent, error) {
	home := private(agentID)
	if !isNamespace(home) {
		return nil, nil
	}
	a, ok, err := registered.In(home).Get(c, agentID)
	if alcove.CodeOf(err) == alcove.Denied || err == nil && !ok {
		return nil, nil
	}
	return &a, err
}

// put stages a registration wherever the agent is registered, and in its private scope, if that is there.
func (a *agent) put(c *alcove.Call, namespaces ...string) error {
	for _, namespace := range namespaces {
		if err := registered.In(namespace).Put(c, a.AgentID, *a); err != nil {
			return err
		}
	}
	return nil
}

// event is the payload of events.
//
//alcove:camel
//alcove:json
type event struct {
	AgentID string
	ScopeID string
	Changes changes
}

//alcove:camel
type changes struct {
	Name   string   `json:"name,omitzero"`
	Role   string   `json:"role,omitzero"`
	Add    []string `json:"add,omitzero"`
	Remove []string `json:"remove,omitzero"`
}

func emit(c *alcove.Call, kind, agentID, namespace string, what changes) error {
	e := event{AgentID: agentID, ScopeID: namespace, Changes: what}
	return c.FeedEmit(alcove.FeedEmitRequest{Kind: kind, Payload: alcove.JSON(e), Namespace: namespace})
}
