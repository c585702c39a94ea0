package backup_test

import (
	"context"
	"strings"
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

func (twoEntries) HoldVersions(context.Context) (func(), error) { return func() {}, nil }

func (twoEntries) Blobs(context.Context, string) ([]store.Blob, error) {
	return []store.Blob{{Name: "b", Digest: strings.Repeat("0", 64), Size: 3}, {Name: "c", Digest: strings.Repeat("1", 64)}}, nil
}

func (twoEntries) GetBlob(_ context.Context, name string) (store.BlobReader, error) {
	return blobText{strings.NewReader(map[string]string{"b": "abc"}[name])}, nil
}

type blobText struct{ *strings.Reader }

func (blobText) Close() error { return nil }

func (twoEntries) YieldToCommits(context.Context) {}

func (s twoEntries) DumpRuns(_ context.Context, since, at uint64, begin func() ([]byte, error), end func([]byte, int) error) error {
	yield := func(run []byte, pieces int) error {
		buffer, err := begin()
		if err != nil {
			return err
		}
		return end(append(buffer, run...), pieces)
	}
	run := store.AppendRun(nil, store.Piece{Branches: []store.BranchID{1}})
	for version := since + 1; version <= at; version++ {
		p := s.point(version)
		run = store.AppendRun(run, store.Piece{Point: &p})
	}
	if err := yield(store.AppendRun(run, store.Piece{Branch: &store.BranchState{ID: 1}}), 2+int(at-since)); err != nil {
		return err
	}
	for version := since + 1; version <= at; version++ {
		e := store.Entry{Key: store.Key{Namespace: "n", Collection: "c", Name: "k"}, Point: s.point(version), Branch: 1, Value: []byte("v")}
		if err := yield(store.AppendRunEntry(nil, e), 1); err != nil {
			return err
		}
	}
	return nil
}
