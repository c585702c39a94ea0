// Package namespace matches namespaces against lists of names and patterns.
package namespace

import (
	"slices"
	"strings"
)

// All is the pattern that covers every namespace, including future ones.
const All = "*"

// Covers reports whether a list covers a namespace: by its name, by a pattern such as "team/*", which covers the names that begin
// with "team/", or by All. It covers a pattern if it covers every name that the pattern does.
func Covers(list []string, name string) bool {
	return slices.ContainsFunc(list, func(by string) bool { return covers(by, name) })
}

func covers(by, name string) bool {
	if by == All || by == name {
		return true
	}
	if !strings.HasSuffix(by, "/"+All) {
		return false
	}
	prefix := by[:len(by)-len(All)]
	return len(name) > len(prefix) && strings.HasPrefix(name, prefix)
}

// IsPattern reports whether an element of a list may cover more than one namespace.
func IsPattern(element string) bool { return element == All || strings.HasSuffix(element, "/"+All) }

// Set returns a list sorted and without what others of its elements cover.
func Set(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	list = slices.Compact(list)
	all := slices.Clone(list)
	return slices.DeleteFunc(list, func(name string) bool {
		return slices.ContainsFunc(all, func(by string) bool { return by != name && covers(by, name) })
	})
}

// Common returns what two lists both cover.
func Common(a, b []string) []string {
	var both []string
	for _, name := range a {
		if Covers(b, name) {
			both = append(both, name)
		}
	}
	for _, name := range b {
		if Covers(a, name) && !slices.Contains(both, name) {
			both = append(both, name)
		}
	}
	return both
}
