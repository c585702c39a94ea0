// Package purge erases payloads from every branch and version of a space, and finds the copies of them.
package purge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/traces"
	"github.com/alcove-memory/alcove/host/store"
)

// Request says what to erase: a memory's payloads, the data of an event, or the records of families.
type Request struct {
	Namespace string `json:"namespace,omitempty"` // empty: the default one
	Key       string `json:"key,omitempty"`       // of a memory
	Version   uint64 `json:"version,omitempty"`   // only the payload of this version, in every version of the key that has it; 0: all versions
	Event     uint64 `json:"event,omitempty"`     // or the sequence number of an event
	Branch    string `json:"branch,omitempty"`    // whose log the event is in; empty: the default one
	// Collection says that the key is that of a family's record in it, such as notes/list.
	Collection string `json:"collection,omitempty"`
	Family     string `json:"family,omitempty"` // or everything that a family of this name keeps
}

// Check is an error for a request that does not name exactly one thing to erase.
func (r Request) Check() error {
	named := 0
	for _, is := range []bool{r.Key != "", r.Event != 0, r.Family != ""} {
		if is {
			named++
		}
	}
	switch {
	case named != 1 || r.Collection != "" && r.Key == "":
		return errors.New("say what to purge: the key of a memory, the sequence number of an event, the collection and key of a family's record, or a family")
	case r.Version != 0 && (r.Event != 0 || r.Family != "" || r.Collection != ""):
		return errors.New("a version goes with the key of a memory: leave it out")
	case r.Collection == record.Memories || r.Collection == record.Events:
		return fmt.Errorf("collection %s is not one of a family's: leave it out to purge a memory, and give the sequence number of an event", r.Collection)
	}
	return nil
}

// Erased is a version whose payload was erased.
type Erased struct {
	Branch  string `json:"branch"` // that it was written on; empty for one that was deleted
	Version uint64 `json:"version"`
	Digest  string `json:"digest"` // SHA-256 of what was stored, hexadecimal
}

// Result is what a purge erased, and what it left as uncertain.
type Result struct {
	Erased []Erased `json:"erased"`
	// Copies are families' records, answers, jobs and events that had what was purged, and were erased too.
	Copies Copies `json:"copies"`
	// Possible are those that may have it, and callers' memories and events that do. None of them was erased.
	Possible Copies `json:"possible"`
}

// Engine is where the payloads are.
type Engine interface {
	Versions(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) ([]store.Entry, store.Cursor, error)
	Replace(ctx context.Context, list []store.Replacement) error
	Notes(ctx context.Context, after, before uint64, limit int) ([]store.Noted, error)
	PurgeNotes(ctx context.Context, versions []uint64) error
}

// Space is what a purge reads and rewrites.
type Space struct {
	Engine   Engine
	Branches *lineage.Catalogue
	// Erasing is called with each version, still with its value, before it is erased; nil: nobody asks.
	Erasing func(e store.Entry)
	// Replaced is called with versions that were replaced, without their values, so that an index follows.
	Replaced func(ctx context.Context, list []store.Entry) error
	// Elsewhere erases what files beside the store have of the payloads; holds reports whether a JSON text may have some. Nil: there are
	// no such files.
	Elsewhere func(holds func(text []byte) bool) error
}

// Plan says where to erase, and what is left of an entry.
type Plan struct {
	within  []store.Range
	replace eraser
	traces  *traces.Set // of what is erased; nil when copies of it are not looked for
}

// eraser returns what is left of an entry, and whether to purge it.
type eraser func(store.Entry) (value []byte, purge bool)

// Memory is the plan for all versions of a memory.
func Memory(key store.Key) Plan {
	return Plan{within: []store.Range{only(key), elsewhere(key)}, replace: purgedMemory, traces: traces.New(key.Name)}
}

// MemoryVersion is the plan for the payload of a version of a memory. Equal values in other versions of the key, which merges and
// later stores made, are the same payload.
func (s Space) MemoryVersion(ctx context.Context, key store.Key, version uint64) (Plan, error) {
	held, err := s.payloadsAt(ctx, key, version)
	plan := Memory(key)
	plan.replace = func(e store.Entry) ([]byte, bool) {
		if r, err := record.Decode(e); err != nil || !held[string(r.Value)] {
			return nil, false
		}
		return purgedMemory(e)
	}
	return plan, err
}

// Event is the plan for the event in an entry. Another branch may have a different event under the same number, which is left alone.
func Event(e store.Entry) (Plan, error) {
	meant, err := record.DecodeEvent(e)
	same := func(e store.Entry) ([]byte, bool) {
		if r, err := record.DecodeEvent(e); err != nil || r.Digest != meant.Digest {
			return nil, false
		}
		return purgedEvent(e)
	}
	return Plan{within: []store.Range{only(e.Key)}, replace: same, traces: traces.New("")}, err
}

// Record is the plan for a record of a family, or of the space for families.
func Record(key store.Key) Plan { return Plan{within: []store.Range{only(key)}, replace: purgedCopy} }

// Family is the plan for everything that belongs to a family.
func Family(name string) Plan {
	return Plan{within: []store.Range{{}}, replace: func(e store.Entry) ([]byte, bool) {
		if e.Collection == record.Memories || e.Collection == record.Past || e.Collection == record.Events || familyOf(e) != name {
			return nil, false
		}
		return purgedCopy(e)
	}}
}

// only selects the versions of a key.
func only(key store.Key) store.Range {
	return store.Range{Namespace: key.Namespace, Collection: key.Collection, Prefix: key.Name, Exact: true}
}

// elsewhere selects the versions of a memory that other spaces wrote.
func elsewhere(memory store.Key) store.Range {
	return store.Range{Namespace: memory.Namespace, Collection: record.Past, Prefix: memory.Name + "\x00"}
}

// purgeRun is a purge that runs.
type purgeRun struct {
	space Space
	plan  Plan
	done  Result
	batch []store.Replacement
	was   []store.Entry // of batch
}

const (
	pageSize  = 100  // versions in memory at once
	batchSize = 1000 // versions replaced in one write
)

// TraceBytes is how many bytes of erased payloads are searched for at a time.
const TraceBytes = 16 << 20

// Run erases. Certain copies are erased first, so that a purge that failed can be repeated; its result says what was erased.
func (s Space) Run(ctx context.Context, p Plan) (Result, error) {
	run := &purgeRun{space: s, plan: p, done: Result{Erased: []Erased{}}}
	err := run.all(ctx)
	return run.done, err
}

// all erases the copies of what is to be erased, TraceBytes bytes of it at a time, and then the originals.
func (r *purgeRun) all(ctx context.Context) error {
	if r.plan.traces != nil {
		key, any := r.plan.traces.Key(), false
		err := r.each(ctx, func(e store.Entry, _ []byte) error {
			any = true
			for _, payload := range payloadsOf(e) {
				r.plan.traces.Add(payload)
			}
			if r.plan.traces.Size() < TraceBytes {
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
		r.done.Erased = append(r.done.Erased, Erased{Branch: r.space.Branches.NameOf(e.Branch), Version: e.Version, Digest: record.Digest(e.Value)})
		return r.erase(ctx, e, left)
	})
	return errors.Join(err, r.flush(ctx))
}

// each calls do with the versions to erase and what is left of them.
func (r *purgeRun) each(ctx context.Context, do func(e store.Entry, left []byte) error) error {
	for _, b := range r.space.Branches.Kept() {
		for _, within := range r.plan.within {
			err := r.space.eachVersion(ctx, b, within, func(e store.Entry) error {
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
	}
	return nil
}

// eachVersion calls do with all versions that were written on a branch.
func (s Space) eachVersion(ctx context.Context, b *lineage.Branch, within store.Range, do func(store.Entry) error) error {
	own := store.Lineage{{Branch: b.ID, At: store.Latest}}
	for e, err := range store.Entries(ctx, s.Engine.Versions, own, within, pageSize) {
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
func (r *purgeRun) erase(ctx context.Context, e store.Entry, left []byte) error {
	if r.space.Erasing != nil {
		r.space.Erasing(e)
	}
	r.batch = append(r.batch, store.Replacement{Branch: e.Branch, Key: e.Key, Version: e.Version, Value: left})
	e.Value = nil
	r.was = append(r.was, e)
	if len(r.batch) < batchSize {
		return nil
	}
	return r.flush(ctx)
}

func (r *purgeRun) flush(ctx context.Context) error {
	err := r.space.Engine.Replace(ctx, r.batch)
	if err == nil {
		err = r.space.Replaced(ctx, r.was)
	}
	r.batch, r.was = r.batch[:0], r.was[:0]
	return err
}

// payloadsAt are the values of a version of a key, on any branch.
func (s Space) payloadsAt(ctx context.Context, key store.Key, version uint64) (map[string]bool, error) {
	held := map[string]bool{}
	for _, b := range s.Branches.Kept() {
		err := s.eachVersion(ctx, b, only(key), func(e store.Entry) error {
			if e.Version != version || e.Deleted {
				return nil
			}
			r, err := record.Decode(e)
			if err == nil && r.Purged == "" {
				held[string(r.Value)] = true
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return held, nil
}

func purgedMemory(e store.Entry) ([]byte, bool) {
	r, err := record.Decode(e)
	if err == nil && (r.Purged != "" || r.State == record.Forgotten) {
		return nil, false
	}
	left := record.Record{Value: json.RawMessage("null"), Purged: record.Digest(e.Value)}
	value, err := left.Encode()
	return value, err == nil
}

// purgedEvent keeps what the hash chain of the log needs.
func purgedEvent(e store.Entry) ([]byte, bool) {
	r, err := record.DecodeEvent(e)
	if err != nil || r.Data == nil {
		return nil, false
	}
	r.Data = nil
	value, err := r.Encode()
	return value, err == nil
}
