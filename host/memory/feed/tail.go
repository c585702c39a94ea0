package feed

import (
	"context"
	"errors"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	mostTails   = 16     // branches whose newest notices are in memory
	tailNotices = 10_000 // of a branch
	tailBytes   = 8 << 20
	tailChunk   = 2_500       // changes that a tail reads at once; one further behind begins anew
	tailBounds  = time.Second // how long the begin of a feed is remembered
	noticeBytes = 256         // of a notice, beside its texts
)

// tails are the newest notices of the branches whose feeds are read, so that thousands of readers cost no more reads of the
// store than one. The zero value is ready for use.
type tails struct {
	mu       sync.Mutex
	byBranch map[store.BranchID]*tail
	uses     uint64
}

// tail has the notices of a branch that are newer than from, complete, up to upTo.
type tail struct {
	branch *lineage.Branch
	used   uint64 // tails.uses at its last use

	mu         sync.Mutex // held while it is read on: readers wait for the one that does
	from, upTo uint64     // versions of the space; 0, 0: it is empty
	last       uint64     // the newest change of the branch among them; 0: none
	notices    []Notice   // only appended to, so that readers keep parts of it
	bytes      int
	purges     uint64 // Options.Purges when it was begun

	bounds  sync.Mutex
	oldest  uint64
	checked time.Time // when oldest was found
}

// recent is what a tail knows after a watermark.
type recent struct {
	notices []Notice
	upTo    uint64 // the newest change
}

// of returns the tail of a branch. The least recently used one is dropped for it, if there are too many.
func (l *tails) of(b *lineage.Branch) *tail {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.uses++
	t := l.byBranch[b.ID]
	if t == nil {
		if l.byBranch == nil {
			l.byBranch = map[store.BranchID]*tail{}
		}
		l.makeRoom()
		t = &tail{branch: b}
		l.byBranch[b.ID] = t
	}
	t.used = l.uses
	return t
}

func (l *tails) makeRoom() {
	for len(l.byBranch) >= mostTails {
		var oldest *tail
		for _, t := range l.byBranch {
			if oldest == nil || t.used < oldest.used {
				oldest = t
			}
		}
		delete(l.byBranch, oldest.branch.ID)
	}
}

// clear forgets all notices.
func (l *tails) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.byBranch)
}

// since returns what is new after a watermark; ok is false if the tail does not reach back to it.
func (t *tail) since(ctx context.Context, r *Reader, after uint64) (_ recent, ok bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.readOn(ctx, r); err != nil {
		return recent{}, false, err
	}
	if after < t.from || t.purges%2 == 1 {
		return recent{}, false, nil
	}
	first := sort.Search(len(t.notices), func(i int) bool { return t.notices[i].Watermark > after })
	return recent{slices.Clip(t.notices[first:]), t.last}, true, nil
}

// readOn reads what was written since. The caller holds mu.
func (t *tail) readOn(ctx context.Context, r *Reader) error {
	purges := r.purges()
	head, err := r.engine.Head(ctx)
	if err != nil {
		return err
	}
	if t.upTo == 0 || t.purges != purges {
		t.begin(head.Version, purges)
	}
	if head.Version <= t.upTo {
		return nil
	}
	changes, next, _, err := r.changes(ctx, t.branch, t.upTo, head.Version, tailChunk)
	if _, trimmed := errors.AsType[*store.TrimmedError](err); trimmed || next != 0 || len(changes) > 2*tailChunk {
		t.begin(head.Version, purges)
		return nil
	}
	if err != nil {
		return err
	}
	var notices []Notice
	for _, commit := range commits(changes) {
		notices = append(notices, commit...)
	}
	if err := r.complete(ctx, t.branch, notices); err != nil {
		return err
	}
	t.upTo = head.Version
	if len(changes) > 0 {
		t.last = changes[len(changes)-1].Version
	}
	t.append(notices)
	return nil
}

// begin empties the tail: it knows nothing up to a version.
func (t *tail) begin(version, purges uint64) {
	t.from, t.upTo, t.last, t.notices, t.bytes, t.purges = version, version, 0, nil, 0, purges
}

// append adds notices, and drops the oldest commits if there are too many.
func (t *tail) append(notices []Notice) {
	t.notices = append(t.notices, notices...)
	for _, n := range notices {
		t.bytes += sizeOf(n)
	}
	if len(t.notices) <= tailNotices && t.bytes <= tailBytes {
		return
	}
	drop := 0
	for drop < len(t.notices) && (len(t.notices)-drop > tailNotices*3/4 || t.bytes > tailBytes*3/4 || t.notices[drop].Watermark == t.from) {
		t.from = t.notices[drop].Watermark
		t.bytes -= sizeOf(t.notices[drop])
		drop++
	}
	t.notices = slices.Clone(t.notices[drop:])
}

func sizeOf(n Notice) int { return noticeBytes + len(n.Namespace) + len(n.Key) + len(n.Payload) }
