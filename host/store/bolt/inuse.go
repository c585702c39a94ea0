package bolt

import (
	"context"
	"errors"
	"time"
)

// examineAfter leaves the processor to the first calls of a server.
const examineAfter = time.Second

// beginExamining examines a database that is in use, in the background. If it is damaged, all further calls fail.
func (e *Engine) beginExamining(ctx context.Context) {
	ctx, e.stopExamining = context.WithCancel(ctx)
	after := e.options.examineAfter
	if after == 0 {
		after = examineAfter
	}
	e.examining.Go(func() {
		if rest(ctx, after); ctx.Err() == nil {
			e.examineInUse(ctx)
		}
	})
}

func (e *Engine) endExamining() {
	if e.stopExamining != nil {
		e.stopExamining()
	}
	e.examining.Wait()
}

func (e *Engine) examineInUse(ctx context.Context) {
	began := time.Now()
	c := &check{engine: e, ctx: ctx, shallow: true}
	c.database()
	switch {
	case ctx.Err() != nil:
		return
	case len(c.faults) == 0:
		e.examined = e.now()
		e.logger.Debug("the database was examined", "took", time.Since(began))
		return
	}
	e.logger.Error("the database is damaged: nothing more is read or written", "faults", errors.Join(c.faults...))
	damage := damaged(c.faults[0])
	e.damage.Store(&damage)
}

// rest waits until the context ends, at most for a time.
func rest(ctx context.Context, most time.Duration) {
	end := time.NewTimer(most)
	defer end.Stop()
	select {
	case <-end.C:
	case <-ctx.Done():
	}
}
