package hooks

import (
	"errors"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// covers reports whether a family is asked about a change. A required one is asked in every namespace, others in those of their
// grants. Only required ones are asked about memories that families write.
func (s Store) covers(what memory.Storing) bool {
	hook := s.Manifest().Hooks.Store
	asked := asksAbout(hook, what.Change) || what.Staged && what.Change == memory.ChangeState && asksAbout(hook, memory.ChangeStore)
	switch {
	case !asked || !s.sees(what.Collection):
		return false
	case s.OnFailure == abi.OnFailureRefuse:
		return true
	case what.Collection == "" && what.Staged:
		return false
	}
	return s.Rights().MayRead(what.Namespace)
}

// asksAbout reports whether a store hook covers a change.
func asksAbout(hook *abi.StoreHook, c memory.Change) bool {
	if len(hook.Changes) == 0 {
		return c == memory.ChangeStore
	}
	return slices.Contains(hook.Changes, string(c))
}

// sees reports whether a family's store hook covers a collection, as memory.Storing has it. Those of other families are covered if
// its manifest names them, its grant of records.read has their family, and they are not private.
func (s Store) sees(collection string) bool {
	names := s.Manifest().Hooks.Store.Collections
	if collection == "" {
		return about(names, "memory")
	}
	owner := ownerOf(collection)
	named := slices.Contains(names, collection) || slices.Contains(names, owner+"/*") || slices.Contains(names, "*/*")
	return named && owner != s.Name() && s.ReadsRecords(collection)
}

func ownerOf(collection string) string {
	owner, _, _ := strings.Cut(collection, "/")
	return owner
}

// Missing is why a required family cannot be asked.
type Missing struct {
	error
	reads func(collection string) bool
}

// MissingFor returns the error of a required family that cannot be asked. reads reports whether it may read a
// collection of another family.
func MissingFor(err error, reads func(collection string) bool) Missing { return Missing{err, reads} }

func (m Missing) Unwrap() error { return m.error }

// blocks reports whether a missing family could be asked about a collection. It is always asked about memories; its manifest
// may be unknown.
func blocks(missing error, collection string) bool {
	var m Missing
	return collection == "" || !errors.As(missing, &m) || m.reads(collection)
}
