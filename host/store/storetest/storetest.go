// Package storetest checks that an engine does what package store says, whatever it is made of.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// Open opens the engine's space in a directory, which may hold one already.
type Open func(t *testing.T, dir string, now func() time.Time) store.Engine

// Run checks an engine.
func Run(t *testing.T, open Open) {
	for name, check := range map[string]func(*bench){
		"versions grow by one and instants grow even when the clock goes back": versionsGrow,
		"a key is read as any lineage and version sees it":                     lineages,
		"a listing is in key order and hides what is hidden":                   listings,
		"names may hold any bytes":                                             anyNames,
		"every version is listed, newest first, page by page":                  everyVersion,
		"the change log is told in whole versions":                             changes,
		"a batch whose expectation fails changes nothing":                      expectations,
		"a request is done once, also when it comes at once from many":         requests,
		"appends follow one another without gaps":                              appends,
		"counters are kept where others depend on them":                        counters,
		"consolidating changes no answer":                                      consolidation,
		"the note of a commit is kept with its version":                        notes,
		"a trimmed past is refused, and pins and the present are kept":         trimming,
		"a trim leaves in histories what it is told to keep":                   keeping,
		"a reclaimed branch leaves nothing":                                    reclaiming,
		"blobs are kept under their names":                                     blobs,
		"a watcher hears of the newest commit":                                 watching,
		"everything is there again after reopening":                            reopening,
		"a closed engine refuses":                                              closing,
	} {
		t.Run(name, func(t *testing.T) {
			b := &bench{T: t, open: open, dir: t.TempDir(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			b.Engine = open(t, b.dir, b.clock)
			check(b)
			b.ok(b.Check(context.Background()))
			b.ok(b.Close())
		})
	}
}

// bench is an engine on the bench, with a clock that goes on by a second with each look.
type bench struct {
	*testing.T
	store.Engine
	open  Open
	dir   string
	clocK sync.Mutex
	now   time.Time
}

func (b *bench) clock() time.Time {
	b.clocK.Lock()
	defer b.clocK.Unlock()
	b.now = b.now.Add(time.Second)
	return b.now
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func key(name string) store.Key { return store.Key{Namespace: "n", Collection: "c", Name: name} }

func (b *bench) commit(batch store.Batch) store.Committed {
	b.Helper()
	done, err := b.Commit(context.Background(), batch)
	b.ok(err)
	return done
}

func (b *bench) put(branch store.BranchID, name, value string) uint64 {
	b.Helper()
	return b.commit(store.Batch{Writes: []store.Write{{Branch: branch, Key: key(name), Value: []byte(value)}}}).Version
}

func (b *bench) delete(branch store.BranchID, name string) uint64 {
	b.Helper()
	return b.commit(store.Batch{Writes: []store.Write{{Branch: branch, Key: key(name), Delete: true}}}).Version
}

// get is what a lineage sees of a key: empty for nothing.
func (b *bench) get(l store.Lineage, name string) string {
	b.Helper()
	found, err := b.GetAt(context.Background(), l, []store.Key{key(name)})
	b.ok(err)
	return string(found[0].Value)
}

func (b *bench) want(what string, got, want any) {
	b.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.Errorf("%s: %v, not %v", what, got, want)
	}
}

// list gives a range's entries, two at a time, as name=value.
func (b *bench) list(l store.Lineage, r store.Range) string {
	b.Helper()
	return b.pages(func(c store.Cursor) ([]store.Entry, store.Cursor, error) {
		return b.ScanAt(context.Background(), l, r, c, 2)
	})
}

func (b *bench) pages(page func(store.Cursor) ([]store.Entry, store.Cursor, error)) string {
	b.Helper()
	var all []string
	var cursor store.Cursor
	for {
		entries, next, err := page(cursor)
		b.ok(err)
		if len(entries) > 2 {
			b.Fatalf("%d entries on a page of 2", len(entries))
		}
		for _, e := range entries {
			value := string(e.Value)
			if e.Deleted {
				value = "-"
			}
			all = append(all, e.Name+"="+value)
		}
		if next == "" {
			return strings.Join(all, " ")
		}
		cursor = next
	}
}

func head(branch store.BranchID) store.Lineage {
	return store.Lineage{{Branch: branch, At: store.Latest}}
}

func versionsGrow(b *bench) {
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

func lineages(b *bench) {
	v1 := b.put(1, "k", "one")
	fork := head(1).At(v1).Fork(2)
	b.put(1, "k", "two")
	b.want("the fork", b.get(fork, "k"), "one")
	v3 := b.put(2, "k", "three")
	b.want("the fork's own", b.get(fork, "k"), "three")
	b.delete(2, "k")
	b.want("deleted on the fork", b.get(fork, "k"), "")
	b.want("before that", b.get(fork.At(v3), "k"), "three")
	b.want("before the fork wrote", b.get(fork.At(v3-1), "k"), "one")
	b.want("the parent", b.get(head(1), "k"), "two")
	b.want("before anything", b.get(head(1).At(0), "k"), "")
	found, err := b.GetAt(context.Background(), fork, []store.Key{key("none"), key("k")})
	b.ok(err)
	b.want("a missing key", found[0].Version, 0)
	b.want("a tombstone", found[1].Deleted && found[1].Branch == 2 && !found[1].Exists(), true)
	large := strings.Repeat("x", 100_000)
	b.put(1, "large", large)
	if b.get(head(1), "large") != large {
		b.Error("a large value came back different")
	}
}

func listings(b *bench) {
	for _, name := range []string{"b", "a", "ab", "c", "d"} {
		b.put(1, name, "1")
	}
	v := b.put(1, "a", "2")
	fork := head(1).At(v).Fork(2)
	b.put(1, "z", "later")
	b.delete(2, "b")
	b.put(2, "bb", "new")
	b.commit(store.Batch{Writes: []store.Write{{Branch: 2, Key: store.Key{Namespace: "n", Collection: "other", Name: "x"}, Value: []byte("y")}}})
	all := store.Range{Namespace: "n", Collection: "c"}
	b.want("the fork", b.list(fork, all), "a=2 ab=1 bb=new c=1 d=1")
	b.want("the parent", b.list(head(1), all), "a=2 ab=1 b=1 c=1 d=1 z=later")
	all.Reverse = true
	b.want("backwards", b.list(fork, all), "d=1 c=1 bb=new ab=1 a=2")
	b.want("backwards from bb", b.list(fork, store.Range{Namespace: "n", Collection: "c", From: "bb", Reverse: true}), "bb=new ab=1 a=2")
	b.want("a prefix", b.list(fork, store.Range{Namespace: "n", Collection: "c", Prefix: "a"}), "a=2 ab=1")
	b.want("one name", b.list(fork, store.Range{Namespace: "n", Collection: "c", Prefix: "a", Exact: true}), "a=2")
	b.want("from c", b.list(fork, store.Range{Namespace: "n", Collection: "c", From: "c"}), "c=1 d=1")
	b.want("the namespace", b.list(fork, store.Range{Namespace: "n"}), "a=2 ab=1 bb=new c=1 d=1 x=y")
	b.want("everything", b.list(fork, store.Range{}), "a=2 ab=1 bb=new c=1 d=1 x=y")
	b.want("another namespace", b.list(fork, store.Range{Namespace: "m"}), "")
}

func anyNames(b *bench) {
	names := []string{"", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "a", "a\x00", "a\x00\x01", "a\x01", "a\xff", "ä", "\xff", "\xff\xff"}
	for _, name := range names {
		b.put(1, name, "v"+name)
	}
	for _, name := range names {
		b.want(fmt.Sprintf("%q", name), b.get(head(1), name), "v"+name)
	}
	entries, _, err := b.ScanAt(context.Background(), head(1), store.Range{Namespace: "n", Collection: "c"}, "", 100)
	b.ok(err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name)
	}
	if !slices.Equal(got, names) {
		b.Errorf("listed as %q", got)
	}
	for _, bad := range []store.Key{{Namespace: "a\x00b"}, {Namespace: "a", Collection: "\x00"}} {
		if _, err := b.Commit(context.Background(), store.Batch{Writes: []store.Write{{Branch: 1, Key: bad}}}); err == nil {
			b.Errorf("%v was accepted", bad)
		}
	}
}

func everyVersion(b *bench) {
	b.put(1, "a", "1")
	b.put(1, "a", "2")
	v := b.put(1, "b", "1")
	fork := head(1).At(v).Fork(2)
	b.put(1, "a", "unseen")
	b.put(2, "a", "3")
	b.delete(2, "a")
	b.put(2, "a", "4")
	versions := func(l store.Lineage, r store.Range) string {
		return b.pages(func(c store.Cursor) ([]store.Entry, store.Cursor, error) {
			return b.Versions(context.Background(), l, r, c, 2)
		})
	}
	b.want("the fork", versions(fork, store.Range{Namespace: "n"}), "a=4 a=- a=3 a=2 a=1 b=1")
	b.want("one key", versions(fork.At(v), store.Range{Namespace: "n", Collection: "c", Prefix: "a", Exact: true}), "a=2 a=1")
	b.want("its own", versions(head(2), store.Range{}), "a=4 a=- a=3")
}

func changes(b *bench) {
	ctx := context.Background()
	b.put(1, "a", "1")
	both := b.commit(store.Batch{Writes: []store.Write{{Branch: 1, Key: key("b"), Value: []byte("1")}, {Branch: 1, Key: key("a"), Delete: true}, {Branch: 2, Key: key("z")}}})
	b.put(1, "c", "1")
	list, next, err := b.Changes(ctx, 1, 0, store.Latest, 2)
	b.ok(err)
	b.want("changes", len(list), 3) // a version is never told in part
	b.want("the next", next, both.Version)
	b.want("a deletion", list[1], store.Change{Key: key("a"), Version: both.Version, Deleted: true})
	list, next, err = b.Changes(ctx, 1, next, store.Latest, 2)
	b.ok(err)
	b.want("the rest", fmt.Sprint(len(list), next), "1 0")
	list, _, err = b.Changes(ctx, 1, 0, 1, 10)
	b.ok(err)
	b.want("up to version 1", len(list), 1)
	list, _, err = b.Changes(ctx, 9, 0, store.Latest, 10)
	b.ok(err)
	b.want("of a branch that is not there", len(list), 0)
}

func expectations(b *bench) {
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

func requests(b *bench) {
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

func appends(b *bench) {
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

func counters(b *bench) {
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

// deep makes a chain of branches that each write, overwrite and delete a little.
func deep(b *bench, depth int) store.Lineage {
	b.Helper()
	l := head(1)
	for i := range 30 {
		b.put(1, fmt.Sprintf("k%02d", i), strings.Repeat("root", 400*(i%2)))
	}
	for i := range depth {
		p, err := b.Head(context.Background())
		b.ok(err)
		l = l.At(p.Version).Fork(store.BranchID(2 + i))
		b.put(l[0].Branch, fmt.Sprintf("k%02d", i%30), fmt.Sprint("deep", i))
		b.delete(l[0].Branch, fmt.Sprintf("k%02d", (i*7)%30))
		b.put(l[1].Branch, "k03", "unseen")
	}
	return l
}

func consolidation(b *bench) {
	ctx := context.Background()
	l := deep(b, 60)
	p, err := b.Head(ctx)
	b.ok(err)
	answers := func() string {
		var all strings.Builder
		for version := uint64(1); version <= p.Version; version += 3 {
			fmt.Fprintln(&all, b.list(l.At(version), store.Range{}))
		}
		for depth := range l {
			fmt.Fprintln(&all, b.get(l[depth:], "k05"), b.list(l[depth:], store.Range{Namespace: "n", Collection: "c", Prefix: "k0", Reverse: true}))
		}
		fmt.Fprintln(&all, b.pages(func(c store.Cursor) ([]store.Entry, store.Cursor, error) {
			return b.Versions(ctx, l, store.Range{}, c, 2)
		}))
		return all.String()
	}
	before := answers()
	b.ok(b.Consolidate(ctx, l))
	b.want("answers afterwards", answers() == before, true)
	deeper := l.At(p.Version).Fork(1000)
	b.put(1000, "k01", "deeper")
	b.ok(b.Consolidate(ctx, deeper))
	b.want("answers after another", answers() == before, true)
	b.want("the deeper one", b.get(deeper, "k01"), "deeper")
	b.ok(b.Check(ctx))
	b.ok(b.Close())
	b.Engine = b.open(b.T, b.dir, b.clock)
	b.want("answers after reopening", answers() == before, true)
	present := b.list(l, store.Range{})
	b.ok(b.Trim(ctx, l[3].Branch, l[3].At, nil))
	b.want("the present after trimming an ancestor", b.list(l, store.Range{}), present)
}

// keeping trims a branch that keeps some versions in histories.
func keeping(b *bench) {
	ctx := context.Background()
	for i := range 5 {
		b.put(1, "k", fmt.Sprint(i))
		b.put(1, "other", fmt.Sprint(i))
	}
	floor := b.put(1, "last", "1")
	b.ok(b.Trim(ctx, 1, floor, nil, store.Keep{Versions: 3}, store.Keep{Namespace: "somewhere else", Versions: 5}))
	for range 2 { // now, and when it was opened again
		for _, name := range []string{"k", "other"} {
			list, _, err := b.Versions(ctx, head(1), store.Range{Namespace: key("k").Namespace, Collection: key("k").Collection, Prefix: name, Exact: true}, "", 100)
			b.ok(err)
			b.want("the versions of "+name, len(list), 3)
		}
		if _, err := b.GetAt(ctx, head(1).At(floor-3), []store.Key{key("k")}); !errors.Is(err, store.ErrTrimmed) {
			b.Errorf("what histories keep can be asked for as the present of then: %v", err)
		}
		b.ok(b.Check(ctx))
		b.ok(b.Close())
		b.Engine = b.open(b.T, b.dir, b.clock)
	}
}

func trimming(b *bench) {
	ctx := context.Background()
	v1 := b.put(1, "k", "1")
	v2 := b.put(1, "k", "2")
	b.put(1, "k", "3")
	v4 := b.delete(1, "gone")
	v5 := b.put(1, "k", "5")
	fork := head(1).At(v2).Fork(2)
	b.ok(b.Trim(ctx, 1, v4, []uint64{v2}))
	b.ok(b.Trim(ctx, 1, v1, nil)) // an earlier floor changes nothing
	b.ok(b.Trim(ctx, 1, 0, nil))  // nor does that before the first version
	b.want("now", b.get(head(1), "k"), "5")
	b.want("at the floor", b.get(head(1).At(v4), "k"), "3")
	b.want("at the pin", b.get(fork, "k"), "2")
	for _, at := range []uint64{v1, v4 - 1} {
		_, err := b.GetAt(ctx, head(1).At(at), []store.Key{key("k")})
		var trimmed *store.TrimmedError
		if !errors.As(err, &trimmed) || !errors.Is(err, store.ErrTrimmed) || trimmed.Floor.Version != v4 {
			b.Errorf("at version %d: %v", at, err)
		}
	}
	if _, _, err := b.ScanAt(ctx, head(1).At(v1), store.Range{}, "", 10); !errors.Is(err, store.ErrTrimmed) {
		b.Errorf("a listing of the trimmed past: %v", err)
	}
	if _, _, err := b.Changes(ctx, 1, v1, v5, 10); !errors.Is(err, store.ErrTrimmed) {
		b.Errorf("the trimmed log: %v", err)
	}
	list, _, err := b.Changes(ctx, 1, v4, v5, 10)
	b.ok(err)
	b.want("the log above the floor", len(list), 1)
	b.want("what is left", b.pages(func(c store.Cursor) ([]store.Entry, store.Cursor, error) {
		return b.Versions(ctx, head(1), store.Range{}, c, 2)
	}), "gone=- k=5 k=3 k=2")
}

func reclaiming(b *bench) {
	ctx := context.Background()
	l := deep(b, 20)
	b.ok(b.Consolidate(ctx, l))
	b.ok(b.Reclaim(ctx, l[0].Branch))
	b.ok(b.Reclaim(ctx, 999))
	b.want("what is left of it", b.list(head(l[0].Branch), store.Range{}), "")
	list, _, err := b.Changes(ctx, l[0].Branch, 0, store.Latest, 10)
	b.ok(err)
	b.want("its log", len(list), 0)
	if b.list(l[1:], store.Range{}) == "" {
		b.Error("its parent lost everything")
	}
}

func blobs(b *bench) {
	ctx := context.Background()
	blob, err := b.PutBlob(ctx, "s/1", strings.NewReader("hello"))
	b.ok(err)
	b.want("its size and digest", fmt.Sprintf("%d %s", blob.Size, blob.Digest[:8]), "5 2cf24dba")
	_, err = b.PutBlob(ctx, "s/2", strings.NewReader("hello"))
	b.ok(err)
	r, err := b.GetBlob(ctx, "s/1")
	b.ok(err)
	b.ok(b.DropBlob(ctx, "s/1"))
	b.ok(b.DropBlob(ctx, "s/1"))
	_, err = b.PutBlob(ctx, "s/2", strings.NewReader("other"))
	b.ok(err)
	content, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
	b.ok(err)
	b.want("an open reader's", bytes.Equal(content, []byte("hello")), true)
	b.ok(r.Close())
	if _, err := b.GetBlob(ctx, "s/1"); !errors.Is(err, store.ErrNotFound) {
		b.Errorf("a dropped blob: %v", err)
	}
	list, err := b.Blobs(ctx, "s/")
	b.ok(err)
	b.want("the list", fmt.Sprintf("%d %s %d", len(list), list[0].Name, list[0].Size), "1 s/2 5")
}

func watching(b *bench) {
	ctx, cancel := context.WithCancel(context.Background())
	heard := b.Watch(ctx)
	b.put(1, "a", "1")
	last := b.put(1, "a", "2")
	deadline := time.After(10 * time.Second)
	for version := uint64(0); version != last; {
		select {
		case version = <-heard:
		case <-deadline:
			b.Fatalf("heard of version %d, not of %d", version, last)
		}
	}
	cancel()
	select {
	case _, open := <-heard:
		b.want("open after the end", open, false)
	case <-deadline:
		b.Fatal("the channel was not closed")
	}
}

func reopening(b *bench) {
	ctx := context.Background()
	b.put(1, "k", "1")
	request := store.Request{ID: "r", Digest: [32]byte{7}}
	done := b.commit(store.Batch{Writes: []store.Write{{Branch: 1, Key: key("l"), Value: []byte("2")}}, Request: request})
	_, err := b.PutBlob(ctx, "b", strings.NewReader("blob"))
	b.ok(err)
	b.ok(b.Close())
	b.Engine = b.open(b.T, b.dir, b.clock)
	p, err := b.Head(ctx)
	b.ok(err)
	b.want("the head", p, done.Point)
	b.want("the entries", b.list(head(1), store.Range{}), "k=1 l=2")
	again := b.commit(store.Batch{Request: request})
	b.want("the request", fmt.Sprint(again.Replayed, again.Version), fmt.Sprint(true, done.Version))
	list, err := b.Blobs(ctx, "")
	b.ok(err)
	b.want("the blobs", len(list), 1)
}

func notes(b *bench) {
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

func closing(b *bench) {
	ctx := context.Background()
	b.put(1, "k", "1")
	b.ok(b.Close())
	if _, err := b.Commit(ctx, store.Batch{}); !errors.Is(err, store.ErrClosed) {
		b.Errorf("commit: %v", err)
	}
	if _, err := b.Head(ctx); !errors.Is(err, store.ErrClosed) {
		b.Errorf("head: %v", err)
	}
	b.Engine = b.open(b.T, b.dir, b.clock)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := b.Commit(cancelled, store.Batch{}); !errors.Is(err, context.Canceled) {
		b.Errorf("a cancelled commit: %v", err)
	}
}
