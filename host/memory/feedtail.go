package memory

import (
	"context"
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

// feedTails are the newest notices of the branches whose feeds are read, so that thousands of readers cost no more reads of the
// store than one. The zero value is ready for use.
type feedTails struct {
	mu       sync.Mutex
	byBranch map[store.BranchID]*feedTail
	uses     uint64
}

// feedTail has the notices of a branch that are newer than from, complete, up to upTo.
type feedTail struct {
	branch *lineage.Branch
	used   uint64 // feedTails.uses at its last use

	mu         sync.Mutex // held while it is read on: readers wait for the one that does
	from, upTo uint64     // versions of the space; 0, 0: it is empty
	last       uint64     // the newest change of the branch among them; 0: none
	notices    []Notice   // only appended to, so that readers keep parts of it
	bytes      int
	purges     uint64 // Space.purges when it was begun

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
func (l *feedTails) of(b *lineage.Branch) *feedTail {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.uses++
	t := l.byBranch[b.ID]
	if t == nil {
		if l.byBranch == nil {
			l.byBranch = map[store.BranchID]*feedTail{}
		}
		l.makeRoom()
		t = &feedTail{branch: b}
		l.byBranch[b.ID] = t
	}
	t.used = l.uses
	return t
}

func (l *feedTails) makeRoom() {
	for len(l.byBranch) >= mostTails {
		var oldest *feedTail
		for _, t := range l.byBranch {
			if oldest == nil || t.used < oldest.used {
				oldest = t
			}
		}
		delete(l.byBranch, oldest.branch.ID)
	}
}

// clear forgets all notices.
func (l *feedTails) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.byBranch)
}

// since returns what is new after a watermark; ok is false if the tail does not reach back to it.
func (t *feedTail) since(ctx context.Context, s *Space, after uint64) (_ recent, ok bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.readOn(ctx, s); err != nil {
		return recent{}, false, err
	}
	if after < t.from || t.purges%2 == 1 {
		return recent{}, false, nil
	}
	first := sort.Search(len(t.notices), func(i int) bool { return t.notices[i].Watermark > after })
	return recent{slices.Clip(t.notices[first:]), t.last}, true, nil
}

// readOn reads what was written since. The caller holds mu.
func (t *feedTail) readOn(ctx context.Context, s *Space) error {
	purges := s.purges.Load()
	head, err := s.engine.Head(ctx)
	if err != nil {
		return s.translate("read the feed", err)
	}
	if t.upTo == 0 || t.purges != purges {
		t.begin(head.Version, purges)
	}
	if head.Version <= t.upTo {
		return nil
	}
	changes, next, _, err := s.feedChanges(ctx, t.branch, t.upTo, head.Version, tailChunk)
	if _, trimmed := asTrimmed(err); trimmed || next != 0 || len(changes) > 2*tailChunk {
		t.begin(head.Version, purges)
		return nil
	}
	if err != nil {
		return s.translate("read the feed", err)
	}
	var notices []Notice
	for _, commit := range commits(changes) {
		notices = append(notices, commit...)
	}
	if err := s.complete(ctx, t.branch, notices); err != nil {
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
func (t *feedTail) begin(version, purges uint64) {
	t.from, t.upTo, t.last, t.notices, t.bytes, t.purges = version, version, 0, nil, 0, purges
}

// append adds notices, and drops the oldest commits if there are too many.
func (t *feedTail) append(notices []Notice) {
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

// feedBounds returns the version after which the feed of a branch is complete, and the newest of the space.
func (s *Space) feedBounds(ctx context.Context, b *lineage.Branch) (oldest, latest uint64, err error) {
	head, err := s.engine.Head(ctx)
	if err != nil {
		return 0, 0, s.translate("read the feed", err)
	}
	t, now := s.tails.of(b), s.clock()
	t.bounds.Lock()
	defer t.bounds.Unlock()
	if age := now.Sub(t.checked); !t.checked.IsZero() && age >= 0 && age < tailBounds {
		return t.oldest, head.Version, nil
	}
	old, err := s.engine.VersionAt(ctx, now.Add(-s.feedAge))
	if err != nil {
		return 0, 0, s.translate("read the feed", err)
	}
	if t.oldest, err = s.changesAfter(ctx, b, old.Version); err != nil {
		return 0, 0, err
	}
	t.checked = now
	return t.oldest, head.Version, nil
}
