package redaction

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/secrets"
)

// RedactScan looks for secrets in memories that are stored already, and names the memories and the kinds, not the values. Nothing is changed: store
// such a memory anew without its secret, and erase the old text with alcove purge.
//
//alcove:description Find stored memories that have secrets: keys and kinds, not values.
//alcove:tool read-only idempotent
//alcove:title Find stored secrets
type RedactScan struct {
	Prefix string // Only memories whose key begins with it
	After  string // The key after which to begin; next of the answer before
	Limit  int    `alcove:"min=1,max=10000,default=1000"` // Memories to look at
}

// Scanned is what a part of the memories has.
type Scanned struct {
	Memories []Holder
	Scanned  int    // How many were looked at.
	Next     string `json:",omitempty"` // Where to go on; absent at the end.
}

// Holder is a memory that has secrets.
type Holder struct {
	Key   string
	Kinds []string
}

// Call looks at the memories of the call's namespace.
func (in RedactScan) Call(c *alcove.Call, cfg Config) (out Scanned, err error) {
	r, last := cfg.redactor(), ""
	for m, err := range c.Memories(alcove.MemoryListRequest{Namespace: c.Namespace, Prefix: in.Prefix, After: in.After, Limit: page}) {
		if err != nil {
			return out, err
		}
		if out.Scanned == in.Limit {
			out.Next = last
			break
		}
		last = m.Key
		out.Scanned++
		if kinds := kindsIn(r, m); len(kinds) > 0 {
			out.Memories = append(out.Memories, Holder{m.Key, kinds})
		}
	}
	return out, nil
}

// page is how many memories are read at once.
const page = 200

// kindsIn are the kinds of secrets that a memory has, each once. One that cannot be told has too many.
func kindsIn(r secrets.Redactor, m *alcove.Memory) (list []string) {
	e := alcove.Entry{Key: m.Key, Type: m.Type, Value: m.Value, Tags: m.Tags, Metadata: m.Metadata, Links: m.Links}
	seen := map[secrets.Kind]bool{}
	add := func(kinds []secrets.Kind, err error) {
		if err != nil {
			kinds = []secrets.Kind{"too-many"}
		}
		for _, k := range kinds {
			if !seen[k] {
				seen[k] = true
				list = append(list, string(k))
			}
		}
	}
	for _, text := range append(appendFixed([]string{e.Key}, &e), e.Tags...) {
		_, kinds, err := r.Redact("", text)
		add(kinds, err)
	}
	_, kinds, err := inJSON(r, "", e.Value)
	add(kinds, err)
	for name, value := range e.Metadata {
		_, kinds, err := inJSON(r, name, value)
		add(kinds, err)
	}
	return list
}
