// Package lineage tells what the branches of a space descend from and have merged.
package lineage

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/store"
)

// The catalogue is stored as entries of the engine's catalogue branch.
const (
	Namespace = "_"         // of the catalogue; callers cannot name it
	System    = "_system"   // the branch for data that is the same on all branches; callers cannot name it
	Branches  = "_branches" // the collection of branch records
	Merges    = "_merges"   // the collection of merge records
)

// Root is the lineage of the catalogue branch, at its newest version.
func Root() store.Lineage { return store.Lineage{{Branch: store.Catalogue, At: store.Latest}} }

// Record is how a branch is stored, under its id.
type Record struct {
	Name    string         `json:"name"`
	Parent  string         `json:"parent,omitempty"` // its name at the fork
	From    store.BranchID `json:"from,omitempty"`   // 0: started empty
	At      uint64         `json:"at,omitempty"`     // the version of From that it started from
	Deleted bool           `json:"deleted,omitempty"`
	// ReadOnly branches take no writes.
	ReadOnly bool `json:"read_only,omitempty"`
	// DeletedAt is when a branch was deleted that can be restored, in Unix milliseconds; 0: it cannot, or was not deleted.
	DeletedAt int64 `json:"deleted_at,omitempty"`
	// Gathers says whose further changes a proposal takes; the zero Gatherer: nobody's, it stays as it is.
	Gathers Gatherer `json:"gathers,omitzero"`
	// Calls counts the commits of a proposal that gathers or gathered changes. Each rewrites the record.
	Calls int `json:"calls,omitempty"`
	// Reclaimed branches have no data any more. Their records and merges stay to tell what the branches that merged them know.
	Reclaimed bool `json:"reclaimed,omitempty"`
}

// Gatherer is a family that proposes, and the caller for whom it does.
type Gatherer struct {
	Family string `json:"family"`
	Agent  string `json:"agent,omitempty"` // the principal; empty: no agent
	Key    string `json:"key,omitempty"`   // the id of its API key: another key has other rights
}

// Restorable reports whether the branch was deleted and can be restored. Nothing drops its data while it can.
func (r Record) Restorable() bool { return r.Deleted && !r.Reclaimed && r.DeletedAt != 0 }

// Write is the write that stores the record of a branch.
func (r Record) Write(id store.BranchID) (store.Write, error) {
	value, err := json.Marshal(r)
	return store.Write{Branch: store.Catalogue, Key: BranchKey(id), Value: value}, err
}

// BranchKey is the key of a branch's record.
func BranchKey(id store.BranchID) store.Key {
	return store.Key{Namespace: Namespace, Collection: Branches, Name: store.SequenceName(uint64(id))}
}

// MergeRecord is how a merge is stored: the target knows everything that the source knew at a version.
type MergeRecord struct {
	Source     store.BranchID `json:"source"`
	SourceAt   uint64         `json:"source_at"`
	Target     store.BranchID `json:"target"`
	Namespaces []string       `json:"namespaces,omitempty"` // nil: all
	// Silent are keys that the source had changed and the target kept as it had them. Nothing was written for them, so no change
	// log tells that the target has decided.
	Silent []store.Key `json:"silent,omitempty"`
	// Name is that of the source, which outlives the source's own record.
	Name string `json:"name,omitempty"`
}

// key is the key that the record is stored under.
func (m MergeRecord) key() store.Key {
	return store.Key{Namespace: Namespace, Collection: Merges,
		Name: fmt.Sprintf("%s-%s-%s", store.SequenceName(uint64(m.Target)), store.SequenceName(m.SourceAt), store.SequenceName(uint64(m.Source)))}
}

// MergeOf is the merge whose record is stored under a key; ok is false for other keys. It has none of the other fields.
func MergeOf(key store.Key) (m MergeRecord, ok bool) {
	var n [3]uint64
	parts := strings.Split(key.Name, "-")
	if key.Namespace != Namespace || key.Collection != Merges || len(parts) != len(n) {
		return m, false
	}
	for i, part := range parts {
		var err error
		if n[i], err = store.ParseSequence(part); err != nil {
			return m, false
		}
	}
	return MergeRecord{Target: store.BranchID(n[0]), SourceAt: n[1], Source: store.BranchID(n[2])}, true
}

// ReadMerge decodes the stored record of a merge.
func ReadMerge(e store.Entry) (m MergeRecord, err error) {
	if err := json.Unmarshal(e.Value, &m); err != nil {
		return m, fmt.Errorf("read the catalogue of merges: %s: %w", e.Key, err)
	}
	return m, nil
}

// Write is the write that stores the record.
func (m MergeRecord) Write() (store.Write, error) {
	value, err := json.Marshal(m)
	return store.Write{Branch: store.Catalogue, Key: m.key(), Value: value}, err
}

func (m MergeRecord) covers(name string) bool {
	return m.Namespaces == nil || namespace.Covers(m.Namespaces, name)
}

// Branch is a branch in the catalogue. A published Branch is never changed, only replaced.
type Branch struct {
	Record
	ID      store.BranchID
	Version uint64 // of its record
	Created time.Time
	Lineage store.Lineage
}

// Tracking is what the names of branches begin with that receive from other spaces. What they hold is searched once it is merged.
const Tracking = "remotes/"

// IsSearched reports whether the search index has what was written on the branch.
func (b *Branch) IsSearched() bool { return !strings.HasPrefix(b.Name, Tracking) }

// Key is the key of the branch's record.
func (b *Branch) Key() store.Key { return BranchKey(b.ID) }

// Alive is the condition that the branch has not been deleted or replaced meanwhile.
func (b *Branch) Alive() store.Expectation {
	return store.Expectation{Lineage: Root(), Key: b.Key(), Version: b.Version}
}

// Merge is a merge in the catalogue.
type Merge struct {
	MergeRecord
	At     uint64    // the version of the merge: the target has it from there on
	Stored store.Key // of its record
}
