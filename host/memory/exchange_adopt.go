package memory

import (
	"context"

	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/store"
)

// mostUnknown bounds the memories of the default branch that the other space may lack if a new branch is to be a fork of it.
const mostUnknown = 5000

// Adopt makes the branch of an exchange, if there is none: a fork of the default branch at a version that the other space knows, or else an
// empty branch.
func (a *Access) Adopt(ctx context.Context, branch string, known provenance.Knowledge, scope provenance.Scope, w Write) error {
	if _, err := a.space.branch(branch); !isMissing(err) {
		return err
	}
	at, err := a.space.shared(ctx, known, scope)
	if err != nil {
		return a.space.translate("make branch "+branch, err)
	}
	if at == 0 {
		_, err = a.Create(ctx, branch, w)
		return err
	}
	_, err = a.Fork(ctx, Default, branch, AsOf{Version: at}, w)
	return err
}

// shared returns the last version up to which another space knows all of the default branch; 0: it knows nothing.
func (s *Space) shared(ctx context.Context, known provenance.Knowledge, scope provenance.Scope) (uint64, error) {
	b, err := s.branch(Default)
	if err != nil {
		return 0, err
	}
	head, err := s.engine.Head(ctx)
	if err != nil {
		return 0, err
	}
	all := s.As(Caller{Rights: FullRights()})
	q := ExchangeQuery{Peer: Peer{Branch: Default, At: head.Version, Scope: scope}, Known: known}
	at, unknown := head.Version, 0
	for {
		page, err := all.Versions(ctx, q)
		if err != nil {
			return 0, err
		}
		if unknown += len(page.Versions); unknown > mostUnknown {
			return 0, nil
		}
		for _, v := range page.Versions {
			first, err := s.firstUnknown(ctx, b.Lineage.At(head.Version), v.key(), known.In(v.Namespace))
			if err != nil {
				return 0, err
			}
			at = min(at, first-1)
		}
		if page.Next == nil {
			return s.orNothing(at, b.Version), nil
		}
		q.From = *page.Next
	}
}

// orNothing returns a version of a branch, or 0 if it is older than the branch.
func (s *Space) orNothing(at, made uint64) uint64 {
	if at < made {
		return 0
	}
	return at
}

// firstUnknown returns the oldest version of a memory since which all versions are unknown.
func (s *Space) firstUnknown(ctx context.Context, view store.Lineage, key store.Key, known provenance.Vector) (uint64, error) {
	past, err := s.past(ctx, view, key, mostPast)
	first := view[0].At
	for _, v := range past {
		if known.HasAll(v.origins) {
			break
		}
		first = v.Version
	}
	return first, err
}
