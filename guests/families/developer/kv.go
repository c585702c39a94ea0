package developer

import alcove "github.com/alcove-memory/alcove/sdk/go"

var keyValues = alcove.Records[alcove.Raw]{Name: "kv", Open: true, Sync: "newest"}

// KeyValue puts and gets values by key.
//
// put takes key and value, or items: [{key, value}]. get and delete take key or keys. list shows keys that begin with prefix, history the
// versions of one key.
//
//alcove:tool memory_kv mixed destructive
//alcove:title Key-value store
//alcove:description Key-value store: put, get, delete, list keys, history; many at once with keys or items.
//alcove:alias strata_kv_put action=put
//alcove:alias strata_kv_get action=get
//alcove:alias strata_kv_delete action=delete
//alcove:alias strata_kv_list action=list
//alcove:alias strata_kv_history action=history
//alcove:alias strata_kv_put_many action=put
//alcove:alias strata_kv_get_many action=get
//alcove:alias strata_kv_delete_many action=delete
type KeyValue struct {
	Action string `alcove:"required,enum=put|get|delete|list|history"`
	Key    string
	Value  alcove.Raw
	Keys   []string     `alcove:"many,advanced,max=1000"`
	Items  []alcove.Raw `alcove:"many,advanced,max=1000,alias=entries"` // [{key, value}]
	Prefix string
	Limit  int    `alcove:"advanced,default=100,min=1,max=1000"`
	Cursor string `alcove:"advanced"`
}

// entry is a key with its value.
//
//alcove:json
type entry struct {
	Key   string
	Value alcove.Raw
}

// found is a key, and its value if it has one.
type found struct {
	Key     string
	Found   bool
	Value   alcove.Raw `json:",omitzero"`
	Version uint64     `json:",omitzero"`
}

// values is what memory_kv answers.
type values struct {
	Key       string     `json:",omitzero"`
	Value     alcove.Raw `json:",omitzero"`
	Found     *bool      `json:",omitzero"`
	Version   uint64     `alcove:"committed" json:",omitzero"`
	Timestamp string     `json:",omitzero"`
	Stored    int        `json:",omitzero"`
	Deleted   *int       `json:",omitzero"`
	Items     []found    `json:",omitzero"`
	names
}

// Call does what the action says.
func (in KeyValue) Call(c *alcove.Call) (out values, err error) {
	switch in.Action {
	case put:
		return in.put(c)
	case get:
		return in.get(c)
	case remove:
		if in.Key != "" {
			in.Keys = append(in.Keys, in.Key)
		}
		if err := need(remove, "key or keys", len(in.Keys) > 0); err != nil {
			return out, err
		}
		out.Deleted, err = drop(c, keyValues.Name, in.Keys)
	case list:
		out.names, err = keysOf(c, keyValues.Name, in.Prefix, in.Cursor, in.Limit)
	case history:
		if err := need(history, "key", in.Key != ""); err != nil {
			return out, err
		}
		out.Key = in.Key
		out.names, err = versionsOf(c, keyValues.Name, in.Key, in.Cursor, in.Limit)
	}
	return out, err
}

func (in KeyValue) put(c *alcove.Call) (out values, err error) {
	items := make([]alcove.RecordItem, 0, len(in.Items)+1)
	if in.Key != "" {
		if err := need(put, "value", len(in.Value) > 0); err != nil {
			return out, err
		}
		items, out.Key = append(items, alcove.RecordItem{Key: in.Key, Value: in.Value}), in.Key
	}
	for _, raw := range in.Items {
		var x entry
		if err := element(raw, &x); err != nil {
			return out, err
		}
		if err := need(put, "key and value in each of items", x.Key != "" && len(x.Value) > 0); err != nil {
			return out, err
		}
		items = append(items, alcove.RecordItem{Key: x.Key, Value: x.Value})
	}
	if err := need(put, "key and value, or items", len(items) > 0); err != nil {
		return out, err
	}
	done, err := c.RecordPut(alcove.RecordPutRequest{Collection: keyValues.Name, Items: items})
	out.Stored = done.Stored
	return out, err
}

func (in KeyValue) get(c *alcove.Call) (out values, err error) {
	if len(in.Keys) > 0 {
		list, err := records(c, keyValues.Name, in.Keys)
		for i, r := range list {
			x := found{Key: in.Keys[i], Found: r != nil}
			if r != nil {
				x.Value, x.Version = r.Value, r.Version
			}
			out.Items = append(out.Items, x)
		}
		return out, err
	}
	if err := need(get, "key or keys", in.Key != ""); err != nil {
		return out, err
	}
	r, err := one(c, keyValues.Name, in.Key)
	out.Key, out.Found = in.Key, new(r != nil)
	if r != nil {
		out.Value, out.Version, out.Timestamp = r.Value, r.Version, r.Timestamp
	}
	return out, err
}
