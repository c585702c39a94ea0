package governance

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// NamespaceSetStandard makes a memory the rule of a namespace.
//
// governance says who may write, promote and delete: any, registered, owner or approve. approver is "human", {"agent": name} or
// {"consensus": number}. What it leaves out follows from the namespaces above, and from *, unless inherit is false. It needs the right
// scope.admin, or to be the creator of its scope. A key as id is one of that namespace.
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

// NamespaceGetStandard tells the rules of a namespace.
//
// With inherit those of the namespaces above it and of * follow, the nearest first.
//
//alcove:title A namespace's standard
//alcove:description The rules that apply to a namespace.
//alcove:tool read-only
type NamespaceGetStandard struct {
	Namespace string `alcove:"required"`
	Inherit   bool
}

type gotStandards struct{ Standards []shownStandard }

type shownStandard struct {
	Namespace string
	ID        alcove.ID
	Content   string // Of the memory; empty if it is gone.
	SetBy     string `json:"set_by,omitzero"`
	Write     string `json:"write,omitzero"`
	Promote   string `json:"promote,omitzero"`
	Delete    string `json:"delete,omitzero"`
	Approver  string `json:"approver,omitzero"`
	Inherit   bool
}

// Call reads them.
func (in NamespaceGetStandard) Call(c *alcove.Call, cfg Config) (out gotStandards, err error) {
	b, err := cfg.book()
	if err != nil {
		return out, err
	}
	if can, err := c.CallerCan(alcove.CallerCanRequest{Action: "read", Namespace: in.Namespace}); err != nil || in.Namespace != everywhere && !can.Allowed {
		return out, err // as if there were none
	}
	for i, name := range chain(in.Namespace) {
		s, there := b.Rules[name]
		if !there || i > 0 && !in.Inherit {
			continue
		}
		shown := shownStandard{Namespace: name, ID: alcove.ParseID(s.ID), SetBy: s.By, Write: s.Write, Promote: s.Promote, Delete: s.Delete, Approver: s.Approver, Inherit: !s.Alone}
		if m, err := c.Find(shown.ID); err == nil && m != nil { // one that the caller may not read has no content
			shown.Content = m.Text()
		}
		out.Standards = append(out.Standards, shown)
		if s.Alone {
			break
		}
	}
	return out, nil
}

// NamespaceClearStandard removes the rule of a namespace. The memory stays.
//
//alcove:title Remove a namespace's standard
//alcove:description Remove a namespace's rule.
//alcove:tool destructive
type NamespaceClearStandard struct {
	Namespace string `alcove:"required"`
}

type cleared struct{ Success bool }

// Call removes it.
func (in NamespaceClearStandard) Call(c *alcove.Call, cfg Config) (out cleared, err error) {
	if err := mayRule(c, in.Namespace); err != nil {
		return out, err
	}
	b, err := cfg.book()
	if err != nil {
		return out, err
	}
	if _, there := b.Rules[in.Namespace]; !there {
		return out, alcove.Errorf(alcove.NotFound, "namespace %s has no rule", in.Namespace)
	}
	delete(b.Rules, in.Namespace)
	out.Success = true
	return out, b.keep(c, in.Namespace)
}
