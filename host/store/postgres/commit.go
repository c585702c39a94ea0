package postgres

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// job is a commit or other work that waits for the writer.
type job struct {
	ctx   context.Context
	batch *store.Batch
	work  func(ctx context.Context, tx pgx.Tx) error // instead of a batch; it may run twice
	done  store.Committed
	err   error
	ready chan struct{}
}

const (
	groupJobs  = 512            // the most commits of one statement
	groupBytes = 8 << 20        // and the approximate size of their values, in bytes
	requestAge = 24 * time.Hour // how long requests are remembered
	pruneEvery = 256            // commits between prunings of older requests
	keyLimit   = 2500           // bytes of an encoded key: an entry of an index takes up to 2,704
)

// Commit applies a batch. Batches that wait for an answer of the database share the next statement (group commit).
func (e *Engine) Commit(ctx context.Context, b store.Batch) (store.Committed, error) {
	if err := checkBatch(b); err != nil {
		return store.Committed{}, fmt.Errorf("commit: %w", err)
	}
	j := &job{ctx: ctx, batch: &b}
	err := e.do(j)
	return j.done, err
}

// update queues work for a transaction of its own, which holds the space. The work may be repeated.
func (e *Engine) update(ctx context.Context, work func(ctx context.Context, tx pgx.Tx) error) error {
	return e.do(&job{ctx: ctx, work: work})
}

// do queues a job for the writer and waits. A job that is still queued when its context ends is not executed.
func (e *Engine) do(j *job) error {
	end, err := e.begin(j.ctx)
	if err != nil {
		return err
	}
	defer end()
	if e.readOnly {
		return store.ErrReadOnly
	}
	j.ready = make(chan struct{})
	select {
	case e.jobs <- j:
	case <-j.ctx.Done():
		return j.ctx.Err()
	}
	<-j.ready
	return j.err
}

// write is the writer: the only goroutine that changes the space.
func (e *Engine) write() {
	for {
		select {
		case j := <-e.jobs:
			runtime.Gosched() // those whose commits were answered just now may have more
			e.runGroup(e.gather(j))
		case <-e.quit:
			return
		}
	}
}

// gather collects the queued commits behind the first job; other work runs alone.
func (e *Engine) gather(first *job) []*job {
	group := []*job{first}
	for size := 0; first.batch != nil && len(group) < groupJobs && size < groupBytes; {
		select {
		case j := <-e.jobs:
			if j.batch == nil {
				e.runGroup(group)
				return []*job{j}
			}
			for _, w := range j.batch.Writes {
				size += len(w.Value)
			}
			group = append(group, j)
		default:
			return group
		}
	}
	return group
}

func (e *Engine) runGroup(group []*job) {
	waiting := group[:0:0]
	for _, j := range group {
		if j.err = j.ctx.Err(); j.err == nil {
			waiting = append(waiting, j)
		}
	}
	for len(waiting) > 0 {
		var settled int
		if waiting[0].work != nil {
			waiting[0].err, settled = translate(e.runWork(waiting[0])), 1
		} else {
			settled = e.commitSome(waiting)
		}
		waiting = waiting[settled:]
	}
	for _, j := range group {
		close(j.ready)
	}
}

// heldIdle is how long a transaction that holds a space may wait for its server: one that is frozen would keep the next leader out.
const heldIdle = "2s"

const holdSQL = `
SELECT set_config('idle_in_transaction_session_timeout', $3, true) IS NOT NULL FROM alcove.spaces WHERE space = $1 AND epoch = $2 FOR UPDATE`

// runWork runs work in a transaction that holds the space.
func (e *Engine) runWork(j *job) error {
	defer e.cache.clear() // before the caller goes on: the work may have replaced or dropped what it has
	return e.retry(j.ctx, func(ctx context.Context) error {
		if err := e.ready(ctx); err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
			var there bool
			err := tx.QueryRow(ctx, holdSQL, e.space, e.epoch, heldIdle).Scan(&there)
			if errors.Is(err, pgx.ErrNoRows) {
				return e.refuse(store.ErrFenced)
			}
			if err != nil {
				return err
			}
			clear(e.lasts)
			return j.work(ctx, tx)
		})
	})
}

// ready returns the error that writes fail with, and resolves a commit whose outcome is unknown.
func (e *Engine) ready(ctx context.Context) error {
	if err := e.Writable(); err != nil {
		return err
	}
	if e.unresolved.Load() {
		return e.raiseEpoch(ctx)
	}
	return nil
}

// commitSome commits the first jobs, and returns how many have an outcome.
func (e *Engine) commitSome(jobs []*job) int {
	began := time.Now()
	ctx := context.WithoutCancel(jobs[0].ctx) // one caller's end must not fail others
	p, err := e.tryCommit(ctx, jobs)
	err = translate(err)
	for i, j := range jobs[:p.planned] {
		if j.err = err; err == nil {
			j.done, j.err = p.outcomes[i].done, p.outcomes[i].err
		}
	}
	e.written.count(len(p.points), time.Since(began), e.now(), err)
	if err == nil && len(p.points) > 0 && p.head.Version/pruneEvery != e.newest().Version/pruneEvery {
		e.forgetRequests(ctx, p.head.Time.Add(-requestAge))
	}
	if err == nil {
		e.announce(p.head, func() { e.cache.write(p.entries) })
	}
	return p.planned
}

const mostTries = 100 // of planning a group anew with what the database told

// tryCommit plans the first jobs and commits the plan. When a condition does not hold it plans again with what the database told, and
// while the database does not answer it tries again, once the last try is known not to have taken effect.
func (e *Engine) tryCommit(ctx context.Context, jobs []*job) (p *plan, err error) {
	var pending *plan // of which it is unknown whether it took effect
	until, wait, known := time.Now().Add(e.patience), 20*time.Millisecond, facts{}
	for range mostTries {
		if err = e.ready(ctx); err == nil {
			if pending != nil && e.newest().Version == pending.head.Version {
				return pending, nil
			}
			pending = nil
			if p, err = e.plan(ctx, jobs, known); err == nil && len(p.points) == 0 && p.unverified == 0 {
				return p, nil
			}
		}
		applied := false
		if err == nil {
			applied, err = e.send(ctx, p, known)
		}
		switch {
		case applied:
			e.cacheLogTails(p)
			return p, nil
		case err == nil:
			continue // more is known
		case pending != nil && errors.Is(err, store.ErrFenced):
			return failed(p, jobs), fmt.Errorf("%w before it could be found out whether a commit took effect: %w", store.ErrUnavailable, err)
		case !isDisconnected(err):
			return failed(p, jobs), err
		case time.Now().Add(wait).After(until):
			return failed(p, jobs), fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		}
		if e.unresolved.Load() && pending == nil {
			pending = p
		}
		time.Sleep(wait)
		wait = min(2*wait, time.Second)
	}
	return failed(p, jobs), fmt.Errorf("commit: the conditions of %d batches could not be evaluated", len(jobs))
}

// failed returns a plan of at least one job, all of which fail.
func failed(p *plan, jobs []*job) *plan {
	if p == nil || p.planned == 0 {
		return &plan{planned: len(jobs)}
	}
	p.points = nil
	return p
}

// forgetRequests drops old requests. They take room only, so a failure is left to the next time.
func (e *Engine) forgetRequests(ctx context.Context, before time.Time) {
	_, err := e.pool.Exec(ctx, `DELETE FROM alcove.requests WHERE space = $1 AND micros < $2`, e.space, before.UnixMicro())
	if err != nil {
		e.logger.Warn("old requests were not dropped", "error", err)
	}
}

func checkKey(k store.Key) error {
	if err := keycode.Check(k); err != nil {
		return err
	}
	if n := len(keycode.Encode(k)); n > keyLimit {
		return fmt.Errorf("key %.64s… has %d bytes: at most %d are allowed", k, n, keyLimit)
	}
	return nil
}

func checkBatch(b store.Batch) error {
	if len(b.Note) > store.NoteLimit {
		return fmt.Errorf("the note has %d bytes: at most %d are allowed", len(b.Note), store.NoteLimit)
	}
	type place struct {
		branch store.BranchID
		key    store.Key
	}
	seen := make(map[place]bool, len(b.Writes))
	for _, w := range b.Writes {
		if err := checkKey(w.Key); err != nil {
			return err
		}
		if seen[place{w.Branch, w.Key}] {
			return fmt.Errorf("%s is written twice", w.Key)
		}
		seen[place{w.Branch, w.Key}] = true
	}
	for _, a := range b.Appends {
		if len(a.Lineage) == 0 || a.Seal == nil {
			return fmt.Errorf("append to %s/%s has no lineage or no seal", a.Namespace, a.Collection)
		}
		if err := checkKey(store.Key{Namespace: a.Namespace, Collection: a.Collection, Name: store.SequenceName(store.Latest)}); err != nil {
			return err
		}
	}
	for _, c := range b.Counters {
		if err := checkKey(c.Key); err != nil {
			return err
		}
	}
	return nil
}
