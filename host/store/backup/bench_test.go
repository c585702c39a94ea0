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

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// BenchmarkBackup compares the 99th percentile of durable commits while full backups are made with that before, and the speed
// of the backups, alone and with the commits, with that of writing the same bytes.
func BenchmarkBackup(b *testing.B) {
	e := filled(b)
	for b.Loop() {
		finished := make(chan struct{})
		close(finished)
		alone := backUpAgainAndAgain(b.Context(), e, b.TempDir(), finished)
		if alone.err != nil {
			b.Fatal(alone.err)
		}
		before := commitTimes(b, e, func(i int) bool { return i < benchCommits })
		stop, done := make(chan struct{}), make(chan speed, 1)
		dir := b.TempDir()
		go func() { done <- backUpAgainAndAgain(b.Context(), e, dir, stop) }()
		during := commitTimes(b, e, func(i int) bool { return i < benchCommits })
		close(stop)
		made := <-done
		if made.err != nil {
			b.Fatal(made.err)
		}
		plain := float64(made.part) / plain(b, made.part) / 1e6
		b.ReportMetric(alone.perSecond(), "alone-MB/s")
		b.ReportMetric(alone.perSecond()/plain, "alone/plain")
		b.ReportMetric(made.perSecond(), "backup-MB/s")
		b.ReportMetric(plain, "plain-MB/s")
		b.ReportMetric(made.perSecond()/plain, "backup/plain")
		b.ReportMetric(percentile(before, 50), "before-p50-µs")
		b.ReportMetric(percentile(during, 50), "during-p50-µs")
		b.ReportMetric(percentile(before, 99), "before-p99-µs")
		b.ReportMetric(percentile(during, 99)/percentile(before, 99), "p99-during/before")
	}
}

const benchCommits = 1500

// filled is an engine with 400,000 entries of a kilobyte.
func filled(b *testing.B) *bolt.Engine {
	e, err := bolt.Open(b.Context(), b.TempDir(), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	for range 100 {
		commitSome(b, e, 4000)
	}
	return e
}

func commitSome(b *testing.B, e *bolt.Engine, n int) {
	var batch store.Batch
	value := []byte(`{"v":"` + strings.Repeat("memory ", 140) + `"}`)
	for i := range n {
		key := store.Key{Namespace: "n", Collection: "memory", Name: fmt.Sprintf("key-%08d-%d", i, time.Now().UnixNano())}
		batch.Writes = append(batch.Writes, store.Write{Branch: 1, Key: key, Value: value})
	}
	if _, err := e.Commit(b.Context(), batch); err != nil {
		b.Fatal(err)
	}
}

// commitTimes commits one entry after another, and tells how long each took.
func commitTimes(b *testing.B, e *bolt.Engine, until func(i int) bool) (took []time.Duration) {
	for i := 0; until(i); i++ {
		began := time.Now()
		commitSome(b, e, 1)
		took = append(took, time.Since(began))
		time.Sleep(time.Millisecond)
	}
	slices.Sort(took)
	return took
}

// percentile of sorted durations, in µs.
func percentile(took []time.Duration, p int) float64 {
	return float64(took[len(took)*p/100].Microseconds())
}

// speed is how much was backed up in what time.
type speed struct {
	part, all int64 // bytes of one, of all
	took      time.Duration
	err       error
}

func (s speed) perSecond() float64 { return float64(s.all) / s.took.Seconds() / 1e6 }

func backUpAgainAndAgain(ctx context.Context, e *bolt.Engine, dir string, stop <-chan struct{}) (s speed) {
	for i := 0; ; i++ {
		began := time.Now()
		part, err := backup.Full(ctx, filepath.Join(dir, fmt.Sprint(i)), source(e), began)
		if err != nil {
			s.err = err
			return s
		}
		s.part, s.all, s.took = part.Bytes, s.all+part.Bytes, s.took+time.Since(began)
		select {
		case <-stop:
			return s
		default:
		}
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
