package developer

import (
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

var (
	vectors     = alcove.Records[vectorRecord]{Name: "vec", Open: true, Sync: "newest"}
	collections = alcove.Records[collectionInfo]{Name: "vec-info", Open: true, Sync: "newest"}
)

// vectorRecord is a vector as it is kept, at COLLECTION|KEY.
type vectorRecord struct {
	Vector   []float32
	Metadata alcove.Raw `json:",omitzero"`
}

// collectionInfo is a collection of vectors.
type collectionInfo struct {
	Dimension int
	Metric    string
}

// Vectors keeps vectors of your own, and finds the nearest.
//
// create makes a collection; every vector in it has its dimension. upsert takes key, vector and metadata, or items of them. search takes a
// query vector and finds the k nearest, exactly: metric says how, the collection's own when left out; a score is higher the nearer
// (euclidean: 1/(1+distance)). filter is a list of conditions on metadata that all hold: {field, op, value}, where op is eq, ne, gt, gte,
// lt, lte, in or contains. drop deletes a collection with its vectors.
//
//alcove:tool memory_vectors mixed destructive
//alcove:title Vector collections
//alcove:description Vector store: collections of your own embeddings, nearest-neighbor search with metadata filters.
//alcove:alias strata_vector_create_collection action=create
//alcove:alias strata_vector_delete_collection action=drop
//alcove:alias strata_vector_list_collections action=list
//alcove:alias strata_vector_stats action=stats
//alcove:alias strata_vector_upsert action=upsert
//alcove:alias strata_vector_batch_upsert action=upsert_many
//alcove:alias strata_vector_get action=get
//alcove:alias strata_vector_delete action=delete
//alcove:alias strata_vector_search action=search
type Vectors struct {
	Action     string `alcove:"required,enum=create|drop|list|stats|upsert|upsert_many|get|delete|search"`
	Collection string
	Dimension  int    `alcove:"max=16384"`
	Metric     string `alcove:"advanced,enum=cosine|euclidean|dot_product"`
	Key        string
	Vector     []float32
	Metadata   alcove.Raw
	Items      []alcove.Raw `alcove:"many,advanced,max=1000,alias=entries"` // {key, vector, metadata}
	Query      []float32    // A vector.
	K          int          `alcove:"advanced,default=10,min=1,max=1000,alias=limit"`
	Filter     []alcove.Raw `alcove:"many,max=16,alias=filters"` // {field, op, value}
	Cursor     string       `alcove:"advanced"`
}

// item is a vector to be kept.
//
//alcove:json
type item struct {
	Key      string
	Vector   []float32
	Metadata alcove.Raw
}

// condition is one on a field of metadata.
//
//alcove:json
type condition struct {
	Field string
	Op    string
	Value alcove.Raw
}

// vectorAnswer is what memory_vectors answers.
type vectorAnswer struct {
	Collection  string      `json:",omitzero"`
	Dimension   int         `json:",omitzero"`
	Metric      string      `json:",omitzero"`
	Count       *int        `json:",omitzero"` // Vectors in the collection; in a search, those that were compared.
	Collections []described `json:",omitzero"`
	Key         string      `json:",omitzero"`
	Found       *bool       `json:",omitzero"`
	Vector      []float32   `json:",omitzero"`
	Metadata    alcove.Raw  `json:",omitzero"`
	Hits        []vectorHit `json:",omitzero"` // The nearest first.
	Stored      int         `json:",omitzero"`
	Deleted     *int        `json:",omitzero"`
	More        bool        `json:",omitzero"` // drop: vectors are left, drop again.
	Version     uint64      `alcove:"committed" json:",omitzero"`
	NextCursor  string      `json:"next_cursor,omitzero"`
	Truncated   bool        `json:",omitzero"`
}

type described struct {
	Collection string
	Dimension  int
	Metric     string
}

type vectorHit struct {
	Key      string
	Score    float64
	Metadata alcove.Raw `json:",omitzero"`
}

const (
	separator = "|" // between a collection and the keys in it
	cosine    = "cosine"
)

// Call does what the action says.
func (in Vectors) Call(c *alcove.Call) (out vectorAnswer, err error) {
	if in.Action == list {
		return in.list(c)
	}
	if err := first(need(in.Action, "collection", in.Collection != ""), single(in.Collection)); err != nil {
		return out, err
	}
	out.Collection = in.Collection
	info, found, err := collections.Get(c, in.Collection)
	if err != nil {
		return out, err
	}
	if in.Action == "create" {
		return out, in.create(c, info, found)
	}
	if !found {
		return out, alcove.Errorf(alcove.NotFound, "there is no collection %s of vectors: create it, with its dimension", in.Collection)
	}
	switch in.Action {
	case "drop":
		return in.drop(c)
	case "stats":
		out.Dimension, out.Metric = info.Dimension, info.Metric
		out.Count, err = in.count(c, info)
	case "upsert", "upsert_many":
		out.Key = in.Key
		out.Stored, err = in.upsert(c, info)
	case get:
		return in.get(c)
	case remove:
		if err := need(remove, "key", in.Key != ""); err != nil {
			return out, err
		}
		out.Key = in.Key
		out.Deleted, err = drop(c, vectors.Name, []string{in.Collection + separator + in.Key})
	case "search":
		return in.search(c, info)
	}
	return out, err
}

// single is an error for a collection whose name the keys of its vectors could not begin with.
func single(collection string) error {
	if strings.Contains(collection, separator) {
		return alcove.Errorf(alcove.InvalidArgument, "the name of a collection has no %s", separator)
	}
	return nil
}

func (in Vectors) create(c *alcove.Call, info collectionInfo, found bool) error {
	wanted := collectionInfo{in.Dimension, in.Metric}
	if wanted.Metric == "" {
		wanted.Metric = cosine
	}
	if wanted.Dimension < 1 {
		return alcove.Errorf(alcove.InvalidArgument, "create needs dimension: how many numbers each vector has")
	}
	if found && info != wanted {
		return alcove.Errorf(alcove.Conflict, "there is a collection %s of dimension %d and metric %s", in.Collection, info.Dimension, info.Metric).Final()
	}
	if found {
		return nil
	}
	return collections.Put(c, in.Collection, wanted)
}

// dropped is how many vectors one call deletes.
const dropped = 20_000

func (in Vectors) drop(c *alcove.Call) (out vectorAnswer, err error) {
	out.Collection, out.Deleted = in.Collection, new(int)
	for *out.Deleted < dropped {
		page, err := keysOf(c, vectors.Name, in.Collection+separator, "", most)
		if err != nil || len(page.Keys) == 0 {
			if err == nil {
				_, err = collections.Delete(c, in.Collection)
			}
			return out, err
		}
		n, err := drop(c, vectors.Name, page.Keys)
		if err != nil {
			return out, err
		}
		*out.Deleted += *n
	}
	out.More = true
	return out, nil
}

func (in Vectors) list(c *alcove.Call) (out vectorAnswer, err error) {
	page, err := collections.List(c, "", in.Cursor, most)
	out.Collections = make([]described, 0, len(page.Items))
	for _, x := range page.Items {
		out.Collections = append(out.Collections, described{x.Key, x.Value.Dimension, x.Value.Metric})
	}
	out.NextCursor, out.Truncated = page.Next, page.Next != ""
	return out, err
}

// count counts the vectors of a collection, in the host.
func (in Vectors) count(c *alcove.Call, info collectionInfo) (*int, error) {
	out, err := c.RecordNearest(alcove.RecordNearestRequest{Collection: vectors.Name, Prefix: in.Collection + separator, Vector: make([]float32, info.Dimension), K: 1, OmitVector: true})
	return &out.Total, err
}

func (in Vectors) upsert(c *alcove.Call, info collectionInfo) (int, error) {
	items := make([]item, 0, len(in.Items)+1)
	if in.Key != "" {
		items = append(items, item{in.Key, in.Vector, in.Metadata})
	}
	for _, raw := range in.Items {
		var x item
		if err := element(raw, &x); err != nil {
			return 0, err
		}
		items = append(items, x)
	}
	if err := need(in.Action, "key and vector, or items", len(items) > 0); err != nil {
		return 0, err
	}
	for _, x := range items {
		if x.Key == "" {
			return 0, need(in.Action, "a key in each of items", false)
		}
		if len(x.Vector) != info.Dimension {
			return 0, alcove.Errorf(alcove.InvalidArgument, "the vector of %s has %d numbers: those of %s have %d", x.Key, len(x.Vector), in.Collection, info.Dimension)
		}
		if !x.Metadata.Null() && x.Metadata[0] != '{' {
			return 0, alcove.Errorf(alcove.InvalidArgument, "the metadata of %s are no object", x.Key)
		}
	}
	return len(items), vectors.PutAll(c, func(yield func(string, vectorRecord) bool) {
		for _, x := range items {
			if !yield(in.Collection+separator+x.Key, vectorRecord{x.Vector, x.Metadata}) {
				return
			}
		}
	})
}

func (in Vectors) get(c *alcove.Call) (out vectorAnswer, err error) {
	if err := need(get, "key", in.Key != ""); err != nil {
		return out, err
	}
	found, err := vectors.GetAll(c, []string{in.Collection + separator + in.Key})
	if err != nil {
		return out, err
	}
	out.Collection, out.Key, out.Found = in.Collection, in.Key, new(found[0] != nil)
	if x := found[0]; x != nil {
		out.Vector, out.Metadata, out.Version = x.Value.Vector, x.Value.Metadata, x.Version
	}
	return out, nil
}

func (in Vectors) search(c *alcove.Call, info collectionInfo) (out vectorAnswer, err error) {
	query := in.Query
	if len(query) == 0 {
		query = in.Vector
	}
	if len(query) != info.Dimension {
		return out, alcove.Errorf(alcove.InvalidArgument, "query has %d numbers: the vectors of %s have %d", len(query), in.Collection, info.Dimension)
	}
	r := alcove.RecordNearestRequest{Collection: vectors.Name, Prefix: in.Collection + separator, Vector: query, K: in.K, Metric: in.Metric, OmitVector: true}
	if r.Metric == "" {
		r.Metric = info.Metric
	}
	for _, raw := range in.Filter {
		var x condition
		if err := element(raw, &x); err != nil {
			return out, err
		}
		value := x.Value
		if len(value) == 0 {
			value = alcove.Raw("null")
		}
		r.Filters = append(r.Filters, alcove.RecordTest{Field: "metadata." + x.Field, Op: x.Op, Value: value})
	}
	near, err := c.RecordNearest(r)
	if err != nil {
		return out, err
	}
	out.Collection, out.Metric, out.Count, out.Hits = in.Collection, r.Metric, &near.Total, make([]vectorHit, 0, len(near.Hits))
	for i := range near.Hits {
		x, err := vectors.Item(&near.Hits[i].Record)
		if err != nil {
			return out, err
		}
		out.Hits = append(out.Hits, vectorHit{x.Key[len(in.Collection)+1:], near.Hits[i].Score, x.Value.Metadata})
	}
	return out, nil
}
