package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// Ref names a memory.
type Ref struct {
	Namespace string
	Key       string
}

// linkTargets are the memories that a link of a namespace may mean: a key of this namespace and, split at the first #, one of
// another. The first that is there is meant.
func linkTargets(namespace, link string) []Ref {
	refs := []Ref{{namespace, link}}
	if other, key, ok := strings.Cut(link, "#"); ok && other != "" && key != "" {
		refs = append(refs, Ref{other, key})
	}
	return refs
}

// linkName is where the index of links has a link.
func linkName(to Ref, from store.Key) string {
	return linkPrefix(to) + string(appendEnded(nil, from.Namespace)) + from.Name
}

// linkPrefix begins the names of all links to a memory.
func linkPrefix(to Ref) string {
	return string(appendEnded(appendEnded(nil, to.Namespace), to.Key))
}

// linkSource is the memory that has the link of a name.
func linkSource(name, prefix string) (Ref, bool) {
	namespace, key, ok := cutText(strings.TrimPrefix(name, prefix))
	return Ref{namespace, key}, ok && key != ""
}

// mostLinkers is how many memories one question about links back reads.
const mostLinkers = 20_000

// LinkQuery asks which memories refer to one.
type LinkQuery struct {
	To    Ref
	After Ref               // only those behind it, in the order of namespace and key; the zero Ref: from the start
	Limit int               // 0: all, up to 20,000
	May   func(string) bool // namespaces of the memories to list, of those that the caller may read; nil: all these
}

// LinkedFrom lists the memories that refer to one, in the order of namespace and key. more is true when there may be more of them.
func (t *Stage) LinkedFrom(ctx context.Context, q LinkQuery) (list []Ref, more bool, err error) {
	if q.To.Namespace, err = t.readingKeys(q.To.Namespace, []string{q.To.Key}); err != nil {
		return nil, false, err
	}
	run := &linkRun{stage: t, query: q}
	candidates, err := run.candidates(ctx)
	if err != nil {
		return nil, false, err
	}
	most := q.Limit
	if most <= 0 {
		most = mostLinkers
	}
	for len(candidates) > 0 && len(list) <= most {
		page := candidates[:min(len(candidates), queryPage)]
		candidates = candidates[len(page):]
		refer, err := run.referring(ctx, page)
		if err != nil {
			return nil, false, err
		}
		list = append(list, refer...)
	}
	if len(list) <= most {
		return list, false, nil
	}
	if q.Limit <= 0 {
		return nil, false, &Error{Code: Exhausted, Details: map[string]any{"limit": mostLinkers},
			Message: fmt.Sprintf("more than %d memories refer to %s: ask for them in pages, with limit", mostLinkers, clip(q.To.Key, 64))}
	}
	return list[:most], true, nil
}

// linkRun is a question about links back that is being answered.
type linkRun struct {
	stage *Stage
	query LinkQuery
}

func (run *linkRun) may(namespace string) bool {
	return run.stage.access.caller.Rights.MayRead(namespace) && (run.query.May == nil || run.query.May(namespace))
}

func (r Ref) compare(other Ref) int {
	if c := strings.Compare(r.Namespace, other.Namespace); c != 0 {
		return c
	}
	return strings.Compare(r.Key, other.Key)
}

// wanted reports whether a memory is behind where the page begins, and may be listed.
func (run *linkRun) wanted(from Ref) bool {
	return run.may(from.Namespace) && (run.query.After == Ref{} || from.compare(run.query.After) > 0)
}

// candidates are the memories that may refer to the one, in order: staged ones, and what the index has.
func (run *linkRun) candidates(ctx context.Context) ([]Ref, error) {
	t := run.stage
	list, err := run.indexed(ctx)
	if err != nil {
		return nil, t.space.translate("list links", err)
	}
	for _, at := range t.order {
		from := Ref{at.Namespace, at.Name}
		if at.Collection == memories && !at.system && t.changed[at] != nil && len(t.changed[at].Links) > 0 && run.wanted(from) {
			list = append(list, from)
		}
	}
	slices.SortFunc(list, Ref.compare)
	return slices.Compact(list), nil
}

// indexed reads the index, or all memories where it does not have what the stage sees.
func (run *linkRun) indexed(ctx context.Context) (list []Ref, err error) {
	t, s := run.stage, run.stage.space
	l := t.lineage(false)
	set := s.indexes.of(memories)
	if set == nil {
		s.queueLinks()
		return run.scan(ctx, l)
	}
	covering := s.indexes.covering(set.Indexes[0].ID, l)
	if covering == nil {
		if t.at.IsNow() {
			s.queueBuild(builds{memories, set.Indexes[0].ID, l[0].Branch})
		}
		return run.scan(ctx, l)
	}
	prefix := linkPrefix(run.query.To)
	r := store.Range{Namespace: lineage.Namespace, Collection: indexEntries, Prefix: prefix}
	if run.query.After != (Ref{}) {
		r.From = prefix + string(appendEnded(nil, run.query.After.Namespace)) + run.query.After.Key
	}
	for e, err := range eachEntry(ctx, s.engine.ScanAt, covering, r, queryPage) {
		if err != nil {
			return nil, err
		}
		if from, ok := linkSource(e.Name, prefix); ok && run.wanted(from) {
			list = append(list, from)
		}
		if run.query.Limit > 0 && len(list) > 2*run.query.Limit+queryPage || len(list) > 2*mostLinkers {
			break
		}
	}
	return list, nil
}

// scan stands in for an index that is not built yet, or was not at the stage's moment.
func (run *linkRun) scan(ctx context.Context, l store.Lineage) (list []Ref, err error) {
	t, read := run.stage, 0
	ranges, err := t.space.rangesOf(ctx, l, memories)
	if err != nil {
		return nil, err
	}
	for _, r := range ranges {
		if r.Namespace != "" && !run.may(r.Namespace) {
			continue
		}
		for e, err := range eachEntry(ctx, t.space.engine.ScanAt, l, r, fillPage) {
			if err != nil {
				return nil, err
			}
			if e.Collection != memories || !run.wanted(Ref{e.Namespace, e.Name}) {
				continue
			}
			if read++; read > mostLinkers {
				return nil, run.unbuilt()
			}
			if linked, err := stored(e); err != nil {
				return nil, err
			} else if len(linked.Links) > 0 {
				list = append(list, Ref{e.Namespace, e.Name})
			}
		}
	}
	return list, nil
}

func (run *linkRun) unbuilt() error {
	if !run.stage.at.IsNow() {
		return &Error{Code: Exhausted, Details: map[string]any{"limit": mostLinkers},
			Message: fmt.Sprintf("the index of links has nothing of this moment, and more than %d memories would have to be read: ask for a newer moment", mostLinkers)}
	}
	return &Error{Code: Unavailable, Retryable: true, Message: fmt.Sprintf("the index of links is being built on branch %s: try again in a few seconds", run.stage.branch.Name)}
}

// referring are those of some memories that refer to the one.
func (run *linkRun) referring(ctx context.Context, from []Ref) (list []Ref, err error) {
	sites := make([]site, len(from))
	for i, ref := range from {
		sites[i] = site{Key: memoryKey(ref.Namespace, ref.Key)}
	}
	records, err := run.peek(ctx, sites)
	if err != nil {
		return nil, err
	}
	for i, r := range records {
		refers, err := run.refers(ctx, from[i].Namespace, r)
		if err != nil {
			return nil, err
		}
		if refers {
			list = append(list, from[i])
		}
	}
	return list, nil
}

// peek reads what the stage sees without expecting it.
func (run *linkRun) peek(ctx context.Context, sites []site) ([]*record, error) {
	t := run.stage
	found := make([]store.Entry, len(sites))
	if err := t.fetch(ctx, false, sites, found); err != nil {
		return nil, err
	}
	records := make([]*record, len(sites))
	for i, at := range sites {
		if staged, ok := t.changed[at]; ok {
			records[i] = staged
			continue
		}
		r, err := t.live(found[i])
		if err != nil {
			return nil, err
		}
		records[i] = r
	}
	return records, nil
}

// refers reports whether a memory of a namespace has a link that means the one.
func (run *linkRun) refers(ctx context.Context, namespace string, r *record) (bool, error) {
	if r == nil {
		return false, nil
	}
	for _, link := range r.Links {
		for i, to := range linkTargets(namespace, link) {
			if to != run.query.To {
				continue
			}
			if i == 0 {
				return true, nil
			}
			own, err := run.peek(ctx, []site{{Key: memoryKey(namespace, link)}}) // whose key has the #
			if err != nil {
				return false, err
			}
			if own[0] == nil {
				return true, nil
			}
		}
	}
	return false, nil
}

// queueLinks has the index of links kept: somebody asks for links back.
func (s *Space) queueLinks() {
	if s.readOnly {
		return
	}
	s.indexes.asked.Do(func() { s.chores.add("keep an index of links", s.keepLinks) })
}
