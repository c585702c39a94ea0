package governance

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// NamespaceSetStandard makes a memory the rule of a namespace.
//
// governance says who may write, promote and delete: any, registered, owner or approve. approver is "human", {"agent": name} or
// {"consensus": number}. What it leaves out follows from the namespaces above, and from *, unless inherit is false. It needs the right
// scope.admin, or to be the creator of its scope. A key as id is one of that namespace. While the store hook is off, which only an operator can
// turn on, nothing enforces a rule: enforced is false then, and the note has the command.
//
//alcove:title Set a namespace's standard
//alcove:description Make a memory the standing rule of a namespace.
//alcove:tool idempotent
type NamespaceSetStandard struct {
	Namespace  string    `alcove:"required"`
	ID         alcove.ID `alcove:"required"`
	Governance given
}

// given is a rule as callers write it.
type given struct {
	Write    string     `alcove:"enum=any|registered|owner|approve"`
	Promote  string     `alcove:"enum=any|registered|owner|approve"`
	Delete   string     `alcove:"enum=any|registered|owner|approve"`
	Approver alcove.Raw // "human", {"agent": name} or {"consensus": number}.
	Inherit  bool       `alcove:"default=true"`
}

type setStandard struct {
	Namespace string
	Version   uint64 `alcove:"committed"`
	enforcement
}

// Call sets it.
func (in NamespaceSetStandard) Call(c *alcove.Call, cfg Config) (out setStandard, err error) {
	if err := mayRule(c, in.Namespace); err != nil {
		return out, err
	}
	if in.ID.Namespace == "" && in.Namespace != everywhere {
		in.ID.Namespace = in.Namespace
	}
	m, err := c.Memory(in.ID)
	if err != nil {
		return out, err
	}
	approver, err := readApprover(in.Governance.Approver)
	if err != nil {
		return out, err
	}
	b, err := cfg.book()
	if err != nil {
		return out, err
	}
	g := in.Governance
	b.Rules[in.Namespace] = standard{ID: m.ID().String(), By: c.Caller, Write: g.Write, Promote: g.Promote, Delete: g.Delete, Approver: approver, Alone: !g.Inherit}
	out.Namespace = in.Namespace
	if out.enforcement, err = enforced(c); err != nil {
		return out, err
	}
	return out, b.keep(c, in.Namespace)
}

// mayRule returns why the caller may not set the rule of a namespace.
func mayRule(c *alcove.Call, namespace string) error {
	if c.Operator {
		return nil
	}
	if namespace != everywhere {
		write, err := c.CallerCan(alcove.CallerCanRequest{Action: "write", Namespace: namespace})
		if err != nil {
			return err
		}
		if !write.Allowed {
			return alcove.Errorf(alcove.Denied, "the rule of %s is set by those who may write it", namespace)
		}
		if s, err := c.ScopeGet(alcove.ScopeGetRequest{Namespace: namespace}); err == nil && c.Caller != "" && s.Scope.Creator == c.Caller {
			return nil
		}
	}
	admin, err := c.CallerCan(alcove.CallerCanRequest{Action: "scope.admin", Namespace: c.Namespace})
	if err == nil && !admin.Allowed {
		err = alcove.Errorf(alcove.Denied, "the rule of %s is set by the creator of its scope, and by callers with the right scope.admin", namespace)
	}
	return err
}

// keep stages the rules, and announces those of a namespace.
func (b book) keep(c *alcove.Call, namespace string) error {
	text, err := scan.Encode(&b)
	if err != nil {
		return err
	}
	if err := c.SetConfig(map[string]any{"standards": string(text)}); err != nil {
		return err
	}
	at := namespace
	if at == everywhere {
		at = c.Namespace
	}
	return announce(c, "standard_changed", at, map[string]any{"namespace": namespace})
}

func announce(c *alcove.Call, kind, namespace string, changes map[string]any) error {
	return c.FeedEmit(alcove.FeedEmitRequest{Kind: kind, Namespace: namespace, Payload: alcove.JSON(map[string]any{
		"agentId": c.Caller, "scopeId": namespace, "changes": changes,
	})})
}
