package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/recordindex"
	"github.com/alcove-memory/alcove/host/store"
)

// Ref names a memory.
type Ref = recordindex.Ref

// mostLinkers bounds the memories that one query for backlinks reads.
const mostLinkers = recordindex.MostScanned

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

// candidates returns the next memories that may refer to the target, in order: about most from the index, and staged ones.
func (run *linkRun) candidates(ctx context.Context, most int) ([]Ref, error) {
	t := run.stage
	asked := recordindex.LinkQuery{
		View: recordindex.View{Branch: t.branch.Name, Lineage: t.lineage(), Present: t.at.IsNow()},
		To:   run.query.To, Behind: run.behind, Most: most, May: run.may,
	}
	list, last, ended, err := t.space.indexes.Linkers(ctx, asked)
	if run.ended = ended; err != nil {
		return nil, err
	}
	for _, at := range t.order {
		from := Ref{Namespace: at.Namespace, Key: at.Name}
		if at.Collection == memories && !at.system && t.changed[at] != nil && len(t.changed[at].Links) > 0 && asked.Wants(from) && (ended || from.Compare(last) <= 0) {
			list = append(list, from)
		}
	}
	run.behind = last
	slices.SortFunc(list, Ref.Compare)
	return slices.Compact(list), nil
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
		for i, to := range recordindex.Targets(namespace, link) {
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
