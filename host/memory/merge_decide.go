package memory

import (
	"bytes"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory/quota"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/recordindex"
	"github.com/alcove-memory/alcove/host/memory/threeway"
	"github.com/alcove-memory/alcove/host/store"
)

// mergePlan is the decisions of a merge about each key, with their sum.
type mergePlan struct {
	*comparison
	merge       Merge
	write       Write
	resolutions *resolutions
	targetAt    uint64      // the version of the target in the decisions
	keys        []store.Key // sorted
	decisions   map[store.Key]*decision
	indexes     *recordindex.Writer
	purges      uint64 // how many there had been before the plan was read

	mergeSum
}

// mergeSum is the sum of the decisions of a plan.
type mergeSum struct {
	writes  []store.Write
	brought map[string]int // the number of memories written, by namespace; 0: only records
	silent  []store.Key    // keys that stay unchanged on the target
	kept    []quota.Change // changes of the families' use of the target
	own     []ownChange    // values of resolutions
	result  MergeResult
	foreign bool // a clash in records of a family that the caller may not use
	hidden  bool // an unresolved clash in records that the caller cannot see
}

// decision is the decision of a merge about a key.
type decision struct {
	foreign    bool // a clash in records of a family that the caller may not use; nothing else is set
	shown      bool // to the caller
	clash      bool
	unresolved bool
	resolved   bool          // by a resolution
	silent     bool          // the target keeps its state
	writes     []store.Write // of the key, and of indexes; empty: the target stays
	kept       *quota.Change
	own        *ownChange  // the value of a resolution
	difference *Difference // nil: not listed yet
}

// outcome is the result of merging a key: keep the target, leave the clash unresolved, or write value; a nil value deletes.
type outcome struct {
	keep       bool
	unresolved bool
	value      []byte
	resolved   bool       // by a resolution
	own        *ownChange // the value of the resolution
}

func (o outcome) state(t triple) string {
	if o.value == nil {
		return ""
	}
	state, err := stateOf(store.Entry{Key: t.key, Point: store.Point{Version: 1}, Value: o.value})
	if err != nil {
		return "?" // differs from every state, so the value is written
	}
	return state
}

func fromSource(t triple) outcome {
	if !t.source.Exists() {
		return outcome{}
	}
	return outcome{value: t.source.Value}
}

func (p *mergePlan) outcome(t triple) (outcome, error) {
	clash := t.states.Clash() != threeway.NoClash
	if r, ok := p.resolution(t.key); ok && clash {
		o, err := p.resolve(t, r)
		o.resolved = true
		return o, err
	}
	switch {
	case clash:
		return p.decideClash(t)
	case t.states.SourceChanged():
		return fromSource(t), nil
	}
	return outcome{keep: true}, nil
}

func (p *mergePlan) resolution(key store.Key) (Resolution, bool) {
	for _, r := range p.merge.Resolutions {
		if r.key() == key {
			return r, true
		}
	}
	return Resolution{}, false
}

func (p *mergePlan) resolve(t triple, r Resolution) (outcome, error) {
	switch r.Take {
	case "source":
		return fromSource(t), nil
	case "target":
		return outcome{keep: true}, nil
	case "delete":
		return p.resolveTo(t, nil)
	}
	var keep record.Record // everything but the value is from the source, or else the target
	for _, e := range []store.Entry{t.target, t.source} {
		if e.Exists() {
			var err error
			if keep, err = record.Decode(e); err != nil {
				return outcome{}, err
			}
		}
	}
	value, err := jsontext.Compact(r.Value)
	if err != nil {
		return outcome{}, err
	}
	if !bytes.Equal(keep.Value, value) {
		keep.Vector, keep.VectorOf = nil, "" // the vector is of the former value
	}
	keep.Value, keep.Agent = value, p.write.Agent
	encoded, err := keep.Encode()
	if err != nil {
		return outcome{}, err
	}
	return p.resolveTo(t, encoded)
}

// resolveTo returns the outcome of a resolution with its own value, or a deletion if value is nil, as the hooks changed it.
func (p *mergePlan) resolveTo(t triple, value []byte) (outcome, error) {
	if value == nil && !t.target.Exists() {
		return outcome{}, nil
	}
	change := ownChange{key: t.key, over: t.target.Version, record: string(value)}
	r, asked := p.resolutions.of(change)
	if !asked || r == nil {
		return outcome{value: value, own: &change}, nil
	}
	encoded, err := r.Encode()
	return outcome{value: encoded, own: &change}, err
}

func (p *mergePlan) decideClash(t triple) (outcome, error) {
	switch p.merge.Strategy {
	case Source:
		return fromSource(t), nil
	case Target:
		return outcome{keep: true}, nil
	case Newest:
		if t.source.Version > t.target.Version {
			return fromSource(t), nil
		}
		return outcome{keep: true}, nil
	case Fields:
		return p.mergeFields(t)
	}
	return outcome{unresolved: true}, nil
}

func (p *mergePlan) mergeFields(t triple) (outcome, error) {
	if t.key.Collection != memories || !t.source.Exists() || !t.target.Exists() {
		return outcome{unresolved: true}, nil
	}
	var base record.Record
	var err error
	if t.base().Exists() {
		if base, err = record.Decode(t.base()); err != nil {
			return outcome{}, err
		}
	}
	source, err := record.Decode(t.source)
	if err != nil {
		return outcome{}, err
	}
	target, err := record.Decode(t.target)
	if err != nil {
		return outcome{}, err
	}
	merged, ok := record.Merge(base, source, target)
	if !ok {
		return outcome{unresolved: true}, nil
	}
	merged.Agent = p.write.Agent
	merged.Succeed(&target, t.target)
	value, err := merged.Encode()
	return outcome{value: value}, err
}
