package memory

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

func TestAFeedKeepsAndCountsAsItsLimitsSay(t *testing.T) {
	now := testclock.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s, end := openSpace(t, t.TempDir(), now.Now)
	defer end()
	limits, fails := feed.Limits{AlertRows: 3}, false
	s.feeds = feed.New(feed.Options{Engine: s.engine, Branches: s.catalogue, Clock: s.clock, Purges: s.purges.Load, Limits: func(context.Context) (feed.Limits, error) {
		if fails {
			return feed.Limits{}, errors.New("no settings")
		}
		return limits, nil
	}})
	crowded := func() int {
		t.Helper()
		list, err := s.CrowdedFeeds(t.Context())
		if err != nil || len(list) > 1 || len(list) == 1 && (list[0].Branch != Default || list[0].Limit != 3) {
			t.Fatalf("crowded are %+v, %v", list, err)
		}
		if len(list) == 0 {
			return 0
		}
		return list[0].Rows
	}
	for day := range 6 {
		put(t, s, "", fmt.Sprint("k", day), "v")
		if want := day + 1; want > 3 && crowded() != want || want <= 3 && crowded() != 0 {
			t.Errorf("on day %d %d notices are counted", day, crowded())
		}
		now.Add(24 * time.Hour)
	}
	limits.Age = 36 * time.Hour
	now.Add(2 * time.Second)
	if n := crowded(); n != 0 {
		t.Errorf("of a day and a half %d notices are counted", n)
	}
	fails = true // the last limits apply
	now.Add(2 * time.Second)
	if page, err := s.owner("").ReadFeed(t.Context(), feed.Query{After: 1}); err != nil || !page.Expired || len(page.Notices) != 1 {
		t.Errorf("of a day and a half the feed has %d, %v", len(page.Notices), err)
	}
	fails, limits.Age = false, 0
	now.Add(2 * time.Second)
	if n := crowded(); n != 6 {
		t.Errorf("of seven days %d notices are counted", n)
	}
}
