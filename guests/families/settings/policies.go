package settings

import alcove "github.com/alcove-memory/alcove/sdk/go"

// ListScopePolicies lists the overrides of a scope. They are in the order of their keys, with who set them.
//
//alcove:description Overrides of a scope.
//alcove:tool read-only
//alcove:title List overrides
//alcove:camel
type ListScopePolicies struct {
	ScopeID string `alcove:"required"`
}

// Policies are the overrides of a scope.
type Policies struct{ Policies []Policy }

// Policy is an override.
//
//alcove:camel
type Policy struct {
	ScopeID     string
	PolicyKey   string
	PolicyValue alcove.Raw
	Priority    int
	Version     uint64
	CreatedBy   string
	CreatedAt   string
}

// Call lists them.
func (in ListScopePolicies) Call(c *alcove.Call) (out Policies, err error) {
	return out, each(c, alcove.ConfigListRequest{Scope: scopeNamespace, Name: in.ScopeID}, func(s *alcove.SettingState) {
		out.Policies = append(out.Policies, Policy{in.ScopeID, s.Key, s.Value, s.Priority, s.Version, s.UpdatedBy, s.UpdatedAt})
	})
}
