package memory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/namespace"
)

// Access is one caller's access to a space: the only way to its contents. Namespaces outside its Rights appear
// never written; naming one is Denied. Branches, versions and instants are common to all callers.
// Its methods may be called concurrently.
type Access struct {
	space  *Space
	caller Caller
}

// As returns the space for a caller. The rights records of namespaces narrow the rights of the holder of a key.
func (s *Space) As(c Caller) *Access {
	c.Agent = strings.ToValidUTF8(c.Agent, "\uFFFD") // as records keep it, so that the index has the same
	if !c.IsOwner() {
		c.Rights = c.Rights.narrowedBy(&s.scopes, c.AsMember())
	}
	return &Access{space: s, caller: c}
}

// Caller returns the caller of the access, with its present rights.
func (a *Access) Caller() Caller { return a.caller }

// sign sets the caller as a write's author.
func (a *Access) sign(w Write) Write {
	w.by, w.Agent = a.caller, a.caller.Agent
	return w
}

func denied(verb, namespace string) *Error {
	return &Error{Code: Denied, Message: "this caller may not " + verb + " namespace \"" + namespace + "\": use one that it may, or ask the memory's owner for that right",
		Details: map[string]any{"namespace": namespace}}
}

// reading completes a location, and checks the right to read it.
func (a *Access) reading(p Location) (Location, error) {
	p, err := a.space.limits.checkPlace(p)
	if err == nil && !a.caller.Rights.MayRead(p.Namespace) {
		return p, denied("read", p.Namespace)
	}
	return p, err
}

func (a *Access) readingKey(p Location, key string) (Location, error) {
	p, err := a.reading(p)
	if err != nil {
		return p, err
	}
	return p, a.space.limits.checkKey(key)
}

// writing completes a location, and checks the right to write it.
func (a *Access) writing(p Location) (Location, error) {
	p, err := a.space.limits.checkPlace(p)
	if err == nil && !a.caller.Rights.MayWrite(p.Namespace) {
		return p, denied("write", p.Namespace)
	}
	if err == nil {
		err = a.guardBranch(p.Branch, asTarget)
	}
	return p, err
}

// CheckAsked returns an error if a client's list of namespaces has an exception. Only the server puts these into lists, from rights. Every
// front end asks it before a list goes further.
func CheckAsked(namespaces []string) error {
	if i := slices.IndexFunc(namespaces, namespace.IsException); i >= 0 {
		return invalid("namespace %q excludes one: list the namespaces, or patterns such as team/*, that are meant", clip(namespaces[i], 64))
	}
	return nil
}

// readable returns the namespaces to read; asked nil: all readable ones. A nil result means every one.
func (a *Access) readable(asked []string) ([]string, error) {
	rights := a.caller.Rights
	return a.within(asked, "read", rights.MayRead, rights.Ceiling().MayRead, rights.Readable)
}

// writable returns the namespaces to write; asked nil: all writable ones. A nil result means every one.
func (a *Access) writable(asked []string) ([]string, error) {
	rights := a.caller.Rights
	return a.within(asked, "write", rights.MayWrite, rights.Ceiling().MayWrite, rights.Writable)
}

// within returns the namespaces that a caller has a right to, of those asked for. A pattern stands for those it covers, and is denied
// only if the caller's ceiling does not cover it.
func (a *Access) within(asked []string, verb string, may, ceiling func(string) bool, list func() ([]string, bool)) ([]string, error) {
	if slices.Contains(asked, AllNamespaces) {
		asked = nil
	}
	patterns := false
	for _, name := range asked {
		if namespace.IsException(name) { // of rights that the caller has
			patterns = true
			continue
		}
		if err := a.space.limits.checkName("namespace", strings.TrimSuffix(name, "/"+AllNamespaces)); err != nil {
			return nil, err
		}
		if isPattern := namespace.IsPattern(name); isPattern && ceiling(name) {
			patterns = true
		} else if !may(name) {
			return nil, denied(verb, name)
		}
	}
	if asked != nil && !patterns {
		return asked, nil
	}
	permitted, all := list()
	switch {
	case all:
		return asked, nil
	case asked != nil:
		permitted = namespace.Common(asked, permitted)
	}
	if len(permitted) == 0 {
		return nil, &Error{Code: Denied, Message: "this caller may " + verb + " nothing here: ask the memory's owner for the right to a namespace"}
	}
	return permitted, nil
}

// branch returns a branch for a caller that may read something.
func (a *Access) branch(name string) (*lineage.Branch, error) {
	if _, err := a.readable(nil); err != nil {
		return nil, err
	}
	return a.space.branch(name)
}

// mayBranch returns an error for callers that may not create, merge and delete branches, because they may write nothing or lack
// the right.
func (a *Access) mayBranch() error {
	if _, err := a.writable(nil); err != nil {
		return err
	}
	return a.hasRight(ToBranch, "create, merge or delete branches")
}

// hasRight returns an error that says what the caller may not do without a right.
func (a *Access) hasRight(right Right, what string) error {
	if a.caller.Rights.May(right) {
		return nil
	}
	return &Error{Code: Denied, Message: fmt.Sprintf("this caller may not %s: ask the memory's owner for the right %s", what, right)}
}

// embedders returns the space's embedders. Their progress covers every namespace, and is for callers that may read all.
func (a *Access) embedders() []Embedder {
	list := slices.Clone(a.space.vectors.Embedders())
	if a.caller.Rights.readsAll() {
		return list
	}
	for i := range list {
		list[i].Vectors, list[i].Waiting, list[i].Refused = 0, 0, 0
	}
	return list
}
