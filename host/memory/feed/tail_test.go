package feed

import (
	"context"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// still is a store in which nothing was written since a version.
type still struct {
	Engine
	head store.Point
}

func (e still) Head(context.Context) (store.Point, error) { return e.head, nil }

func TestATailBeginsWithoutNotices(t *testing.T) {
	var l tails
	tail := l.of(&lineage.Branch{ID: 1})
	r := New(Options{Engine: still{head: store.Point{Version: 7}}, Branches: lineage.New(), Clock: time.Now, Purges: func() uint64 { return 0 }})
	if _, ok, err := tail.since(t.Context(), r, 6); ok || err != nil {
		t.Errorf("a tail that just began at version 7 reaches back to 6: %t, %v, want false", ok, err)
	}
	if len(tail.notices) != 0 {
		t.Errorf("a tail that just began has %d notices, want none", len(tail.notices))
	}
}

func TestATailForgetsItsOldestNoticesByCommit(t *testing.T) {
	tail := &tail{}
	tail.begin(7, 0)
	var watermark uint64
	for range 12 {
		var notices []Notice
		watermark++
		for range 1000 {
			notices = append(notices, Notice{Kind: MemoryStored, Watermark: tail.upTo + watermark})
		}
		tail.append(notices)
	}
	if n := len(tail.notices); n > tailNotices || n%1000 != 0 || tail.bytes != n*noticeBytes || tail.notices[0].Watermark != tail.from+1 {
		t.Errorf("it has %d notices of %d bytes after %d, want whole commits of 1000, at most %d, each after the one before", n, tail.bytes, tail.from, tailNotices)
	}
}
