package main

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// BenchmarkStoreThroughTheStdioBridge stores through a process that runs alcove mcp, and commits the same
// value to an engine on the same disk in turn, because disks change their pace within minutes. extra is what
// the store costs beyond the commit, both at the median.
func BenchmarkStoreThroughTheStdioBridge(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "data")
	b.Cleanup(func() { stopOwner(b, dir) })
	c := newClient(b, dir)
	engine, err := bolt.Open(b.Context(), b.TempDir(), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { engine.Close() })
	value := fmt.Sprintf("%0200d", 1)
	var stores, commits, reads []time.Duration
	for i := 0; b.Loop(); i++ {
		key := fmt.Sprint("key/", i)
		stores = append(stores, timed(func() {
			c.call("memory_store", map[string]any{"key": key, "value": value}, nil)
		}))
		commits = append(commits, timed(func() { commit(b, engine, key, value) }))
		reads = append(reads, timed(func() { c.recall(key) }))
	}
	b.ReportMetric(median(stores), "store-p50-µs")
	b.ReportMetric(median(commits), "commit-p50-µs")
	b.ReportMetric(median(stores)-median(commits), "extra-p50-µs")
	b.ReportMetric(median(reads), "recall-p50-µs")
	b.ReportMetric(0, "ns/op")
}

func commit(b *testing.B, engine *bolt.Engine, key, value string) {
	batch := store.Batch{
		Writes:  []store.Write{{Branch: 1, Key: store.Key{Namespace: "default", Collection: "memory", Name: key}, Value: []byte(value)}},
		Request: store.Request{Caller: "bench", ID: key, Digest: sha256.Sum256([]byte(value))},
	}
	if _, err := engine.Commit(b.Context(), batch); err != nil {
		b.Fatal(err)
	}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// median is in microseconds.
func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2]) / float64(time.Microsecond)
}
