package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

func versionsGrow(b *checker) {
	ctx := context.Background()
	first, err := b.Head(ctx)
	b.ok(err)
	b.want("the head of an empty space", first, store.Point{})
	one := b.commit(store.Batch{})
	b.now = b.now.Add(-time.Hour)
	two := b.commit(store.Batch{})
	b.want("versions", []uint64{one.Version, two.Version}, []uint64{1, 2})
	if !two.Time.After(one.Time) {
		b.Errorf("%s is not after %s", two.Time, one.Time)
	}
	for at, want := range map[time.Time]uint64{one.Time.Add(-1): 0, one.Time: 1, two.Time.Add(-1): 1, two.Time: 2, two.Time.Add(time.Hour): 2} {
		p, err := b.VersionAt(ctx, at)
		b.ok(err)
		b.want("the version at "+at.String(), p.Version, want)
	}
	p, err := b.PointOf(ctx, 2)
	b.ok(err)
	b.want("the point of version 2", p, two.Point)
	if _, err := b.PointOf(ctx, 3); !errors.Is(err, store.ErrNotFound) {
		b.Errorf("the point of version 3: %v", err)
	}
}

func expectations(b *checker) {
	v := b.put(1, "k", "1")
	fork := head(1).Fork(2)
	try := func(x store.Batch) error {
		x.Writes = []store.Write{{Branch: 1, Key: key("k"), Value: []byte("2")}, {Branch: 1, Key: key("other"), Value: []byte("2")}}
		_, err := b.Commit(context.Background(), x)
		return err
	}
	for what, batch := range map[string]store.Batch{
		"another version": {Expect: []store.Expectation{{Lineage: head(1), Key: key("k"), Version: v + 1}}},
		"none":            {Expect: []store.Expectation{{Lineage: fork, Key: key("k"), Version: 0}}},
		"a missing one":   {Expect: []store.Expectation{{Lineage: fork, Key: key("x"), Version: 1}}},
		"quiet":           {Quiet: []store.Quiet{{Branch: 1, Since: v - 1}}},
	} {
		err := try(batch)
		var conflict *store.ConflictError
		if !errors.Is(err, store.ErrConflict) || !errors.As(err, &conflict) {
			b.Errorf("expecting %s: %v", what, err)
		}
	}
	b.want("after the conflicts", b.get(head(1), "k")+b.get(head(1), "other"), "1")
	b.ok(try(store.Batch{
		Expect: []store.Expectation{{Lineage: fork, Key: key("k"), Version: v}, {Lineage: fork, Key: key("x")}},
		Quiet:  []store.Quiet{{Branch: 1, Since: v}, {Branch: 7}},
	}))
	b.delete(1, "k")
	b.ok(try(store.Batch{Expect: []store.Expectation{{Lineage: head(1), Key: key("k"), Version: 0}}}))
	twice := store.Write{Branch: 1, Key: key("t")}
	if _, err := b.Commit(context.Background(), store.Batch{Writes: []store.Write{twice, twice}}); err == nil {
		b.Error("a batch that writes a key twice was accepted")
	}
}

func requests(b *checker) {
	ctx := context.Background()
	request := store.Request{Caller: "a", ID: "1", Digest: [32]byte{1}}
	var mu sync.Mutex
	var all sync.WaitGroup
	fresh, versions := 0, map[uint64]bool{}
	for range 20 {
		all.Go(func() {
			done, err := b.Commit(ctx, store.Batch{Writes: []store.Write{{Branch: 1, Key: key("k")}}, Request: request})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				b.Error(err)
			}
			versions[done.Version] = true
			if !done.Replayed {
				fresh++
			}
		})
	}
	all.Wait()
	b.want("fresh commits and versions", fmt.Sprint(fresh, len(versions)), "1 1")
	done, found, err := b.Requested(ctx, request)
	b.ok(err)
	b.want("looked up", found && done.Replayed && versions[done.Version], true)
	other := request
	other.Digest[0] = 2
	if _, err := b.Commit(ctx, store.Batch{Request: other}); !errors.Is(err, store.ErrRequestReused) {
		b.Errorf("the id for another request: %v", err)
	}
	if _, _, err := b.Requested(ctx, other); !errors.Is(err, store.ErrRequestReused) {
		b.Errorf("looking up another request: %v", err)
	}
	other.Caller = "b"
	b.want("another caller's", b.commit(store.Batch{Request: other}).Replayed, false)
	b.now = b.now.Add(25 * time.Hour)
	b.want("a day later", b.commit(store.Batch{Request: request}).Replayed, false)
}

func appends(b *checker) {
	add := func(l store.Lineage, values ...string) []uint64 {
		b.Helper()
		var batch store.Batch
		for _, value := range values {
			batch.Appends = append(batch.Appends, store.Append{Lineage: l, Namespace: "n", Collection: "log",
				Seal: func(last store.Entry, sequence uint64, _ store.Point) ([]byte, error) {
					return []byte(fmt.Sprintf("%s<%d:%s", last.Value, sequence, value)), nil
				}})
		}
		return b.commit(batch).Sequences
	}
	b.want("the first two", add(head(1), "a", "b"), []uint64{1, 2})
	p, err := b.Head(context.Background())
	b.ok(err)
	fork := head(1).At(p.Version).Fork(2)
	b.want("the parent goes on", add(head(1), "c"), []uint64{3})
	b.want("and so does the fork", add(fork, "d"), []uint64{3})
	b.want("the fork's log", b.list(fork, store.Range{Namespace: "n", Collection: "log", From: store.SequenceName(3)}),
		store.SequenceName(3)+"=<1:a<2:b<3:d")
	_, err = b.Commit(context.Background(), store.Batch{
		Writes:  []store.Write{{Branch: 1, Key: key("k"), Value: []byte("v")}},
		Appends: []store.Append{{Lineage: head(1), Namespace: "n", Collection: "log", Seal: func(store.Entry, uint64, store.Point) ([]byte, error) { panic("no") }}},
	})
	if err == nil || b.get(head(1), "k") != "" {
		b.Errorf("a seal that panics: %v", err)
	}
	b.want("no gap", add(head(1), "e"), []uint64{4})
}

func counters(b *checker) {
	ctx := context.Background()
	count := func(branch store.BranchID, version, keep uint64, value string) {
		b.commit(store.Batch{Counters: []store.CounterWrite{{Branch: branch, Key: key("k"), Version: version, Keep: keep, Value: []byte(value)}}})
	}
	read := func(l store.Lineage) string {
		found, err := b.Counters(ctx, l, []store.Key{key("k"), key("none")})
		b.ok(err)
		b.want("what was never counted", found[1] == nil, true)
		return string(found[0])
	}
	v := b.put(1, "k", "1")
	count(1, v, 0, "one")
	fork := head(1).At(v).Fork(2)
	count(1, v+2, v, "two")
	count(1, v+3, v, "three")
	b.want("the parent", read(head(1)), "three")
	b.want("the fork", read(fork), "one")
	count(2, v+4, 0, "own")
	b.want("the fork's own", read(fork), "own")
	list, _, err := b.CountersOn(ctx, 1, v, "", 10)
	b.ok(err)
	b.want("on the parent", fmt.Sprintf("%d %s", len(list), list[0].Value), "1 three")
	b.commit(store.Batch{Counters: []store.CounterWrite{{Branch: 2, Key: key("k"), Version: v + 5}}})
	b.want("forgotten", read(fork), "")
}

func notes(b *checker) {
	ctx := context.Background()
	list := func(after, before uint64, limit int) string {
		b.Helper()
		found, err := b.Notes(ctx, after, before, limit)
		b.ok(err)
		var text []string
		for _, n := range found {
			p, err := b.PointOf(ctx, n.Version)
			b.ok(err)
			b.want("the point of a note", n.Point, p)
			text = append(text, fmt.Sprintf("%d=%s", n.Version, n.Note))
		}
		return strings.Join(text, " ")
	}
	b.want("the notes of an empty space", list(0, store.Latest, 9), "")
	request := store.Request{ID: "r", Digest: [32]byte{7}}
	for i := range 6 {
		batch := store.Batch{Writes: []store.Write{{Branch: 1, Key: key("k"), Value: []byte("v")}}}
		if i != 2 {
			batch.Note = fmt.Appendf(nil, "note %d", i+1)
		}
		if i == 5 {
			batch.Request = request
		}
		b.commit(batch)
	}
	b.commit(store.Batch{Request: request, Note: []byte("of a repetition")})
	b.want("all notes", list(0, store.Latest, 9), "6=note 6 5=note 5 4=note 4 2=note 2 1=note 1")
	b.want("the first page", list(0, store.Latest, 2), "6=note 6 5=note 5")
	b.want("the second page", list(0, 5, 2), "4=note 4 2=note 2")
	b.want("the notes between two versions", list(1, 5, 9), "4=note 4 2=note 2")
	b.want("the notes after the newest", list(6, store.Latest, 9), "")
	if _, err := b.Commit(ctx, store.Batch{Note: make([]byte, store.NoteLimit+1)}); err == nil || !strings.Contains(err.Error(), fmt.Sprint(store.NoteLimit)) {
		b.Errorf("a note beyond the limit: %v", err)
	}
	b.commit(store.Batch{Note: make([]byte, store.NoteLimit)})
	b.ok(b.DropNotes(ctx, []uint64{7, 3, 2, 99}))
	b.ok(b.Trim(ctx, 1, 5, nil))
	b.want("what is left of a drop and a trim", list(0, store.Latest, 9), "6=note 6 5=note 5 4=note 4 1=note 1")
	b.ok(b.Close())
	b.Engine = b.open(b.T, b.dir, b.clock)
	b.want("the notes after reopening", list(0, store.Latest, 9), "6=note 6 5=note 5 4=note 4 1=note 1")
	done, err := b.PointOf(ctx, 6)
	b.ok(err)
	at, err := b.VersionAt(ctx, done.Time)
	b.ok(err)
	b.want("the version at the instant of a noted commit", at, done)
}
