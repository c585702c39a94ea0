package backup_test

import (
	"context"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// twoEntries is a space with two entries, always the same.
type twoEntries struct{}

func (twoEntries) point(version uint64) store.Point {
	return store.Point{Version: version, Time: time.Unix(1_700_000_000+int64(version), 0).UTC()}
}

func (s twoEntries) Head(context.Context) (store.Point, error) { return s.point(2), nil }

func (s twoEntries) PointOf(_ context.Context, version uint64) (store.Point, error) {
	return s.point(version), nil
}

func (twoEntries) History(context.Context) (store.History, error) {
	return store.History{{ID: "one"}}, nil
}

func (twoEntries) Hold(context.Context) (func(), error) { return func() {}, nil }

func (twoEntries) WaitTurn(context.Context) {}

func (s twoEntries) DumpRuns(_ context.Context, since, at uint64, yield func([]byte, int) error) error {
	for version := since + 1; version <= at; version++ {
		e := store.Entry{Key: store.Key{Namespace: "n", Collection: "c", Name: "k"}, Point: s.point(version), Branch: 1, Value: []byte("v")}
		if err := yield(store.AppendRunEntry(nil, e), 1); err != nil {
			return err
		}
	}
	return nil
}
