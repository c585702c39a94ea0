package abi

import (
	"net/url"
	"regexp"
	"strings"
)

// variable is one in a URI of a resource.
var variable = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

// Variables returns the names of the variables in the URI, in their order; nil: it is no template.
func (r Resource) Variables() (names []string) {
	for _, found := range variable.FindAllStringSubmatch(r.URI, -1) {
		names = append(names, found[1])
	}
	return names
}

// Match returns the values of the variables in a URI that fits the resource's.
func (r Resource) Match(uri string) (values map[string]string, ok bool) {
	values = map[string]string{}
	rest, from := uri, 0
	for _, at := range variable.FindAllStringSubmatchIndex(r.URI, -1) {
		after, found := strings.CutPrefix(rest, r.URI[from:at[0]])
		if !found {
			return nil, false
		}
		end := strings.IndexAny(after, "/?#")
		if end < 0 {
			end = len(after)
		}
		if next := literal(r.URI[at[1]:]); next != "" {
			end = strings.Index(after[:min(len(after), end+len(next))], next)
		}
		if end <= 0 {
			return nil, false
		}
		value, err := url.PathUnescape(after[:end])
		if err != nil {
			return nil, false
		}
		values[r.URI[at[2]:at[3]]], rest, from = value, after[end:], at[1]
	}
	return values, rest == r.URI[from:]
}

// literal is what a template says before its first variable.
func literal(template string) string {
	before, _, _ := strings.Cut(template, "{")
	return before
}

// checkResources refuses resources that no tool answers for, or whose URIs are the host's.
func (m *Manifest) checkResources(f *faults) {
	uris := []string{}
	for _, r := range m.Resources {
		uris = append(uris, r.URI)
		scheme, rest, _ := strings.Cut(r.URI, "://")
		if scheme == "alcove" || scheme == "ui" {
			f.add("resource %s: URIs that begin with %s:// are the host's: take another scheme, such as the family's name", cut(r.URI), scheme)
		}
		if strings.ContainsAny(variable.ReplaceAllString(rest, ""), "{}") {
			f.add("resource %s: a variable is a name in braces, as in {id}: lower case letters, digits and _", cut(r.URI))
		}
		if strings.Contains(r.URI, "}{") {
			f.add("resource %s: something is between two variables", cut(r.URI))
		}
		if t := m.answers(f, "resource "+cut(r.URI), r.Tool); t != nil && (t.Annotations.ReadOnly == nil || !*t.Annotations.ReadOnly) {
			f.add("resource %s: its tool %s does not declare readOnlyHint, and a resource is only read", cut(r.URI), cut(r.Tool))
		}
		if r.List != "" {
			m.answers(f, "list of resource "+cut(r.URI), r.List)
		}
		if r.Complete != "" {
			m.answers(f, "completion of resource "+cut(r.URI), r.Complete)
		}
		once(f, "variable of resource "+cut(r.URI), r.Variables(), func(name string) string { return name })
	}
	once(f, "resource", uris, func(uri string) string { return uri })
}

// checkPrompts refuses prompts that no tool answers for.
func (m *Manifest) checkPrompts(f *faults) {
	names := []string{}
	for _, p := range m.Prompts {
		names = append(names, p.Name)
		m.answers(f, "prompt "+p.Name, p.Tool)
		if p.Complete != "" {
			m.answers(f, "completion of prompt "+p.Name, p.Complete)
		}
	}
	once(f, "prompt", names, func(name string) string { return name })
}

// answers returns the tool of the manifest that answers for something.
func (m *Manifest) answers(f *faults, what, tool string) *Tool {
	for i := range m.Tools {
		if m.Tools[i].Name == tool {
			return &m.Tools[i]
		}
	}
	f.add("%s: the manifest has no tool %q that answers for it", what, cut(tool))
	return nil
}
