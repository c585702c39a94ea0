package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/store"
)

// deep makes a chain of branches that each write, overwrite and delete a little.
func deep(b *checker, depth int) store.Lineage {
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

func consolidation(b *checker) {
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
func keeping(b *checker) {
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

func trimming(b *checker) {
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

func reclaiming(b *checker) {
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
