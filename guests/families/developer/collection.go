package developer

import (
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// names is a page of the keys of a collection, or of the versions of a record.
type names struct {
	Keys       []string  `json:",omitzero"`
	Versions   []version `json:",omitzero"` // The newest first.
	NextCursor string    `json:"next_cursor,omitzero"`
	Truncated  bool      `json:",omitzero"` // There are more.
}

// version is a version of a record.
type version struct {
	Value     alcove.Raw
	Version   uint64
	Timestamp string
	Deleted   bool `json:",omitzero"`
}

// keysOf lists the keys of a collection.
func keysOf(c *alcove.Call, collection, prefix, cursor string, limit int) (out names, err error) {
	page, err := c.RecordList(alcove.RecordListRequest{Collection: collection, Prefix: prefix, After: cursor, Limit: limit})
	out.Keys = make([]string, 0, len(page.Records))
	for i := range page.Records {
		out.Keys = append(out.Keys, page.Records[i].Key)
	}
	out.NextCursor, out.Truncated = page.Next, page.Next != ""
	return out, err
}

// versionsOf lists the versions of a record.
func versionsOf(c *alcove.Call, collection, key, cursor string, limit int) (out names, err error) {
	r := alcove.RecordHistoryRequest{Collection: collection, Key: key, Limit: limit}
	if cursor != "" {
		if r.Before, err = strconv.ParseUint(cursor, 10, 64); err != nil {
			return out, alcove.Errorf(alcove.InvalidArgument, "the cursor of a history is the next_cursor of the page before")
		}
	}
	page, err := c.RecordHistory(r)
	out.Versions = make([]version, 0, len(page.Versions))
	for i := range page.Versions {
		v := &page.Versions[i]
		out.Versions = append(out.Versions, version{v.Value, v.Version, v.Timestamp, v.Deleted})
	}
	if page.Next != 0 {
		out.NextCursor, out.Truncated = strconv.FormatUint(page.Next, 10), true
	}
	return out, err
}

// records reads some records of a collection, in the order of their keys; nil: there is none.
func records(c *alcove.Call, collection string, keys []string) ([]*alcove.Record, error) {
	out, err := c.RecordGet(alcove.RecordGetRequest{Collection: collection, Keys: keys})
	if err == nil && len(out.Records) != len(keys) {
		err = alcove.Errorf(alcove.Internal, "%d records of %s were asked for, and %d came", len(keys), collection, len(out.Records))
	}
	return out.Records, err
}

// one reads a record; nil: there is none.
func one(c *alcove.Call, collection, key string) (*alcove.Record, error) {
	found, err := records(c, collection, []string{key})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// keep stages a record in the place of the one that was read, nil for none: a write by others in the meantime is a conflict, and the call
// is made again.
func keep(c *alcove.Call, collection, key string, value alcove.Raw, read *alcove.Record) error {
	item := alcove.RecordItem{Key: key, Value: value, IfVersion: new(uint64)}
	if read != nil {
		*item.IfVersion = read.Version
	}
	_, err := c.RecordPut(alcove.RecordPutRequest{Collection: collection, Items: []alcove.RecordItem{item}})
	return err
}

// drop stages the deletion of records, and tells how many there were.
func drop(c *alcove.Call, collection string, keys []string) (*int, error) {
	out, err := c.RecordDelete(alcove.RecordDeleteRequest{Collection: collection, Keys: keys})
	return &out.Deleted, err
}

// most is how many keys or items one call takes.
const most = 1000
