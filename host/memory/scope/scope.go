// Package scope has the rights records of namespaces: a namespace with one is a scope, which its record opens to some agents only.
//
// A record narrows what API keys allow, and adds nothing to it.
package scope

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of scopes.
const (
	Most             = 5_000 // in a space, deleted ones included
	MostOfCreator    = 500   // created by one agent, deleted ones included
	MostMembers      = 1_000 // of a scope
	longestAgent     = 128   // characters
	longestName      = 200   // bytes
	longestText      = 2_000 // bytes of a description
	longestRetention = 36_500
)

// Policy says who has a right to a scope.
type Policy string

// The policies.
const (
	Everyone Policy = "all"     // every agent whose key covers the namespace
	Members  Policy = "members" // members, and the creator
	Creator  Policy = "creator" // the creator alone
)

// Record is the rights record of a namespace.
type Record struct {
	Namespace   string   `json:"namespace"`
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	Creator     string   `json:"creator"`           // an agent, who is always a member
	Members     []string `json:"members,omitempty"` // agents, sorted, without the creator
	Read        Policy   `json:"read"`
	Write       Policy   `json:"write"` // among those who may read
	// RetentionDays is how long families are to keep what is in the scope; 0: unlimited. The host does not enforce it.
	RetentionDays int       `json:"retention_days,omitempty"`
	Archived      bool      `json:"archived,omitempty"` // nobody may write
	Deleted       bool      `json:"deleted,omitempty"`  // nobody may read: what the namespace held stays closed
	Created       time.Time `json:"created"`
	// Quota limits each agent. Only an operator sets it.
	Quota Quota `json:"quota,omitzero"`
	// Bare means that there is a quota alone: the namespace is no scope, and open to all.
	Bare bool `json:"bare,omitempty"`
}

// Limited returns the record of a namespace that is no scope, for its quota.
func Limited(namespace string, now time.Time) Record {
	return Record{Namespace: namespace, Read: Everyone, Write: Everyone, Created: now.UTC(), Bare: true}
}

// Includes reports whether an agent is a member.
func (r *Record) Includes(agent string) bool {
	return agent != "" && (agent == r.Creator || slices.Contains(r.Members, agent))
}

func (r *Record) allows(p Policy, agent string) bool {
	switch p {
	case Everyone:
		return true
	case Members:
		return r.Includes(agent)
	}
	return agent != "" && agent == r.Creator
}

// MayRead reports whether the record lets an agent read the namespace.
func (r *Record) MayRead(agent string) bool { return !r.Deleted && r.allows(r.Read, agent) }

// MayWrite reports whether the record lets an agent write the namespace.
func (r *Record) MayWrite(agent string) bool { return !r.Archived && r.Writer(agent) }

// Writer reports whether an agent may write the namespace, unless it is archived.
func (r *Record) Writer(agent string) bool { return r.MayRead(agent) && r.allows(r.Write, agent) }

// AddsWriters reports whether a change lets an agent write who could not before.
func (r *Record) AddsWriters(to *Record) bool {
	agents := slices.Concat([]string{"", r.Creator, to.Creator}, r.Members, to.Members) // "" stands for agents that neither names
	return slices.ContainsFunc(agents, func(agent string) bool { return to.MayWrite(agent) && !r.MayWrite(agent) })
}

// Change is a change of a record. Nil members leave what is.
type Change struct {
	Name, Description *string
	Members           *[]string // replaces all but the creator
	Add, Remove       []string
	Read, Write       *Policy
	RetentionDays     *int
	Archived          *bool
}

// New returns the record of a new scope: its members may read and write it.
func New(namespace, creator string, now time.Time) Record {
	return Record{Namespace: namespace, Creator: creator, Read: Members, Write: Members, Created: now.UTC()}
}

// With returns the record after a change, or what is wrong with it.
func (r Record) With(c Change) (Record, error) {
	set(&r.Name, c.Name)
	set(&r.Description, c.Description)
	set(&r.Read, c.Read)
	set(&r.Write, c.Write)
	set(&r.RetentionDays, c.RetentionDays)
	set(&r.Archived, c.Archived)
	members := r.Members
	if c.Members != nil {
		members = *c.Members
	}
	members = slices.Concat(members, c.Add)
	members = slices.DeleteFunc(members, func(agent string) bool { return agent == r.Creator || slices.Contains(c.Remove, agent) })
	slices.Sort(members)
	r.Members = slices.Compact(members)
	if slices.Contains(c.Remove, r.Creator) {
		return r, errors.New("the creator of a scope remains a member: delete the scope instead")
	}
	return r, r.check()
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func (r Record) check() error {
	for what, p := range map[string]Policy{"read": r.Read, "write": r.Write} {
		if p != Everyone && p != Members && p != Creator {
			return fmt.Errorf("the %s policy is %.32q: it is one of all, members, creator", what, p)
		}
	}
	if len(r.Members) > MostMembers {
		return fmt.Errorf("%d members: a scope has at most %d", len(r.Members), MostMembers)
	}
	for _, agent := range r.Members {
		if err := checkAgent(agent); err != nil {
			return err
		}
	}
	switch {
	case len(r.Name) > longestName || !utf8.ValidString(r.Name):
		return fmt.Errorf("the name has %d bytes: at most %d of UTF-8 are allowed", len(r.Name), longestName)
	case len(r.Description) > longestText || !utf8.ValidString(r.Description):
		return fmt.Errorf("the description has %d bytes: at most %d of UTF-8 are allowed", len(r.Description), longestText)
	case r.RetentionDays < 0 || r.RetentionDays > longestRetention:
		return fmt.Errorf("a retention of %d days: name 0 for unlimited, or up to %d", r.RetentionDays, longestRetention)
	}
	return nil
}

func checkAgent(name string) error {
	if name == "" || utf8.RuneCountInString(name) > longestAgent || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("the member %.140q: an agent's name has 1 to %d characters, none of them a control character", name, longestAgent)
	}
	return nil
}

// Tombstone returns the record of a deleted scope. Its creator may make it again.
func (r Record) Tombstone() Record {
	return Record{Namespace: r.Namespace, Creator: r.Creator, Read: Creator, Write: Creator, Created: r.Created, Deleted: true, Quota: r.Quota}
}

// privatePrefix is the prefix of namespaces that are reserved for the agent whose name follows.
const privatePrefix = "private-"

// Owner returns the agent for which a namespace is reserved; empty: none.
func Owner(namespace string) string {
	agent, _ := strings.CutPrefix(namespace, privatePrefix)
	if agent == namespace {
		return ""
	}
	return agent
}
