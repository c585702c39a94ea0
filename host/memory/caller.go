package memory

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/memory/scope"
)

// Caller identifies who reads or writes. Every read and write of a space has one.
type Caller struct {
	Agent string // the author of writes; may be empty
	Key   string // the id of its API key; empty: it has the rights of the data directory's owner
	// Principal is the agent whose scope memberships apply; empty: Agent. For a delegated key, it is the delegating agent.
	Principal string
	Client    string // the agent's program, by its own name; may be empty
	Session   string // the program's connection; empty: none, as for stateless protocols
	Family    string // the tool family that acts for it; empty: none
	Call      string // the id of its call, by which Commits finds its writes; empty: none
	// Generation is 0 for users, tools and schedules. A hook called for a write has that write's plus one. A job has its
	// caller's.
	Generation int
	Operator   bool // an operator calls, at the command line
	// Account is further data about the call to store with its commits, as JSON; at most 3,000 bytes.
	Account json.RawMessage
	Rights  Rights
}

// author returns the author of the caller's writes: the agent, or else the family.
func (c Caller) author() string {
	if c.Agent == "" && c.Family != "" {
		return "family:" + c.Family
	}
	return c.Agent
}

// AsMember returns the agent whose scope memberships apply to the caller.
func (c Caller) AsMember() string { return cmp.Or(c.Principal, c.Agent) }

// IsOwner reports whether the caller presented no key, and so has the rights of the data directory's owner.
func (c Caller) IsOwner() bool { return c.Key == "" }

// AllNamespaces means every namespace, including future ones.
const AllNamespaces = namespace.All

// Right is a right of a caller.
type Right string

// The rights to namespaces.
const (
	ToRead  Right = "read"
	ToWrite Right = "write"
)

// The other rights.
const (
	ToBranch           Right = "branch"      // create, fork, merge and delete branches
	ToConfigure        Right = "config"      // change settings that families share
	ToAdministerScopes Right = "scope.admin" // change the members and policies of scopes
	ToAdministerSites  Right = "site.admin"  // change sites
	ToActAs            Right = "act_as"      // act in the name of another agent
)

// familyRights is the prefix of rights to families.
const familyRights = "family:"

// IsRight reports whether there is such a right.
func IsRight(right Right) bool {
	switch right {
	case ToRead, ToWrite, ToBranch, ToConfigure, ToAdministerScopes, ToAdministerSites, ToActAs:
		return true
	}
	name, isFamily := strings.CutPrefix(string(right), familyRights)
	return isFamily && name != ""
}

// ToUse returns the right to use a family's tools; AllFamilies means those of all families.
func ToUse(family string) Right { return Right(familyRights + family) }

// AllFamilies means every family, including future ones.
const AllFamilies = "*"

// Rights are the namespaces that a caller may read and write, as names and patterns such as "team/*", and further rights. The zero
// Rights permit nothing.
//
// The rights of an API key's holder are narrowed by the rights records of namespaces, as they are when a method is called: see Space.As.
type Rights struct {
	read, write []string
	limited     bool         // to the rights in further; false: any
	further     []Right      // sorted
	scopes      *scope.Table // nil: no records narrow them
	principal   string       // the agent whose memberships of scopes count
	why         string       // the reason for read-only rights, with a remedy; may be empty
}

// FullRights permits everything: the rights of a data directory's owner.
func FullRights() Rights { return RightsTo([]string{AllNamespaces}, []string{AllNamespaces}) }

// RightsTo permits reading the namespaces in read and write, and writing those in write. AllNamespaces in a list means all, and
// "team/*" those whose names begin with "team/".
func RightsTo(read, write []string) Rights {
	return Rights{read: namespace.Union(read, write), write: namespace.Set(write)}
}

// narrowedBy returns r within what rights records allow an agent.
func (r Rights) narrowedBy(scopes *scope.Table, principal string) Rights {
	r.scopes, r.principal = scopes, principal
	return r
}

// Ceiling returns r without the effect of rights records, which change: what the caller's key allows.
func (r Rights) Ceiling() Rights {
	r.scopes, r.principal = nil, ""
	return r
}

// ReadOnly returns r without the right to write.
func (r Rights) ReadOnly() Rights {
	r.write = nil
	return r
}

// ReadOnlyBecause is ReadOnly with the reason to return to callers that write.
func (r Rights) ReadOnlyBecause(why string) Rights {
	r.write, r.why = nil, why
	return r
}

// WhyReadOnly returns the reason why nothing may be written; empty: none was given.
func (r Rights) WhyReadOnly() string { return r.why }

// Within returns what both r and o permit.
func (r Rights) Within(o Rights) Rights {
	both := RightsTo(namespace.Common(r.read, o.read), namespace.Common(r.write, o.write))
	both.why = cmp.Or(r.why, o.why)
	if both.scopes, both.principal = r.scopes, r.principal; r.scopes == nil {
		both.scopes, both.principal = o.scopes, o.principal
	}
	switch {
	case !r.limited:
		both.limited, both.further = o.limited, o.further
	case !o.limited:
		both.limited, both.further = r.limited, r.further
	default:
		both = both.LimitedTo(slices.DeleteFunc(slices.Concat(r.further, o.further), func(right Right) bool { return !r.May(right) || !o.May(right) }))
	}
	return both
}

// LimitedTo returns r with only some of the rights other than those to namespaces.
func (r Rights) LimitedTo(further []Right) Rights {
	further = slices.DeleteFunc(slices.Clone(further), func(right Right) bool { return !r.May(right) })
	slices.Sort(further)
	r.limited, r.further = true, slices.Compact(further)
	return r
}

// Further lists the rights other than those to namespaces; for all of them, all is true and the list nil.
func (r Rights) Further() (list []Right, all bool) {
	if r.ReadsAnything() && !r.limited {
		return nil, true
	}
	return slices.Clone(r.further), false
}

// May reports whether r has a right other than those to namespaces.
func (r Rights) May(right Right) bool {
	family := strings.HasPrefix(string(right), familyRights)
	switch {
	case !r.limited:
		return r.ReadsAnything() || family // whose operations refuse a caller without namespaces
	case slices.Contains(r.further, right):
		return true
	}
	return family && slices.Contains(r.further, ToUse(AllFamilies))
}

// MayRead reports whether a namespace, or every namespace of a pattern, may be read.
func (r Rights) MayRead(name string) bool {
	return namespace.Covers(r.read, name) && (r.scopes == nil || r.scopes.MayRead(r.principal, name))
}

// MayWrite reports whether a namespace, or every namespace of a pattern, may be written.
func (r Rights) MayWrite(name string) bool {
	return namespace.Covers(r.write, name) && (r.scopes == nil || r.scopes.MayWrite(r.principal, name))
}

// WritesNothing reports whether no namespace may be written.
func (r Rights) WritesNothing() bool { return len(r.write) == 0 }

// ReadsAnything reports whether any namespace may be read.
func (r Rights) ReadsAnything() bool { return len(r.read) > 0 }

// Readable lists the namespaces that may be read, sorted, as names, patterns and exceptions of package namespace; for all of them, all
// is true and the list nil.
func (r Rights) Readable() (namespaces []string, all bool) {
	if r.scopes == nil {
		return namespacesIn(r.read)
	}
	return namespacesIn(namespace.Common(r.read, r.scopes.Readable(r.principal)))
}

// Writable is Readable for the right to write.
func (r Rights) Writable() (namespaces []string, all bool) {
	if r.scopes == nil {
		return namespacesIn(r.write)
	}
	return namespacesIn(namespace.Common(r.write, r.scopes.Writable(r.principal)))
}

func namespacesIn(list []string) ([]string, bool) {
	if namespace.Covers(list, AllNamespaces) {
		return nil, true
	}
	return slices.Clone(list), false
}

// readsAll reports whether every namespace may be read.
// Held returns what Writable would if there were no rights records: what the caller's key allows.
func (r Rights) Held() (namespaces []string, all bool) { return r.Ceiling().Writable() }

func (r Rights) readsAll() bool { return r.MayRead(AllNamespaces) }

// writesAll reports whether every namespace may be written.
func (r Rights) writesAll() bool { return r.MayWrite(AllNamespaces) }

func (r Rights) String() string {
	text := "read " + strings.Join(r.read, ",") + " write " + strings.Join(r.write, ",")
	if r.limited {
		for _, right := range r.further {
			text += " " + string(right)
		}
		text += " only"
	}
	return text
}
