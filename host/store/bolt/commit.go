package bolt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// job is a commit or other work that waits for the writer.
type job struct {
	ctx   context.Context
	batch *store.Batch
	keyed []keyedWrite             // the batch's writes
	work  func(tx *bbolt.Tx) error // instead of a batch; runs alone in its transaction
	alone func() error             // instead of both; runs without a transaction, between those of others
	takes bool                     // what the original of a followed space has
	done  store.Committed
	err   error
	ready chan struct{}
}

const (
	groupJobs  = 512     // the most commits that share one sync
	groupBytes = 8 << 20 // and the approximate size of their values, in bytes
	requestAge = 24 * time.Hour
	pruneStep  = 16 * layout.TailEvery // the most old requests dropped by a commit that moves tails
)

// Commit applies a batch. Batches that wait during a sync share the next one (group commit).
func (e *Engine) Commit(ctx context.Context, b store.Batch) (store.Committed, error) {
	if err := checkBatch(b); err != nil {
		return store.Committed{}, fmt.Errorf("commit: %w", err)
	}
	j := &job{ctx: ctx, batch: &b, keyed: keyedWrites(b.Writes)}
	err := e.do(j)
	return j.done, err
}

// keyedWrite is a write with its encoded key.
type keyedWrite struct {
	store.Write
	raw []byte
}

func compareKeyed(a, b keyedWrite) int {
	return cmp.Or(cmp.Compare(a.Branch, b.Branch), bytes.Compare(a.raw, b.raw))
}

// keyedWrites returns writes in key order. It is called before a batch is queued: other commits wait for the transaction.
func keyedWrites(writes []store.Write) []keyedWrite {
	list := make([]keyedWrite, len(writes))
	for i, w := range writes {
		list[i] = keyedWrite{w, keycode.Encode(w.Key)}
	}
	slices.SortFunc(list, compareKeyed)
	return list
}

// mergeWrites returns two ordered lists as one.
func mergeWrites(a, b []keyedWrite) []keyedWrite {
	all := make([]keyedWrite, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compareKeyed(a[0], b[0]) <= 0 {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// update queues work for a write transaction of its own.
func (e *Engine) update(ctx context.Context, work func(tx *bbolt.Tx) error) error {
	return e.do(&job{ctx: ctx, work: work})
}

// do queues a job for the writer and waits. A job that is still queued when its context ends is not executed.
func (e *Engine) do(j *job) error {
	end, err := e.begin(j.ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := e.mayDo(j); err != nil {
		return err
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

// write is the writer: the only goroutine that changes the file.
func (e *Engine) write() {
	for {
		select {
		case j := <-e.jobs:
			e.runGroup(e.gather(j))
		case <-e.quit:
			return
		}
	}
}

// gather collects the queued commits behind the first job; other work runs alone.
func (e *Engine) gather(first *job) []*job {
	group := []*job{first}
	if first.batch == nil {
		return group
	}
	for size := 0; len(group) < groupJobs && size < groupBytes; {
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
	e.writing.begin()
	defer e.writing.end()
	if first := group[0]; first.alone != nil {
		first.err = first.ctx.Err()
		if e.db == nil {
			first.err = e.failed // the file could not be reopened
		}
		if first.err == nil {
			first.err = first.alone()
		}
		close(first.ready)
		return
	}
	head, began := e.head, time.Now() // only the writer changes the head; the time is for statistics
	err := e.transact(func(tx *bbolt.Tx) error {
		for _, j := range group {
			if j.err = j.ctx.Err(); j.err != nil {
				continue
			}
			if j.work != nil {
				return errors.Join(layout.MoveTails(tx), j.work(tx))
			}
			next, err := e.apply(tx, head, j)
			if err != nil {
				return err
			}
			head = next
		}
		return e.reach(BatchApplied)
	})
	if err == nil {
		e.passed(GroupDurable)
	}
	if group[0].batch != nil {
		e.written.count(int(head.Version-e.head.Version), time.Since(began), e.now(), err)
	}
	if err == nil && head != e.head {
		e.announce(head)
	}
	for _, j := range group {
		if err != nil {
			j.done, j.err = store.Committed{}, err
		}
		close(j.ready)
	}
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
		if err := keycode.Check(w.Key); err != nil {
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
		if err := keycode.Check(store.Key{Namespace: a.Namespace, Collection: a.Collection}); err != nil {
			return err
		}
	}
	for _, c := range b.Counters {
		if err := keycode.Check(c.Key); err != nil {
			return err
		}
	}
	return nil
}

// apply applies one batch. An error of the batch itself goes to j.err with nothing written; an error of the file is
// returned and rolls back the whole group.
func (e *Engine) apply(tx *bbolt.Tx, head store.Point, j *job) (store.Point, error) {
	b := j.batch
	done, replayed, err := requested(tx, b.Request, e.now())
	if err == nil && !replayed {
		err = e.expect(tx, b)
	}
	if err != nil || replayed {
		j.done, j.err = done, err
		return head, nil
	}
	at := e.next(head)
	writes, sequences, err := e.makeAppends(tx, j, at)
	if err != nil {
		j.err = fmt.Errorf("commit: %w", err)
		return head, nil
	}
	j.done = store.Committed{Point: at, Sequences: sequences}
	return at, e.put(tx, b, writes, j.done)
}

// next returns the point of the next commit. Its instant is later than the last one's even if the clock went back.
func (e *Engine) next(head store.Point) store.Point {
	now := time.UnixMicro(e.now().UnixMicro()).UTC()
	if head.Version != 0 && !now.After(head.Time) {
		now = head.Time.Add(time.Microsecond)
	}
	return store.Point{Version: head.Version + 1, Time: now}
}

func (e *Engine) expect(tx *bbolt.Tx, b *store.Batch) error {
	r := newReader(tx)
	for _, x := range b.Expect {
		found, err := r.get(e.blocks(r, x.Lineage), x.Key)
		if err != nil {
			return err
		}
		have := found.Version
		if !found.Exists() {
			have = 0
		}
		if have != x.Version {
			return &store.ConflictError{Key: x.Key, Want: x.Version, Have: have}
		}
	}
	for _, q := range b.Quiet {
		have, err := lastTailed(tx, q.Branch, q.Since)
		if err != nil {
			return err
		}
		if have = max(have, lastWrite(tx, q.Branch)); have > q.Since {
			return &store.ConflictError{Branch: q.Branch, Want: q.Since, Have: have}
		}
	}
	return nil
}

// lastWrite returns the newest version in a branch's log; 0: none.
func lastWrite(tx *bbolt.Tx, b store.BranchID) uint64 {
	branch := layout.Branch(tx, b)
	if branch == nil {
		return 0
	}
	last, _ := branch.Bucket(layout.KindLog.Bucket()).Cursor().Last()
	if last == nil {
		return 0
	}
	return layout.ChangeVersion(last)
}

// lastTailed is lastWrite of what the log does not have yet; 0: none.
func lastTailed(tx *bbolt.Tx, b store.BranchID, since uint64) (uint64, error) {
	list, err := layout.Tails(tx, since)
	for _, p := range slices.Backward(list) {
		if slices.ContainsFunc(p.Changes, func(c layout.TailChange) bool { return c.Branch == b }) {
			return p.Version, nil
		}
	}
	return 0, err
}

// makeAppends computes the values of a batch's appends. It returns all writes in key order, and the appends' sequences.
func (e *Engine) makeAppends(tx *bbolt.Tx, j *job, at store.Point) ([]keyedWrite, []uint64, error) {
	var appended []store.Write
	var sequences []uint64
	type log struct {
		branch                store.BranchID
		namespace, collection string
	}
	lasts := map[log]store.Entry{}
	for _, a := range j.batch.Appends {
		id := log{a.Lineage[0].Branch, a.Namespace, a.Collection}
		last, ok := lasts[id]
		if !ok {
			var err error
			if last, err = e.lastOf(tx, a); err != nil {
				return nil, nil, err
			}
		}
		entry, err := makeAppend(a, last, at)
		if err != nil {
			return nil, nil, err
		}
		lasts[id] = entry
		sequence, _ := store.ParseSequence(entry.Name) // made by makeAppend
		sequences = append(sequences, sequence)
		appended = append(appended, store.Write{Branch: id.branch, Key: entry.Key, Value: entry.Value})
	}
	return mergeWrites(j.keyed, keyedWrites(appended)), sequences, nil
}

func makeAppend(a store.Append, last store.Entry, at store.Point) (e store.Entry, err error) {
	sequence := uint64(1)
	if last.Version != 0 {
		before, err := store.ParseSequence(last.Name)
		if err != nil {
			return e, fmt.Errorf("append after %s: %w", last.Key, err)
		}
		sequence = before + 1
	}
	defer func() {
		if p := recover(); p != nil { // one caller's panic must not fail other commits
			err = fmt.Errorf("seal panicked: %v", p)
		}
	}()
	value, err := a.Seal(last, sequence, at)
	if err != nil {
		return e, fmt.Errorf("seal %s/%s: %w", a.Namespace, a.Collection, err)
	}
	key := store.Key{Namespace: a.Namespace, Collection: a.Collection, Name: store.SequenceName(sequence)}
	return store.Entry{Key: key, Point: at, Branch: a.Lineage[0].Branch, Value: value}, nil
}

// lastOf returns the newest entry of a collection of sequence numbers. In a cut segment it finds the newest visible one
// by binary search: numbers and versions grow together.
func (e *Engine) lastOf(tx *bbolt.Tx, a store.Append) (store.Entry, error) {
	r := newReader(tx)
	key := store.Key{Namespace: a.Namespace, Collection: a.Collection}
	for i, segment := range a.Lineage {
		newest, err := r.lastName(segment.Branch, a.Namespace, a.Collection)
		if err != nil || newest == "" {
			if err != nil {
				return store.Entry{}, err
			}
			continue
		}
		high, err := store.ParseSequence(newest)
		if err != nil {
			return store.Entry{}, fmt.Errorf("append to %s: %w", key, err)
		}
		if found, err := r.lastVisible(e.blocks(r, a.Lineage[i:]), key, high); err != nil || found.Version != 0 {
			return found, err
		}
	}
	return store.Entry{}, nil
}

func (r *reader) lastVisible(blocks []block, key store.Key, high uint64) (store.Entry, error) {
	var best store.Entry
	middle := high // usually the last one is visible
	for low := uint64(1); low <= high; middle = low + (high-low)/2 {
		key.Name = store.SequenceName(middle)
		found, err := r.get(blocks, key)
		if err != nil {
			return found, err
		}
		if found.Exists() {
			best, low = found, middle+1
			continue
		}
		high = middle - 1
	}
	return best, nil
}

func (e *Engine) put(tx *bbolt.Tx, b *store.Batch, writes []keyedWrite, done store.Committed) error {
	for left := writes; len(left) > 0; {
		n := 1
		for n < len(left) && left[n].Branch == left[0].Branch {
			n++
		}
		if err := putEntries(tx, left[:n], done.Point); err != nil {
			return err
		}
		left = left[n:]
	}
	for _, c := range b.Counters {
		if err := putCounter(tx, c, done.Version); err != nil {
			return fmt.Errorf("count %s: %w", c.Key, err)
		}
	}
	return putPoint(tx, b, writes, done)
}

// putPoint writes the point of a commit, with its tail, or moves all tails if it is their turn or this one is too long.
func putPoint(tx *bbolt.Tx, b *store.Batch, writes []keyedWrite, done store.Committed) error {
	tail, err := tailOf(b, writes, done)
	if err != nil {
		return err
	}
	points := layout.InSpace(tx, layout.KindPoints)
	value, ok := layout.EncodeTailed(done.Point, tail, b.Note)
	if ok && done.Version%layout.TailEvery != 0 {
		return layout.Append(points, layout.U64(done.Version), value)
	}
	return errors.Join(
		layout.MoveTails(tx),
		tail.Record(tx, done.Point),
		layout.Append(points, layout.U64(done.Version), layout.EncodePoint(done.Point, b.Note)),
		forgetRequests(layout.InSpace(tx, layout.KindRequests), layout.InSpace(tx, layout.KindAges), done.Time.Add(-requestAge).UnixMicro()),
	)
}

func tailOf(b *store.Batch, writes []keyedWrite, done store.Committed) (t layout.Tail, err error) {
	t.Changes = make([]layout.TailChange, len(writes))
	for i, w := range writes {
		t.Changes[i] = layout.TailChange{Branch: w.Branch, Raw: w.raw, Deleted: w.Delete}
	}
	if b.Request == (store.Request{}) {
		return t, nil
	}
	t.Request = layout.RequestKey(b.Request)
	t.Outcome, err = layout.EncodeOutcome(b.Request, done)
	return t, err
}

// orderSamples is how many writes of a batch are looked at to see whether its keys come in order.
const orderSamples = 8

// putEntries writes the entries of one branch, which are in key order. If keys are given in order, the pages before them become full,
// since no other key will go there; pages among keys that come in any order are split in halves.
func putEntries(tx *bbolt.Tx, writes []keyedWrite, at store.Point) error {
	id := writes[0].Branch
	branch, err := layout.MakeBranch(tx, id)
	if err != nil {
		return fmt.Errorf("write branch %d: %w", id, err)
	}
	entries, values := layout.InBranch(branch, id, layout.KindEntries), layout.InBranch(branch, id, layout.KindValues)
	every, sampled, ordered := max(1, len(writes)/orderSamples), 0, 0
	for i, w := range writes {
		key := keycode.Version(w.raw, at.Version)
		if i%every == 0 {
			if sampled++; layout.Continues(entries, key, at.Version) {
				ordered++
			}
		}
		if err := putEntry(entries, values, key, w, at); err != nil {
			return fmt.Errorf("write %s: %w", w.Key, err)
		}
	}
	fill := bbolt.DefaultFillPercent
	if 2*ordered > sampled {
		fill = layout.FillSorted
	}
	entries.FillPercent, values.FillPercent = fill, fill
	return nil
}

func putEntry(entries, values layout.Records, key []byte, w keyedWrite, at store.Point) error {
	r, apart := layout.NewRecord(key, store.Entry{Branch: w.Branch, Point: at, Value: w.Value, Deleted: w.Delete})
	if apart != nil {
		if err := values.AddSealed(key, apart); err != nil {
			return err
		}
	}
	return entries.AddSealed(key, r.Encode(key))
}

// putCounter replaces the records of a key that are newer than Keep. It also records the version of this commit: the
// record's own version may be far older, and an incremental dump needs it.
func putCounter(tx *bbolt.Tx, c store.CounterWrite, at uint64) error {
	branch, err := layout.MakeBranch(tx, c.Branch)
	if err != nil {
		return err
	}
	counters, raw := layout.InBranch(branch, c.Branch, layout.KindCounters), keycode.Encode(c.Key)
	cursor := counters.Cursor()
	for {
		key, _ := cursor.Seek(raw)
		if !bytes.HasPrefix(key, raw) {
			break
		}
		if _, version, err := keycode.SplitVersion(key); err != nil || version <= c.Keep {
			break
		}
		if err := counters.Remove(bytes.Clone(key)); err != nil {
			return err
		}
	}
	return errors.Join(
		counters.Write(keycode.Version(raw, c.Version), layout.EncodeCounter(c.Value)),
		layout.InBranch(branch, c.Branch, layout.KindCounted).Write(raw, layout.U64(at)))
}

func requested(tx *bbolt.Tx, r store.Request, now time.Time) (done store.Committed, found bool, err error) {
	if r == (store.Request{}) {
		return done, false, nil
	}
	key := layout.RequestKey(r)
	data, err := layout.TailRequest(tx, key)
	if data == nil && err == nil {
		data, err = layout.InSpace(tx, layout.KindRequests).Read(key)
	}
	if data == nil && err == nil {
		data, err = layout.InSpace(tx, layout.KindRequests).Read(layout.MovedRequestKey(r.Identity()))
	}
	if data == nil || err != nil {
		return done, false, err
	}
	var was layout.Request
	if err := json.Unmarshal(data, &was); err != nil {
		return done, false, fmt.Errorf("decode request %q: %w", r.ID, err)
	}
	if now.Sub(time.UnixMicro(was.Micros)) > requestAge {
		return done, false, nil
	}
	if !bytes.Equal(was.Digest, r.Digest[:]) {
		return done, false, store.ErrRequestReused
	}
	at := store.Point{Version: was.Version, Time: time.UnixMicro(was.Micros).UTC()}
	return store.Committed{Point: at, Sequences: was.Sequences, Replayed: true}, true, nil
}

// forgetRequests drops a few requests older than before. A request that was used again has a newer age too, and stays
// until that one expires.
func forgetRequests(requests, ages layout.Records, before int64) error {
	for range pruneStep {
		key, _ := ages.Cursor().First()
		micros, request := layout.SplitAgeKey(key)
		if key == nil || micros >= before {
			return nil
		}
		request = bytes.Clone(request) // a deletion invalidates it
		if err := ages.Remove(bytes.Clone(key)); err != nil {
			return err
		}
		was, err := requests.Read(request)
		if err != nil {
			return err
		}
		if was == nil || !layout.LastUsed(was, micros) {
			continue
		}
		if err := requests.Remove(request); err != nil {
			return err
		}
	}
	return nil
}

// Requested returns the earlier commit of a request, if found.
func (e *Engine) Requested(ctx context.Context, r store.Request) (done store.Committed, found bool, err error) {
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		done, found, err = requested(tx, r, e.now())
		return err
	})
	return done, found, err
}
