package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/backup"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// BenchmarkBackup compares the 99th percentile of durable commits while a full backup is made with that before, and the speed
// of the backup with that of writing the same bytes.
func BenchmarkBackup(b *testing.B) {
	e, err := bolt.Open(b.Context(), b.TempDir(), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	value := []byte(`{"v":"` + strings.Repeat("memory ", 140) + `"}`)
	put := func(n int) {
		var batch store.Batch
		for i := range n {
			batch.Writes = append(batch.Writes, store.Write{Branch: 1, Key: store.Key{Namespace: "n", Collection: "memory", Name: fmt.Sprintf("key-%08d-%d", i, time.Now().UnixNano())}, Value: value})
		}
		if _, err := e.Commit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	for range 100 {
		put(4000)
	}
	p99 := func(until func(i int) bool) float64 {
		var took []time.Duration
		for i := 0; until(i); i++ {
			began := time.Now()
			put(1)
			took = append(took, time.Since(began))
			time.Sleep(time.Millisecond)
		}
		slices.Sort(took)
		return took[len(took)*99/100].Seconds()
	}
	for b.Loop() {
		before := p99(func(i int) bool { return i < 1500 })
		done := make(chan error, 1)
		dir := b.TempDir()
		var part backup.Part
		var took time.Duration
		go func() {
			began := time.Now()
			var err error
			part, err = backup.Full(context.Background(), dir, source(e), began)
			took = time.Since(began)
			done <- err
		}()
		var failed error
		running := true
		during := p99(func(i int) bool {
			select {
			case failed = <-done:
				running = false
			default:
			}
			return running || i < 300
		})
		if failed != nil {
			b.Fatal(failed)
		}
		b.ReportMetric(before*1e6, "before-p99-µs")
		b.ReportMetric(during/before, "during/before")
		b.ReportMetric(float64(part.Bytes)/took.Seconds()/1e6, "backup-MB/s")
		b.ReportMetric(float64(part.Bytes)/plain(b, part.Bytes)/1e6, "plain-MB/s")
	}
}

// plain writes so many bytes to a file and syncs it, in seconds.
func plain(b *testing.B, size int64) float64 {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "plain"))
	if err != nil {
		b.Fatal(err)
	}
	began, page := time.Now(), bytes.Repeat([]byte("x"), 1<<20)
	for left := size; left > 0 && err == nil; left -= int64(len(page)) {
		_, err = f.Write(page)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		b.Fatal(err)
	}
	return time.Since(began).Seconds()
}
