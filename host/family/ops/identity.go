package ops

import (
	"context"
	"encoding/json"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// Delegation is a request for a key with a part of a caller's rights.
type Delegation struct {
	Family     string // that makes it
	Name       string // of the agent, after the caller's
	Namespaces []string
	Rights     []memory.Right
	Lasts      time.Duration
}

// Delegated is a key that was made, and does not hold yet.
type Delegated struct {
	Secret, ID, Agent string
	Expires           time.Time
}

// Delegates makes keys for agents that work for a caller.
type Delegates interface {
	// Draft makes a key that holds from Issue on. It refuses what exceeds the caller's rights.
	Draft(caller memory.Caller, d Delegation) (Delegated, error)
	Issue(id string) error
	// Check returns an error unless a family made a key for a caller; Revoke ends it.
	Check(caller memory.Caller, family, id string) error
	Revoke(id string) error
}

func (call *Call) delegates() (Delegates, error) {
	if call.host.Delegates == nil {
		return nil, &abi.Error{Code: abi.CodeUnavailable, Message: "this server makes no keys"}
	}
	return call.host.Delegates, nil
}

// identityDelegate drafts a key at once, because its secret is in the answer, and issues it after the commit.
func identityDelegate(call *Call, _ context.Context, r abi.IdentityDelegateRequest) (out abi.IdentityDelegateResponse, err error) {
	keys, err := call.delegates()
	if err != nil {
		return out, err
	}
	for _, namespace := range r.Namespaces {
		if err := call.Powers.Check(abi.CanIdentityDelegate, namespace); err != nil {
			return out, err
		}
	}
	d := Delegation{Family: call.Manifest.Name, Name: r.Name, Namespaces: r.Namespaces, Lasts: time.Duration(r.ExpiresS) * time.Second}
	for _, right := range r.Rights {
		d.Rights = append(d.Rights, memory.Right(right))
	}
	if r.Rights == nil {
		d.Rights = []memory.Right{memory.ToRead, memory.ToWrite}
	}
	made, err := keys.Draft(call.Caller, d)
	if err != nil {
		return out, err
	}
	call.secret = true
	call.after("issue the key of "+made.Agent, func(context.Context) error { return keys.Issue(made.ID) }, true) // or the answer shows what opens nothing
	return abi.IdentityDelegateResponse{Key: made.Secret, ID: made.ID, Agent: made.Agent, ExpiresAt: memory.FormatTime(made.Expires)}, nil
}

func identityRevoke(call *Call, _ context.Context, r abi.IdentityRevokeRequest) (out abi.IdentityRevokeResponse, err error) {
	keys, err := call.delegates()
	if err != nil {
		return out, err
	}
	if err := keys.Check(call.Caller, call.Manifest.Name, r.ID); err != nil {
		return out, err
	}
	call.After("revoke the key", func(context.Context) error { return keys.Revoke(r.ID) })
	return out, nil
}

// Keepable returns an answer as it may be kept: not at all, if the call showed its caller a secret.
func (call *Call) Keepable(answer json.RawMessage) json.RawMessage {
	if call.secret {
		return nil
	}
	return answer
}
