package governance

import alcove "github.com/alcove-memory/alcove/sdk/go"

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

type gotStandards struct {
	Standards []shownStandard
	enforcement
}

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
	if out.enforcement, err = enforced(c); err != nil {
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
