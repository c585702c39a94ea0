package acts

import (
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

// MayAuthorize returns why a caller cannot give a client a grant.
func (a Acts) MayAuthorize(caller memory.Caller, c keys.Client, g keys.Grant) error {
	return a.Keys.MayAuthorize(caller, c, g)
}

// authorized is an authorization as the audit log has it.
type authorized struct {
	Client keys.Client `json:"client"`
	Parent string      `json:"parent,omitempty"` // empty: the operator
	keys.Grant
}

// Authorize gives a client of OAuth a part of a caller's rights.
func (a Acts) Authorize(caller memory.Caller, c keys.Client, g keys.Grant) (key keys.Key, t keys.Tokens, err error) {
	if _, err := a.narrow("it gets a client of OAuth"); err != nil {
		return key, t, err
	}
	err = a.changeKeys("authorize", authorized{c, caller.Key, g}, func() (err error) { key, t, err = a.Keys.Authorize(caller, c, g); return err })
	if err == nil {
		_ = a.auditKey("created", key.ID) // the log reports a failed write
	}
	return key, t, err
}

// Refresh gives a client new tokens.
func (a Acts) Refresh(token, client, resource string) (key keys.Key, t keys.Tokens, err error) {
	key, t, err = a.Keys.Refresh(token, client, resource)
	switch {
	case err == nil:
		_ = a.auditKey("refresh", key.ID) // the log reports a failed write
	case key.ID != "":
		_ = a.auditKey("refresh failed", key.ID+": "+err.Error()) // likewise
	}
	return key, t, err
}

// RevokeToken revokes the authorization that a token of a client belongs to, if there is one.
func (a Acts) RevokeToken(token, client string) error {
	key, ok := a.Keys.OfToken(token, client)
	if !ok {
		return nil
	}
	return a.RevokeAuthorization(key.ID)
}

// RevokeAuthorization revokes an authorization.
func (a Acts) RevokeAuthorization(id string) error {
	return a.changeKeys("revoke", a.keyWith(id), func() error { _, err := a.Keys.Revoke(id); return err })
}

// Subject returns the key of a subject with a grant. What is new about it is recorded before.
func (a Acts) Subject(of keys.Subject, g keys.Grant) (key keys.Key, err error) {
	key, same, err := a.Keys.OfSubject(of, g)
	if same || err != nil {
		return key, err
	}
	if _, err := a.narrow("tokens of " + of.Issuer + " let in others"); err != nil {
		return key, err
	}
	about := change[any]{a.keyWith(key.ID), struct {
		Subject keys.Subject `json:"subject"`
		keys.Grant
	}{of, g}}
	err = a.changeKeys("subject", about, func() (err error) { key, err = a.Keys.SetSubject(of, g); return err })
	return key, err
}
