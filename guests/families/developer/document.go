package developer

import (
	"github.com/alcove-memory/alcove/guests/lib/jsonpath"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

var documents = alcove.Records[alcove.Raw]{Name: "json", Open: true, Sync: "newest"}

// Document reads and writes inside documents by JSONPath.
//
// get takes any path of RFC 9535, with filters, slices, .. and functions: $.items[?@.price < 10].name. A path of single names and indexes
// answers its value; any other the list of what it selects. set and delete take such a single path: set makes objects that are missing,
// and the index after the last element appends. path=$ is the whole document.
//
//alcove:tool memory_json mixed destructive
//alcove:title JSON documents
//alcove:description Read and write inside JSON documents by JSONPath.
//alcove:alias strata_json_set action=set
//alcove:alias strata_json_get action=get
//alcove:alias strata_json_delete action=delete
//alcove:alias strata_json_list action=list
//alcove:alias strata_json_history action=history
type Document struct {
	Action string `alcove:"required,enum=set|get|delete|list|history"`
	Key    string
	Path   string `alcove:"default=$"` // RFC 9535.
	Value  alcove.Raw
	Prefix string
	Limit  int    `alcove:"advanced,default=100,min=1,max=1000"`
	Cursor string `alcove:"advanced"`
}

// selected is what memory_json answers.
type selected struct {
	Key       string     `json:",omitzero"`
	Path      string     `json:",omitzero"`
	Value     alcove.Raw `json:",omitzero"` // Of a path that may select several: a list.
	Found     *bool      `json:",omitzero"`
	Version   uint64     `alcove:"committed" json:",omitzero"`
	Timestamp string     `json:",omitzero"`
	Deleted   *int       `json:",omitzero"`
	names
}

// Call does what the action says.
func (in Document) Call(c *alcove.Call) (out selected, err error) {
	if in.Action == list {
		out.names, err = keysOf(c, documents.Name, in.Prefix, in.Cursor, in.Limit)
		return out, err
	}
	if err := need(in.Action, "key", in.Key != ""); err != nil {
		return out, err
	}
	out.Key = in.Key
	if in.Action == history {
		out.names, err = versionsOf(c, documents.Name, in.Key, in.Cursor, in.Limit)
		return out, err
	}
	out.Path = in.Path
	path, err := jsonpath.Parse(in.Path)
	if err != nil {
		return out, alcove.Errorf(alcove.InvalidArgument, "path: %v", err)
	}
	r, err := one(c, documents.Name, in.Key)
	if err != nil {
		return out, err
	}
	var root *jsonpath.Node
	if r != nil {
		if root, err = jsonpath.Read(r.Value); err != nil {
			return out, alcove.Errorf(alcove.Internal, "the document %s: %v", in.Key, err)
		}
	}
	switch in.Action {
	case get:
		return out, in.get(path, root, r, &out)
	case set:
		return out, in.set(c, path, root, r)
	}
	out.Deleted, err = in.delete(c, path, root, r)
	return out, err
}

func (in Document) get(path *jsonpath.Query, root *jsonpath.Node, r *alcove.Record, out *selected) error {
	out.Found = new(false)
	if root == nil {
		return nil
	}
	found, err := path.Select(root)
	if err != nil {
		return alcove.Errorf(alcove.Exhausted, "path: %v", err)
	}
	*out.Found, out.Version, out.Timestamp = len(found) > 0, r.Version, r.Timestamp
	switch {
	case !path.Singular():
		out.Value = (&jsonpath.Node{Kind: jsonpath.Array, Children: found}).Append(nil)
	case len(found) == 1:
		out.Value = found[0].Append(nil)
	}
	return nil
}

func (in Document) set(c *alcove.Call, path *jsonpath.Query, root *jsonpath.Node, r *alcove.Record) error {
	if err := need(set, "value", len(in.Value) > 0); err != nil {
		return err
	}
	value, err := jsonpath.Read(in.Value)
	if err != nil {
		return alcove.Errorf(alcove.InvalidArgument, "value: %v", err)
	}
	if root, err = path.Set(root, value); err != nil {
		return alcove.Errorf(alcove.InvalidArgument, "path: %v", err)
	}
	return keep(c, documents.Name, in.Key, root.Append(nil), r)
}

func (in Document) delete(c *alcove.Call, path *jsonpath.Query, root *jsonpath.Node, r *alcove.Record) (*int, error) {
	if in.Path == "$" {
		return drop(c, documents.Name, []string{in.Key})
	}
	if root == nil {
		return new(0), nil
	}
	deleted, err := path.Delete(root)
	switch {
	case err != nil:
		return nil, alcove.Errorf(alcove.InvalidArgument, "path: %v", err)
	case !deleted:
		return new(0), nil
	}
	return new(1), keep(c, documents.Name, in.Key, root.Append(nil), r)
}
