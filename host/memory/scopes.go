package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/scope"
	"github.com/alcove-memory/alcove/host/store"
)

// scopeRecords is the collection of the rights records of namespaces: a record a namespace, under its name.
var scopeRecords = Collection{Name: "_scopes", PerSpace: true, Internal: true}

// loadScopes reads all rights records. One that cannot be read closes its namespace.
func (s *Space) loadScopes(ctx context.Context) error {
	b := s.catalogue.System()
	if b == nil {
		return nil
	}
	within := store.Range{Namespace: lineage.Namespace, Collection: scopeRecords.Name}
	for page, err := range store.Pages(ctx, s.engine.ScanAt, b.Lineage, within, cataloguePage) {
		if err != nil {
			return fmt.Errorf("read the rights records of namespaces: %w", err)
		}
		for _, e := range page {
			r, err := decodeScope(e)
			if err != nil {
				s.logger.Error("the rights record of a namespace is damaged: only the owner may use it", "namespace", e.Name, "error", err)
				r = scope.Record{Namespace: e.Name}.Tombstone()
			}
			s.scopes.Set(e.Version, r)
		}
	}
	return nil
}

func decodeScope(e store.Entry) (scope.Record, error) {
	kept, err := record.Decode(e)
	if err != nil {
		return scope.Record{}, err
	}
	if kept.Purged != "" {
		return scope.Record{}, errors.New("it was erased")
	}
	return parseScope(e.Name, kept.Value)
}

func parseScope(namespace string, value json.RawMessage) (r scope.Record, err error) {
	if err = json.Unmarshal(value, &r); err == nil && r.Namespace != namespace {
		err = fmt.Errorf("it is of namespace %q", r.Namespace)
	}
	return r, err
}

// changedScopes returns the staged rights records.
func (t *Stage) changedScopes() (list []scope.Record) {
	for _, at := range t.order {
		if !at.system || at.Collection != scopeRecords.Name || t.changed[at] == nil {
			continue
		}
		if r, err := parseScope(at.Name, t.changed[at].Value); err == nil {
			list = append(list, r)
		}
	}
	return list
}

// stillMayWrite returns an error if the caller lost the right to a namespace that it changed.
func (t *Stage) stillMayWrite() error {
	rights := t.access.caller.Rights
	if rights.scopes == nil {
		return nil
	}
	for _, at := range t.order {
		if internal := strings.HasPrefix(at.Collection, "_") || t.kept[at.Collection].Internal; !internal && !rights.MayWrite(at.Namespace) {
			return denied("write", at.Namespace)
		}
	}
	for _, e := range t.events {
		if !rights.MayWrite(e.namespace) {
			return denied("write", e.namespace)
		}
	}
	return nil
}

// Scope returns the rights record of a namespace, staged changes included; nil if it has none, or if the caller may not read the
// namespace.
func (t *Stage) Scope(ctx context.Context, namespace string) (*scope.Record, error) {
	if err := t.space.limits.checkName("namespace", namespace); err != nil {
		return nil, err
	}
	if !t.access.caller.Rights.MayRead(namespace) {
		return nil, nil
	}
	r, _, err := t.scope(ctx, namespace)
	if err != nil || r == nil || r.Deleted || r.Bare {
		return nil, err
	}
	return r, nil
}

// scope reads the rights record of a namespace for any caller, and makes it a condition of the commit.
func (t *Stage) scope(ctx context.Context, namespace string) (r *scope.Record, version uint64, err error) {
	found, err := t.Records(ctx, scopeRecords, lineage.Namespace, []string{namespace})
	if err != nil || found[0] == nil {
		return nil, 0, err
	}
	kept, err := parseScope(namespace, found[0].Value)
	return &kept, found[0].Version, err
}

// ScopeQuery asks for rights records.
type ScopeQuery struct {
	Prefix   string // of their namespaces
	After    string // begins after this namespace
	Archived ArchivedScopes
	Limit    int
	Only     func(namespace string) bool // nil: all
}

// ArchivedScopes says whether a listing has archived scopes.
type ArchivedScopes int

const (
	WithoutArchived ArchivedScopes = iota
	WithArchived
)

// Scopes lists the rights records of the namespaces that the caller may read, in their order, without staged changes. next is the
// After of the next page; empty: the last one.
func (t *Stage) Scopes(q ScopeQuery) (list []*scope.Record, next string) {
	limit := t.space.page(q.Limit)
	for _, r := range t.space.scopes.List() {
		if r.Namespace <= q.After || !q.shows(r) || !t.access.caller.Rights.MayRead(r.Namespace) {
			continue
		}
		if len(list) == limit {
			return list, list[limit-1].Namespace
		}
		list = append(list, r)
	}
	return list, ""
}

func (q ScopeQuery) shows(r *scope.Record) bool {
	return !r.Deleted && !r.Bare && (!r.Archived || q.Archived == WithArchived) && strings.HasPrefix(r.Namespace, q.Prefix) && (q.Only == nil || q.Only(r.Namespace))
}

// PutScope stages a change of the rights record of a namespace, or creates one.
//
// The owner may do so, and so may the record's creator and callers with the right ToAdministerScopes that may read the namespace. None
// of them grants a right to write that it lacks.
func (t *Stage) PutScope(ctx context.Context, namespace string, c scope.Change, only ScopeChange) (r scope.Record, created bool, err error) {
	if r, created, err = t.scopeToChange(ctx, namespace, only); err != nil {
		return r, false, err
	}
	if !created && only == CreateScope {
		return r, false, &Error{Code: Conflict, Message: fmt.Sprintf("namespace %q is a scope already: change it, or choose another name", namespace)}
	}
	was := r
	if r, err = r.With(c); err != nil {
		return r, false, invalid("%v", err)
	}
	if !created && was.AddsWriters(&r) && !t.mayGrantWriting(&was) {
		return r, false, &Error{Code: Denied, Message: "this caller may not grant the right to write, which it lacks: ask the scope's creator"}
	}
	return r, created, t.keepScope(ctx, r)
}

// ScopeChange says what PutScope may do.
type ScopeChange int

const (
	CreateOrChangeScope ScopeChange = iota
	CreateScope
	ChangeScope
)

// DeletionOf says whether DeleteScope looks for memories.
type DeletionOf int

const (
	EmptyScope DeletionOf = iota // refuses while the namespace holds memories
	AnyScope
)

// DeleteScope stages the deletion of a rights record. What the namespace held stays closed to the holders of keys; its creator may
// make the scope again.
func (t *Stage) DeleteScope(ctx context.Context, namespace string, of DeletionOf) error {
	r, _, err := t.scopeToChange(ctx, namespace, ChangeScope)
	if err != nil {
		return err
	}
	if of == EmptyScope {
		if held, _, err := t.List(ctx, namespace, "", "", 1); err != nil || len(held) > 0 {
			return cmp.Or(err, error(&Error{Code: Conflict, Message: fmt.Sprintf("scope %q holds memories: delete them first, or archive the scope", namespace)}))
		}
	}
	return t.keepScope(ctx, r.Tombstone())
}

// NoScope is the error about a namespace without a rights record, and about one that the caller may not read.
func NoScope(namespace string) error {
	return &Error{Code: NotFound, Message: fmt.Sprintf("there is no scope %q, or this caller may not read it", namespace)}
}

// scopeToChange returns the rights record of a namespace, or a new one, if the caller may change, or create it. Namespaces that it may
// not read have none.
func (t *Stage) scopeToChange(ctx context.Context, namespace string, only ScopeChange) (r scope.Record, created bool, err error) {
	caller := t.access.caller
	if err := t.space.limits.checkName("namespace", namespace); err != nil {
		return r, false, err
	}
	if caller.Rights.WritesNothing() {
		return r, false, denied("write", namespace)
	}
	now, _, err := t.scope(ctx, namespace)
	if err != nil {
		return r, false, err
	}
	absent := now == nil || now.Deleted || now.Bare || !caller.Rights.MayRead(namespace)
	if absent && only == ChangeScope {
		return r, false, NoScope(namespace)
	}
	if absent {
		r, err := t.newScope(ctx, namespace, now)
		return r, true, err
	}
	if !caller.IsOwner() && !caller.Rights.May(ToAdministerScopes) && caller.AsMember() != now.Creator {
		return r, false, &Error{Code: Denied, Message: fmt.Sprintf("scope %q is changed by its creator, and by callers with the right %s", namespace, ToAdministerScopes)}
	}
	return *now, false, nil
}

// newScope returns the record of a new scope. was is what there is; nil: nothing.
func (t *Stage) newScope(ctx context.Context, namespace string, was *scope.Record) (r scope.Record, err error) {
	caller := t.access.caller
	r = scope.New(namespace, caller.AsMember(), t.now)
	if was != nil {
		r.Quota = was.Quota
	}
	again := was != nil && was.Deleted && !was.Bare && was.Creator == caller.AsMember() && caller.Rights.Ceiling().MayWrite(namespace)
	if !again && !caller.Rights.MayWrite(namespace) {
		return r, denied("write", namespace)
	}
	if caller.IsOwner() {
		return r, nil
	}
	admin := caller.Rights.May(ToAdministerScopes)
	reserved := scope.Owner(namespace)
	switch {
	case reserved != "" && reserved != caller.AsMember() && !admin:
		return r, &Error{Code: Denied, Message: fmt.Sprintf("namespace %q is reserved for the agent %q", namespace, reserved)}
	case reserved == "" && !again && !admin:
		if err := t.unused(ctx, namespace); err != nil {
			return r, err
		}
	}
	return r, t.roomForScope(caller.AsMember())
}

// mostOwnVersions bounds what is read to find out who wrote in a namespace.
const mostOwnVersions = 20_000

// unused returns an error if another than the caller ever wrote in a namespace, in any collection and on any branch: a scope closes all
// of these, and the past, to others.
func (t *Stage) unused(ctx context.Context, namespace string) error {
	read := 0
	for _, b := range t.space.catalogue.Kept() {
		if b.Reclaimed {
			continue
		}
		own := store.Lineage{{Branch: b.ID, At: store.Latest}}
		for page, err := range store.Pages(ctx, t.space.engine.Versions, own, store.Range{Namespace: namespace}, fillPage) {
			if err != nil {
				return t.space.translate("look for what a namespace holds", err)
			}
			if read += len(page); read > mostOwnVersions || slices.ContainsFunc(page, t.isOfAnother) {
				return &Error{Code: Denied, Message: fmt.Sprintf("namespace %q holds what others wrote, which a scope would close to them: that needs the right %s", namespace, ToAdministerScopes)}
			}
		}
	}
	return nil
}

// isOfAnother reports whether another agent than the caller wrote an entry. A deletion has no author; what it deleted has one.
func (t *Stage) isOfAnother(e store.Entry) bool {
	if e.Deleted {
		return false
	}
	author, err := record.Author(e)
	return err != nil || author != t.access.caller.Agent && author != t.access.caller.AsMember()
}

// roomForScope returns an error if there are as many scopes as there may be.
func (t *Stage) roomForScope(creator string) error {
	all := t.space.scopes.List()
	own := len(slices.DeleteFunc(slices.Clone(all), func(r *scope.Record) bool { return r.Creator != creator }))
	switch {
	case own >= scope.MostOfCreator:
		return &Error{Code: Exhausted, Message: fmt.Sprintf("agent %q created %d scopes, deleted ones included, which is the limit", creator, own), Details: map[string]any{"limit": scope.MostOfCreator}}
	case len(all) >= scope.Most:
		return &Error{Code: Exhausted, Message: fmt.Sprintf("there are %d scopes, deleted ones included, which is the limit", scope.Most), Details: map[string]any{"limit": scope.Most}}
	}
	return nil
}

// mayGrantWriting reports whether the caller has the right to write that others would get.
func (t *Stage) mayGrantWriting(was *scope.Record) bool {
	caller := t.access.caller
	return caller.IsOwner() || caller.Rights.Ceiling().MayWrite(was.Namespace) && was.Writer(caller.AsMember())
}

func (t *Stage) keepScope(ctx context.Context, r scope.Record) error {
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return t.PutRecord(ctx, scopeRecords, lineage.Namespace, r.Namespace, value, nil)
}

// Has returns an error if the caller lacks a right; those to read and to write are rights to a namespace.
func (a *Access) Has(right Right, namespace string) (err error) {
	switch right {
	case ToRead:
		_, err = a.reading(Location{Namespace: namespace})
	case ToWrite:
		_, err = a.writing(Location{Namespace: namespace})
	default:
		err = a.hasRight(right, "do what needs the right "+string(right))
	}
	return err
}

// HasAgent is Has for another agent, as far as rights records decide: its key may allow less. Only the members of namespaces that the
// caller may read are told of.
func (a *Access) HasAgent(agent string, right Right, namespace string) error {
	p, err := a.reading(Location{Namespace: namespace})
	if err != nil {
		return err
	}
	may := a.space.scopes.MayRead
	if right == ToWrite {
		may = a.space.scopes.MayWrite
	}
	if may(agent, p.Namespace) {
		return nil
	}
	return &Error{Code: Denied, Message: fmt.Sprintf("agent %q has no right to %s scope %q", agent, right, p.Namespace)}
}
