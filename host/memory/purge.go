package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/alcove-memory/alcove/host/store"
)

// Purge says what to erase: a memory's versions, or the data of an event.
type Purge struct {
	Namespace string // empty: Default
	Key       string // of a memory
	Event     uint64 // or the sequence number of an event
	Version   uint64 // only this version; 0: all
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
	key, replace, err := s.purgePlan(p)
	if err != nil {
		return nil, err
	}
	engine, ok := s.engine.(store.Purger)
	if !ok {
		return nil, &Error{Code: InvalidArgument, Message: "this store cannot erase what was stored"}
	}
	if err := s.Ready(ctx); err != nil {
		return nil, err
	}
	purged, err := engine.Purge(ctx, key, func(e store.Entry) ([]byte, bool) {
		if e.Deleted || p.Version != 0 && e.Version != p.Version {
			return nil, false
		}
		return replace(e)
	})
	s.reindex(ctx, purged)
	if err != nil {
		return nil, s.translate("purge", err)
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

// purgePlan is where to erase, and what stays of an entry there.
func (s *Space) purgePlan(p Purge) (key store.Key, replace func(store.Entry) ([]byte, bool), err error) {
	place, err := s.limits.checkPlace(Place{Namespace: p.Namespace})
	if err != nil {
		return key, nil, err
	}
	switch {
	case (p.Key == "") == (p.Event == 0):
		return key, nil, invalid("say what to purge: the key of a memory, or the sequence number of an event")
	case p.Event != 0:
		key = store.Key{Namespace: place.Namespace, Collection: events, Name: store.SequenceName(p.Event)}
		return key, purgedEvent, nil
	}
	return memoryKey(place.Namespace, p.Key), purgedMemory, s.limits.checkKey(p.Key)
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

// reindex makes the index forget what was erased.
func (s *Space) reindex(ctx context.Context, purged []store.Entry) {
	done := map[store.BranchID]bool{}
	for _, e := range purged {
		b := s.catalogue.withID(e.Branch)
		if done[e.Branch] || b == nil {
			continue
		}
		done[e.Branch] = true
		s.index.Drop(e.Branch)
		if err := s.fillBranch(ctx, b); err != nil {
			s.logger.Error("after a purge a branch is not wholly searchable until the next start", "branch", b.Name, "error", err)
		}
	}
}
