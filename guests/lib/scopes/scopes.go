// Package scopes tells which scopes a search is in.
package scopes

import (
	"slices"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// projects is what the namespaces of projects begin with.
const projects = "project/"

// all stands for all scopes that the caller may read.
const all = "*"

// Named are the scopes that a search names: several, or else one; none: it names none.
func Named(several []string, one string) []string {
	if len(several) > 0 || one == "" {
		return several
	}
	return []string{one}
}

// Everywhere is the scopes that a search is in which names none: all that the caller may read, but in a project no other project.
func Everywhere(c *alcove.Call) ([]string, error) {
	if !strings.HasPrefix(c.Namespace, projects) {
		return []string{all}, nil
	}
	found, err := c.MemoryNamespaces()
	list := []string{c.Namespace}
	for _, namespace := range found.Namespaces {
		if !strings.HasPrefix(namespace, projects) {
			list = append(list, namespace)
		}
	}
	return list, err
}

// Names are scopes by their names, in place of the star for all of them: those with memories, and the call's own. The call's own comes first.
func Names(c *alcove.Call, list []string) ([]string, error) {
	if !slices.Contains(list, all) {
		return list, nil
	}
	found, err := c.MemoryNamespaces()
	names := slices.DeleteFunc(found.Namespaces, func(name string) bool { return name == c.Namespace })
	return append([]string{c.Namespace}, names...), err
}
