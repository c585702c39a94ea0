package memory

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/jsontext"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Collections of a namespace that this package keeps. Names that callers may choose cannot start with an
// underscore.
const (
	memories = "memory"
	events   = "_log"
)

// record is how a memory is stored.
type record struct {
	Value      json.RawMessage            `json:"v"`
	Tags       []string                   `json:"t,omitempty"`
	Type       string                     `json:"y,omitempty"`
	Importance *float64                   `json:"i,omitempty"`
	Metadata   map[string]json.RawMessage `json:"m,omitempty"`
	State      State                      `json:"s,omitempty"` // empty: Active
	Supersedes []string                   `json:"u,omitempty"`
	Links      []string                   `json:"l,omitempty"`
	Expires    int64                      `json:"x,omitempty"` // µs since the epoch
	Agent      string                     `json:"a,omitempty"`
	Purged     string                     `json:"p,omitempty"` // digest of what was erased here; all else is empty
	Vector     []byte                     `json:"e,omitempty"` // what it means, if it came with that
	VectorOf   string                     `json:"eo,omitempty"`
	Fields     []string                   `json:"f,omitempty"` // of a family's record: those that are searched
}

func newRecord(it Item, agent string) (record, error) {
	value, err := jsontext.Compact(it.Value)
	if err != nil {
		return record{}, invalid("value is not valid JSON: %v", err)
	}
	r := record{
		Value: value, Tags: tidyTags(it.Tags), Type: it.Type, Importance: it.Importance, Metadata: it.Metadata,
		State: it.State, Supersedes: it.Supersedes, Links: it.Links, Agent: agent, Vector: it.Vector.encoded(), VectorOf: it.Vector.Embedder,
	}
	if r.State == Active {
		r.State = ""
	}
	if !it.ExpiresAt.IsZero() {
		r.Expires = it.ExpiresAt.UnixMicro()
	}
	return r, nil
}

// tidyTags drops blanks around tags, empty tags and repeats, and keeps the order.
func tidyTags(tags []string) []string {
	var tidy []string
	for _, tag := range tags {
		if tag = strings.TrimSpace(tag); tag != "" && !slices.Contains(tidy, tag) {
			tidy = append(tidy, tag)
		}
	}
	return tidy
}

func (r record) encode() ([]byte, error) { return jsontext.Encode(r) }

func decodeRecord(e store.Entry) (record, error) {
	var r record
	if err := json.Unmarshal(e.Value, &r); err != nil {
		return r, fmt.Errorf("decode %s at version %d: %w", e.Key, e.Version, err)
	}
	return r, nil
}

// sameContent reports whether two records say the same, whoever said it.
func (r record) sameContent(other record) bool {
	r.Agent, other.Agent = "", ""
	a, errA := r.encode()
	b, errB := other.encode()
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func (r record) state() State { return cmp.Or(r.State, Active) }

func (r record) expiresAt() time.Time {
	if r.Expires == 0 {
		return time.Time{}
	}
	return time.UnixMicro(r.Expires).UTC()
}

func (r record) expired(now time.Time) bool {
	return r.Expires != 0 && r.Expires <= now.UnixMicro()
}

func (r record) memory(e store.Entry) Memory {
	return Memory{
		Namespace: e.Namespace, Key: e.Name, Value: r.Value, Tags: r.Tags, Type: r.Type, Importance: r.Importance,
		Metadata: r.Metadata, Agent: r.Agent, State: r.state(), Supersedes: r.Supersedes, Links: r.Links,
		ExpiresAt: r.expiresAt(), Vector: Vector{r.VectorOf, decodedVector(r.Vector)}, Purged: r.Purged, Version: e.Version, Timestamp: e.Time,
	}
}

func decodeMemory(e store.Entry) (Memory, error) {
	if e.Deleted {
		return Memory{Namespace: e.Namespace, Key: e.Name, Version: e.Version, Timestamp: e.Time, Deleted: true}, nil
	}
	r, err := decodeRecord(e)
	if err != nil {
		return Memory{}, err
	}
	return r.memory(e), nil
}

// doc is what the index sees of an entry; ok is false for collections that are not searched.
func doc(e store.Entry) (d search.Doc, ok bool, err error) {
	d = search.Doc{
		Branch: e.Branch, Version: e.Version, Namespace: e.Namespace, Collection: e.Collection, Key: e.Name,
		Time: e.Time, Deleted: e.Deleted,
	}
	switch e.Collection {
	case memories:
		err = describeMemory(&d, e)
	case events:
		err = describeEvent(&d, e)
	default:
		return describeRecord(d, e)
	}
	return d, err == nil, err
}

// describeRecord is for what families keep: it is searched by the fields that its collection names. The space's own
// collections are not searched.
func describeRecord(d search.Doc, e store.Entry) (search.Doc, bool, error) {
	if e.Branch == store.Catalogue || strings.HasPrefix(e.Collection, "_") {
		return d, false, nil
	}
	if e.Deleted {
		return d, true, nil
	}
	r, err := decodeRecord(e)
	if err != nil || len(r.Fields) == 0 {
		return d, false, err
	}
	d.Text, d.State, d.Expires, d.Deleted = r.searched(), search.Active, r.expiresAt(), r.Purged != ""
	return d, true, nil
}

// searched is the text in those fields of a record that are searched.
func (r record) searched() []string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.Value, &fields); err != nil {
		return nil // not an object: it has no fields
	}
	var text []string
	for _, name := range r.Fields {
		if value, ok := fields[name]; ok {
			text = append(text, jsontext.Strings(value)...)
		}
	}
	return text
}

func describeMemory(d *search.Doc, e store.Entry) error {
	if e.Deleted {
		return nil
	}
	r, err := decodeRecord(e)
	if err != nil {
		return err
	}
	if r.Purged != "" {
		d.Deleted = true
		return nil
	}
	d.Text, d.Tags, d.Type, d.State, d.Expires, d.Importance = jsontext.Strings(r.Value), r.Tags, r.Type, string(r.state()), r.expiresAt(), r.Importance
	d.Turn = conversationTurn(r.Metadata)
	d.Vector, d.VectorOf = decodedVector(r.Vector), r.VectorOf
	return nil
}

// derivedKey names a memory that was stored without a key, so that storing it again is the same memory.
func derivedKey(namespace string, value json.RawMessage) (string, error) {
	canonical, err := jsontext.Canonical(value)
	if err != nil {
		return "", invalid("value is not valid JSON: %v", err)
	}
	sum := sha256.Sum256(append([]byte(namespace+"\x00"), canonical...))
	name := base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10])
	return "m-" + strings.ToLower(name), nil
}
