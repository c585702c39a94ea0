// Package chores runs background work one piece at a time, and repeats what fails.
package chores

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// Queue is background work. Failures are retried with a backoff. Its methods may be called concurrently.
type Queue struct {
	logger *slog.Logger
	retry  time.Duration // from the first failure to the next attempt
	mu     sync.Mutex
	queue  []chore
	wake   chan struct{}
}

type chore struct {
	name  string
	do    func(ctx context.Context) error
	done  chan struct{} // closed after the first attempt
	again time.Duration // delay after a failure
}

const (
	firstRetry = time.Second
	lastRetry  = time.Hour
)

// New returns an empty queue.
func New(logger *slog.Logger) *Queue {
	return &Queue{logger: logger, retry: firstRetry, wake: make(chan struct{}, 1)}
}

// Add queues work. The channel is closed after the first attempt.
func (c *Queue) Add(name string, do func(ctx context.Context) error) <-chan struct{} {
	done := make(chan struct{})
	c.push(chore{name, do, done, c.retry})
	return done
}

func (c *Queue) push(job chore) {
	c.mu.Lock()
	c.queue = append(c.queue, job)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *Queue) next() (chore, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return chore{}, false
	}
	first := c.queue[0]
	c.queue = c.queue[1:]
	return first, true
}

// Run does the work that is queued until ctx ends.
func (c *Queue) Run(ctx context.Context) {
	for {
		for job, ok := c.next(); ok && ctx.Err() == nil; job, ok = c.next() {
			err := job.do(ctx)
			if job.done != nil {
				close(job.done)
			}
			if c.waits(ctx, job, err) {
				continue
			}
			if err != nil && ctx.Err() == nil {
				c.logger.Warn("background work failed; it is tried again", "work", job.name, "after", job.again, "error", err)
				time.AfterFunc(job.again, func() {
					c.push(chore{name: job.name, do: job.do, again: min(2*job.again, lastRetry)})
				})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		}
	}
}

// waits puts off a job that must wait for a backup, and lets others run meanwhile.
func (c *Queue) waits(ctx context.Context, job chore, err error) bool {
	var held *store.HeldError
	if !errors.As(err, &held) {
		return false
	}
	go func() {
		select {
		case <-held.Released:
			c.push(chore{name: job.name, do: job.do, again: job.again})
		case <-ctx.Done():
		}
	}()
	return true
}

// WaitIdle waits for the work queued now.
func (c *Queue) WaitIdle(ctx context.Context) error {
	select {
	case <-c.Add("wait", func(context.Context) error { return nil }):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// WhenReleased calls do, which drops old versions, until no backup holds them. do must not return with a lock held.
func WhenReleased(ctx context.Context, do func() error) error {
	for {
		err := do()
		var held *store.HeldError
		if !errors.As(err, &held) {
			return err
		}
		select {
		case <-held.Released:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
