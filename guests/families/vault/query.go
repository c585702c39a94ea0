package vault

import alcove "github.com/alcove-memory/alcove/sdk/go"

// QueryVault searches memories and answers with the paths of their files.
//
// It searches as memory_search does. The files need not have been written.
//
//alcove:camel
//alcove:title Search the vault
//alcove:description Search facts, answer with file paths.
//alcove:tool read-only
type QueryVault struct {
	Query string `alcove:"required"`
	Limit int    `alcove:"default=20,min=1,max=50,alias=k"`
}

type queried struct{ Results []foundFile }

type foundFile struct {
	Path    string
	Snippet string
	FactID  alcove.ID `json:"factId"`
}

// Call searches.
func (in QueryVault) Call(c *alcove.Call) (out queried, err error) {
	found, err := c.MemorySearch(alcove.MemorySearchRequest{Query: in.Query, K: in.Limit})
	if err != nil {
		return out, err
	}
	where, keys := &paths{c: c}, make([]string, len(found.Hits))
	for i, h := range found.Hits {
		keys[i] = h.Memory.Key
	}
	if len(keys) == 0 {
		return out, nil
	}
	dated, err := c.MemoryGet(alcove.MemoryGetRequest{Keys: keys, Created: true})
	if err != nil {
		return out, err
	}
	for i, m := range dated.Memories {
		if m == nil || isTurn(m) {
			continue
		}
		path, err := where.of(m)
		if err != nil {
			return out, err
		}
		out.Results = append(out.Results, foundFile{path, found.Hits[i].Snippet, m.ID()})
	}
	return out, nil
}
