package tool

import "github.com/alcove-memory/alcove/host/tool/request"

// Common parameters, which every tool accepts. A tool's own parameter of the same name takes precedence.
const (
	branchParameter    = "branch"
	namespaceParameter = "namespace"
	asOfParameter      = "as_of"
	dryRunParameter    = "dry_run"
	scopeParameter     = "scopeId" // another name of namespace
)

// parameters are the names of a tool's parameters.
type parameters struct {
	request.Names
	common map[string]bool // common parameters that the tool does not define
}

func parametersOf(s Spec) parameters {
	described := describedBy(s.Input)
	p := parameters{common: map[string]bool{}, Names: request.Names{
		Tool: s.Name, Types: described.types(), Known: map[string]string{}, Closed: described.refuseMore(), Beside: s.Beside,
	}}
	p.Free, p.Passes = len(p.Types) == 0 && !p.Closed && !s.Lenient || described.describeMore(), !s.Lenient && !p.Closed
	ambiguous := map[string]bool{}
	for name := range p.Types {
		if _, twice := p.Known[request.Fold(name)]; twice {
			ambiguous[request.Fold(name)] = true
		}
		p.Known[request.Fold(name)] = name
	}
	for spelling := range ambiguous { // the tool distinguishes them
		delete(p.Known, spelling)
	}
	for alias, name := range s.Parameters {
		if _, taken := p.Known[request.Fold(alias)]; !taken && !ambiguous[request.Fold(alias)] {
			p.Known[request.Fold(alias)] = name
		}
	}
	if name := soleID(described.Required); name != "" && p.Known[idMember] == "" && !ambiguous[idMember] {
		p.Known[idMember] = name
	}
	p.addCommon(s, ambiguous)
	return p
}

// addCommon adds the common parameters. A lenient tool names all that it reads in its schema, so it gets only those that
// change how it is called.
func (p *parameters) addCommon(s Spec, ambiguous map[string]bool) {
	for _, name := range []string{branchParameter, namespaceParameter, asOfParameter, dryRunParameter} {
		_, taken := p.Known[request.Fold(name)]
		where := name == branchParameter || name == namespaceParameter
		if taken || ambiguous[request.Fold(name)] || s.Lenient && (where || name == asOfParameter && s.Annotations.ReadOnly) {
			continue
		}
		p.Known[request.Fold(name)], p.common[name] = name, true
	}
	if _, taken := p.Known[request.Fold(scopeParameter)]; !taken && p.common[namespaceParameter] {
		p.Known[request.Fold(scopeParameter)] = namespaceParameter
	}
}

// Takes reports whether the tool has a parameter of a name, in any spelling.
func (t *Tool) Takes(name string) bool {
	_, known := t.parameters.Lookup(name)
	return known
}

// Names returns the names of the tool's parameters.
func (t *Tool) Names() *request.Names { return &t.parameters.Names }
