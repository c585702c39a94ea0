package memory

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/memory/counters"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// commit writes the keys of the plan, a record of the merge for later merges, an event in the log of each changed namespace, and the
// counters of the source. The caller holds Space.writing.
func (p *mergePlan) commit(ctx context.Context, req store.Request) (MergeResult, error) {
	merge := lineage.MergeRecord{Source: p.source.branch.ID, SourceAt: p.at, Target: p.target.branch.ID, Namespaces: p.namespaces, Silent: p.silent, Name: p.source.branch.Name}
	write, err := merge.Write()
	if err != nil {
		return MergeResult{}, err
	}
	appends, err := p.events(ctx)
	if err != nil {
		return MergeResult{}, err
	}
	counted, finish, err := p.space.counters.Merge(ctx, p.counts())
	defer finish()
	if err != nil {
		return MergeResult{}, err
	}
	closed, err := p.closes()
	if err != nil {
		return MergeResult{}, err
	}
	expect := append(p.indexes.Expect(), p.source.branch.Alive())
	done, err := p.space.commitLocked(ctx, p.target.branch, store.Batch{
		Writes:   slices.Concat(p.writes, []store.Write{write}, p.resolutions.writes, closed),
		Appends:  appends,
		Counters: counted,
		Expect:   expect,
		Quiet:    []store.Quiet{{Branch: p.target.branch.ID, Since: p.targetAt}},
		Request:  req,
	}, nil, p.write.by)
	if err != nil {
		return MergeResult{}, err
	}
	p.space.usage.Count(done.Version, p.kept)
	if len(closed) > 0 {
		p.space.catalogue.Publish(p.source.branch.ID, p.closed(), done.Point, p.source.branch.Created)
	}
	p.space.catalogue.AddMerge(lineage.Merge{MergeRecord: merge, At: done.Version, Stored: write.Key})
	p.result.Merged, p.result.Version, p.result.Timestamp = true, done.Version, done.Time
	return p.result, nil
}

// closed returns the record of the source as a proposal that takes no further changes.
func (p *mergePlan) closed() lineage.Record {
	r := p.source.branch.Record
	r.Gathers = Gatherer{}
	return r
}

// closes returns the write that closes a gathering proposal, so that the next call begins a new one.
func (p *mergePlan) closes() ([]store.Write, error) {
	if p.source.branch.Gathers == (Gatherer{}) {
		return nil, nil
	}
	w, err := p.closed().Write(p.source.branch.ID)
	return []store.Write{w}, err
}

// isEmpty reports whether the source has nothing new for the target.
func (p *mergePlan) isEmpty(ctx context.Context) (bool, error) {
	if len(p.writes)+len(p.silent) > 0 {
		return false, nil
	}
	brings, err := p.space.counters.Brings(ctx, p.counts())
	return !brings, p.space.translate("compare counters", err)
}

// brief is the data of a merge event.
type brief struct {
	Source        string `json:"source"`
	SourceVersion uint64 `json:"source_version"`
	Keys          int    `json:"keys"`                          // memories only: the log has other readers
	LogSequence   uint64 `json:"source_log_sequence,omitempty"` // the source's last event,
	LogHash       string `json:"source_log_hash,omitempty"`     // and the hash of its chain
}

func (p *mergePlan) events(ctx context.Context) ([]store.Append, error) {
	if p.merge.Origins { // versions have origins, and an event would be a change for the other space
		return nil, nil
	}
	var appends []store.Append
	for _, namespace := range slices.Sorted(maps.Keys(p.brought)) {
		b := brief{Source: p.source.branch.Name, SourceVersion: p.at, Keys: p.brought[namespace]}
		last, err := p.space.lastEvent(ctx, p.source.lineage, namespace)
		if err != nil {
			return nil, err
		}
		if last.Hash != "" {
			b.LogSequence, b.LogHash = last.Sequence, last.Hash
		}
		data, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		appends = append(appends, record.Event{Event: mergeEvent, Data: data, Agent: p.write.Agent}.Append(p.target.branch.Lineage, namespace))
	}
	return appends, nil
}

// counts returns the merge for package counters.
func (p *mergePlan) counts() counters.Merge {
	return counters.Merge{Source: p.source.branch, Target: p.target.branch, TargetAt: p.targetAt, Shared: p.sharedByAll,
		Covers: func(name string) bool { return namespace.Selects(p.namespaces, name) },
		Base: func(ctx context.Context, namespace string) (store.Lineage, error) {
			if err := p.learn(ctx, namespace); err != nil {
				return nil, err
			}
			if bases := p.ground(namespace).bases; len(bases) > 0 {
				return bases[0], nil
			}
			return nil, nil
		}}
}
