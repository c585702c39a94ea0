package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/quota"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/recordindex"
	"github.com/alcove-memory/alcove/host/store"
)

// answerLimit bounds an answer kept with a request, in bytes.
const answerLimit = 64 << 10

// Answered returns the answer that an earlier stage committed for the same request, and the version of that commit, which is 0
// without one. The answer is nil if it was too long to be kept.
func (a *Access) Answered(ctx context.Context, c Commit) (answer json.RawMessage, version uint64, err error) {
	s := a.space
	c.Write = a.sign(c.Write)
	committed, done, end, err := s.once(ctx, request(c.Write, c.Operation, c.Content))
	end()
	if err != nil || !done {
		return nil, 0, err
	}
	b := s.catalogue.System()
	if b == nil {
		return nil, committed.Version, nil
	}
	found, err := s.engine.GetAt(ctx, b.Lineage, []store.Key{answerKey(c.Write)})
	if err != nil || !found[0].Exists() {
		return nil, committed.Version, s.translate("find the earlier answer", err)
	}
	var r record.Answer
	if err := json.Unmarshal(found[0].Value, &r); err != nil {
		return nil, committed.Version, fmt.Errorf("read the earlier answer: %w", err)
	}
	if string(r.Answer) == "null" {
		r.Answer = nil
	}
	return r.Answer, committed.Version, nil
}

// Committed is the result of a commit.
type Committed struct {
	Version   uint64 // 0: nothing to write
	Timestamp time.Time
	Branch    string // written to
	Replayed  bool   // the same request was committed before: nothing was written now
}

// Writes reports whether there is something for Commit to write.
func (t *Stage) Writes(c Commit) bool { return t.Changes() > 0 || c.KeepAnswer }

// Commit writes everything staged, or nothing. The stage is not used afterwards.
func (t *Stage) Commit(ctx context.Context, c Commit) (Committed, error) {
	c.Write = t.access.sign(c.Write)
	c.by.Account = c.Account
	req := request(c.Write, c.Operation, c.Content)
	release, err := t.space.inFlight.acquire(ctx, req)
	defer release()
	if err != nil {
		return Committed{}, err
	}
	committed, proposal, err := t.commit(ctx, c, req, "commit")
	done := Committed{Branch: cmp.Or(proposal, t.home().Name), Timestamp: committed.Time, Replayed: committed.Replayed}
	if t.Changes() > 0 {
		done.Version = committed.Version
	}
	return done, err
}

// commit runs the hooks and commits, and returns the branch of a proposal; empty: none. It stages a caller's own write. doing names the
// operation in errors.
func (t *Stage) commit(ctx context.Context, c Commit, req store.Request, doing string) (done store.Committed, proposal string, err error) {
	if t.own == nil && !t.Writes(c) {
		return done, "", nil
	}
	if err := t.room(); err != nil {
		return done, "", err
	}
	if c, err = t.directly(ctx, c); err != nil {
		return done, "", err
	}
	if err := t.mayChange(); err != nil { // before a hook records anything
		return done, "", err
	}
	if proposal, err = t.askHooks(ctx, c.Write); err != nil {
		return done, "", err
	}
	if proposal != "" {
		c.Proposal, c.Gathers, c.Named = proposal, Gatherer{}, true
	}
	for attempt := 1; ; attempt++ {
		if err := t.restage(ctx, c.Proposal); err != nil || !t.Writes(c) {
			return done, "", err
		}
		t.dropNotices(c)
		done, err = t.finish(ctx, c, req, doing)
		if t.own == nil || !errors.Is(err, store.ErrConflict) || attempt == attempts {
			return done, cmp.Or(t.landed, c.Proposal), err
		}
	}
}

// dropNotices drops events and notices from a gathering proposal, because nothing has happened yet. They would also take the next sequence
// numbers of the base, which would then block further changes. A stage with nothing else keeps them.
func (t *Stage) dropNotices(c Commit) {
	if gathers := c.Proposal != "" && c.Gathers != (Gatherer{}); !gathers && !t.undoesProposed() {
		return
	}
	notice := func(at site) bool { return !at.system && (feed.IsEmitted(at.Collection) || at.Collection == events) }
	if !slices.ContainsFunc(t.order, func(at site) bool { return !at.system && !notice(at) }) {
		return
	}
	t.events, t.order = nil, slices.DeleteFunc(t.order, notice)
	maps.DeleteFunc(t.changed, func(at site, _ *record.Record) bool { return notice(at) })
	maps.DeleteFunc(t.seen, func(at site, _ uint64) bool { return notice(at) })
}

// restage stages a caller's own write after the hooks. A proposal is based on one version, so its stage is not blind.
func (t *Stage) restage(ctx context.Context, proposal string) error {
	if t.own == nil {
		return nil
	}
	if own := t.own; t.Changes() > 0 {
		*t = *t.access.begin(t.branch, t.origin)
		t.own = own
	}
	if proposal != "" {
		if err := t.pinVersion(ctx); err != nil {
			return err
		}
	}
	return t.own.stage(t)
}

// finish commits after the hooks.
func (t *Stage) finish(ctx context.Context, c Commit, req store.Request, doing string) (store.Committed, error) {
	if err := t.stillMayWrite(); err != nil {
		return store.Committed{}, err
	}
	release, err := t.spend(ctx, c)
	if err != nil {
		return t.space.orReplayed(ctx, req, err) // the first attempt may have been within the quota
	}
	defer release()
	changes := t.useChanges(c)
	room, err := t.reserve(ctx, changes)
	if err != nil {
		return store.Committed{}, t.redactQuotaError(err)
	}
	if c.DryRun {
		room.Release()
		return store.Committed{}, t.proposable(c)
	}
	done, err := t.commitBatch(ctx, c, req, changes)
	if err != nil || done.Replayed {
		room.Release()
	} else {
		room.Apply(done.Version, changes)
	}
	if err != nil {
		if mayHaveCommitted(err) {
			t.recountAfterUnknownOutcome(ctx, changes)
		}
		return done, t.space.translate(doing, err)
	}
	if !done.Replayed {
		t.space.scopes.Set(done.Version, t.changedScopes()...)
		t.count()
	}
	return done, nil
}

// mayChange returns an error if the stage changes a read-only branch.
func (t *Stage) mayChange() error {
	own := len(t.events) > 0 || slices.ContainsFunc(t.order, func(at site) bool { return !at.system })
	if !own || t.undoesProposed() {
		return nil
	}
	return t.access.guardBranch(t.home().Name, asTarget)
}

// recountAfterUnknownOutcome reloads cached state after a commit that may have been written.
func (t *Stage) recountAfterUnknownOutcome(ctx context.Context, changes []quota.Change) {
	if len(changes) > 0 {
		t.space.queueCount()
	}
	if len(t.changedScopes()) == 0 {
		return
	}
	if err := t.space.loadScopes(context.WithoutCancel(ctx)); err != nil {
		t.space.logger.Error("the rights records of namespaces could not be read again", "error", err)
	}
}

// commitBatch builds and commits the batch, and retries if the indexes change meanwhile.
func (t *Stage) commitBatch(ctx context.Context, c Commit, req store.Request, changes []quota.Change) (done store.Committed, err error) {
	system, err := t.systemFor(ctx, c)
	if err != nil {
		return done, err
	}
	for attempt := 1; ; attempt++ {
		batch, err := t.batch(c, system)
		if err == nil {
			batch, err = t.indexed(ctx, c, batch)
		}
		if err != nil {
			return done, err
		}
		batch.Request = req
		if c.Proposal != "" {
			done, err = t.propose(ctx, c, batch, changes)
		} else {
			done, err = t.write(ctx, batch, system, c.by)
		}
		if !recordindex.Changed(err) || attempt == attempts {
			return done, err
		}
	}
}

// reserve reserves quota for the growth of families' records.
func (t *Stage) reserve(ctx context.Context, changes []quota.Change) (*quota.Reservation, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	return t.space.usage.Reserve(ctx, t.now, quota.GrowthOf(changes, t.now, t.quotas), t.quotas)
}

// mayHaveCommitted reports whether a failed commit may have been written.
func mayHaveCommitted(err error) bool {
	return !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrRequestReused) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// write commits to the stage's branch; counters alone need no commit.
func (t *Stage) write(ctx context.Context, batch store.Batch, system *lineage.Branch, by Caller) (store.Committed, error) {
	if len(batch.Writes)+len(batch.Appends) == 0 {
		return store.Committed{}, nil
	}
	if system != nil {
		batch.Expect = append(batch.Expect, system.Alive())
	}
	if t.undoesProposed() {
		return t.space.takeBack(ctx, t.branch, batch, by)
	}
	return t.space.commit(ctx, t.branch, batch, t.records(), by)
}

// records returns the changed records in the order of the batch's writes; nil for a deletion.
func (t *Stage) records() []*record.Record {
	list := make([]*record.Record, len(t.order))
	for i, at := range t.order {
		list[i] = t.changed[at]
	}
	return list
}

// systemFor returns the system branch, if something is to be written there.
func (t *Stage) systemFor(ctx context.Context, c Commit) (*lineage.Branch, error) {
	needed := c.Answer != nil && c.RequestID != "" || len(t.spent) > 0
	for _, at := range t.order {
		needed = needed || at.system
	}
	if !needed {
		return nil, nil
	}
	return t.space.systemBranch(ctx)
}

// batch returns everything staged, on the condition that what was read is unchanged. For a proposal only data
// shared by all branches can have changed meanwhile.
func (t *Stage) batch(c Commit, system *lineage.Branch) (store.Batch, error) {
	var batch store.Batch
	for _, at := range t.order {
		w := store.Write{Branch: t.branch.ID, Key: at.Key, Delete: t.changed[at] == nil}
		if at.system {
			w.Branch = system.ID
		}
		if r := t.changed[at]; r != nil {
			value, err := r.Encode()
			if err != nil {
				return batch, err
			}
			w.Value = value
		}
		batch.Writes = append(batch.Writes, w)
	}
	for _, w := range t.spent {
		w.Branch = system.ID
		batch.Writes = append(batch.Writes, w)
	}
	for _, e := range t.events {
		batch.Appends = append(batch.Appends, record.Event{Event: e.event, Data: e.data, Agent: t.agent}.Append(t.branch.Lineage, e.namespace))
	}
	if c.Answer != nil && c.RequestID != "" {
		w, err := t.answer(c, system)
		if err != nil {
			return batch, err
		}
		batch.Writes = append(batch.Writes, w)
	}
	if t.Changes() == 0 { // reads alone may have become stale
		return batch, nil
	}
	for at, version := range t.seen {
		switch {
		case at.system && system != nil:
			batch.Expect = append(batch.Expect, store.Expectation{Lineage: system.Lineage, Key: at.Key, Version: version})
		case !at.system && !t.forks(c):
			batch.Expect = append(batch.Expect, store.Expectation{Lineage: t.branch.Lineage, Key: at.Key, Version: version})
		}
	}
	return batch, nil
}

func (t *Stage) answer(c Commit, system *lineage.Branch) (store.Write, error) {
	r := record.Answer{Answer: c.Answer, Expires: t.now.Add(systemKept).UnixMicro()}
	if len(c.Answer) > answerLimit {
		r.Answer = nil
	}
	value, err := json.Marshal(r)
	return store.Write{Branch: system.ID, Key: answerKey(c.Write), Value: value}, err
}

// proposable returns an error if a proposal cannot have its name.
func (t *Stage) proposable(c Commit) error {
	if !t.forks(c) {
		return nil
	}
	if err := t.space.limits.checkName("branch", c.Proposal); err != nil {
		return err
	}
	return t.space.nameFree(c.Proposal)
}

// propose adds the batch to an open proposal, or forks the branch and writes to the fork, in one commit. It assigns changes of branch 0 to the
// proposal.
func (t *Stage) propose(ctx context.Context, c Commit, batch store.Batch, changes []quota.Change) (done store.Committed, err error) {
	s := t.space
	s.branching.Lock()
	defer s.branching.Unlock()
	to, err := t.continued(ctx, c)
	if err != nil {
		return s.orReplayed(ctx, batch.Request, err)
	}
	if to == nil {
		if to, err = t.forked(c); err != nil {
			return s.orReplayed(ctx, batch.Request, err) // the name was free in the first attempt
		}
	}
	t.landed = to.Name
	moved := moveTo(batch, t.branch, to.ID, to.Lineage)
	moved.Expect = append(moved.Expect, t.home().Alive())
	s.writing.RLock() // the indexes must not change meanwhile
	defer s.writing.RUnlock()
	if done, err = s.rewrite(ctx, to, moved, c.by); err != nil {
		return done, s.translate("propose on branch "+to.Name, err)
	}
	for i := range changes {
		if changes[i].Branch == 0 {
			changes[i].Branch = to.ID
		}
	}
	return done, nil
}

// forked returns the branch of a new proposal.
func (t *Stage) forked(c Commit) (*lineage.Branch, error) {
	if err := t.proposable(c); err != nil {
		return nil, err
	}
	front := t.ground()
	if len(front) == 0 {
		return nil, invalid("branch %q has no past to stand on", t.home().Name)
	}
	r := lineage.Record{Name: c.Proposal, Parent: t.home().Name, From: front[0].Branch, At: front[0].At, Gathers: c.Gathers}
	if c.Gathers != (Gatherer{}) {
		r.Calls = 1
	}
	id := t.space.catalogue.NextID()
	return &lineage.Branch{Record: r, ID: id, Lineage: front.Fork(id)}, nil
}

// moveTo returns a batch with its writes to one branch moved to another.
func moveTo(batch store.Batch, from *lineage.Branch, to store.BranchID, lineage store.Lineage) store.Batch {
	for i := range batch.Writes {
		if batch.Writes[i].Branch == from.ID {
			batch.Writes[i].Branch = to
		}
		if b, ok := recordindex.Of(batch.Writes[i].Branch); ok && b == from.ID {
			batch.Writes[i].Branch = recordindex.Beside(batch.Writes[i].Branch, to)
		}
	}
	for i := range batch.Appends {
		batch.Appends[i].Lineage = lineage
	}
	return batch
}

// count adds the staged counts.
func (t *Stage) count() {
	for _, c := range t.counts {
		t.space.counters.Touch(t.home(), c.key, c.accesses, c.health)
	}
	for _, at := range t.order {
		if at.Collection == memories && t.changed[at] == nil {
			t.space.counters.Reset(t.branch, at.Key)
		}
	}
}
