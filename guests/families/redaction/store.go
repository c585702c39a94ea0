package redaction

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/secrets"
)

// Redactor replaces secrets in what is about to be stored.
//
//alcove:store collections=memory,*/* redacts on_failure=refuse tag_from=redact
type Redactor struct{}

// Store redacts entries. The host asks about those that the setting redact names.
func (Redactor) Store(_ *alcove.Call, cfg Config, entries []alcove.Entry) ([]*alcove.Change, error) {
	r := reader{redactor: cfg.redactor(), clean: map[string]bool{}}
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
	clean    map[string]bool
}

const longestKept = 128 // bytes of a text that is kept as clean

// text redacts a text.
func (r reader) text(text string) (string, []secrets.Kind, error) {
	if r.clean[text] {
		return text, nil, nil
	}
	out, kinds, err := r.redactor.Redact("", text)
	if err == nil && len(kinds) == 0 && len(text) <= longestKept {
		r.clean[text] = true
	}
	return out, kinds, err
}

// member redacts the JSON value of a name.
func (r reader) member(name string, raw []byte) ([]byte, []secrets.Kind, error) {
	id := ""
	if len(name)+len(raw) <= longestKept {
		if id = name + "\x00" + string(raw); r.clean[id] {
			return raw, nil, nil
		}
	}
	out, kinds, err := inJSON(r.redactor, name, raw)
	if id != "" && err == nil && len(kinds) == 0 {
		r.clean[id] = true
	}
	return out, kinds, err
}

// refuseFixed refuses an entry with a secret where a hook can change nothing.
func (r reader) refuseFixed(e *alcove.Entry) error {
	for _, text := range fixed(e) {
		if _, kinds, err := r.text(text); err != nil || len(kinds) > 0 {
			return alcove.Refuse("its namespace, key, type, links or names of metadata have a secret: store it without")
		}
	}
	return nil
}

// fixed are the texts of an entry that a hook cannot change.
func fixed(e *alcove.Entry) []string {
	list := append([]string{e.Namespace, e.Key, e.Type}, e.Links...)
	list = append(list, e.Supersedes...)
	for name := range e.Metadata {
		list = append(list, name)
	}
	return list
}

// changed is the change of an entry without its secrets; nil if it has none.
func (r reader) changed(e *alcove.Entry) (*alcove.Change, error) {
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
