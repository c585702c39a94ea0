package bolt_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

var value = make([]byte, 200)

func open(b *testing.B) *bolt.Engine {
	b.Helper()
	e, err := bolt.Open(b.Context(), b.TempDir(), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	return e
}

func entryKey(i int) store.Key {
	return store.Key{Namespace: "n", Collection: "c", Name: fmt.Sprintf("key-%08d", i)}
}

func fill(b *testing.B, e *bolt.Engine, branch store.BranchID, n int) {
	b.Helper()
	for at := 0; at < n; at += 10_000 {
		var batch store.Batch
		for i := at; i < min(n, at+10_000); i++ {
			batch.Writes = append(batch.Writes, store.Write{Branch: branch, Key: entryKey(i), Value: value})
		}
		if _, err := e.Commit(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
}

// median times a call so often, and gives the middle one in µs.
func median(b *testing.B, times int, call func(i int) error) float64 {
	b.Helper()
	took := make([]time.Duration, times)
	for i := range took {
		began := time.Now()
		if err := call(i); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return float64(took[times/2].Nanoseconds()) / 1000
}

// BenchmarkForkOfALargeBranch commits the one record that a fork is, on a branch of a million keys, and beside it
// writes and syncs a small file.
func BenchmarkForkOfALargeBranch(b *testing.B) {
	e := open(b)
	fill(b, e, 1, 1_000_000)
	f, err := os.Create(filepath.Join(b.TempDir(), "sync"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for b.Loop() {
		b.ReportMetric(median(b, 200, func(i int) error {
			_, err := e.Commit(b.Context(), store.Batch{Writes: []store.Write{{Branch: store.Catalogue, Key: entryKey(i), Value: value}}})
			return err
		}), "fork-p50-µs")
		b.ReportMetric(median(b, 200, func(int) error {
			if _, err := f.Write(value); err != nil {
				return err
			}
			return f.Sync()
		}), "fsync-p50-µs")
	}
}

// BenchmarkGetFromADeepBranch compares reading through a hundred ancestors with reading a plain branch.
func BenchmarkGetFromADeepBranch(b *testing.B) {
	e := open(b)
	fill(b, e, 1, 20_000)
	l := store.Lineage{{Branch: 1, At: store.Latest}}
	for depth := range 100 {
		p, err := e.Head(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		l = l.At(p.Version).Fork(store.BranchID(depth + 2))
		_, err = e.Commit(b.Context(), store.Batch{Writes: []store.Write{{Branch: l[0].Branch, Key: entryKey(depth), Value: value}}})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := e.Consolidate(b.Context(), l); err != nil {
		b.Fatal(err)
	}
	p, err := e.Head(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	root := store.Lineage{{Branch: 1, At: store.Latest}}
	get := func(l store.Lineage) float64 {
		return median(b, 20_000, func(i int) error {
			_, err := e.GetAt(b.Context(), l, []store.Key{entryKey(i * 7 % 20_000)})
			return err
		})
	}
	for b.Loop() {
		flat, deep, past := get(root), get(l), get(l.At(p.Version-10))
		b.ReportMetric(flat, "depth-0-µs")
		b.ReportMetric(deep/flat, "depth-100/0")
		b.ReportMetric(past/deep, "as-of/head-at-100")
		b.ReportMetric(get(root.At(1))/flat, "as-of/head-at-0")
	}
}

// BenchmarkListingBesideLargeBranches lists 20 keys without and with 300,000 keys on other branches.
func BenchmarkListingBesideLargeBranches(b *testing.B) {
	e := open(b)
	fill(b, e, 1, 1000)
	list := func() float64 {
		return median(b, 2000, func(int) error {
			_, _, err := e.ScanAt(b.Context(), store.Lineage{{Branch: 1, At: store.Latest}}, store.Range{Namespace: "n", Collection: "c"}, "", 20)
			return err
		})
	}
	alone := list()
	fill(b, e, 2, 150_000)
	fill(b, e, 3, 150_000)
	for b.Loop() {
		b.ReportMetric(list()/alone, "beside/alone")
	}
}

// BenchmarkSixteenWriters compares 16 writers that each wait for the disk with one, and with 16 writers of plain bbolt.
func BenchmarkSixteenWriters(b *testing.B) {
	e, plain := open(b), openPlain(b)
	commit := func(ctx context.Context, i int) error {
		_, err := e.Commit(ctx, store.Batch{Writes: []store.Write{{Branch: 1, Key: entryKey(i), Value: value}}})
		return err
	}
	put := func(_ context.Context, i int) error {
		return putPlain(plain, store.Write{Key: entryKey(i), Value: value})
	}
	rate := func(writers int, write func(ctx context.Context, i int) error) float64 {
		var done atomic.Int64
		ctx, cancel := context.WithTimeout(b.Context(), 2*time.Second)
		defer cancel()
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					if err := write(ctx, w*1_000_000+i); err == nil {
						done.Add(1)
					}
				}
			})
		}
		all.Wait()
		return float64(done.Load()) / 2
	}
	for b.Loop() {
		one, sixteen, theirs := rate(1, commit), rate(16, commit), rate(16, put)
		b.ReportMetric(one, "one/s")
		b.ReportMetric(sixteen, "sixteen/s")
		b.ReportMetric(theirs, "bbolt-sixteen/s")
		b.ReportMetric(sixteen/one, "sixteen/one")
	}
}
