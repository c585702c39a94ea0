package developer

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/jsonpath"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Rows shows rows of any collection that the caller may read.
//
// table is memories, events, a collection of this family such as kv, or FAMILY/COLLECTION. Collections in which families keep what is
// private to an agent are shown only to callers with the right act_as. filter takes fields of a row or of its value, by path, each with a
// value or with {op: value}, where op is eq, ne, gt, gte, lt, lte, in or contains; all of them hold. An unknown table is an error that
// lists those that may be read.
//
//alcove:tool memory_query_raw read-only
//alcove:title Query rows
//alcove:description Raw rows of any table or collection you may read, filtered by field.
//alcove:alias query_raw
type Rows struct {
	Table  string                `alcove:"required,alias=collection"`
	Filter map[string]alcove.Raw // Values by field, or {op: value}.
	Limit  int                   `alcove:"advanced,default=50,min=1,max=50"`
	Cursor string                `alcove:"advanced"`
}

// rowsAnswer is a page of rows.
type rowsAnswer struct {
	Table      string
	Rows       []alcove.Raw
	NextCursor string `json:"next_cursor,omitzero"`
	Truncated  bool   `json:",omitzero"` // There may be more.
}

// test is a condition on a field.
type test struct {
	path  []string
	op    string
	value *jsonpath.Node
}

// scanned is how many rows one call looks at.
const scanned = 10_000

// Call lists them.
func (in Rows) Call(c *alcove.Call) (out rowsAnswer, err error) {
	tests, err := in.tests()
	if err != nil {
		return out, err
	}
	read, err := in.source(c)
	if err != nil {
		return out, err
	}
	out.Table, out.Rows = in.Table, []alcove.Raw{}
	for seen, at := 0, in.Cursor; seen < scanned; {
		rows, next, err := read(at)
		if err != nil {
			return out, err
		}
		for i := range rows {
			if len(out.Rows) == in.Limit {
				out.Truncated = true
				return out, nil
			}
			ok, err := rows[i].passes(tests)
			if err != nil {
				return out, err
			}
			if ok {
				out.Rows = append(out.Rows, rows[i].data)
			}
			out.NextCursor = rows[i].cursor
		}
		seen += len(rows)
		if at = next; next == "" {
			out.NextCursor = ""
			return out, nil
		}
		out.NextCursor = next
	}
	out.Truncated = true
	return out, nil
}

// row is a row as JSON, and the cursor behind it.
type row struct {
	data   alcove.Raw
	cursor string
}

// passes reports whether all tests hold.
func (r row) passes(tests []test) (bool, error) {
	if len(tests) == 0 {
		return true, nil
	}
	n, err := jsonpath.Read(r.data)
	if err != nil {
		return false, err
	}
	for _, t := range tests {
		field := n.Field(t.path)
		if field == nil {
			field = n.Field(append([]string{"value"}, t.path...))
		}
		if !jsonpath.Holds(field, t.op, t.value) {
			return false, nil
		}
	}
	return true, nil
}

func (in Rows) tests() (list []test, err error) {
	for field, raw := range in.Filter {
		t := test{path: strings.Split(field, "."), op: "eq"}
		if t.value, err = jsonpath.Read(raw); err != nil {
			return nil, alcove.Errorf(alcove.InvalidArgument, "filter: %s: %v", field, err)
		}
		if t.value.Kind == jsonpath.Object && len(t.value.Names) == 1 {
			t.op, t.value = t.value.Names[0], t.value.Children[0]
		}
		if !jsonpath.Operator(t.op) {
			return nil, alcove.Errorf(alcove.InvalidArgument, "filter: %s: the operator is %s: it is one of eq, ne, gt, gte, lt, lte, in, contains", field, t.op)
		}
		list = append(list, t)
	}
	return list, nil
}

// source reads a page of the table behind a cursor.
func (in Rows) source(c *alcove.Call) (func(cursor string) ([]row, string, error), error) {
	switch in.Table {
	case "memories", "memory", "facts":
		return func(at string) ([]row, string, error) { return memoryRows(c, at) }, nil
	case "events", "log":
		return func(at string) ([]row, string, error) { return eventRows(c, at) }, nil
	}
	family, name, other := strings.Cut(in.Table, "/")
	if !other {
		family, name = c.Family, in.Table
	}
	found, err := c.RecordCollections(alcove.RecordCollectionsRequest{})
	if err != nil {
		return nil, err
	}
	all, err := c.CallerCan(alcove.CallerCanRequest{Action: "act_as"})
	if err != nil {
		return nil, err
	}
	tables := []string{"memories", "events"}
	for i := range found.Collections {
		x := &found.Collections[i]
		if !x.Open && !all.Allowed {
			continue
		}
		if x.Family == family && x.Name == name {
			return func(at string) ([]row, string, error) { return recordRows(c, family, name, at) }, nil
		}
		if tables = append(tables, x.Family+"/"+x.Name); len(tables) == 100 {
			break
		}
	}
	return nil, alcove.Errorf(alcove.NotFound, "there is no table %s that this caller may read: there are %s", in.Table, strings.Join(tables, ", "))
}

// rowPage is how many rows are read at a time.
const rowPage = 500

func recordRows(c *alcove.Call, family, name, at string) (rows []row, next string, err error) {
	r := alcove.RecordListRequest{Collection: name, After: at, Limit: rowPage}
	if family != c.Family {
		r.Family = family
	}
	page, err := c.RecordList(r)
	for i := range page.Records {
		x := &page.Records[i]
		w := begin(x.Namespace, x.Key)
		rows = append(rows, row{end(w, x.Value, x.Version, x.Timestamp), x.Key})
	}
	return rows, page.Next, err
}

func begin(namespace, key string) *scan.Writer {
	w := &scan.Writer{}
	w.Open()
	w.Key("namespace")
	w.Text(namespace)
	w.Key("key")
	w.Text(key)
	return w
}

func end(w *scan.Writer, value alcove.Raw, version uint64, timestamp string) alcove.Raw {
	w.Key("value")
	value.EncodeJSON(w)
	w.Key("version")
	w.Uint(version)
	w.Key("timestamp")
	w.Text(timestamp)
	w.Close()
	data, _ := w.Bytes() // what the host sent is JSON
	return data
}

func memoryRows(c *alcove.Call, at string) (rows []row, next string, err error) {
	page, err := c.MemoryList(alcove.MemoryListRequest{After: at, Limit: rowPage})
	for i := range page.Memories {
		m := &page.Memories[i]
		w := begin(m.Namespace, m.Key)
		if len(m.Tags) > 0 {
			w.Key("tags")
			w.Texts(m.Tags)
		}
		if m.Type != "" {
			w.Key("type")
			w.Text(m.Type)
		}
		if m.Importance != nil {
			w.Key("importance")
			w.Number(*m.Importance)
		}
		if len(m.Metadata) > 0 {
			w.Key("metadata")
			scan.WriteMap(w, m.Metadata, func(v alcove.Raw) { w.Raw(v) })
		}
		w.Key("state")
		w.Text(m.State)
		w.Key("agent")
		w.Text(m.Agent)
		rows = append(rows, row{end(w, m.Value, m.Version, m.Timestamp), m.Key})
	}
	return rows, page.Next, err
}

func eventRows(c *alcove.Call, at string) (rows []row, next string, err error) {
	from := uint64(0)
	for _, digit := range []byte(at) {
		if digit < '0' || digit > '9' {
			return nil, "", alcove.Errorf(alcove.InvalidArgument, "the cursor is next_cursor of the page before")
		}
		from = from*10 + uint64(digit-'0')
	}
	page, err := c.LogRead(alcove.LogReadRequest{From: from + 1, Limit: rowPage})
	for i := range page.Events {
		e := &page.Events[i]
		w := &scan.Writer{}
		w.Open()
		w.Key("sequence")
		w.Uint(e.Sequence)
		w.Key("event")
		w.Text(e.Event)
		w.Key("data")
		e.Data.EncodeJSON(w)
		w.Key("agent")
		w.Text(e.Agent)
		w.Key("timestamp")
		w.Text(e.Timestamp)
		w.Close()
		data, _ := w.Bytes()
		rows = append(rows, row{data, versionText(e.Sequence)[1:]})
	}
	if len(page.Events) == rowPage {
		next = rows[len(rows)-1].cursor
	}
	return rows, next, err
}
