package postgres

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// plan is the commits of a group, made under the assumption that conditions of which nothing is known hold. The database verifies the
// assumptions in the statement that writes.
type plan struct {
	base     store.Point // the head that it follows
	head     store.Point // afterwards
	planned  int         // the jobs that it covers
	outcomes []outcome   // of each

	unverified int             // assumptions of which nothing is known
	lines      []store.Lineage // of the checks
	checks     []assumption
	quiets     []store.Quiet
	requests   []requestLine
	points     []pointLine
	entries    []entryLine
	counters   map[place]*counterLine
	assumed    map[string]int // checks, by line and key

	latest map[place]written // what the group writes
	on     map[store.BranchID]uint64
	asked  map[[32]byte]requested // requests of the group
	lasts  map[log]latest
}

type outcome struct {
	done store.Committed
	err  error
}

type place struct {
	branch store.BranchID
	key    string // encoded
}

type written struct {
	version uint64
	deleted bool
}

// assumption is an assumption about the version of the live entry that a lineage sees of a key; 0: none.
type assumption struct {
	line int
	key  []byte
	want uint64
}

type requestLine struct {
	key  [32]byte
	done *store.Committed // what is recorded
	with [32]byte         // the digest
}

type requested struct {
	digest [32]byte
	done   store.Committed
}

type pointLine struct {
	store.Point
	note []byte
}

type entryLine struct {
	place
	store.Point
	deleted bool
	value   []byte
}

// counterLine is what a group does to a counter: it replaces all records newer than keep.
type counterLine struct {
	keep    uint64
	records []counterRecord
}

type counterRecord struct {
	version, written uint64
	value            []byte
}

// facts are what the database told about the state before a plan.
type facts map[string]fact

type fact struct {
	version uint64    // of a check or quiet
	request bool      // there is one
	was     requested // the request
}

// log is a collection of sequence numbers on a branch.
type log struct {
	branch                store.BranchID
	namespace, collection string
}

// latest is the newest entry of a log that a lineage sees.
type latest struct {
	lineage store.Lineage
	entry   store.Entry
}

// plan plans jobs, as many as can be planned before anything is written, and at least one.
func (e *Engine) plan(ctx context.Context, jobs []*job, known facts) (*plan, error) {
	p := &plan{
		base: e.newest(), head: e.newest(), counters: map[place]*counterLine{}, assumed: map[string]int{}, latest: map[place]written{},
		on: map[store.BranchID]uint64{}, asked: map[[32]byte]requested{}, lasts: map[log]latest{},
	}
	for _, j := range jobs {
		o, ok, err := e.planOne(ctx, p, j.batch, known)
		if err != nil {
			return p, err
		}
		if !ok {
			break
		}
		p.outcomes = append(p.outcomes, o)
		p.planned++
	}
	return p, nil
}

// planOne adds a batch to a plan. ok is false if what the plan already has must be written first.
func (e *Engine) planOne(ctx context.Context, p *plan, b *store.Batch, known facts) (o outcome, ok bool, err error) {
	now := e.now()
	key := b.Request.Identity()
	if b.Request != (store.Request{}) {
		was, again := p.asked[key]
		if f, ok := known[factOfRequest(key)]; ok && f.request && !again {
			was, again = f.was, now.Sub(f.was.done.Time) <= requestAge
		}
		switch {
		case again && was.digest != b.Request.Digest:
			return outcome{err: store.ErrRequestReused}, true, nil
		case again:
			was.done.Replayed = true
			return outcome{done: was.done}, true, nil
		}
	}
	if err, ok := p.expect(b, known); err != nil || !ok {
		if err != nil && b.Request != (store.Request{}) {
			p.ask(requestLine{key: key}) // the condition may be unmet because the request was applied earlier
		}
		return outcome{err: err}, ok, nil
	}
	at := next(p.head, now)
	entries, sequences, err := e.makeAppends(ctx, p, b, at)
	if err != nil {
		var of *engineError
		switch {
		case errors.Is(err, errFirst):
			return o, false, nil
		case errors.As(err, &of):
			return o, false, of.error
		}
		return outcome{err: fmt.Errorf("commit: %w", err)}, true, nil
	}
	done := store.Committed{Point: at, Sequences: sequences}
	p.write(b, entries, at)
	if b.Request != (store.Request{}) {
		p.asked[key] = requested{digest: b.Request.Digest, done: done}
		p.ask(requestLine{key: key, with: b.Request.Digest, done: &done})
	}
	p.head = at
	return outcome{done: done}, true, nil
}

// errFirst means that what is planned must be written first.
var errFirst = errors.New("what is planned must be written first")

func (p *plan) ask(r requestLine) {
	p.requests = append(p.requests, r)
	p.unverified++
}

// engineError is an error of the database while a batch is planned, not of the batch.
type engineError struct{ error }

func (e *engineError) Unwrap() error { return e.error }

// next returns the point of the next commit. Its instant is later than the last one's even if the clock went back.
func next(head store.Point, now time.Time) store.Point {
	now = time.UnixMicro(now.UnixMicro()).UTC()
	if head.Version != 0 && !now.After(head.Time) {
		now = head.Time.Add(time.Microsecond)
	}
	return store.Point{Version: head.Version + 1, Time: now}
}

// expect evaluates the conditions of a batch. ok is false if what the plan has must be written first.
func (p *plan) expect(b *store.Batch, known facts) (err error, ok bool) {
	for _, x := range b.Expect {
		have, ok := p.version(x, known)
		if !ok {
			return nil, false
		}
		if have != x.Version {
			return &store.ConflictError{Key: x.Key, Want: x.Version, Have: have}, true
		}
	}
	for _, q := range b.Quiet {
		have := p.on[q.Branch]
		if have == 0 {
			have = known[factOfBranch(q.Branch)].version
		}
		if have > q.Since {
			return &store.ConflictError{Branch: q.Branch, Want: q.Since, Have: have}, true
		}
		if p.on[q.Branch] == 0 {
			p.quiets = append(p.quiets, q)
			p.unverified++
		}
	}
	return nil, true
}

// version returns the version that a lineage sees of a key, or assumes the expected one.
func (p *plan) version(x store.Expectation, known facts) (have uint64, ok bool) {
	raw := keycode.Encode(x.Key)
	for i, s := range x.Lineage {
		w, in := p.latest[place{s.Branch, string(raw)}]
		if !in || w.version > s.At {
			continue
		}
		if i > 0 {
			return 0, false // a segment in front may see an older version
		}
		if w.deleted {
			return 0, true
		}
		return w.version, true
	}
	id := factOfKey(x.Lineage, raw)
	if at, is := p.assumed[id]; is {
		return p.checks[at].want, true
	}
	want := x.Version
	if f, is := known[id]; is {
		want = f.version
	} else {
		p.unverified++
	}
	p.assumed[id] = len(p.checks)
	p.checks = append(p.checks, assumption{line: p.line(x.Lineage), key: raw, want: want})
	return want, true
}

// line returns the number of a lineage among those of the plan.
func (p *plan) line(l store.Lineage) int {
	if i := slices.IndexFunc(p.lines, func(other store.Lineage) bool { return slices.Equal(other, l) }); i >= 0 {
		return i
	}
	p.lines = append(p.lines, l)
	return len(p.lines) - 1
}

func factOfKey(l store.Lineage, raw []byte) string {
	id := make([]byte, 1, 1+16*len(l)+8+len(raw))
	id[0] = 'k'
	id = binary.BigEndian.AppendUint64(id, uint64(len(l)))
	for _, s := range l {
		id = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(id, uint64(s.Branch)), s.At)
	}
	return string(append(id, raw...))
}

func factOfBranch(b store.BranchID) string { return fmt.Sprint("b", b) }

func factOfRequest(key [32]byte) string { return "r" + string(key[:]) }

// write adds the changes of a batch to the plan.
func (p *plan) write(b *store.Batch, appended []entryLine, at store.Point) {
	first := len(p.entries)
	for _, w := range b.Writes {
		p.entries = append(p.entries, entryLine{place{w.Branch, string(keycode.Encode(w.Key))}, at, w.Delete, w.Value})
		p.lasts[log{w.Branch, w.Key.Namespace, w.Key.Collection}] = latest{} // unknown: a write may be to a log
	}
	p.entries = append(p.entries, appended...)
	for i, l := range p.entries[first:] {
		if l.deleted {
			p.entries[first+i].value = nil
		}
		p.latest[l.place] = written{at.Version, l.deleted}
		p.on[l.branch] = at.Version
	}
	for _, c := range b.Counters {
		to := place{c.Branch, string(keycode.Encode(c.Key))}
		line := p.counters[to]
		if line == nil {
			line = &counterLine{keep: c.Keep}
			p.counters[to] = line
		}
		line.keep = min(line.keep, c.Keep)
		line.records = slices.DeleteFunc(line.records, func(r counterRecord) bool { return r.version > c.Keep || r.version == c.Version })
		line.records = append(line.records, counterRecord{c.Version, at.Version, c.Value})
	}
	p.points = append(p.points, pointLine{at, b.Note})
}

// makeAppends computes the values of a batch's appends.
func (e *Engine) makeAppends(ctx context.Context, p *plan, b *store.Batch, at store.Point) (entries []entryLine, sequences []uint64, err error) {
	lasts := map[log]store.Entry{}
	for _, a := range b.Appends {
		id := log{a.Lineage[0].Branch, a.Namespace, a.Collection}
		last, ok := lasts[id]
		if !ok {
			if last, err = e.lastOf(ctx, p, id, a.Lineage); err != nil {
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
		entries = append(entries, entryLine{place{id.branch, string(keycode.Encode(entry.Key))}, at, false, entry.Value})
	}
	for _, w := range b.Writes { // an append to what the batch writes is not kept in mind
		delete(lasts, log{w.Branch, w.Key.Namespace, w.Key.Collection})
	}
	for _, a := range b.Appends {
		id := log{a.Lineage[0].Branch, a.Namespace, a.Collection}
		if last, ok := lasts[id]; ok {
			p.lasts[id] = latest{a.Lineage, last}
		}
	}
	return entries, sequences, nil
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

const lastsKept = 1000 // the most logs whose newest entry is kept in mind

// lastOf returns the newest entry of a log that a lineage sees: from the plan, from memory, or from the database.
func (e *Engine) lastOf(ctx context.Context, p *plan, id log, l store.Lineage) (store.Entry, error) {
	if last, is := p.lasts[id]; is {
		if slices.Equal(last.lineage, l) {
			return last.entry, nil
		}
		return store.Entry{}, errFirst
	}
	if last, is := e.lasts[id]; is && slices.Equal(last.lineage, l) {
		return last.entry, nil
	}
	for _, s := range l[1:] {
		if p.on[s.Branch] != 0 && s.At > p.base.Version {
			return store.Entry{}, errFirst
		}
	}
	last, err := e.lastRead(ctx, l, id)
	if err != nil {
		return last, &engineError{err}
	}
	return last, nil
}

// cacheLogTails caches the newest entries of logs.
func (e *Engine) cacheLogTails(p *plan) {
	if len(e.lasts) > lastsKept {
		clear(e.lasts)
	}
	for id, last := range p.lasts {
		delete(e.lasts, id)
		if last.lineage != nil {
			e.lasts[id] = last
		}
	}
}

func (p *plan) sorted() []entryLine {
	slices.SortFunc(p.entries, func(a, b entryLine) int {
		return cmp.Or(cmp.Compare(a.branch, b.branch), cmp.Compare(a.key, b.key), cmp.Compare(a.Version, b.Version))
	})
	return p.entries
}
