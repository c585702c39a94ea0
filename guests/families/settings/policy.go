package settings

import alcove "github.com/alcove-memory/alcove/sdk/go"

// SetScopePolicy overrides a setting for one scope, or several together: policies has values by their keys. null takes an override away.
// Of several overrides the one of the highest priority counts.
//
//alcove:description Override a setting for one scope.
//alcove:tool idempotent
//alcove:title Override a setting
//alcove:camel
type SetScopePolicy struct {
	ScopeID     string                      `alcove:"required"`
	PolicyKey   string                      `alcove:"alias=key"`
	PolicyValue alcove.Optional[alcove.Raw] `alcove:"clear,alias=value"`
	Policies    map[string]alcove.Raw       // Several that a rule holds together.
	Priority    int                         `alcove:"default=100"`
	Reason      string
}

// PolicySet is an override, with its version in the scope.
//
//alcove:camel
type PolicySet struct {
	PolicyKey string            `json:",omitzero"`
	Version   uint64            `json:",omitzero"`
	Versions  map[string]uint64 `json:",omitzero"` // Of several.
	Change    string            `json:",omitzero"` // To roll all of it back.
}

// Call sets it.
func (in SetScopePolicy) Call(c *alcove.Call) (out PolicySet, err error) {
	values := map[string]alcove.Raw{}
	for key, value := range in.Policies {
		values[key] = value
	}
	if in.PolicyKey != "" && in.PolicyValue.IsZero() || in.PolicyKey == "" && len(values) == 0 {
		return out, alcove.Errorf(alcove.InvalidArgument, "give policyKey and policyValue, or policies: values by their keys")
	}
	if in.PolicyKey != "" {
		values[in.PolicyKey] = in.PolicyValue.Or(alcove.Raw("null"))
	}
	done, err := put(c, alcove.ConfigPutRequest{Scope: scopeNamespace, Name: in.ScopeID, Reason: in.Reason, Changes: changesOf(values, &in.Priority)})
	if err != nil {
		return out, err
	}
	if len(values) > 1 {
		out.Versions = done.Versions
	}
	out.PolicyKey, out.Version, out.Change = in.PolicyKey, done.Versions[in.PolicyKey], done.Change
	return out, nil
}
