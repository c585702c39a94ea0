package admission

import (
	"log/slog"

	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

// Delegates makes keys for the agents that families have work for callers.
type Delegates struct {
	Keys   *keys.Keys
	Logger *slog.Logger
}

// Draft implements ops.Delegates.
func (d Delegates) Draft(caller memory.Caller, r ops.Delegation) (ops.Delegated, error) {
	key, secret, err := d.Keys.Draft(caller, r.Family, keys.Grant{Agent: r.Name, Namespaces: r.Namespaces, Rights: r.Rights, Expires: d.Keys.Now().Add(r.Lasts)})
	return ops.Delegated{Secret: secret, ID: key.ID, Agent: key.Agent, Expires: key.Expires}, err
}

// Issue implements ops.Delegates.
func (d Delegates) Issue(id string) error {
	key, err := d.Keys.Issue(id)
	if err == nil {
		d.Logger.Info("a key was delegated", "key", key.ID, "agent", key.Agent, "family", key.By.Family, "parent", key.By.Parent,
			"namespaces", key.Namespaces, "rights", key.Rights, "expires", key.Expires)
	}
	return err
}

// Check implements ops.Delegates.
func (d Delegates) Check(caller memory.Caller, family, id string) error {
	return d.Keys.DelegatedBy(caller, family, id)
}

// Revoke implements ops.Delegates.
func (d Delegates) Revoke(id string) error {
	_, err := d.Keys.Revoke(id)
	if err == nil {
		d.Logger.Info("a delegated key was revoked", "key", id)
	}
	return err
}
