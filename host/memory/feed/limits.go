package feed

import (
	"context"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// Limits say how long notices are kept, and how many are too many.
type Limits struct {
	Age       time.Duration // 0: 7 days
	AlertRows int           // notices of a branch above which Crowded names it; 0: 1,000,000
}

const (
	defaultAge       = 7 * 24 * time.Hour
	defaultAlertRows = 1_000_000
)

func (l Limits) withDefaults() Limits {
	if l.Age <= 0 {
		l.Age = defaultAge
	}
	if l.AlertRows <= 0 {
		l.AlertRows = defaultAlertRows
	}
	return l
}

// kept is what a reader knows of its feeds' limits and sizes.
type kept struct {
	ask func(context.Context) (Limits, error) // nil: the limits do not change

	mu     sync.Mutex
	limits Limits // as they were asked for last
	rows   map[store.BranchID]*rows
}

// newest asks for the limits.
func (k *kept) newest(ctx context.Context) Limits {
	if k.ask == nil {
		return k.known()
	}
	limits, err := k.ask(ctx)
	if err != nil {
		return k.known()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.limits = limits.withDefaults()
	return k.limits
}

// known returns the limits as they were asked for last.
func (k *kept) known() Limits {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.limits
}

// rows counts the notices of a branch's feed.
type rows struct {
	points []point // counts in their order; the first is of the oldest notice that may be asked for, or before
	last   point
}

// point is how many notices there were up to a watermark.
type point struct {
	at    uint64
	total int
}

// within returns the notices behind a watermark; those between it and the count before it, too.
func (r *rows) within(oldest uint64) int {
	for len(r.points) > 1 && r.points[1].at <= oldest {
		r.points = r.points[1:]
	}
	return r.last.total - r.points[0].total
}

// Crowded is a branch whose feed has more notices than Limits.AlertRows.
type Crowded struct {
	Branch string
	Rows   int
	Limit  int
}

// Crowded counts the notices that are kept of each branch, about, and names the branches that have too many. A count goes on where the one
// before ended.
func (r *Reader) Crowded(ctx context.Context) (list []Crowded, err error) {
	limit := r.kept.newest(ctx).AlertRows
	for _, b := range r.branches.Live() {
		rows, err := r.count(ctx, b)
		if err != nil && r.branches.IsLive(b) {
			return nil, err
		}
		if err == nil && rows > limit {
			list = append(list, Crowded{b.Name, rows, limit})
		}
	}
	return list, nil
}

func (r *Reader) count(ctx context.Context, b *lineage.Branch) (int, error) {
	oldest, latest, err := r.bounds(ctx, b)
	if err != nil {
		return 0, err
	}
	counted, last := r.kept.counted(b.ID, oldest)
	for from, more := last.at, true; more; {
		changes, next, _, err := r.changes(ctx, b, from, latest, changesAtOnce)
		if err != nil {
			return 0, err
		}
		for _, commit := range commits(changes) {
			last.total += len(commit)
		}
		from, more = next, next != 0
	}
	last.at = latest
	return r.kept.count(b.ID, counted, last, oldest), nil
}

// counted returns the counts of a branch, and the last of them; new ones if those do not reach back to the oldest notice.
func (k *kept) counted(b store.BranchID, oldest uint64) (*rows, point) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.rows[b]
	if r == nil || r.last.at < oldest || r.points[0].at > oldest {
		r = &rows{points: []point{{at: oldest}}, last: point{at: oldest}}
	}
	return r, r.last
}

// count adds a count to those of a branch, and returns its notices that are kept.
func (k *kept) count(b store.BranchID, r *rows, last point, oldest uint64) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.points[len(r.points)-1] != last {
		r.points = append(r.points, last)
	}
	r.last = last
	k.rows[b] = r
	return r.within(oldest)
}
