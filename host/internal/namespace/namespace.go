// Package namespace matches namespaces against lists of names and patterns.
//
// An element of a list is a name, a pattern such as "team/*", All, or an exception such as "!team/board". What an exception names
// is not covered, whatever the other elements say.
package namespace

import (
	"slices"
	"strings"
)

// All is the pattern that covers every namespace, including future ones.
const All = "*"

// exception is the prefix of exceptions. No namespace begins with it.
const exception = "!"

// Except returns the element that excludes a namespace from a list.
func Except(name string) string { return exception + name }

// Covers reports whether a list covers a namespace: by its name, by a pattern such as "team/*", which covers the names that begin
// with "team/", or by All. It covers a pattern if it covers every name that the pattern does.
func Covers(list []string, name string) bool {
	found := false
	for _, by := range list {
		if excluded, is := strings.CutPrefix(by, exception); is {
			if covers(name, excluded) {
				return false
			}
			continue
		}
		found = found || covers(by, name)
	}
	return found
}

// Selects reports whether a list covers a namespace. Nil selects all.
func Selects(list []string, name string) bool { return list == nil || Covers(list, name) }

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

// Names returns the elements of a list without its exceptions, for readers who may not know of these.
func Names(list []string) []string {
	names, _ := split(list)
	return names
}

// IsException reports whether an element excludes a namespace from a list.
func IsException(element string) bool { return strings.HasPrefix(element, exception) }

// IsPattern reports whether an element of a list may cover more than one namespace.
func IsPattern(element string) bool { return element == All || strings.HasSuffix(element, "/"+All) }

// Beside reports whether two namespaces are different ones below the same first element, as project/a and project/b are.
func Beside(a, b string) bool {
	first, _, below := strings.Cut(a, "/")
	return below && a != b && strings.HasPrefix(b, first+"/")
}

// Set returns a list sorted, and without elements that change nothing.
func Set(list []string) []string {
	names, exceptions := split(list)
	return join(names, exceptions)
}

// split returns the elements of a list that cover, and the names of its exceptions.
func split(list []string) (names, exceptions []string) {
	if !slices.ContainsFunc(list, IsException) {
		return slices.Clone(list), nil
	}
	for _, element := range list {
		if excluded, is := strings.CutPrefix(element, exception); is {
			exceptions = append(exceptions, excluded)
		} else {
			names = append(names, element)
		}
	}
	return names, exceptions
}

// join is the inverse of split, for a Set. It owns its arguments.
func join(names, exceptions []string) []string {
	slices.Sort(names)
	names = slices.Compact(names)
	slices.Sort(exceptions)
	exceptions = slices.Compact(exceptions)
	all := slices.Clone(names)
	names = slices.DeleteFunc(names, func(name string) bool {
		if _, excluded := slices.BinarySearch(exceptions, name); excluded {
			return true
		}
		return slices.ContainsFunc(all, func(by string) bool { return by != name && covers(by, name) })
	})
	set := make([]string, 0, len(names)+len(exceptions))
	for _, excluded := range exceptions {
		if slices.ContainsFunc(names, func(by string) bool { return covers(by, excluded) }) {
			set = append(set, Except(excluded))
		}
	}
	return append(set, names...)
}

// Common returns what two lists both cover.
func Common(a, b []string) []string {
	inA, exceptA := split(a)
	inB, exceptB := split(b)
	var both []string
	for _, name := range inA {
		if Covers(inB, name) {
			both = append(both, name)
		}
	}
	for _, name := range inB {
		if Covers(inA, name) && !slices.Contains(both, name) {
			both = append(both, name)
		}
	}
	if len(exceptA)+len(exceptB) == 0 {
		return both
	}
	return join(both, append(exceptA, exceptB...))
}

// Union returns what one of two lists covers, or both, as a Set.
func Union(a, b []string) []string {
	inA, exceptA := split(a)
	inB, exceptB := split(b)
	exceptA = slices.DeleteFunc(exceptA, func(name string) bool { return Covers(b, name) })
	exceptB = slices.DeleteFunc(exceptB, func(name string) bool { return Covers(a, name) })
	return join(append(inA, inB...), append(exceptA, exceptB...))
}
