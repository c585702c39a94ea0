package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

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

// linkTargets returns the candidates for a link of a namespace: a key of this namespace and, split at the first #, one of
// another. The first that exists is the target.
func linkTargets(namespace, link string) []Ref {
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

// mostLinkers bounds the memories that one query for backlinks reads.
const mostLinkers = 20_000

// LinkQuery selects the memories that refer to one.
type LinkQuery struct {
	To    Ref
	After Ref               // only later ones, in the order of namespace and key; the zero Ref: from the start
	Limit int               // 0: all, up to 20,000
	May   func(string) bool // namespaces of the memories to list, within the caller's rights; nil: all of them
}

// LinkedFrom lists the memories that refer to one, in the order of namespace and key. more is true if there may be others.
func (t *Stage) LinkedFrom(ctx context.Context, q LinkQuery) (list []Ref, more bool, err error) {
	if q.To.Namespace, err = t.readingKeys(q.To.Namespace, []string{q.To.Key}); err != nil {
		return nil, false, err
	}
	most := q.Limit
	if most <= 0 {
		most = mostLinkers
	}
	run := &linkRun{stage: t, query: q, behind: q.After}
	for !run.ended && len(list) <= most {
		candidates, err := run.candidates(ctx, min(most-len(list)+1, queryPage))
		if err != nil {
			return nil, false, t.space.translate("list links", err)
		}
		refer, err := run.referring(ctx, candidates)
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

// linkRun is the execution of a query for backlinks.
type linkRun struct {
	stage  *Stage
	query  LinkQuery
	behind Ref  // where it continues; the zero Ref: at the start
	ended  bool // no more candidates
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

// wanted reports whether a memory comes after the run's position, and may be listed.
func (run *linkRun) wanted(from Ref) bool {
	return run.may(from.Namespace) && (run.behind == Ref{} || from.compare(run.behind) > 0)
}

// candidates returns the next memories that may refer to the target, in order: about most from the index, and staged ones.
func (run *linkRun) candidates(ctx context.Context, most int) ([]Ref, error) {
	t := run.stage
	list, last, err := run.indexed(ctx, most)
	if err != nil {
		return nil, err
	}
	for _, at := range t.order {
		from := Ref{at.Namespace, at.Name}
		if at.Collection == memories && !at.system && t.changed[at] != nil && len(t.changed[at].Links) > 0 && run.wanted(from) && (run.ended || from.compare(last) <= 0) {
			list = append(list, from)
		}
	}
	run.behind = last
	slices.SortFunc(list, Ref.compare)
	return slices.Compact(list), nil
}

// indexed reads the index, or all memories if it is incomplete for the stage. last is the last one examined.
func (run *linkRun) indexed(ctx context.Context, most int) (list []Ref, last Ref, err error) {
	t, s := run.stage, run.stage.space
	l, set := t.lineage(), s.indexes.of(memories)
	var covering store.Lineage
	if set == nil {
		s.queueLinks()
	} else if covering = s.indexes.covering(set.Indexes[0].ID, l); covering == nil && t.at.IsNow() {
		s.queueBuild(builds{memories, set.Indexes[0].ID, l[0].Branch})
	}
	if covering == nil {
		run.ended = true
		list, err = run.scan(ctx, l)
		return list, last, err
	}
	prefix := linkPrefix(run.query.To)
	r := store.Range{Namespace: lineage.Namespace, Collection: indexEntries, Prefix: prefix}
	if run.behind != (Ref{}) {
		r.From = prefix + string(query.AppendEnded(nil, run.behind.Namespace)) + run.behind.Key + "\x00"
	}
	page, next, err := s.engine.ScanAt(ctx, covering, r, "", most)
	run.ended = next == ""
	for _, e := range page {
		from, ok := linkSource(e.Name, prefix)
		if last = from; ok && run.wanted(from) {
			list = append(list, from)
		}
	}
	return list, last, err
}

// scan replaces an index that is not built yet, or was not at the stage's moment.
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
		for e, err := range store.Entries(ctx, t.space.engine.ScanAt, l, r, fillPage) {
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
			Message: fmt.Sprintf("links as of this moment are not indexed, and a scan of more than %d memories would be needed: use a later as_of", mostLinkers)}
	}
	return &Error{Code: Unavailable, Retryable: true, Message: fmt.Sprintf("the index of links is being built on branch %s: try again in a few seconds", run.stage.branch.Name)}
}

// referring returns those of some memories that refer to the target.
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

// peek reads what the stage sees without making it a condition of the commit.
func (run *linkRun) peek(ctx context.Context, sites []site) ([]*record.Record, error) {
	t := run.stage
	found := make([]store.Entry, len(sites))
	if err := t.fetch(ctx, sites, found); err != nil {
		return nil, err
	}
	records := make([]*record.Record, len(sites))
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

// refers reports whether a memory of a namespace has a link to the target.
func (run *linkRun) refers(ctx context.Context, namespace string, r *record.Record) (bool, error) {
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
			own, err := run.peek(ctx, []site{{Key: memoryKey(namespace, link)}}) // its key contains the #
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

// queueLinks starts the index of links at the first query for backlinks.
func (s *Space) queueLinks() {
	if s.readOnly {
		return
	}
	s.indexes.asked.Do(func() { s.chores.add("keep an index of links", s.keepLinks) })
}
