// Package record is the form in which a space stores memories, records of families, events of the log and answers to requests.
package record

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Collections of a namespace that the space itself keeps. Names that callers choose cannot start with an underscore.
const (
	Memories = "memory"
	Events   = "_log"
	Past     = "_past" // versions of memories that other spaces wrote, and that were not the newest here
	// CommitNotes is what a purge calls the collection of the notes of commits, which are no entries.
	CommitNotes = "_commits"
	Answers     = "_answers" // on the system branch
)

// Forgotten is the state of a deletion in Past. No memory has it.
const Forgotten = "forgotten"

// Record is how a memory, or a record of a family, is stored.
type Record struct {
	Value      json.RawMessage            `json:"v"`
	Tags       []string                   `json:"t,omitempty"`
	Type       string                     `json:"y,omitempty"`
	Importance *float64                   `json:"i,omitempty"`
	Metadata   map[string]json.RawMessage `json:"m,omitempty"`
	State      string                     `json:"s,omitempty"` // empty: active
	Supersedes []string                   `json:"u,omitempty"`
	Links      []string                   `json:"l,omitempty"`
	Expires    int64                      `json:"x,omitempty"` // µs since the epoch; 0: never
	Agent      string                     `json:"a,omitempty"`
	Created    int64                      `json:"c,omitempty"`  // µs since the epoch; 0: with this version
	Purged     string                     `json:"p,omitempty"`  // digest of what was erased here; all else is empty
	Vector     []byte                     `json:"e,omitempty"`  // that the memory came with, as EncodeVector writes it
	VectorOf   string                     `json:"eo,omitempty"` // its embedder
	Fields     []string                   `json:"f,omitempty"`  // of a family's record: those that are searched
}

// Decode reads the record of an entry.
func Decode(e store.Entry) (Record, error) {
	var r Record
	if err := json.Unmarshal(e.Value, &r); err != nil {
		return r, fmt.Errorf("decode %s at version %d: %w", e.Key, e.Version, err)
	}
	return r, nil
}

// Of reads the record of an entry; nil: nothing is there.
func Of(e store.Entry) (*Record, error) {
	if !e.Exists() {
		return nil, nil
	}
	r, err := Decode(e)
	return &r, err
}

// Author returns the agent that wrote an entry that is a record or an event; empty: none is kept, as of what was erased.
func Author(e store.Entry) (string, error) {
	var by struct {
		Agent string `json:"a"`
	}
	if err := json.Unmarshal(e.Value, &by); err != nil {
		return "", fmt.Errorf("decode %s at version %d: %w", e.Key, e.Version, err)
	}
	return by.Agent, nil
}

// Encode writes the record. Values in it keep their bytes.
func (r Record) Encode() ([]byte, error) { return jsontext.Encode(r) }

// Content is the record without its author and the time of its creation.
func (r Record) Content() Record {
	r.Agent, r.Created = "", 0
	return r
}

// SameContent reports whether two records have the same Content.
func (r Record) SameContent(other Record) bool {
	a, errA := r.Content().Encode()
	b, errB := other.Content().Encode()
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// CurrentState is the state with the default filled in.
func (r Record) CurrentState() string { return cmp.Or(r.State, search.Active) }

// ExpiresAt is when the record expires; the zero time: never.
func (r Record) ExpiresAt() time.Time {
	if r.Expires == 0 {
		return time.Time{}
	}
	return time.UnixMicro(r.Expires).UTC()
}

// CreatedAt is when the memory of an entry was created: at its first version since it was last deleted.
func (r Record) CreatedAt(e store.Entry) time.Time {
	if r.Created == 0 {
		return e.Time
	}
	return time.UnixMicro(r.Created).UTC()
}

// Succeed makes the record the next version of another, which an entry has.
func (r *Record) Succeed(was *Record, e store.Entry) {
	if r.Created = was.Created; r.Created == 0 && e.Exists() {
		r.Created = e.Time.UnixMicro()
	}
}

// Expired reports whether the record has expired.
func (r Record) Expired(now time.Time) bool {
	return r.Expires != 0 && r.Expires <= now.UnixMicro()
}

// Lasts reports that the record of an entry never expires and was not purged, without decoding it; false: it may be otherwise.
func Lasts(e store.Entry) bool {
	for _, name := range []string{`"x"`, `"p"`, `"X"`, `"P"`, `"\u`} {
		if bytes.Contains(e.Value, []byte(name)) {
			return false
		}
	}
	return true
}

// Size is about how many bytes the record has in memory; 0 for nil.
func (r *Record) Size() int {
	if r == nil {
		return 0
	}
	n := len(r.Value) + len(r.Vector)
	for name, value := range r.Metadata {
		n += len(name) + len(value)
	}
	return n
}

// EncodeVector writes a vector, four bytes an element, little-endian.
func EncodeVector(v []float32) []byte {
	var out []byte
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// DecodeVector reads what EncodeVector wrote.
func DecodeVector(raw []byte) []float32 {
	var v []float32
	for ; len(raw) >= 4; raw = raw[4:] {
		v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return v
}

// Answer is what a request was answered with, so that a repeated request gets the same answer.
type Answer struct {
	Answer  json.RawMessage `json:"answer"`         // null: it was too long
	Sent    []string        `json:"sent,omitempty"` // instead: effects of a request that has no answer yet
	Expires int64           `json:"expires"`        // µs since the epoch
}
