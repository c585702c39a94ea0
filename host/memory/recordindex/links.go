package recordindex

import (
	"context"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/fault"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Ref names a memory.
type Ref struct {
	Namespace string
	Key       string
}

// Compare compares two memories in the order of namespace and key.
func (r Ref) Compare(other Ref) int {
	if c := strings.Compare(r.Namespace, other.Namespace); c != 0 {
		return c
	}
	return strings.Compare(r.Key, other.Key)
}

// Targets returns the candidates for a link of a namespace: a key of this namespace and, split at the first #, one of another. The first
// that exists is the target.
func Targets(namespace, link string) []Ref {
	refs := []Ref{{namespace, link}}
	if other, key, ok := strings.Cut(link, "#"); ok && other != "" && key != "" {
		refs = append(refs, Ref{other, key})
	}
	return refs
}

// linkName returns the name of a link in the index of links.
func linkName(to Ref, from store.Key) string {
	return linkPrefix(to) + string(query.AppendEnded(nil, from.Namespace)) + from.Name
}

// linkPrefix returns the prefix of the names of all links to a memory.
func linkPrefix(to Ref) string {
	return string(query.AppendEnded(query.AppendEnded(nil, to.Namespace), to.Key))
}

// linkSource returns the memory whose link has a name.
func linkSource(name, prefix string) (Ref, bool) {
	namespace, key, ok := query.CutText(strings.TrimPrefix(name, prefix))
	return Ref{namespace, key}, ok && key != ""
}

// View is a branch as it is read.
type View struct {
	Branch  string // its name, for errors
	Lineage store.Lineage
	Present bool // of the newest version: an index that is not built there yet is queued
}

// LinkQuery asks for the memories of a view that may refer to one.
type LinkQuery struct {
	View
	To     Ref
	Behind Ref                         // only later ones; the zero Ref: from the start
	Most   int                         // entries of the index to read
	May    func(namespace string) bool // of the memories to list
}

// Wants reports whether a memory comes after the query's position, and may be listed.
func (q LinkQuery) Wants(from Ref) bool {
	return q.May(from.Namespace) && (q.Behind == Ref{} || from.Compare(q.Behind) > 0)
}

// Linkers lists the memories that may refer to one: in order, up to the last one examined, as the index has them; or, while that is
// incomplete for the view, all that have links. ended is true if there are no more.
func (x *Indexes) Linkers(ctx context.Context, q LinkQuery) (list []Ref, last Ref, ended bool, err error) {
	set := x.of(record.Memories)
	var covering store.Lineage
	if set == nil {
		x.queueLinks()
	} else if covering = x.covering(set.Indexes[0].ID, q.Lineage); covering == nil && q.Present {
		x.queueBuild(builds{record.Memories, set.Indexes[0].ID, q.Lineage[0].Branch})
	}
	if covering == nil {
		list, err = x.scanLinkers(ctx, q)
		return list, last, true, err
	}
	prefix := linkPrefix(q.To)
	r := store.Range{Namespace: lineage.Namespace, Collection: indexEntries, Prefix: prefix}
	if q.Behind != (Ref{}) {
		r.From = prefix + string(query.AppendEnded(nil, q.Behind.Namespace)) + q.Behind.Key + "\x00"
	}
	page, next, err := x.o.Engine.ScanAt(ctx, covering, r, "", q.Most)
	for _, e := range page {
		from, ok := linkSource(e.Name, prefix)
		if last = from; ok && q.Wants(from) {
			list = append(list, from)
		}
	}
	return list, last, next == "", err
}

// scanLinkers replaces an index that is not built yet, or was not at the view's moment.
func (x *Indexes) scanLinkers(ctx context.Context, q LinkQuery) (list []Ref, err error) {
	ranges, err := x.rangesOf(ctx, q.Lineage, record.Memories)
	if err != nil {
		return nil, err
	}
	read := 0
	for _, r := range ranges {
		if r.Namespace != "" && !q.May(r.Namespace) {
			continue
		}
		for e, err := range store.Entries(ctx, x.o.Engine.ScanAt, q.Lineage, r, scanPage) {
			if err != nil {
				return nil, err
			}
			from := Ref{e.Namespace, e.Name}
			if e.Collection != record.Memories || !q.Wants(from) {
				continue
			}
			if read++; read > MostScanned {
				return nil, q.unbuilt()
			}
			if linked, err := record.Of(e); err != nil {
				return nil, err
			} else if len(linked.Links) > 0 {
				list = append(list, from)
			}
		}
	}
	return list, nil
}

func (q LinkQuery) unbuilt() error {
	if !q.Present {
		return &fault.Error{Code: fault.Exhausted, Details: map[string]any{"limit": MostScanned}, Message: fmt.Sprintf(
			"links as of this moment are not indexed, and a scan of more than %d memories would be needed: use a later as_of", MostScanned)}
	}
	return &fault.Error{Code: fault.Unavailable, Retryable: true,
		Message: fmt.Sprintf("the index of links is being built on branch %s: try again in a few seconds", q.Branch)}
}
