// Package grants decides what a version of a family may do, by the lock file.
//
// The life of a decision:
//
//  1. A version asks for capabilities and hooks in its manifest (Asks). Nothing is granted to one that nobody decided about; a built-in
//     one was vetted with the program, and has what reaches nothing outside.
//  2. A Request of the operator changes its grant (Apply), which is for this version alone. It wins over the posture of the directory,
//     which gives built-in families more as long as their grants follow it (Gives).
//  3. In returns the grant of a version by a lock; Untrusted says why the lock does not admit it.
//  4. Another version takes its place: it inherits nothing (Fresh), what it still asks for (Keeping), or what it had before (Restored).
//     A required store hook stays with the version that was approved for it.
package grants

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/registry/signature"
)

// Sources of versions that are not files of the watched folder.
const (
	BuiltIn   = "built in"
	Installed = "installed"
	Approved  = "approved" // a replaced version that still serves its store hook
	Tried     = "tried"    // it is called once, and is not among the others
)

// Version is a version of a family, as far as grants are decided by it.
type Version struct {
	Name     string
	Digest   string // empty: its module is not known
	Source   string // BuiltIn, Installed, Approved, Tried, or the path of a file
	Manifest *abi.Manifest
	Section  []byte           // the manifest's bytes
	Asks     registry.Asked   // of a built-in family
	Signed   signature.Signed // of its bytes
}

// Applies reports whether a grant is for this version of a family.
func Applies(g registry.Grant, x *Version) bool {
	if x.Source == BuiltIn {
		return g.Asked != nil
	}
	return g.Asked == nil && g.Digest == x.Digest
}

// In returns the grant of a version by a lock file: what was Decided, and what the posture of the directory gives beyond it.
func In(lock registry.Lock, x *Version) registry.Grant {
	g := Decided(lock, x)
	if x.Source == BuiltIn && g.Follows && lock.PostureInForce() == registry.Personal {
		return personal(g, x)
	}
	return g
}

// Decided returns the grant of a version by a lock file without its posture: the operator's, or the default of a built-in family.
func Decided(lock registry.Lock, x *Version) registry.Grant {
	g, listed := lock.Families[x.Name]
	switch {
	case x.Source == Approved:
		a, _ := g.Approved()
		return succession(registry.Grant{Guard: &a}, x.Digest, x.Manifest.Version)
	case x.Source == Tried:
		return builtGrant(x)
	case listed && Applies(g, x) && x.Source == BuiltIn:
		return carriedGrant(g, x)
	case listed && Applies(g, x):
		return g
	case x.Source == BuiltIn:
		next := builtGrant(x)
		next.Follows = true
		inherited := succession(g, x.Digest, x.Manifest.Version)
		next.Disabled, next.Guard = inherited.Disabled, inherited.Guard
		return next
	case listed:
		return succession(g, x.Digest, x.Manifest.Version)
	}
	return registry.Grant{Digest: x.Digest}
}

// Holds reports whether a capability was granted, for anything at all.
func Holds(g registry.Grant, c abi.Capability) bool {
	return slices.ContainsFunc(g.Capabilities, func(have registry.Capability) bool { return have.Name == c })
}

// OnFailure returns the action for a failed store hook: the operator's, else the manifest's, else skip.
func OnFailure(operator abi.OnFailure, m *abi.Manifest) abi.OnFailure {
	if operator == "" && m.Hooks.Store != nil {
		operator = m.Hooks.Store.OnFailure
	}
	if operator == "" {
		return abi.OnFailureSkip
	}
	return operator
}

// Powers returns the powers of a version, with a grant, for a caller with some rights in a part of its work; empty: in any.
func Powers(g registry.Grant, x *Version, rights policy.Rights, during registry.Work) policy.Powers {
	var granted []policy.Grant
	for _, c := range g.Capabilities {
		one := policy.Grant{Name: c.Name, Scope: c.Scope}
		if c.During != "" && during != "" && c.During != during {
			one.Elsewhere = string(c.During)
		}
		granted = append(granted, one)
	}
	return policy.Of(x.Name, x.Manifest.Capabilities, granted, rights)
}

// Quota returns a quota of a family: the operator's, or the default.
func Quota(g registry.Grant, name string) int64 {
	if set := g.Limits[name]; set > 0 {
		return set
	}
	return abi.DefaultQuota(name)
}

// RecordQuota returns the quota of a family's records.
func RecordQuota(g registry.Grant, by Raiser) memory.Quota {
	return memory.Quota{Records: Quota(g, abi.QuotaRecords), Bytes: Quota(g, abi.QuotaRecordBytes), Raiser: by}
}

// Raiser says how an operator raises the quotas of a family.
type Raiser struct {
	Family string
	Advice policy.Advice
}

// Raise says how an operator raises a quota, by its name.
func (r Raiser) Raise(quota string) string {
	return r.Advice.Grant("raise the quota", r.Family, "--limit", quota+"=N")
}

// Limits returns the limits that an operator lowered.
func Limits(g registry.Grant) abi.Limits {
	var limits abi.Limits
	limits.Each(func(name string, value *int64) { *value = g.Limits[name] })
	return limits
}

// Lacking lists the capabilities that a family with hooks on asks for and lacks, as a whole or, for a store hook that every namespace
// needs, in part.
func Lacking(x *Version, g registry.Grant) (list []string) {
	if len(g.Hooks) == 0 {
		return nil
	}
	for _, asked := range x.Manifest.Capabilities {
		i := indexOf(g.Capabilities, asked.Name)
		everywhere := g.Hooks[abi.HookStore].OnFailure == abi.OnFailureRefuse && asked.Name.Scope() == "namespaces"
		switch {
		case i < 0:
			list = append(list, string(asked.Name))
		case everywhere && !slices.Contains(g.Capabilities[i].Scope, policy.Everything):
			list = append(list, fmt.Sprintf("%s outside of %s", asked.Name, strings.Join(g.Capabilities[i].Scope, ", ")))
		}
	}
	return list
}

// CloneLock returns a lock whose maps can be changed.
func CloneLock(l registry.Lock) registry.Lock {
	next := l
	next.Families, next.Endpoints, next.Roots, next.Keys = cloned(l.Families), cloned(l.Endpoints), cloned(l.Roots), cloned(l.Keys)
	return next
}

func cloned[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return maps.Clone(m)
}
