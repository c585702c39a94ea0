package family

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/hooks"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/sessions"
)

// sessionEnd is the name of jobs for session_end hooks.
const sessionEnd = "session_end hook"

// openSessions is the journal of open sessions while a session_end hook is on: a server that was killed reports their ends at its next
// start.
var openSessions = memory.Collection{Name: "_sessions", PerSpace: true, Internal: true}

// journalWithin bounds how long the first call of a session waits for the journal.
const journalWithin = 250 * time.Millisecond

// sessionsPage is how many ends of sessions one commit reports.
const sessionsPage = 100

// sessionHooks returns the families whose session_end hook is on.
func (f *Families) sessionHooks() []hooks.Family { return hookFamilies{f}.On(abi.HookSessionEnd) }

func sessionKey(s sessions.Session) string { return s.ID + "/" + s.Caller.Key + "/" + s.Caller.Agent }

// endOf is the end of a session, with its key in the journal.
type endOf struct {
	key     string
	session abi.Session
}

// SessionBegan writes a session to the journal, if a session_end hook is on.
func (f *Families) SessionBegan(s sessions.Session) {
	if f.o.ReadOnly || len(f.sessionHooks()) == 0 {
		return
	}
	f.journaled.Store(sessionKey(s), true)
	written := make(chan struct{})
	begun := f.catalogue.Behind(func() {
		defer close(written)
		if err := f.journal(context.Background(), s); err != nil {
			f.o.Logger.Warn("the beginning of a session was not written down: if this server is killed, its end is not reported", "error", err)
		}
	})
	if !begun {
		return
	}
	late := time.NewTimer(journalWithin)
	defer late.Stop()
	select {
	case <-written:
	case <-late.C:
	}
}

func (f *Families) journal(ctx context.Context, s sessions.Session) error {
	stage, err := f.o.Space.As(ops.OwnCaller("")).Stage(ctx, memory.Default)
	if err != nil {
		return err
	}
	value, err := json.Marshal(ops.SessionOf(s))
	if err != nil {
		return err
	}
	if err := stage.PutRecord(ctx, openSessions, ops.SystemNamespace, sessionKey(s), value, nil); err != nil {
		return err
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	return err
}

// SessionEnded has the session_end hooks called in the background.
func (f *Families) SessionEnded(s sessions.Session) {
	_, known := f.journaled.LoadAndDelete(sessionKey(s))
	if f.o.ReadOnly || !known && len(f.sessionHooks()) == 0 {
		return
	}
	ends := []endOf{{sessionKey(s), ops.SessionOf(s)}}
	f.catalogue.Behind(func() { // while closing, the journal keeps it for the next start
		ctx, release := f.catalogue.UntilClosed()
		defer release()
		f.deliverEnds(ctx, ends)
	})
}

// sessionsLeft reads the journal of an earlier server.
func (f *Families) sessionsLeft(ctx context.Context) (ends []endOf, err error) {
	if f.o.ReadOnly {
		return nil, nil
	}
	stage, err := f.o.Space.As(ops.OwnCaller("")).Stage(ctx, memory.Default)
	if err != nil {
		return nil, err
	}
	for after := ""; ; {
		page, next, err := stage.ListRecords(ctx, openSessions, ops.SystemNamespace, "", after, 0)
		if err != nil {
			return nil, fmt.Errorf("read the journal of sessions: %w", err)
		}
		for _, r := range page {
			end := endOf{key: r.Key}
			if err := json.Unmarshal(r.Value, &end.session); err != nil {
				f.o.Logger.Warn("an entry of the journal of sessions is damaged", "error", err)
			}
			end.session.EndedAt = memory.FormatTime(f.o.Clock())
			ends = append(ends, end)
		}
		if after = next; next == "" {
			return ends, nil
		}
	}
}

// deliverEnds queues a job for each session and family whose hook is on, until it succeeds or ctx ends.
func (f *Families) deliverEnds(ctx context.Context, ends []endOf) {
	for len(ends) > 0 && ctx.Err() == nil {
		page := ends[:min(len(ends), sessionsPage)]
		err := f.queueEnds(ctx, page)
		if err == nil {
			ends = ends[len(page):]
			continue
		}
		f.o.Logger.Warn("the ends of sessions could not be reported: this is tried again", "sessions", len(ends), "error", err)
		wait := time.NewTimer(f.o.Retry)
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
	}
}

// queueEnds replaces entries of the journal by jobs.
func (f *Families) queueEnds(ctx context.Context, ends []endOf) error {
	stage, err := f.o.Space.As(ops.OwnCaller("")).Stage(ctx, memory.Default)
	if err != nil {
		return err
	}
	var list []jobs.Job
	for _, x := range f.sessionHooks() {
		for _, end := range ends {
			job, err := f.endJob(ctx, x.Name(), end.session)
			if err != nil {
				return err
			}
			if err := f.jobs.Put(ctx, stage, job); err != nil {
				return err
			}
			list = append(list, job)
		}
	}
	keys := make([]string, len(ends))
	for i, end := range ends {
		keys[i] = end.key
	}
	if _, err := stage.DeleteRecords(ctx, openSessions, ops.SystemNamespace, keys); err != nil {
		return err
	}
	_, err = f.jobs.Commit(ctx, stage, memory.Commit{}, list)
	return err
}

// endJob returns the job for a session, where the session was; on the default branch, if its own is gone.
func (f *Families) endJob(ctx context.Context, family string, s abi.Session) (jobs.Job, error) {
	payload, err := json.Marshal(s)
	now := f.o.Clock()
	job := jobs.Job{ID: f.newID(now), Family: family, Name: sessionEnd, Payload: payload, Branch: s.Branch, Namespace: s.Namespace,
		State: jobs.Queued, Due: now, Created: now}
	if _, gone := f.o.Space.As(ops.OwnCaller(family)).Stage(ctx, s.Branch); gone != nil {
		job.Branch = memory.Default
	}
	return job, err
}
