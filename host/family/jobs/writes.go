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
		if q.awaitsWrites() {
			q.signal()
		}
		rest := time.NewTimer(gather)
		select {
		case <-ctx.Done():
		case <-rest.C:
		}
		rest.Stop()
	}
}

func (q *Queue) awaitsWrites() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.queue, func(job Job) bool { return job.FeedAfter > 0 })
}

// hasWrites reports whether there are writes for a job to read. Where that is unknown, it runs when it is due.
func (q *Queue) hasWrites(ctx context.Context, job Job) bool {
	if job.FeedAfter == 0 || job.Attempts > 0 {
		return false
	}
	news, err := q.o.Families.HasWrites(ctx, job)
	if err != nil && ctx.Err() == nil {
		q.o.Logger.Debug("the feed that a job waits for cannot be read", "id", job.ID, "error", err)
	}
	return news && err == nil
}
