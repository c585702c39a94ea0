package space

import (
	"context"
	"log/slog"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// feedsEvery is the interval between counts of feeds.
const feedsEvery = time.Hour

// watchFeeds warns of feeds with too many notices.
func watchFeeds(ctx context.Context, space *memory.Space, log *slog.Logger) {
	tick := time.NewTicker(feedsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		crowded, err := space.CrowdedFeeds(ctx)
		if err != nil && ctx.Err() == nil {
			log.Warn("the feeds could not be counted", "error", err)
		}
		for _, feed := range crowded {
			log.Warn("a feed has more events than feed_alert_rows: keep fewer days of it, with alcove config set feed_retention_days=N, or raise the limit", "branch", feed.Branch, "events", feed.Rows, "feed_alert_rows", feed.Limit)
		}
	}
}
