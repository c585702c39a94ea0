package developer

import (
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Namespaces lists, creates and deletes namespaces, and shows them as a tree.
//
// A namespace needs no creation: the first thing stored in it makes it. create makes an empty one known, which all may read and write. tree
// takes / in names as levels, down to depth, and counts memories. delete deletes what a namespace holds on this branch; where that is
// anything, only with force. History stays.
//
//alcove:tool memory_namespaces mixed destructive
//alcove:title Namespaces
//alcove:description Namespaces: list, create, test, delete, or show as a taxonomy tree with counts.
//alcove:alias memory_get_taxonomy action=tree
//alcove:alias strata_space_list action=list
//alcove:alias strata_space_create action=create
//alcove:alias strata_space_exists action=exists
//alcove:alias strata_space_delete action=delete
type Namespaces struct {
	Action string `alcove:"required,enum=list|create|exists|delete|tree"`
	Name   string `alcove:"alias=space"`
	Prefix string `alcove:"alias=namespace_prefix"`
	Depth  int    `alcove:"advanced,default=8,min=1,max=64"`
	Force  bool   `alcove:"advanced"`
	Limit  int    `alcove:"advanced,default=1000,min=1,max=1000"`
	Cursor string `alcove:"advanced"`
}

// namespacesAnswer is what memory_namespaces answers.
type namespacesAnswer struct {
	Namespaces []string   `json:",omitzero"`
	NextCursor string     `json:"next_cursor,omitzero"`
	Truncated  bool       `json:",omitzero"`
	Name       string     `json:",omitzero"`
	Exists     *bool      `json:",omitzero"`
	Created    *bool      `json:",omitzero"`
	Deleted    *int       `json:",omitzero"` // Memories and records.
	More       bool       `json:",omitzero"` // delete: some are left, delete again.
	Tree       alcove.Raw `json:",omitzero"` // {name, namespace, count, total, children}
	TotalCount *int       `json:",omitzero"` // Memories in the tree.
}

// Call does what the action says.
func (in Namespaces) Call(c *alcove.Call) (out namespacesAnswer, err error) {
	switch in.Action {
	case list:
		return in.list(c)
	case "tree":
		return in.tree(c)
	}
	if err := need(in.Action, "name", in.Name != ""); err != nil {
		return out, err
	}
	out.Name = in.Name
	switch in.Action {
	case "create":
		_, err = c.ScopePut(alcove.ScopePutRequest{Namespace: in.Name, Create: true, Read: "all", Write: "all"})
		out.Created = new(err == nil)
		if alcove.CodeOf(err) == alcove.Conflict {
			err = nil // it was created before
		}
		return out, err
	case "exists":
		memories, created, records, err := holds(c, in.Name)
		out.Exists = new(memories > 0 || created || records)
		return out, err
	}
	return out, in.delete(c, &out)
}

// own are the family's collections that a namespace has for itself.
var own = [...]string{keyValues.Name, documents.Name, cells.Name, vectors.Name, collections.Name}

// holds tells how many memories a namespace has, whether it was created, and whether it has records of the family.
func holds(c *alcove.Call, name string) (memories int, created, records bool, err error) {
	now, err := c.StatusGet(alcove.StatusGetRequest{Namespace: name})
	if err != nil {
		return 0, false, false, err
	}
	if _, err := c.ScopeGet(alcove.ScopeGetRequest{Namespace: name}); err == nil {
		created = true
	} else if alcove.CodeOf(err) != alcove.NotFound {
		return 0, false, false, err
	}
	for _, collection := range own {
		page, err := c.RecordList(alcove.RecordListRequest{Collection: collection, Namespace: name, Limit: 1})
		if err != nil {
			return 0, false, false, err
		}
		records = records || len(page.Records) > 0
	}
	events := now.Events != nil && *now.Events > 0
	return now.Memories, created, records || events, nil
}

// list lists the namespaces that hold memories or were created.
func (in Namespaces) list(c *alcove.Call) (out namespacesAnswer, err error) {
	page, err := c.NamespaceList(alcove.NamespaceListRequest{Prefix: in.Prefix, After: in.Cursor, Limit: in.Limit})
	if err != nil {
		return out, err
	}
	made, err := c.ScopeList(alcove.ScopeListRequest{Prefix: in.Prefix, After: in.Cursor, Limit: in.Limit})
	if err != nil {
		return out, err
	}
	a, b := make([]string, 0, len(page.Namespaces)), make([]string, 0, len(made.Scopes))
	for i := range page.Namespaces {
		a = append(a, page.Namespaces[i].Namespace)
	}
	for i := range made.Scopes {
		b = append(b, made.Scopes[i].Namespace)
	}
	out.Namespaces = merge(a, b)
	if out.Truncated = page.Next != "" || made.Next != "" || len(out.Namespaces) > in.Limit; out.Truncated {
		out.Namespaces = out.Namespaces[:min(len(out.Namespaces), in.Limit)]
		out.NextCursor = out.Namespaces[len(out.Namespaces)-1]
	}
	return out, nil
}

// merge merges two sorted lists.
func merge(a, b []string) []string {
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case len(a) > 0 && a[0] == b[0]:
			a = a[1:]
		default:
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}

// deleted is how many records of each collection one call deletes.
const deleted = 10_000

func (in Namespaces) delete(c *alcove.Call, out *namespacesAnswer) error {
	memories, created, records, err := holds(c, in.Name)
	if err != nil {
		return err
	}
	if !in.Force && (memories > 0 || records) {
		return alcove.Errorf(alcove.Conflict, "namespace %s holds %d memories, and may hold records and events: pass force to delete all that can be", in.Name, memories).Final()
	}
	out.Deleted = new(int)
	if memories > 0 {
		gone, err := c.NamespaceDelete(alcove.NamespaceDeleteRequest{Namespace: in.Name, Limit: 10_000})
		if err != nil {
			return err
		}
		*out.Deleted, out.More = gone.Deleted, gone.More
	}
	for _, collection := range own {
		n, more, err := empty(c, collection, in.Name)
		if err != nil {
			return err
		}
		*out.Deleted += n
		out.More = out.More || more
	}
	if created && !out.More {
		return c.ScopeDelete(alcove.ScopeDeleteRequest{Namespace: in.Name, Force: true})
	}
	return nil
}

// empty deletes the records of a collection in a namespace.
func empty(c *alcove.Call, collection, namespace string) (n int, more bool, err error) {
	for n < deleted {
		page, err := c.RecordList(alcove.RecordListRequest{Collection: collection, Namespace: namespace, Limit: most})
		if err != nil || len(page.Records) == 0 {
			return n, false, err
		}
		keys := make([]string, len(page.Records))
		for i := range page.Records {
			keys[i] = page.Records[i].Key
		}
		done, err := c.RecordDelete(alcove.RecordDeleteRequest{Collection: collection, Namespace: namespace, Keys: keys})
		if err != nil {
			return n, false, err
		}
		n += done.Deleted
	}
	return n, true, nil
}

// level is a part of the tree.
type level struct {
	name, namespace string
	count           int // memories here
	total           int // and below
	children        []*level
}

// mostNamespaces is how many namespaces a tree shows.
const mostNamespaces = 10_000

func (in Namespaces) tree(c *alcove.Call) (out namespacesAnswer, err error) {
	root, after := &level{namespace: in.Prefix}, ""
	for n := 0; n < mostNamespaces; {
		page, err := c.NamespaceList(alcove.NamespaceListRequest{Prefix: in.Prefix, After: after, Limit: 1000, Counts: true})
		if err != nil {
			return out, err
		}
		for i := range page.Namespaces {
			x := &page.Namespaces[i]
			if x.Memories != nil {
				root.add(x.Namespace, *x.Memories, in.Depth)
			}
		}
		n += len(page.Namespaces)
		if after = page.Next; after == "" {
			break
		}
	}
	out.Truncated = after != ""
	w := &scan.Writer{}
	root.write(w)
	out.TotalCount = &root.total
	out.Tree, err = w.Bytes()
	return out, err
}

// add adds a namespace. What is deeper than the tree counts where that ends.
func (l *level) add(namespace string, count, depth int) {
	l.total += count
	at, from := l, 0
	for range depth {
		end := strings.IndexByte(namespace[from:], '/')
		if end < 0 {
			end = len(namespace) - from
		}
		at = at.child(namespace[from:from+end], namespace[:from+end])
		at.total += count
		if from += end + 1; from > len(namespace) {
			break
		}
	}
	at.count += count
}

// child is the part with a name, the last one or a new one: namespaces come in order.
func (l *level) child(name, namespace string) *level {
	for _, c := range l.children {
		if c.name == name {
			return c
		}
	}
	c := &level{name: name, namespace: namespace}
	l.children = append(l.children, c)
	return c
}

func (l *level) write(w *scan.Writer) {
	w.Open()
	w.Key("name")
	w.Text(l.name)
	w.Key("namespace")
	w.Text(l.namespace)
	w.Key("count")
	w.Int(int64(l.count))
	w.Key("total")
	w.Int(int64(l.total))
	if len(l.children) > 0 {
		w.Key("children")
		w.List(len(l.children), func(i int) { l.children[i].write(w) })
	}
	w.Close()
}
