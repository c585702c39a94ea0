package memory

import (
	"slices"
	"strings"
)

// Caller is who asks. Every read and write of a space is somebody's.
type Caller struct {
	Agent   string // the author of what is written; may be empty
	Client  string // the program that the agent uses, as it names itself; may be empty
	Session string // the connection of that program; empty: none, as for stateless protocols
	Family  string // the tool family through which it acts; empty: none
	Call    string // the call that it acts in, under which Commits finds what that wrote; empty: none
	// Generation is 0 for what a user, a tool or a schedule does, and for a hook that is told of a write one more than that
	// write's. A job has that of its caller.
	Generation int
	Rights     Rights
}

// author is the name that is kept with what the caller writes: the agent's, or for a nameless one its family's.
func (c Caller) author() string {
	if c.Agent == "" && c.Family != "" {
		return "family:" + c.Family
	}
	return c.Agent
}

// AllNamespaces stands for every namespace, those of the future included.
const AllNamespaces = "*"

// Rights are the namespaces that a caller may read and write. The zero Rights permit nothing.
type Rights struct {
	read, write []string
}

// FullRights permit everything: those of a data directory's owner.
func FullRights() Rights { return RightsTo([]string{AllNamespaces}, []string{AllNamespaces}) }

// RightsTo permit reading the namespaces in read and write, and writing those in write. AllNamespaces in a list stands for all.
func RightsTo(read, write []string) Rights {
	return Rights{read: namespaceSet(slices.Concat(read, write)), write: namespaceSet(write)}
}

// namespaceSet is a list in order, without repetition, and with nothing beside AllNamespaces.
func namespaceSet(list []string) []string {
	if slices.Contains(list, AllNamespaces) {
		return []string{AllNamespaces}
	}
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// ReadOnly is r without the right to write.
func (r Rights) ReadOnly() Rights { return Rights{read: r.read} }

// Within is what both r and o permit.
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

// Readable lists the namespaces that may be read, in order; all is true when every one may, and the list is nil then.
func (r Rights) Readable() (namespaces []string, all bool) { return namespacesIn(r.read) }

// Writable lists the namespaces that may be written, in order; all is true when every one may, and the list is nil then.
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
