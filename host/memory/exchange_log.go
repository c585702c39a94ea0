package memory

import (
	"context"
	"strings"

	"github.com/alcove-memory/alcove/host/store"
)

// Replicas lists the replicas whose logs of a namespace a branch has from other spaces.
func (a *Access) Replicas(ctx context.Context, p Location) (list []string, err error) {
	v, p, err := a.viewLogs(ctx, p)
	if err != nil {
		return nil, err
	}
	for within := (store.Range{Namespace: p.Namespace, Collection: logs}); ; {
		found, _, err := a.space.engine.ScanAt(ctx, v.lineage, within, "", 1)
		if err != nil || len(found) == 0 {
			return list, a.space.translate("list the logs of other spaces", err)
		}
		replica, _, _ := strings.Cut(found[0].Name, "/")
		list = append(list, replica)
		within.From = replica + "0" // "0" is behind "/"
	}
}

// EventsOf reads at most limit events of another replica's log, oldest first, from a sequence number on. It is an error if one is not what was
// logged, or does not continue the chain of the one before it.
func (a *Access) EventsOf(ctx context.Context, replica string, p Location, from uint64, limit int) ([]Event, error) {
	v, p, err := a.viewLogs(ctx, p)
	if err != nil {
		return nil, err
	}
	within := store.Range{Namespace: p.Namespace, Collection: logs, Prefix: logPrefix(replica), From: logPrefix(replica) + store.SequenceName(from)}
	entries, _, err := a.space.engine.ScanAt(ctx, v.lineage, within, "", a.space.page(limit))
	if err != nil {
		return nil, a.space.translate("read the log of another space", err)
	}
	var list []Event
	for _, entry := range entries {
		e, err := readKept(entry)
		if err != nil {
			return nil, err
		}
		if e == nil {
			continue
		}
		if n := len(list); n > 0 && list[n-1].Sequence == e.Sequence-1 {
			if err := e.verify(list[n-1].Hash); err != nil {
				return nil, err
			}
		}
		list = append(list, Event{Namespace: p.Namespace, Sequence: e.Sequence, Event: e.Event.Event, Data: e.Data, Agent: e.Agent, Version: e.Origin.Version,
			Timestamp: e.Origin.Time(), Digest: e.Digest, Hash: e.Hash, Branch: replica})
	}
	return list, nil
}

func (a *Access) viewLogs(ctx context.Context, p Location) (view, Location, error) {
	p, err := a.reading(p)
	if err != nil {
		return view{}, p, err
	}
	v, err := a.space.view(ctx, p.Branch, AsOf{})
	return v, p, err
}
