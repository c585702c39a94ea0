package governance

import alcove "github.com/alcove-memory/alcove/sdk/go"

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
