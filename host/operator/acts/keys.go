package acts

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

func (a Acts) keys() []operator.Binding {
	return []operator.Binding{
		operator.ListKeys.By(query(a.listKeys)).Reading(),
		operator.CreateKey.By(a.createKey).Changing(),
		operator.LimitKeys.By(a.limitKeys).Changing(),
		operator.RevokeKey.By(a.revokeKey).Changing(),
		operator.DeleteKey.By(a.deleteKey).Changing(),
	}
}

func (a Acts) listKeys(context.Context) (operator.KeyList, error) {
	return operator.KeyList{Required: a.Keys.Required(), Limits: a.Keys.Limits(), Keys: a.Keys.List()}, nil
}

func (a Acts) createKey(_ context.Context, r operator.KeyRequest) (operator.IssuedKey, error) {
	g := keys.Grant{Agent: r.Agent, Namespaces: r.Namespaces, Rights: r.Rights, Limits: r.Limits}
	if r.Expires != "" {
		var err error
		if g.Expires, err = memory.ParseExpiry(r.Expires, a.Clock()); err != nil {
			return operator.IssuedKey{}, fmt.Errorf("expires: %w", err)
		}
	}
	narrowed, err := a.narrow("it gets an API key")
	if err != nil {
		return operator.IssuedKey{}, err
	}
	var key keys.Key
	var secret string
	err = a.changeKeys("create", g, func() (err error) { key, secret, err = a.Keys.Create(g); return err })
	if err == nil {
		_ = a.auditKey("created", key.ID) // the entry before the act has its rights; the log reports a failed write
	}
	return operator.IssuedKey{Key: key, Secret: secret, Narrowed: narrowed}, err
}

func (a Acts) limitKeys(_ context.Context, l operator.KeyLimits) (operator.KeyLimits, error) {
	recorded := change[keyLimits]{keyLimitsOf(a.Keys.LimitsSet()), keyLimitsOf(l)}
	err := a.changeKeys("limit all", recorded, func() error { return a.Keys.Limit(l) })
	return a.Keys.Limits(), err
}

func (a Acts) revokeKey(_ context.Context, r operator.KeyID) (key operator.Key, err error) {
	err = a.changeKeys("revoke", a.keyWith(r.ID), func() (err error) { key, err = a.Keys.Revoke(r.ID); return err })
	return key, err
}

func (a Acts) deleteKey(_ context.Context, r operator.KeyID) (key operator.Key, err error) {
	err = a.changeKeys("delete", a.keyWith(r.ID), func() (err error) { key, err = a.Keys.Delete(r.ID); return err })
	return key, err
}

func (a Acts) auditHead(context.Context) (operator.AuditHead, error) {
	if a.Space.Audit == nil {
		return operator.AuditHead{}, nil
	}
	return a.Space.Audit.Head()
}

// change is what an act changes, as the audit log has it.
type change[T any] struct {
	Before T `json:"before"`
	After  T `json:"after"`
}

// keyLimits are limits of keys as the audit log has them.
type keyLimits struct {
	keys.Limits // that apply
	// Set are those that an operator set, where defaults are among those that apply.
	Set keys.Limits `json:"set,omitzero"`
}

func keyLimitsOf(set keys.Limits) keyLimits {
	l := keyLimits{Limits: set.Effective(), Set: set}
	if l.Set == l.Limits {
		l.Set = keys.Limits{}
	}
	return l
}

// changeKeys records an operator's act on API keys before it takes effect, and that it failed.
func (a Acts) changeKeys(act string, about any, do func() error) error {
	if err := a.auditKey(act, about); err != nil {
		return err
	}
	err := do()
	if err != nil {
		_ = a.auditKey(act+" failed", err.Error()) // the log reports a failed write
	}
	return err
}

// auditKey records an operator's act on API keys. What it is about has no secret.
func (a Acts) auditKey(act string, about any) error {
	if a.Space.Audit == nil {
		return nil
	}
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	a.Space.Audit.Add(audit.Entry{Kind: audit.Changed, Agent: operatorAgent, Detail: "API keys: " + act + " " + string(text)})
	if err := a.Space.Audit.Flush(); err != nil {
		return &memory.Error{Code: memory.Unavailable, Retryable: true, Message: fmt.Sprintf("nothing was changed, because the audit log could not record it: %v", err)}
	}
	return nil
}

// keyWith returns the key with an id as it is, or the id of an unknown one.
func (a Acts) keyWith(id string) any {
	for _, k := range a.Keys.List() {
		if k.ID == id {
			return k
		}
	}
	return id
}

// RequireKeys decides whether clients without an API key are refused, by this server and later ones. Operators need none.
func (a Acts) RequireKeys(required bool) error {
	before := a.Keys.Required()
	if before == required {
		return nil
	}
	if required {
		if _, err := a.narrow("it requires API keys"); err != nil {
			return err
		}
	}
	return a.changeKeys("require", change[bool]{before, required}, func() error { return a.Keys.Require(required) })
}
