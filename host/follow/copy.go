package follow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	mostReaders  = 256              // at once; more wait
	mostFollowed = 20_000           // commits, after which a copy is opened anew: what it takes over stays in memory
	lookWithin   = 10 * time.Second // for a question, and for what was committed since
)

// ErrOutdated means that a copy is of no use any more: another one is to be opened.
var ErrOutdated = errors.New("the copy of the space is outdated")

// ErrBehind means that a space has not reached a version.
var ErrBehind = errors.New("the space has not reached the version")

// Options are what a copy is of. Memory reads with Engine.
type Options struct {
	Engine store.Following
	Memory *memory.Space
	Opened store.Sight // before anything was read
	But    []string    // documents that may change
}

// Copy is a space as it was a moment ago.
type Copy struct {
	o     Options
	turns *semaphore.Weighted // of readers; who changes the copy has all

	mu     sync.Mutex
	asOf   time.Time // what was committed before is in the copy
	at     store.Point
	begun  uint64 // the version that it was opened at
	look   *query // that is under way; nil: none is
	ending error  // nil: it can be used
}

// query is a question of where the space is.
type query struct {
	began time.Time
	ended chan struct{}
	err   error // once it has ended
}

// New returns the copy of a space whose index is complete.
func New(ctx context.Context, o Options) (*Copy, error) {
	at, err := o.Engine.Head(ctx)
	return &Copy{o: o, turns: semaphore.NewWeighted(mostReaders), at: at, begun: at.Version}, err
}

// Read waits until the copy is as new as a request asked that arrived at an instant. It stays as it is until the caller calls done.
func (c *Copy) Read(ctx context.Context, arrived time.Time, a Asked) (version uint64, age time.Duration, done func(), err error) {
	if err := c.await(ctx, arrived.Add(-a.Within), a.Least); err != nil {
		return 0, 0, nil, err
	}
	if err := c.turns.Acquire(ctx, 1); err != nil {
		return 0, 0, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending != nil {
		c.turns.Release(1)
		return 0, 0, nil, c.ending
	}
	return c.at.Version, time.Since(c.asOf), func() { c.turns.Release(1) }, nil
}

// await looks until the copy has all that was committed before an instant.
func (c *Copy) await(ctx context.Context, before time.Time, least uint64) error {
	for {
		c.mu.Lock()
		if c.ending != nil {
			defer c.mu.Unlock()
			return c.ending
		}
		fresh := !c.asOf.Before(before)
		if fresh && c.at.Version >= least {
			c.mu.Unlock()
			return nil
		}
		l, asked := c.look, c.look != nil && !c.look.began.Before(before)
		if l == nil {
			l = &query{began: time.Now(), ended: make(chan struct{})}
			c.look, asked = l, true
			go c.run(l)
		}
		c.mu.Unlock()
		select {
		case <-l.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
		switch {
		case !asked: // it may have missed something
		case l.err != nil:
			return l.err
		case c.version() < least:
			return ErrBehind
		}
	}
}

func (c *Copy) version() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at.Version
}

// run looks, and takes over what was committed since.
func (c *Copy) run(l *query) {
	defer close(l.ended)
	ctx, cancel := context.WithTimeout(context.Background(), lookWithin)
	defer cancel()
	s, err := c.o.Engine.Look(ctx, c.o.But...)
	if err == nil {
		err = c.follow(ctx, s)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l.err, c.look = err, nil
	switch {
	case errors.Is(err, ErrOutdated):
		c.ending = err
	case err == nil:
		c.asOf, c.at = l.began, s.Head
	}
}

func (c *Copy) follow(ctx context.Context, s store.Sight) error {
	switch {
	case s.Mark != c.o.Opened.Mark:
		return fmt.Errorf("%w: it is written by another server, or its keys or families changed, or something was purged", ErrOutdated)
	case s.Head == c.at: // which nobody else changes
		return nil
	case s.Head.Version-min(s.Head.Version, c.begun) > mostFollowed:
		return fmt.Errorf("%w: it has followed %d commits", ErrOutdated, mostFollowed)
	}
	if err := c.turns.Acquire(ctx, mostReaders); err != nil { // a reader takes long
		return err
	}
	defer c.turns.Release(mostReaders)
	if err := c.o.Memory.Follow(ctx, s.Head); err != nil {
		return fmt.Errorf("%w: %w", ErrOutdated, err)
	}
	return nil
}

// Close waits for readers. Nobody reads any more.
func (c *Copy) Close() error {
	c.mu.Lock()
	c.ending = ErrOutdated
	l := c.look
	c.mu.Unlock()
	if l != nil {
		<-l.ended
	}
	return c.turns.Acquire(context.Background(), mostReaders)
}
