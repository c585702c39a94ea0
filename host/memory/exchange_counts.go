package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory/counters"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/store"
)

// Limits of counters that another space sends.
const (
	mostCounting = 256     // replicas that counted a memory
	mostCounts   = 1 << 53 // of a replica
	longestMark  = 64      // bytes
)

// CountMark and Replicated are how spaces exchange counters.
type (
	CountMark  = counters.Mark
	Replicated = counters.Replicated
)

// nameReplicas sets the names of the default branch in other spaces.
func (s *Space) nameReplicas() error {
	b, err := s.branch(Default)
	for _, part := range s.history {
		s.replicas = append(s.replicas, replica(part.ID, b.ID))
	}
	return err
}

// CountMark returns the mark of the counters of the default branch, for a caller who may read a part of a scope. Those of other branches are
// not exchanged.
func (a *Access) CountMark(ctx context.Context, scope provenance.Scope) (CountMark, error) {
	if _, err := a.permitted(scope, ToRead); err != nil {
		return "", err
	}
	b, err := a.space.branch(Default)
	if err != nil {
		return "", err
	}
	mark, err := a.space.counters.Mark(ctx, b)
	return mark, a.space.translate("read how far counters are", err)
}

// CountQuery selects counters for another space.
type CountQuery struct {
	Scope provenance.Scope
	From  CountMark // of the receiver, or next of the previous page
	Limit int       // to look at; 0: Limits.Page
}

// Counted lists counters that were written since a mark. next is empty at the end.
func (a *Access) Counted(ctx context.Context, q CountQuery) (list []Replicated, next CountMark, err error) {
	s := a.space
	if q.Scope, err = a.permitted(q.Scope, ToRead); err != nil {
		return nil, "", err
	}
	b, err := s.branch(Default)
	if err != nil {
		return nil, "", err
	}
	list, next, err = s.counters.Since(ctx, b, q.From, s.page(q.Limit), func(key store.Key) bool {
		return q.Scope.Covers(key.Namespace) && a.caller.Rights.MayRead(key.Namespace)
	})
	if errors.Is(err, counters.ErrPlace) {
		return nil, "", invalid("%v", err)
	}
	return list, next, s.translate("list counters", err)
}

// ReceivedCounts are counters from another space.
type ReceivedCounts struct {
	Space string // the sender
	Scope provenance.Scope
	List  []Replicated // at most Limits.Batch
	Mark  CountMark    // the sender's mark before the first of them; only with the last part
}

// keptMark is the stored form of a mark.
type keptMark struct {
	Mark CountMark `json:"m"`
}

func countedKey(space string, scope provenance.Scope) store.Key {
	return store.Key{Namespace: lineage.Namespace, Collection: counters.Collection, Name: scope.Key() + "." + space}
}

// CountsKnown returns the mark up to which the counters of another space were received; empty: none were.
func (a *Access) CountsKnown(ctx context.Context, space string, scope provenance.Scope) (mark CountMark, err error) {
	if _, err := a.permitted(scope, ToWrite); err != nil {
		return mark, err
	}
	b, err := a.space.branch(Default)
	if err != nil {
		return mark, err
	}
	found, err := a.space.engine.Counters(ctx, b.Lineage, []store.Key{countedKey(space, scope)})
	if err != nil || found[0] == nil {
		return mark, a.space.translate("read which counters are known", err)
	}
	var kept keptMark
	err = json.Unmarshal(found[0], &kept)
	return kept.Mark, err
}

// ReceiveCounts merges counters of another space into those of the default branch, and returns how many memories changed. The counts of
// each replica are kept apart, so that none is counted twice, whichever way it came.
func (a *Access) ReceiveCounts(ctx context.Context, in ReceivedCounts) (news int, err error) {
	s := a.space
	if len(in.List) > s.limits.Batch || len(in.Mark) > longestMark || len(in.Space) > longestReplica {
		return 0, invalid("counters of %d memories: at most %d can be received at once", len(in.List), s.limits.Batch)
	}
	for _, one := range in.List {
		if err := a.checkCounts(one, in.Scope); err != nil {
			return 0, fmt.Errorf("receive counters of %q of namespace %q: %w", clip(one.Key, 64), clip(one.Namespace, 64), err)
		}
	}
	b, err := s.branch(Default)
	if err != nil {
		return 0, err
	}
	var with []store.CounterWrite
	if in.Mark != "" {
		value, err := json.Marshal(keptMark{in.Mark})
		if err != nil {
			return 0, err
		}
		with = append(with, store.CounterWrite{Branch: b.ID, Key: countedKey(in.Space, in.Scope), Value: value})
	}
	news, err = s.counters.Join(ctx, b, in.List, with...)
	return news, s.translate("receive counters", err)
}

func (a *Access) checkCounts(one Replicated, scope provenance.Scope) error {
	s := a.space
	if !a.caller.Rights.MayWrite(one.Namespace) {
		return denied("write", one.Namespace)
	}
	if !scope.Covers(one.Namespace) {
		return invalid("the namespace is not part of the exchange")
	}
	if err := s.limits.checkName("namespace", one.Namespace); err != nil {
		return err
	}
	if err := s.limits.checkKey(one.Key); err != nil {
		return err
	}
	if len(one.Counts) > mostCounting {
		return invalid("%d replicas counted it: at most %d are allowed", len(one.Counts), mostCounting)
	}
	latest := s.clock().Add(clocksApart).UnixMicro()
	for name, r := range one.Counts {
		if name == "" || len(name) > longestReplica {
			return invalid("the name of a replica has %d bytes: it has 1 to %d", len(name), longestReplica)
		}
		if r.Accesses < 0 || r.Accesses > mostCounts || r.Health < -1 || r.Health > 1 || r.Last < 0 || r.Last > latest {
			return invalid("a replica cannot have counted %d accesses and a health of %g until %d", r.Accesses, r.Health, r.Last)
		}
	}
	return nil
}
