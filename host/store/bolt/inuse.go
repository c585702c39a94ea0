package bolt

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	examineAfter = time.Second    // leaves the processor to the first calls of a server
	examineEvery = 12 * time.Hour // so that a server that is killed was examined within a day
)

// beginExamining examines a database that is in use in the background, unless it was before, and then twice a day. If it is damaged, all
// further calls fail.
func (e *Engine) beginExamining(ctx context.Context) {
	ctx, e.stopExamining = context.WithCancel(ctx)
	after := e.options.examineAfter
	if after == 0 {
		after = examineAfter
	}
	looked := sync.OnceFunc(func() { close(e.looked) })
	if !e.unexamined {
		looked()
		after = examineEvery
	}
	e.examining.Go(func() {
		defer looked()
		for ; e.waitToExamine(ctx, after); after = examineEvery {
			e.examineInUse(ctx)
			looked()
		}
	})
}

// waitToExamine returns true when the database is to be examined, and false when never again.
func (e *Engine) waitToExamine(ctx context.Context, after time.Duration) bool {
	due := time.NewTimer(after)
	defer due.Stop()
	select {
	case <-due.C:
	case <-e.again:
	case <-ctx.Done():
	}
	return ctx.Err() == nil && e.damage.Load() == nil
}

// examineAgain has the database examined now: another file has taken its place.
func (e *Engine) examineAgain() {
	select {
	case e.again <- struct{}{}:
	default:
	}
}

func (e *Engine) endExamining() {
	if e.stopExamining != nil {
		e.stopExamining()
	}
	e.examining.Wait()
}

func (e *Engine) examineInUse(ctx context.Context) {
	began := time.Now()
	faults, unused, held := e.examineTree(ctx)
	if !held && ctx.Err() == nil {
		c := &check{engine: e, ctx: ctx, shallow: true}
		c.database()
		faults, unused = c.faults, nil
	}
	switch {
	case ctx.Err() != nil:
	case len(faults) > 0:
		e.requireCheck()
		e.logger.Error("the database is damaged: nothing more is read or written", "faults", errors.Join(faults...))
		damage := damaged(faults[0])
		e.damage.Store(&damage)
	default:
		e.examined = e.now()
		e.logger.Debug("the database was examined", "took", time.Since(began))
		e.wasExamined(ctx, unused, e.examined)
	}
}

// wasExamined lists the free pages that were found, if they were looked for (otherwise nil), and records that the database was examined.
func (e *Engine) wasExamined(ctx context.Context, unused []uint64, at time.Time) {
	err := e.do(&job{ctx: ctx, takes: true, alone: func() error {
		var err error
		if unused != nil {
			err = e.listUnused(unused)
		}
		e.follow(at)
		return err
	}})
	if err != nil && ctx.Err() == nil {
		e.logger.Warn("free pages of the database are not listed yet", "why", err)
	}
}

// sleep waits until the context ends, at most for a time.
func sleep(ctx context.Context, most time.Duration) {
	end := time.NewTimer(most)
	defer end.Stop()
	select {
	case <-end.C:
	case <-ctx.Done():
	}
}
