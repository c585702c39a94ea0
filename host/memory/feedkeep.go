package memory

import (
	"context"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// FeedLimits say how long notices are kept, and how many are too many.
type FeedLimits struct {
	Age       time.Duration // 0: 7 days
	AlertRows int           // notices of a branch above which CrowdedFeeds names it; 0: 1,000,000
}

const (
	defaultFeedAge   = 7 * 24 * time.Hour
	defaultAlertRows = 1_000_000
)

func (l FeedLimits) withDefaults() FeedLimits {
	if l.Age <= 0 {
		l.Age = defaultFeedAge
	}
	if l.AlertRows <= 0 {
		l.AlertRows = defaultAlertRows
	}
	return l
}

// feedKeep is what a space knows of its feeds' limits and sizes.
type feedKeep struct {
	ask func(context.Context) (FeedLimits, error) // nil: the limits do not change

	mu     sync.Mutex
	limits FeedLimits // as they were asked for last
	rows   map[store.BranchID]*feedRows
}

// newest asks for the limits.
func (k *feedKeep) newest(ctx context.Context) FeedLimits {
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
func (k *feedKeep) known() FeedLimits {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.limits
}

// feedRows counts the notices of a branch's feed.
type feedRows struct {
	points []feedPoint // counts in their order; the first is of the oldest notice that may be asked for, or before
	last   feedPoint
}

// feedPoint is how many notices there were up to a watermark.
type feedPoint struct {
	at    uint64
	total int
}

// within returns the notices behind a watermark; those between it and the count before it, too.
func (r *feedRows) within(oldest uint64) int {
	for len(r.points) > 1 && r.points[1].at <= oldest {
		r.points = r.points[1:]
	}
	return r.last.total - r.points[0].total
}

// CrowdedFeed is a branch whose feed has more notices than FeedLimits.AlertRows.
type CrowdedFeed struct {
	Branch string
	Rows   int
	Limit  int
}

// CrowdedFeeds counts the notices that are kept of each branch, about, and names the branches that have too many. A count goes on where the one
// before ended.
func (s *Space) CrowdedFeeds(ctx context.Context) (list []CrowdedFeed, err error) {
	branches, err := s.As(Caller{Rights: FullRights()}).Branches(ctx)
	if err != nil {
		return nil, err
	}
	limit := s.feed.newest(ctx).AlertRows
	for _, each := range branches {
		b, err := s.branch(each.Name)
		if err != nil {
			continue // it was deleted meanwhile
		}
		rows, err := s.countFeed(ctx, b)
		if err != nil {
			return nil, err
		}
		if rows > limit {
			list = append(list, CrowdedFeed{each.Name, rows, limit})
		}
	}
	return list, nil
}

func (s *Space) countFeed(ctx context.Context, b *lineage.Branch) (int, error) {
	oldest, latest, err := s.feedBounds(ctx, b)
	if err != nil {
		return 0, err
	}
	s.feed.mu.Lock()
	r := s.feed.rows[b.ID]
	if r == nil || r.last.at < oldest || r.points[0].at > oldest {
		r = &feedRows{points: []feedPoint{{at: oldest}}, last: feedPoint{at: oldest}}
	}
	last := r.last
	s.feed.mu.Unlock()
	for from, more := last.at, true; more; {
		changes, next, _, err := s.feedChanges(ctx, b, from, latest, feedChunk)
		if err != nil {
			return 0, s.translate("count the feed", err)
		}
		for _, commit := range commits(changes) {
			last.total += len(commit)
		}
		from, more = next, next != 0
	}
	last.at = latest
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	if r.points[len(r.points)-1] != last {
		r.points = append(r.points, last)
	}
	r.last = last
	s.feed.rows[b.ID] = r
	return r.within(oldest), nil
}
