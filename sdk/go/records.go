package alcove

import (
	"iter"

	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Records is one of the family's own collections, whose records are of type T. It is declared in a variable of the package:
// alcove family gen reads it there for the manifest, and writes the code that reads and writes T.
//
//	var visits = alcove.Records[Visit]{Name: "visits", Expires: "90d"}
type Records[T any] struct {
	Name        string     // in the manifest
	Per         string     // branch (default) or space
	Expires     string     // as in 7d; empty: never
	Searchable  []string   // fields whose text Search searches
	Indexes     [][]string // lists of up to 3 fields by which RecordList filters and sorts
	Unversioned bool       // only the newest version of a record can be read; with Per: "space"
	Open        bool       // its records hold nothing that is private to an agent: whoever may read their namespace may read them
	Private     bool       // no other family may read the records
	Sync        string     // newest: records travel to other machines, and the one that was written last wins; empty: they do not
	Namespace   string     // where the records are; empty: in the call's namespace
}

// Item is a record and where it is.
type Item[T any] struct {
	ID
	Value   T
	Version uint64 // of the commit that wrote it; 0: it is staged
	Time    Time   // when it was written
}

// In is the collection in a namespace.
func (r Records[T]) In(namespace string) Records[T] {
	r.Namespace = namespace
	return r
}

// write encodes a value. alcove family gen wrote how.
func (r Records[T]) write(v *T) (Raw, error) {
	e, ok := any(v).(scan.Encoder)
	if !ok {
		return nil, Errorf(Internal, "the records of %s have a type without a codec: run alcove family gen", r.Name)
	}
	return scan.Encode(e)
}

// Item reads a record of the collection, as RecordList and RecordSearch answer it.
func (r Records[T]) Item(record *Record) (Item[T], error) { return r.read(record) }

func (r Records[T]) read(record *Record) (item Item[T], err error) {
	item = Item[T]{ID: ID{record.Namespace, record.Key}, Version: record.Version}
	item.Time, _ = parseTime(record.Timestamp)
	if raw, ok := any(&item.Value).(*Raw); ok { // as it came: it was JSON already
		*raw = record.Value
		return item, nil
	}
	d, ok := any(&item.Value).(scan.Decoder)
	if !ok {
		return item, Errorf(Internal, "the records of %s have a type without a codec: run alcove family gen", r.Name)
	}
	if err := scan.Decode(record.Value, d); err != nil {
		return item, &Unreadable{r.Name, item.ID, err}
	}
	return item, nil
}

// Unreadable is a record that cannot be read as its collection's type. Iterators continue behind it.
type Unreadable struct {
	Collection string
	ID         ID
	err        error
}

// Error says which record it is.
func (u *Unreadable) Error() string {
	return "read the record " + u.ID.Key + " of " + u.Collection + ": " + u.err.Error()
}

// Unwrap is what is wrong with it.
func (u *Unreadable) Unwrap() error { return u.err }

// Get is the record with a key; ok is false when there is none.
func (r Records[T]) Get(c *Call, key string) (v T, ok bool, err error) {
	found, err := r.GetAll(c, []string{key})
	if err != nil || found[0] == nil {
		return v, false, err
	}
	return found[0].Value, true, nil
}

// GetAll reads the records with some keys, any number of them; those that are missing are nil.
func (r Records[T]) GetAll(c *Call, keys []string) (list []*Item[T], err error) {
	list = make([]*Item[T], 0, len(keys))
	err = parts(keys, sizeOfKey, func(part []string) error {
		out, err := c.RecordGet(RecordGetRequest{Collection: r.Name, Namespace: r.Namespace, Keys: part})
		for _, record := range out.Records {
			if record == nil {
				list = append(list, nil)
				continue
			}
			item, bad := r.read(record)
			if bad != nil {
				return bad
			}
			list = append(list, &item)
		}
		return err
	})
	if err == nil && len(list) != len(keys) {
		err = Errorf(Internal, "%d records of %s were asked for, and %d came", len(keys), r.Name, len(list))
	}
	return list, err
}

// Put stages a record.
func (r Records[T]) Put(c *Call, key string, v T) error {
	return r.PutAll(c, func(yield func(string, T) bool) { yield(key, v) })
}

// PutNow commits a record at once and by itself, so that it stays if the call fails: a note of its failure. version has to be the newest of
// the record, 0 that of none. The collection is one that is kept per space.
func (r Records[T]) PutNow(c *Call, key string, v T, version uint64) error {
	raw, err := r.write(&v)
	if err != nil {
		return Errorf(InvalidArgument, "put the record %s of %s: %v", key, r.Name, err)
	}
	items := []RecordItem{{Key: key, Value: raw, IfVersion: &version}}
	_, err = c.RecordPut(RecordPutRequest{Collection: r.Name, Namespace: r.Namespace, Items: items, Now: true})
	return err
}

// PutAll stages any number of records, by their keys: those of a map with maps.All.
func (r Records[T]) PutAll(c *Call, records iter.Seq2[string, T]) error {
	var items []RecordItem
	for key, v := range records {
		raw, err := r.write(&v)
		if err != nil {
			return Errorf(InvalidArgument, "put the record %s of %s: %v", key, r.Name, err)
		}
		items = append(items, RecordItem{Key: key, Value: raw})
	}
	return parts(items, func(i *RecordItem) int { return overhead + len(i.Key) + len(i.Value) }, func(part []RecordItem) error {
		_, err := c.RecordPut(RecordPutRequest{Collection: r.Name, Namespace: r.Namespace, Items: part})
		return err
	})
}

// Append stages any number of records with the next sequence numbers as their keys, and returns the numbers. The collection is one
// that nothing else is put into.
func (r Records[T]) Append(c *Call, values ...T) (sequences []uint64, err error) {
	raw := make([]Raw, len(values))
	for i := range values {
		if raw[i], err = r.write(&values[i]); err != nil {
			return nil, Errorf(InvalidArgument, "append to %s: %v", r.Name, err)
		}
	}
	err = parts(raw, func(v *Raw) int { return len(*v) }, func(part []Raw) error {
		out, err := c.RecordAppend(RecordAppendRequest{Collection: r.Name, Namespace: r.Namespace, Values: part})
		sequences = append(sequences, out.Sequences...)
		return err
	})
	return sequences, err
}

// All iterates over the records whose keys begin with a prefix, in the order of their keys. An error ends it, unless it is an
// *Unreadable: the record is then passed over by whoever goes on.
func (r Records[T]) All(c *Call, prefix string) iter.Seq2[Item[T], error] {
	return func(yield func(Item[T], error) bool) {
		for record, err := range c.Records(RecordListRequest{Collection: r.Name, Namespace: r.Namespace, Prefix: prefix, Limit: mostItems}) {
			if err != nil {
				yield(Item[T]{}, err)
				return
			}
			if !yield(r.read(record)) {
				return
			}
		}
	}
}

// Page is a page of a listing.
type Page[T any] struct {
	Items []Item[T]
	Next  string // where the next page begins; empty: there is none
}

// List is one page of the records whose keys begin with a prefix, from where another page ended. A limit of 0 is 100. Records that
// cannot be read are logged and passed over.
func (r Records[T]) List(c *Call, prefix, cursor string, limit int) (page Page[T], err error) {
	out, err := c.RecordList(RecordListRequest{Collection: r.Name, Namespace: r.Namespace, Prefix: prefix, After: cursor, Limit: limit})
	if err != nil {
		return page, err
	}
	page.Next = out.Next
	for i := range out.Records {
		item, err := r.read(&out.Records[i])
		if err != nil {
			c.Log("%v", err)
			continue
		}
		page.Items = append(page.Items, item)
	}
	return page, nil
}

// Search finds up to k records by their searchable fields, the best first. What was staged is not found.
func (r Records[T]) Search(c *Call, query string, k int) ([]Item[T], error) {
	return r.search(c, RecordSearchRequest{Collection: r.Name, Query: query, K: k})
}

// Nearest finds up to k records by what their searchable fields mean, the nearest first, if the operator configured an embedder. What
// was staged is not found.
func (r Records[T]) Nearest(c *Call, query string, k int) ([]Item[T], error) {
	return r.search(c, RecordSearchRequest{Collection: r.Name, Query: query, K: k, Mode: "semantic"})
}

func (r Records[T]) search(c *Call, q RecordSearchRequest) ([]Item[T], error) {
	if r.Namespace != "" {
		q.Namespaces = []string{r.Namespace}
	}
	out, err := c.RecordSearch(q)
	if err != nil {
		return nil, err
	}
	list := make([]Item[T], 0, len(out.Hits))
	for i := range out.Hits {
		item, err := r.read(&out.Hits[i].Record)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

// Delete stages the deletion of any number of records, and tells how many of them there were. Their history stays.
func (r Records[T]) Delete(c *Call, keys ...string) (deleted int, err error) {
	err = parts(keys, sizeOfKey, func(part []string) error {
		out, err := c.RecordDelete(RecordDeleteRequest{Collection: r.Name, Namespace: r.Namespace, Keys: part})
		deleted += out.Deleted
		return err
	})
	return deleted, err
}

// Lifecycle is embedded in the types of records that can be archived.
type Lifecycle struct {
	State      string `json:"state,omitzero"`      // empty or archived
	ArchivedAt string `json:"archivedAt,omitzero"` // RFC 3339
}

// Archived reports whether the record is archived.
func (l *Lifecycle) Archived() bool { return l.State == stateArchived }

func (l *Lifecycle) archive(now string) { l.State, l.ArchivedAt = stateArchived, now }

const stateArchived = "archived"

// Removal is how a record is removed.
type Removal bool

// The ways of removal.
const (
	Soft Removal = false // it is archived: T embeds Lifecycle
	Hard Removal = true  // it is deleted, and its history stays
)

// Removed is the result of a removal.
type Removed struct {
	Success  bool `json:"success"`
	EntityID ID   `json:"entityId"`
}

// CodeJSON reads or writes the result.
func (r *Removed) CodeJSON(c *scan.Coder) {
	c.Object([]scan.Field{
		{Name: "success", Value: scan.Bool(&r.Success)},
		{Name: "entityId", Value: scan.Of(&r.EntityID, (*ID).CodeJSON)},
	})
}

// Remove archives or deletes the record with a key. It is an error with the code NotFound when there is none.
func (r Records[T]) Remove(c *Call, key string, how Removal) (Removed, error) {
	v, ok, err := r.Get(c, key)
	switch {
	case err != nil:
		return Removed{}, err
	case !ok:
		return Removed{}, Errorf(NotFound, "there is no record %q in %s of %s", key, r.Name, or(r.Namespace, c.Namespace))
	}
	if how == Hard {
		_, err = r.Delete(c, key)
	} else {
		err = r.archive(c, key, &v)
	}
	if err != nil {
		return Removed{}, err
	}
	return Removed{true, ID{or(r.Namespace, c.Namespace), key}}, nil
}

func (r Records[T]) archive(c *Call, key string, v *T) error {
	a, ok := any(v).(interface{ archive(now string) })
	if !ok {
		return Errorf(InvalidArgument, "the records of %s cannot be archived: delete them with Hard", r.Name)
	}
	a.archive(c.Now)
	return r.Put(c, key, *v)
}
