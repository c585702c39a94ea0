package jobs

import (
	"context"
	"slices"
	"time"
)

// gather is the shortest interval between two looks for news.
const gather = 200 * time.Millisecond

// Follow has the queue look at jobs that wait for news of a feed after commits, until commits is closed.
func (q *Queue) Follow(ctx context.Context, commits <-chan uint64) {
	for range commits {
		if q.awaitsNews() {
			q.nudge()
		}
		rest := time.NewTimer(gather)
		select {
		case <-ctx.Done():
		case <-rest.C:
		}
		rest.Stop()
	}
}

func (q *Queue) awaitsNews() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.queue, func(job Job) bool { return job.FeedAfter > 0 })
}

// hasNews reports whether there is news for a job. Where that cannot be told, it runs when it is due.
func (q *Queue) hasNews(ctx context.Context, job Job) bool {
	if job.FeedAfter == 0 || job.Attempts > 0 {
		return false
	}
	news, err := q.o.Families.News(ctx, job)
	if err != nil && ctx.Err() == nil {
		q.o.Logger.Debug("the feed that a job waits for cannot be read", "id", job.ID, "error", err)
	}
	return news && err == nil
}
