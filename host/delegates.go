package host

import (
	"log/slog"

	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/sessions"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

// delegates makes keys for the agents that families have work for callers.
type delegates struct {
	keys   *keys.Keys
	logger *slog.Logger
}

// Draft implements ops.Delegates.
func (d delegates) Draft(caller memory.Caller, r ops.Delegation) (ops.Delegated, error) {
	key, secret, err := d.keys.Draft(caller, r.Family, keys.Grant{Agent: r.Name, Namespaces: r.Namespaces, Rights: r.Rights, Expires: d.keys.Now().Add(r.Lasts)})
	return ops.Delegated{Secret: secret, ID: key.ID, Agent: key.Agent, Expires: key.Expires}, err
}

// Issue implements ops.Delegates.
func (d delegates) Issue(id string) error {
	key, err := d.keys.Issue(id)
	if err == nil {
		d.logger.Info("a key was delegated", "key", key.ID, "agent", key.Agent, "family", key.By.Family, "parent", key.By.Parent,
			"namespaces", key.Namespaces, "rights", key.Rights, "expires", key.Expires)
	}
	return err
}

// Check implements ops.Delegates.
func (d delegates) Check(caller memory.Caller, family, id string) error {
	return d.keys.DelegatedBy(caller, family, id)
}

// Revoke implements ops.Delegates.
func (d delegates) Revoke(id string) error {
	_, err := d.keys.Revoke(id)
	if err == nil {
		d.logger.Info("a delegated key was revoked", "key", id)
	}
	return err
}

func (h *Host) sessionBegan(s sessions.Session) {
	if h.families != nil {
		h.families.SessionBegan(s)
	}
}

func (h *Host) sessionEnded(s sessions.Session) {
	if h.families != nil {
		h.families.SessionEnded(s)
	}
}
