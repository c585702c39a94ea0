package memory

import (
	"slices"
	"strings"
)

// Caller identifies who reads or writes. Every read and write of a space has one.
type Caller struct {
	Agent   string // the author of writes; may be empty
	Client  string // the agent's program, by its own name; may be empty
	Session string // the program's connection; empty: none, as for stateless protocols
	Family  string // the tool family that acts for it; empty: none
	Call    string // the id of its call, by which Commits finds its writes; empty: none
	// Generation is 0 for users, tools and schedules. A hook called for a write has that write's plus one. A job has its
	// caller's.
	Generation int
	Rights     Rights
}

// author returns the name kept with the caller's writes: the agent's, or without one its family's.
func (c Caller) author() string {
	if c.Agent == "" && c.Family != "" {
		return "family:" + c.Family
	}
	return c.Agent
}

// AllNamespaces means every namespace, including future ones.
const AllNamespaces = "*"

// Rights are the namespaces that a caller may read and write. The zero Rights permit nothing.
type Rights struct {
	read, write []string
}

// FullRights permits everything: the rights of a data directory's owner.
func FullRights() Rights { return RightsTo([]string{AllNamespaces}, []string{AllNamespaces}) }

// RightsTo permits reading the namespaces in read and write, and writing those in write. AllNamespaces in a list means all.
func RightsTo(read, write []string) Rights {
	return Rights{read: namespaceSet(slices.Concat(read, write)), write: namespaceSet(write)}
}

// namespaceSet sorts a list, without duplicates, and with nothing beside AllNamespaces.
func namespaceSet(list []string) []string {
	if slices.Contains(list, AllNamespaces) {
		return []string{AllNamespaces}
	}
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// ReadOnly returns r without the right to write.
func (r Rights) ReadOnly() Rights { return Rights{read: r.read} }

// Within returns what both r and o permit.
func (r Rights) Within(o Rights) Rights {
	return Rights{read: common(r.read, o.read), write: common(r.write, o.write)}
}

func common(a, b []string) []string {
	switch {
	case slices.Contains(a, AllNamespaces):
		return b
	case slices.Contains(b, AllNamespaces):
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), func(namespace string) bool { return !slices.Contains(b, namespace) })
}

// MayRead reports whether a namespace may be read.
func (r Rights) MayRead(namespace string) bool { return permits(r.read, namespace) }

// MayWrite reports whether a namespace may be written.
func (r Rights) MayWrite(namespace string) bool { return permits(r.write, namespace) }

func permits(list []string, namespace string) bool {
	return slices.Contains(list, AllNamespaces) || slices.Contains(list, namespace)
}

// WritesNothing reports whether no namespace may be written.
func (r Rights) WritesNothing() bool { return len(r.write) == 0 }

// ReadsAnything reports whether any namespace may be read.
func (r Rights) ReadsAnything() bool { return len(r.read) > 0 }

// Readable lists the namespaces that may be read, sorted; for all of them, all is true and the list nil.
func (r Rights) Readable() (namespaces []string, all bool) { return namespacesIn(r.read) }

// Writable lists the namespaces that may be written, sorted; for all of them, all is true and the list nil.
func (r Rights) Writable() (namespaces []string, all bool) { return namespacesIn(r.write) }

func namespacesIn(list []string) ([]string, bool) {
	if slices.Contains(list, AllNamespaces) {
		return nil, true
	}
	return slices.Clone(list), false
}

// readsAll reports whether every namespace may be read.
func (r Rights) readsAll() bool { return r.MayRead(AllNamespaces) }

// writesAll reports whether every namespace may be written.
func (r Rights) writesAll() bool { return r.MayWrite(AllNamespaces) }

func (r Rights) String() string {
	return "read " + strings.Join(r.read, ",") + " write " + strings.Join(r.write, ",")
}
