package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/store"
)

// purger is an engine that can erase stored data.
type purger interface {
	store.Engine
	store.Purger
}

// Purge erases payloads from every branch and version and from the files of the space, and leaves a digest of each. It is for
// operators: it cannot be undone, and earlier backups still have the data. A failed purge can be repeated.
func (s *Space) Purge(ctx context.Context, r purge.Request) (purge.Result, error) {
	engine, ok := s.engine.(purger)
	if !ok {
		return purge.Result{}, &Error{Code: InvalidArgument, Message: "this store cannot erase what was stored"}
	}
	if err := s.Ready(ctx); err != nil {
		return purge.Result{}, err
	}
	touched := map[string]bool{} // collections whose indexes may contain erased data
	within := purge.Space{Engine: engine, Branches: s.catalogue, Replaced: s.upkeep.Replace, Elsewhere: s.purging, Erasing: func(e store.Entry) {
		if s.indexes.Holds(e) {
			touched[e.Collection] = true
		}
	}}
	plan, err := s.purgePlan(ctx, within, r)
	if err != nil {
		return purge.Result{}, err
	}
	s.writing.Lock() // no commit may be on its way to the index
	defer s.writing.Unlock()
	s.purges.Add(1)
	defer s.feeds.Clear()
	defer s.tallies.clear()
	defer s.purges.Add(1)
	defer s.indexes.Rebuild()
	defer s.upkeep.Pause()()
	if err := s.index.Unsave(ctx, s.engine); err != nil { // a crash would bring it back
		return purge.Result{}, s.translate("purge", err)
	}
	done, err := within.Run(ctx, plan)
	err = errors.Join(err, s.indexes.Retire(ctx, touched))
	s.queueCount() // families' records may be smaller now
	err = errors.Join(err, engine.Erase(ctx), s.upkeep.Rewrite(ctx))
	if err != nil {
		return done, s.translate("purge; repeat it", err)
	}
	if s.vectors != nil {
		if err := s.vectors.Scrub(ctx); err != nil {
			return done, fmt.Errorf("purge: everything is erased except its vectors, which a second purge erases: %w", err)
		}
	}
	if len(done.Erased) == 0 && done.Copies.Records == 0 {
		return done, notFound("there is nothing to purge: no such version, or all of it was purged before")
	}
	return done, nil
}

// purgePlan checks a request, and resolves its targets.
func (s *Space) purgePlan(ctx context.Context, within purge.Space, r purge.Request) (purge.Plan, error) {
	if err := r.Check(); err != nil {
		return purge.Plan{}, invalid("%v", err)
	}
	if r.Family != "" {
		return purge.Family(r.Family), nil
	}
	if r.Collection != "" {
		key := store.Key{Namespace: cmp.Or(r.Namespace, Default), Collection: r.Collection, Name: r.Key}
		return purge.Record(key), s.limits.checkRecordKey(key)
	}
	p, err := s.limits.checkPlace(Location{Branch: r.Branch, Namespace: r.Namespace})
	if err != nil {
		return purge.Plan{}, err
	}
	if r.Event != 0 {
		return s.purgeEvent(ctx, p, r.Event)
	}
	key := memoryKey(p.Namespace, r.Key)
	if err := s.limits.checkKey(key.Name); err != nil || r.Version == 0 {
		return purge.Memory(key), err
	}
	plan, err := within.MemoryVersion(ctx, key, r.Version)
	return plan, s.translate("find what to purge", err)
}

// checkRecordKey refuses an impossible key of a family's record.
func (l Limits) checkRecordKey(key store.Key) error {
	for _, part := range []string{key.Namespace, key.Collection, key.Name} {
		if len(part) > l.Key || strings.ContainsRune(part, 0) {
			return invalid("%.64q names no record", part)
		}
	}
	return nil
}

// purgeEvent returns the plan for an event that a branch sees.
func (s *Space) purgeEvent(ctx context.Context, p Location, sequence uint64) (purge.Plan, error) {
	b, err := s.branch(p.Branch)
	if err != nil {
		return purge.Plan{}, err
	}
	key := store.Key{Namespace: p.Namespace, Collection: events, Name: store.SequenceName(sequence)}
	found, err := s.engine.GetAt(ctx, b.Lineage, []store.Key{key})
	if err != nil {
		return purge.Plan{}, s.translate("find what to purge", err)
	}
	if !found[0].Exists() {
		return purge.Plan{}, notFound("there is no event %d in namespace %q on branch %q", sequence, p.Namespace, b.Name)
	}
	return purge.Event(found[0])
}
