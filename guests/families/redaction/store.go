package redaction

import (
	"bytes"
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/secrets"
)

// Redactor replaces secrets in what is about to be stored.
//
//alcove:store collections=memory,*/* redacts on_failure=refuse tag_from=redact
type Redactor struct{}

// Store redacts entries. The host asks about those that the setting redact names.
func (Redactor) Store(_ *alcove.Call, cfg Config, entries []alcove.Entry) ([]*alcove.Change, error) {
	r := reader{redactor: cfg.redactor(), members: map[string]alcove.Raw{}}
	changes := make([]*alcove.Change, len(entries))
	for i := range entries {
		e := &entries[i]
		if err := r.refuseFixed(e); err != nil {
			return nil, err
		}
		change, err := r.changed(e)
		if err != nil {
			return nil, alcove.Refuse("the secrets in " + e.Key + " cannot be replaced: " + err.Error())
		}
		changes[i] = change
	}
	return changes, nil
}

// reader redacts entries. Namespaces, tags and metadata are often those of the entry before: what was clean is not read again.
type reader struct {
	redactor secrets.Redactor
	texts    []string              // the clean ones that were read last
	members  map[string]alcove.Raw // the clean value of each name that was read last
	fixed    []string              // is used again
}

const (
	longestKept = 128 // bytes of a clean text that is kept
	mostKept    = 16
)

// text redacts a text.
func (r *reader) text(text string) (string, []secrets.Kind, error) {
	if slices.Contains(r.texts, text) {
		return text, nil, nil
	}
	out, kinds, err := r.redactor.Redact("", text)
	if err == nil && len(kinds) == 0 && len(text) <= longestKept {
		if len(r.texts) == mostKept {
			r.texts = r.texts[:0]
		}
		r.texts = append(r.texts, text)
	}
	return out, kinds, err
}

// member redacts the JSON value of a name.
func (r *reader) member(name string, raw alcove.Raw) ([]byte, []secrets.Kind, error) {
	if last, ok := r.members[name]; ok && bytes.Equal(last, raw) {
		return raw, nil, nil
	}
	out, kinds, err := inJSON(r.redactor, name, raw)
	if err == nil && len(kinds) == 0 {
		r.members[name] = raw
	}
	return out, kinds, err
}

// refuseFixed refuses an entry with a secret where a hook can change nothing.
func (r *reader) refuseFixed(e *alcove.Entry) error {
	_, kinds, err := r.redactor.Redact("", e.Key) // no other entry has it
	r.fixed = appendFixed(r.fixed[:0], e)
	for i := 0; i < len(r.fixed) && err == nil && len(kinds) == 0; i++ {
		_, kinds, err = r.text(r.fixed[i])
	}
	if err != nil || len(kinds) > 0 {
		return alcove.Refuse("its namespace, key, type, links or names of metadata have a secret: store it without")
	}
	return nil
}

// appendFixed appends the texts of an entry, beside its key, that a hook cannot change.
func appendFixed(list []string, e *alcove.Entry) []string {
	list = append(list, e.Namespace, e.Type)
	list = append(append(list, e.Links...), e.Supersedes...)
	for name := range e.Metadata {
		list = append(list, name)
	}
	return list
}

// changed is the change of an entry without its secrets; nil if it has none.
func (r *reader) changed(e *alcove.Entry) (*alcove.Change, error) {
	change, found := &alcove.Change{}, false
	value, kinds, err := inJSON(r.redactor, "", e.Value)
	if err != nil {
		return nil, err
	}
	if len(kinds) > 0 {
		change.Value, found = value, true
	}
	for i, tag := range e.Tags {
		text, kinds, err := r.text(tag)
		if err != nil {
			return nil, err
		}
		if len(kinds) == 0 {
			continue
		}
		if change.Tags == nil {
			change.Tags = append([]string(nil), e.Tags...)
		}
		change.Tags[i], found = text, true
	}
	for name, value := range e.Metadata {
		out, kinds, err := r.member(name, value)
		if err != nil {
			return nil, err
		}
		if len(kinds) == 0 {
			continue
		}
		if change.Metadata == nil {
			change.Metadata = map[string]alcove.Raw{}
		}
		change.Metadata[name], found = out, true
	}
	if !found {
		return nil, nil
	}
	return change, nil
}
