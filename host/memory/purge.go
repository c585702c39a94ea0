package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/traces"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Purge says what to erase: a memory's payloads, the data of an event, or the records of families.
type Purge struct {
	Namespace string // empty: Default
	Key       string // of a memory
	Version   uint64 // only the payload of this version, in every version of the key that has it; 0: all versions
	Event     uint64 // or the sequence number of an event
	Branch    string // whose log the event is in; empty: Default
	// Collection says that the key is that of a family's record in it, such as notes/list.
	Collection string
	Family     string // or everything that a family of this name keeps
}

// Erased is a version whose payload was erased.
type Erased struct {
	Branch  string `json:"branch"` // that it was written on; empty for one that was deleted
	Version uint64 `json:"version"`
	Digest  string `json:"digest"` // SHA-256 of what was stored, hexadecimal
}

// Purged is what a purge erased, and what it left as uncertain.
type Purged struct {
	Erased []Erased `json:"erased"`
	// Copies are families' records, answers, jobs and events that had what was purged, and were erased too.
	Copies Copies `json:"copies"`
	// Possible are those that may have it, and callers' memories and events that do. None of them was erased.
	Possible Copies `json:"possible"`
}

// Purge erases payloads from every branch and version and from the files of the space, and leaves a digest of each. It is an
// operator's act: nothing undoes it, and earlier backups still have what was erased. Certain copies are erased first, so that a purge
// that failed can be repeated.
func (s *Space) Purge(ctx context.Context, p Purge) (Purged, error) {
	engine, ok := s.engine.(store.Purger)
	if !ok {
		return Purged{}, &Error{Code: InvalidArgument, Message: "this store cannot erase what was stored"}
	}
	if err := s.Ready(ctx); err != nil {
		return Purged{}, err
	}
	plan, err := s.purgePlan(ctx, p)
	if err != nil {
		return Purged{}, err
	}
	s.writing.Lock() // no commit may be on its way to the index
	defer s.writing.Unlock()
	s.purges.Add(1)
	defer s.purges.Add(1)
	defer s.rebuildIndexes()
	s.saving.Lock()
	defer s.saving.Unlock()
	if err := s.index.Unsave(ctx, s.engine); err != nil { // or a crash would bring it back
		return Purged{}, s.translate("purge", err)
	}
	run := &purging{space: s, engine: engine, plan: plan, done: Purged{Erased: []Erased{}}}
	err = run.all(ctx)
	err = errors.Join(err, run.retire(ctx))
	s.queueCount() // families' records may be smaller now
	err = errors.Join(err, engine.Erase(ctx), s.rewriteIndex(ctx))
	if err != nil {
		return run.done, s.translate("purge; repeat it", err)
	}
	if s.meaning != nil {
		if err := s.meaning.Scrub(ctx); err != nil {
			return run.done, fmt.Errorf("purge: what was erased is gone, but for its vectors, which a second purge erases: %w", err)
		}
	}
	if len(run.done.Erased) == 0 && run.done.Copies.Records == 0 {
		return run.done, notFound("there is nothing to purge: no such version, or all of it was purged before")
	}
	return run.done, nil
}

// purgePlan says where to erase, and what is left of an entry.
type purgePlan struct {
	within  store.Range
	replace replacing
	traces  *traces.Set // of what is erased; nil when copies of it are not looked for
}

// purging is a purge that runs.
type purging struct {
	space  *Space
	engine store.Purger
	plan   purgePlan
	done   Purged
	batch  []store.Replacement
	was    []store.Entry   // of batch
	in     map[string]bool // collections whose indexes may have what was erased
}

const (
	purgePage   = 100      // versions in memory at once
	purgeBatch  = 1000     // versions replaced in one write
	tracesLimit = 16 << 20 // bytes of traces that are searched for at a time
)

// all erases the copies of what is to be erased, tracesLimit bytes of it at a time, and then the originals.
func (r *purging) all(ctx context.Context) error {
	if r.plan.traces != nil {
		key, any := r.plan.traces.Key(), false
		err := r.each(ctx, func(e store.Entry, _ []byte) error {
			any = true
			for _, payload := range payloadsOf(e) {
				r.plan.traces.Add(payload)
			}
			if r.plan.traces.Size() < tracesLimit {
				return nil
			}
			err := r.copies(ctx)
			r.plan.traces = traces.New(key)
			return err
		})
		if err == nil && any {
			err = r.copies(ctx)
		}
		if err != nil || !any {
			return err
		}
	}
	err := r.each(ctx, func(e store.Entry, left []byte) error {
		r.done.Erased = append(r.done.Erased, Erased{Branch: r.space.catalogue.NameOf(e.Branch), Version: e.Version, Digest: digest(e.Value)})
		return r.erase(ctx, e, left)
	})
	return errors.Join(err, r.flush(ctx))
}

// each calls do with the versions to erase and what is left of them.
func (r *purging) each(ctx context.Context, do func(e store.Entry, left []byte) error) error {
	for _, b := range r.space.catalogue.Kept() {
		err := r.space.eachVersion(ctx, b, r.plan.within, func(e store.Entry) error {
			if e.Deleted {
				return nil
			}
			left, purge := r.plan.replace(e)
			if !purge {
				return nil
			}
			return do(e, left)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachVersion calls do with all versions that were written on a branch.
func (s *Space) eachVersion(ctx context.Context, b *lineage.Branch, within store.Range, do func(store.Entry) error) error {
	own := store.Lineage{{Branch: b.ID, At: store.Latest}}
	for e, err := range eachEntry(ctx, s.engine.Versions, own, within, purgePage) {
		if err != nil {
			return err
		}
		if err := do(e); err != nil {
			return err
		}
	}
	return nil
}

// erase replaces a version by what is left of it, in batches.
func (r *purging) erase(ctx context.Context, e store.Entry, left []byte) error {
	r.batch = append(r.batch, store.Replacement{Branch: e.Branch, Key: e.Key, Version: e.Version, Value: left})
	r.noteIndexed(e)
	e.Value = nil
	r.was = append(r.was, e)
	if len(r.batch) < purgeBatch {
		return nil
	}
	return r.flush(ctx)
}

func (r *purging) flush(ctx context.Context) error {
	err := r.engine.Replace(ctx, r.batch)
	if err == nil {
		err = r.space.reindex(ctx, r.was)
	}
	r.batch, r.was = r.batch[:0], r.was[:0]
	return err
}

func digest(value []byte) string {
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:])
}

// replacing returns what is left of an entry, and whether to purge it.
type replacing func(store.Entry) (value []byte, purge bool)

func (s *Space) purgePlan(ctx context.Context, p Purge) (purgePlan, error) {
	said := 0
	for _, is := range []bool{p.Key != "", p.Event != 0, p.Family != ""} {
		if is {
			said++
		}
	}
	switch {
	case said != 1 || p.Collection != "" && p.Key == "":
		return purgePlan{}, invalid("say what to purge: the key of a memory, the sequence number of an event, the collection and key of a family's record, or a family")
	case p.Version != 0 && (p.Event != 0 || p.Family != "" || p.Collection != ""):
		return purgePlan{}, invalid("a version goes with the key of a memory: leave it out")
	case p.Family != "":
		return purgePlan{replace: keptBy(p.Family)}, nil
	case p.Collection != "":
		return s.purgeRecord(p)
	}
	place, err := s.limits.checkPlace(Location{Branch: p.Branch, Namespace: p.Namespace})
	if err != nil {
		return purgePlan{}, err
	}
	if p.Event != 0 {
		return s.purgeEvent(ctx, place, p.Event)
	}
	return s.purgeMemory(ctx, memoryKey(place.Namespace, p.Key), p.Version)
}

// only selects the versions of a key.
func only(key store.Key) store.Range {
	return store.Range{Namespace: key.Namespace, Collection: key.Collection, Prefix: key.Name, Exact: true}
}

func (s *Space) purgeMemory(ctx context.Context, key store.Key, version uint64) (purgePlan, error) {
	plan := purgePlan{within: only(key), replace: purgedMemory, traces: traces.New(key.Name)}
	if err := s.limits.checkKey(key.Name); err != nil || version == 0 {
		return plan, err
	}
	held, err := s.payloadsAt(ctx, key, version)
	plan.replace = func(e store.Entry) ([]byte, bool) {
		if r, err := decodeRecord(e); err != nil || !held[string(r.Value)] {
			return nil, false
		}
		return purgedMemory(e)
	}
	return plan, err
}

// purgeRecord is the plan for a record of a family, or of the space for families.
func (s *Space) purgeRecord(p Purge) (purgePlan, error) {
	key := store.Key{Namespace: cmp.Or(p.Namespace, Default), Collection: p.Collection, Name: p.Key}
	if key.Collection == memories || key.Collection == events {
		return purgePlan{}, invalid("collection %s is not one of a family's: leave it out to purge a memory, and give the sequence number of an event", key.Collection)
	}
	for _, part := range []string{key.Namespace, key.Collection, key.Name} {
		if len(part) > s.limits.Key || strings.ContainsRune(part, 0) {
			return purgePlan{}, invalid("%.64q names no record", part)
		}
	}
	return purgePlan{within: only(key), replace: purgedCopy}, nil
}

// keptBy purges everything that belongs to a family.
func keptBy(family string) replacing {
	return func(e store.Entry) ([]byte, bool) {
		if e.Collection == memories || e.Collection == events || familyOf(e) != family {
			return nil, false
		}
		return purgedCopy(e)
	}
}

// payloadsAt are the values of a version of a key, on any branch. Equal values in other versions of the key, which merges and later
// stores made, are the same payload.
func (s *Space) payloadsAt(ctx context.Context, key store.Key, version uint64) (map[string]bool, error) {
	held := map[string]bool{}
	for _, b := range s.catalogue.Kept() {
		err := s.eachVersion(ctx, b, only(key), func(e store.Entry) error {
			if e.Version != version || e.Deleted {
				return nil
			}
			r, err := decodeRecord(e)
			if err == nil && r.Purged == "" {
				held[string(r.Value)] = true
			}
			return err
		})
		if err != nil {
			return nil, s.translate("find what to purge", err)
		}
	}
	return held, nil
}

// purgeEvent is the plan for an event that a branch sees. Another branch may have a different event under the same number, which is
// left alone.
func (s *Space) purgeEvent(ctx context.Context, p Location, sequence uint64) (purgePlan, error) {
	key := store.Key{Namespace: p.Namespace, Collection: events, Name: store.SequenceName(sequence)}
	b, err := s.branch(p.Branch)
	if err != nil {
		return purgePlan{}, err
	}
	found, err := s.engine.GetAt(ctx, b.Lineage, []store.Key{key})
	if err != nil {
		return purgePlan{}, s.translate("find what to purge", err)
	}
	if !found[0].Exists() {
		return purgePlan{}, notFound("there is no event %d in namespace %q on branch %q", sequence, p.Namespace, b.Name)
	}
	meant, err := decodeEvent(found[0])
	same := func(e store.Entry) ([]byte, bool) {
		if r, err := decodeEvent(e); err != nil || r.Digest != meant.Digest {
			return nil, false
		}
		return purgedEvent(e)
	}
	return purgePlan{within: only(key), replace: same, traces: traces.New("")}, err
}

func purgedMemory(e store.Entry) ([]byte, bool) {
	r, err := decodeRecord(e)
	if err == nil && r.Purged != "" {
		return nil, false
	}
	left := record{Value: json.RawMessage("null"), Purged: digest(e.Value)}
	value, err := left.encode()
	return value, err == nil
}

// purgedEvent keeps what the hash chain of the log needs.
func purgedEvent(e store.Entry) ([]byte, bool) {
	r, err := decodeEvent(e)
	if err != nil || r.Data == nil {
		return nil, false
	}
	r.Data = nil
	value, err := r.encode()
	return value, err == nil
}

// reindex replaces erased versions in the index by what is left of them.
func (s *Space) reindex(ctx context.Context, purged []store.Entry) error {
	var docs []search.Doc
	for _, e := range purged {
		left, err := s.engine.GetAt(ctx, store.Lineage{{Branch: e.Branch, At: e.Version}}, []store.Key{e.Key})
		if _, trimmed := asTrimmed(err); err != nil && !trimmed {
			return err
		}
		if err == nil && left[0].Version == e.Version {
			e = left[0]
		} else {
			e.Deleted = true // no view reads it any more
		}
		d, ok, err := doc(e)
		if err != nil {
			return err
		}
		if !ok { // what is left has no text
			d.Deleted = true
		}
		if s.catalogue.ByID(e.Branch) != nil {
			docs = append(docs, d)
		}
	}
	s.index.Replace(docs...)
	return nil
}

// rewriteIndex rewrites the index's files without what was erased. The caller holds saving.
func (s *Space) rewriteIndex(ctx context.Context) error {
	err := s.index.Tend(ctx)
	if err == nil && !s.distrusted {
		err = s.index.SaveAll(ctx, s.engine, s.applied.upTo())
	}
	if err != nil {
		return fmt.Errorf("files of the search index may have it still; a restart of the server makes them anew: %w", err)
	}
	return nil
}
