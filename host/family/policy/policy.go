// Package policy decides whether a caller may act on a resource: allow, or deny with a reason. Its decisions are pure functions.
package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/internal/namespace"
)

// Everything is the scope that covers everything of a kind.
const Everything = "*"

// Rights are the namespaces that a caller may read and write.
type Rights interface {
	MayRead(namespace string) bool
	MayWrite(namespace string) bool
	// Readable and Writable list namespaces; all is true if every one may be read, or written.
	Readable() (namespaces []string, all bool)
	Writable() (namespaces []string, all bool)
	// Held lists the namespaces that the caller's key lets it write, whatever rights records say.
	Held() (namespaces []string, all bool)
}

// Grant is a capability that an operator granted a family, with a scope.
type Grant struct {
	Name  abi.Capability
	Scope []string // empty if the capability has none
	// Elsewhere is the only work in which it holds, which the call is no part of; empty: it holds.
	Elsewhere string
}

// Powers are the powers of one call of a family: what its manifest asks for, the operator granted, and its caller has the rights
// to. The zero Powers allow nothing.
type Powers struct {
	family  string
	allowed map[abi.Capability][]string // scopes; nil if the capability has none
	asked   []abi.Request               // by the manifest
	granted []Grant
	rights  Rights // of the caller
	advice  Advice
}

// Of returns the powers of a call of a family. It keeps the lists, which must not be changed.
func Of(family string, asked []abi.Request, granted []Grant, rights Rights) Powers {
	p := Powers{family: family, allowed: map[abi.Capability][]string{}, asked: asked, granted: granted, rights: rights}
	readOnly := p.readOnly()
	for _, a := range asked {
		for _, g := range granted {
			if g.Name != a.Name || g.Elsewhere != "" || readOnly && Writes(a.Name) {
				continue
			}
			scope := p.withinCaller(a.Name, Common(a.Scope, g.Scope))
			if a.Name.Scope() == "none" || len(scope) > 0 {
				p.allowed[a.Name] = append(p.allowed[a.Name], scope...)
			}
		}
	}
	return p
}

// Advised returns the powers with what their denials tell operators.
func (p Powers) Advised(a Advice) Powers {
	p.advice = a
	return p
}

// Advice is what denials tell operators.
func (p Powers) Advice() Advice { return p.advice }

// askedFor returns the scope of a capability in the manifest; ok is false if it is not in it.
func (p Powers) askedFor(c abi.Capability) (scope []string, ok bool) {
	for _, a := range p.asked {
		if a.Name == c {
			scope, ok = append(scope, a.Scope...), true
		}
	}
	return scope, ok
}

// grantedFor returns the scope of a capability as it was granted; ok is false if it was not. elsewhere is the only work in which a grant
// of it holds, if there is one that does not hold in the call.
func (p Powers) grantedFor(c abi.Capability) (scope []string, elsewhere string, ok bool) {
	for _, g := range p.granted {
		if g.Name == c {
			scope, ok = append(scope, g.Scope...), true
			elsewhere = cmp.Or(g.Elsewhere, elsewhere)
		}
	}
	return scope, elsewhere, ok
}

// readOnly reports whether the caller has no right to write.
func (p Powers) readOnly() bool {
	writable, all := p.rights.Writable()
	return !all && len(writable) == 0
}

// Writes reports whether a capability changes something that a read-only caller must not change.
func Writes(c abi.Capability) bool {
	switch c {
	case abi.CanMemoryWrite, abi.CanMemoryPropose, abi.CanLogAppend, abi.CanFeedEmit, abi.CanBranchWrite, abi.CanLinkWrite,
		abi.CanConfigWrite, abi.CanConfigShared, abi.CanToolsPublish, abi.CanJob, abi.CanMemoryCount, abi.CanFeedKind, abi.CanNamespaceDelete, abi.CanEmbedRebuild,
		abi.CanScopeWrite, abi.CanIdentityDelegate, abi.CanFileWrite:
		return true
	}
	return false
}

// Common intersects two scopes.
func Common(a, b []string) []string { return namespace.Common(a, b) }

// withinCaller returns the part of a scope that the caller has a right to: to write it, if the capability does.
func (p Powers) withinCaller(c abi.Capability, scope []string) []string {
	if c.Scope() != "namespaces" {
		return scope
	}
	of := p.rights.Readable
	switch {
	case c == abi.CanScopeWrite: // who may change a rights record is for the stage to decide: an archived scope would stay archived
		of = p.rights.Held
	case Writes(c):
		of = p.rights.Writable
	}
	namespaces, all := of()
	if all {
		return scope
	}
	return Common(scope, namespaces)
}

// callerMay reports whether the caller has the right to a namespace that a capability needs.
func (p Powers) callerMay(c abi.Capability, name string) bool {
	switch {
	case c == abi.CanScopeWrite:
		held, all := p.rights.Held()
		return all || namespace.Covers(held, name)
	case Writes(c):
		return p.rights.MayWrite(name)
	}
	return p.rights.MayRead(name)
}

// Has reports whether the capability is held for anything at all.
func (p Powers) Has(c abi.Capability) bool {
	_, ok := p.allowed[c]
	return ok
}

// Allows reports whether the capability covers a name; an empty name is for capabilities without a scope.
func (p Powers) Allows(c abi.Capability, name string) bool {
	scope, ok := p.allowed[c]
	return ok && (c.Scope() == "none" || namespace.Covers(scope, name))
}

// Check is Allows with a reason, for the guest and for readers of its log.
func (p Powers) Check(c abi.Capability, name string) error {
	if p.Allows(c, name) {
		return nil
	}
	what := string(c)
	if name != "" {
		what += fmt.Sprintf(" for %.128s", name)
	}
	asked, inManifest := p.askedFor(c)
	granted, elsewhere, wasGranted := p.grantedFor(c)
	e := &abi.Error{Code: abi.CodeDenied, Details: map[string]any{"capability": string(c)}}
	switch {
	case !inManifest || !covers(c, asked, name):
		e.Message = fmt.Sprintf("%s is not in the manifest of family %s", what, p.family)
	case p.readOnly() && Writes(c):
		e.Message = fmt.Sprintf("%s is denied, because the caller or the tool is read-only", what)
	case name != "" && c.Scope() == "namespaces" && !p.callerMay(c, name) && p.rights.MayRead(name):
		e.Message = fmt.Sprintf("%s is denied, because the caller may only read the namespace", what)
	case name != "" && c.Scope() == "namespaces" && !p.callerMay(c, name):
		e.Message = fmt.Sprintf("%s is denied, because the caller has no access to the namespace", what)
	case !wasGranted || !covers(c, granted, name):
		e.Message = fmt.Sprintf("%s was not granted to family %s: %s", what, p.family, p.advice.Grant("grant it", p.family, wanted(c, granted, name)))
	case elsewhere != "":
		e.Message = fmt.Sprintf("%s was granted to family %s for its %s alone: %s", what, p.family, elsewhere, p.advice.Grant("grant it for all of its work", p.family, restated(c, granted)))
	default:
		e.Message = fmt.Sprintf("%s is beyond what the manifest of family %s asks for, what it was granted, or what its caller may do", what, p.family)
	}
	return e
}

// covers reports whether a scope contains a name; without a name, whether there is a scope.
func covers(c abi.Capability, scope []string, name string) bool {
	return c.Scope() == "none" || namespace.Covers(scope, Everything) || name == "" && len(scope) > 0 || name != "" && namespace.Covers(scope, name)
}

// scopeForm matches valid names of a scope. Guests send any; an operator must never be shown an invalid one to type.
var scopeForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._/-]{1,128}$`) })

// wanted formats the capability to grant for a name, including what is granted already.
func wanted(c abi.Capability, granted []string, name string) string {
	if c.Scope() == "none" || !scopeForm().MatchString(name) {
		return string(c) // for all that the manifest asks for
	}
	return restated(c, append(slices.Clone(granted), name))
}

// restated formats a capability as it is granted.
func restated(c abi.Capability, granted []string) string {
	if c.Scope() == "none" {
		return string(c)
	}
	return string(c) + "=" + strings.Join(granted, ",")
}

// Scope returns the scope of a capability; ["*"] for everything of its kind, and nothing if it is not held.
func (p Powers) Scope(c abi.Capability) []string { return slices.Clone(p.allowed[c]) }

// List returns every capability held, in the order of the ABI.
func (p Powers) List() []Grant {
	var list []Grant
	for _, c := range abi.Capabilities() {
		if scope, ok := p.allowed[c]; ok {
			list = append(list, Grant{Name: c, Scope: slices.Clone(scope)})
		}
	}
	return list
}
