package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Purge says what to erase: a memory's payloads, or the data of an event.
type Purge struct {
	Namespace string // empty: Default
	Key       string // of a memory
	Version   uint64 // only what this version of the memory holds, wherever the key holds it; 0: all versions
	Event     uint64 // or the sequence number of an event
	Branch    string // whose log the event is in; empty: Default
}

// Erased is a version whose payload was erased, and what is left of it.
type Erased struct {
	Branch  string `json:"branch"` // that it was written on; empty for one that was deleted
	Version uint64 `json:"version"`
	Digest  string `json:"digest"` // SHA-256 of what was stored, hexadecimal
}

// Purge erases payloads from every branch and version and from the files of the space; a digest stays where each was. It
// is an operator's act: nothing undoes it, and backups that were made before still have what was erased.
func (s *Space) Purge(ctx context.Context, p Purge) ([]Erased, error) {
	engine, ok := s.engine.(store.Purger)
	if !ok {
		return nil, &Error{Code: InvalidArgument, Message: "this store cannot erase what was stored"}
	}
	if err := s.Ready(ctx); err != nil {
		return nil, err
	}
	key, replace, err := s.purgePlan(ctx, p)
	if err != nil {
		return nil, err
	}
	s.writing.Lock() // what is being stored is in the index before it is taken out of it
	defer s.writing.Unlock()
	s.purges.Add(1)
	defer s.purges.Add(1)
	s.saving.Lock()
	defer s.saving.Unlock()
	if err := s.index.Unsave(ctx, s.engine); err != nil { // so that no crash brings it back
		return nil, s.translate("purge", err)
	}
	purged, err := engine.Purge(ctx, key, func(e store.Entry) ([]byte, bool) {
		if e.Deleted {
			return nil, false
		}
		return replace(e)
	})
	err = errors.Join(err, s.reindex(ctx, purged))
	if err != nil {
		return nil, s.translate("purge", errors.Join(err, s.rewriteIndex(ctx)))
	}
	copies, err := s.purgeCopies(ctx, engine, purged)
	err = errors.Join(err, s.reindex(ctx, copies), s.rewriteIndex(ctx))
	if err != nil {
		return nil, s.translate("purge what families, answers and the search index have of it", err)
	}
	if s.meaning != nil {
		if err := s.meaning.Scrub(ctx); err != nil {
			return nil, fmt.Errorf("purge: what was erased is gone, but for its vectors, which a second purge erases: %w", err)
		}
	}
	erased := make([]Erased, len(purged))
	for i, e := range purged {
		erased[i] = Erased{Branch: s.catalogue.nameOf(e.Branch), Version: e.Version, Digest: digest(e.Value)}
	}
	if len(erased) == 0 {
		return nil, notFound("there is nothing to purge: no such version, or all of it was purged before")
	}
	return erased, nil
}

func digest(value []byte) string {
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:])
}

// replacing says what stays of an entry, if its payload is to go.
type replacing func(store.Entry) (value []byte, purge bool)

// purgePlan is where to erase, and what stays of an entry there.
func (s *Space) purgePlan(ctx context.Context, p Purge) (store.Key, replacing, error) {
	place, err := s.limits.checkPlace(Place{Branch: p.Branch, Namespace: p.Namespace})
	if err != nil {
		return store.Key{}, nil, err
	}
	switch {
	case (p.Key == "") == (p.Event == 0):
		return store.Key{}, nil, invalid("say what to purge: the key of a memory, or the sequence number of an event")
	case p.Event != 0 && p.Version != 0:
		return store.Key{}, nil, invalid("an event has no versions: say its sequence number alone")
	case p.Event != 0:
		return s.purgeEvent(ctx, place, p.Event)
	}
	key := memoryKey(place.Namespace, p.Key)
	if err := s.limits.checkKey(p.Key); err != nil || p.Version == 0 {
		return key, purgedMemory, err
	}
	held, err := s.payloadsAt(ctx, key, p.Version)
	return key, func(e store.Entry) ([]byte, bool) {
		if r, err := decodeRecord(e); err != nil || !held[string(r.Value)] {
			return nil, false
		}
		return purgedMemory(e)
	}, err
}

// payloadsAt are the values that a version of a key has, on any branch. The same values under other versions of the key, which
// merges and later stores made, are the same payload.
func (s *Space) payloadsAt(ctx context.Context, key store.Key, version uint64) (map[string]bool, error) {
	held := map[string]bool{}
	only := store.Range{Namespace: key.Namespace, Collection: key.Collection, Prefix: key.Name, Exact: true}
	for _, b := range s.catalogue.kept() {
		for cursor, first := store.Cursor(""), true; first || cursor != ""; first = false {
			page, next, err := s.engine.Versions(ctx, store.Lineage{{Branch: b.id, At: store.Latest}}, only, cursor, fillPage)
			if err != nil {
				return nil, s.translate("find what to purge", err)
			}
			for _, e := range page {
				if e.Version != version || e.Deleted {
					continue
				}
				r, err := decodeRecord(e)
				if err != nil {
					return nil, err
				}
				if r.Purged == "" {
					held[string(r.Value)] = true
				}
			}
			cursor = next
		}
	}
	return held, nil
}

// purgeEvent finds an event as a branch sees it. Another branch may have another event under the same number: only those
// with the same data are meant.
func (s *Space) purgeEvent(ctx context.Context, p Place, sequence uint64) (store.Key, replacing, error) {
	key := store.Key{Namespace: p.Namespace, Collection: events, Name: store.SequenceName(sequence)}
	b, err := s.catalogue.named(p.Branch)
	if err != nil {
		return key, nil, err
	}
	found, err := s.engine.GetAt(ctx, b.lineage, []store.Key{key})
	if err != nil {
		return key, nil, s.translate("find what to purge", err)
	}
	if !found[0].Exists() {
		return key, nil, notFound("there is no event %d in namespace %q on branch %q", sequence, p.Namespace, b.Name)
	}
	meant, err := decodeEvent(found[0])
	return key, func(e store.Entry) ([]byte, bool) {
		if r, err := decodeEvent(e); err != nil || r.Digest != meant.Digest {
			return nil, false
		}
		return purgedEvent(e)
	}, err
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

// purgedEvent keeps what the chain of the log is made of.
func purgedEvent(e store.Entry) ([]byte, bool) {
	r, err := decodeEvent(e)
	if err != nil || r.Data == nil {
		return nil, false
	}
	r.Data = nil
	value, err := r.encode()
	return value, err == nil
}

// reindex gives the index what is left of what was erased.
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
			e.Deleted = true // nobody can ask for it any more
		}
		d, ok, err := doc(e)
		if err != nil {
			return err
		}
		if !ok { // what is left is not searched
			d.Deleted = true
		}
		if s.catalogue.withID(e.Branch) != nil {
			docs = append(docs, d)
		}
	}
	s.index.Replace(docs...)
	return nil
}

// rewriteIndex takes out of the index's files what was erased. The caller holds saving.
func (s *Space) rewriteIndex(ctx context.Context) error {
	err := s.index.Tend(ctx)
	if err == nil && !s.distrusted {
		err = s.index.Save(ctx, s.engine, s.applied.upTo(), true)
	}
	if err != nil {
		return fmt.Errorf("files of the search index may have it still; a restart of the server makes them anew: %w", err)
	}
	return nil
}
