package record

import (
	"encoding/json"
	"strings"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Doc is what the index gets of an entry; ok is false for collections that are not searched.
func Doc(e store.Entry) (d search.Doc, ok bool, err error) { return DocOf(e, nil) }

// DocOf is Doc for an entry whose record is known; nil: it is not, and is decoded.
func DocOf(e store.Entry, r *Record) (d search.Doc, ok bool, err error) {
	d = search.Doc{
		Branch: e.Branch, Version: e.Version, Namespace: e.Namespace, Collection: e.Collection, Key: e.Name,
		Time: e.Time, Deleted: e.Deleted,
	}
	switch e.Collection {
	case Memories:
		err = describeMemory(&d, e, r)
	case Events:
		err = describeEvent(&d, e)
	default:
		return describeRecord(d, e, r)
	}
	return d, err == nil, err
}

// describeRecord is for what families keep: it is searched by the fields that its collection names. The space's own
// collections are not searched.
func describeRecord(d search.Doc, e store.Entry, r *Record) (search.Doc, bool, error) {
	if e.Branch == store.Catalogue || strings.HasPrefix(e.Collection, "_") {
		return d, false, nil
	}
	if e.Deleted {
		return d, true, nil
	}
	r, err := decoded(e, r)
	if err != nil || len(r.Fields) == 0 {
		return d, false, err
	}
	d.Text, d.State, d.Expires, d.Deleted = r.Searched(), search.Active, r.ExpiresAt(), r.Purged != ""
	return d, true, nil
}

// Searched is the text in those fields of a record that are searched.
func (r Record) Searched() []string {
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

// decoded returns the record of an entry, which r is unless it is nil.
func decoded(e store.Entry, r *Record) (*Record, error) {
	if r != nil {
		return r, nil
	}
	fresh, err := Decode(e)
	return &fresh, err
}

func describeMemory(d *search.Doc, e store.Entry, r *Record) error {
	if e.Deleted {
		return nil
	}
	r, err := decoded(e, r)
	if err != nil {
		return err
	}
	if r.Purged != "" {
		d.Deleted = true
		return nil
	}
	d.Text, d.Tags, d.Type, d.State, d.Expires, d.Importance = jsontext.Strings(r.Value), r.Tags, r.Type, r.CurrentState(), r.ExpiresAt(), r.Importance
	d.Agent, d.Fields, d.Created = r.Agent, r.SearchFields(e.Namespace), r.CreatedAt(e)
	d.Turn = Turn(r.Metadata)
	d.Vector, d.VectorOf = DecodeVector(r.Vector), r.VectorOf
	return nil
}
