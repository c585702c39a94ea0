package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

func lineages(b *checker) {
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

func listings(b *checker) {
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

func anyNames(b *checker) {
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

func everyVersion(b *checker) {
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

func changes(b *checker) {
	ctx := context.Background()
	b.put(1, "a", "1")
	both := b.commit(store.Batch{Writes: []store.Write{{Branch: 1, Key: key("b"), Value: []byte("1")}, {Branch: 1, Key: key("a"), Delete: true}, {Branch: 2, Key: key("z")}}})
	b.put(1, "c", "1")
	list, next, err := b.Changes(ctx, 1, 0, store.Latest, 2)
	b.ok(err)
	b.want("changes", len(list), 3) // no page ends within a version
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
	b.want("of a missing branch", len(list), 0)
}

func watching(b *checker) {
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
