package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/postgres"
	"github.com/alcove-memory/alcove/host/testing/must"
	server "github.com/alcove-memory/alcove/host/testing/postgres"
)

// BenchmarkEngines compares the embedded engine with PostgreSQL, which syncs here too.
func BenchmarkEngines(b *testing.B) {
	s := server.Start(b, "fsync=on", "max_connections=200")
	b.Run("embedded", func(b *testing.B) {
		compareEngine(b, nil, func(b *testing.B, dir, _ string) store.Engine {
			return must.Get(bolt.Driver{}.Open(b.Context(), dir, store.Options{}))
		})
	})
	b.Run("PostgreSQL", func(b *testing.B) {
		url := must.Get(s.Database())
		b.Run("plain inserts by 16 writers", func(b *testing.B) { plainInserts(b, s, url) })
		compareEngine(b, s, func(b *testing.B, dir, space string) store.Engine {
			return must.Get(driver(b, url+"&space="+space).Open(b.Context(), dir, store.Options{}))
		})
		b.Run("first", func(b *testing.B) { // reads, of which nothing is kept
			d := must.Get(postgres.New(url+"&space=first", postgres.Options{Cached: 1}))
			e := must.Get(d.Open(b.Context(), b.TempDir(), store.Options{}))
			defer e.Close()
			must.Do(b, put(b.Context(), e, "warm", "1"))
			compareReads(b, s, e)
		})
	})
}

// plainInserts measures what the database itself takes for the simplest commit: one row of a table with one index.
func plainInserts(b *testing.B, s *server.Server, url string) {
	config := must.Get(pgxpool.ParseConfig(url))
	config.MaxConns = 16
	pool := must.Get(pgxpool.NewWithConfig(b.Context(), config))
	defer pool.Close()
	must.Get(pool.Exec(b.Context(), `CREATE TABLE IF NOT EXISTS plain (writer bigint, number bigint, value bytea, PRIMARY KEY (writer, number))`))
	must.Get(pool.Exec(b.Context(), `TRUNCATE plain`))
	measure(b, s, 16, b.N, func(w, i int) error {
		_, err := pool.Exec(b.Context(), `INSERT INTO plain VALUES ($1, $2, $3)`, w, i, []byte(value))
		return err
	})
}

func compareEngine(b *testing.B, s *server.Server, open func(b *testing.B, dir, space string) store.Engine) {
	dir := b.TempDir()
	e := open(b, dir, "bench")
	must.Do(b, put(b.Context(), e, "warm", "1"))
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprintf("put with %d writers", writers), func(b *testing.B) {
			measure(b, s, writers, b.N, func(w, i int) error { return put(b.Context(), e, fmt.Sprint(writers, w, i), value) })
		})
	}
	b.Run("put with 16 writers over 8 spaces", func(b *testing.B) {
		var engines []store.Engine
		for i := range 8 {
			one := open(b, b.TempDir(), fmt.Sprint("one", i))
			defer one.Close()
			engines = append(engines, one)
		}
		measure(b, s, 16, b.N, func(w, i int) error { return put(b.Context(), engines[w%8], fmt.Sprint(w, i), value) })
	})
	b.Run("batch of 100", func(b *testing.B) {
		measure(b, s, 1, b.N, func(_, i int) error {
			var batch store.Batch
			for k := range 100 {
				batch.Writes = append(batch.Writes, store.Write{Branch: 1, Key: key(fmt.Sprint("batch", i, k)), Value: []byte(value)})
			}
			_, err := e.Commit(b.Context(), batch)
			return err
		})
	})
	compareReads(b, s, e)
	forks := 0
	b.Run("fork", func(b *testing.B) { // the record of a branch, under conditions
		measure(b, s, 1, b.N, func(int, int) error {
			forks++
			record := store.Key{Namespace: "_", Collection: "_branches", Name: fmt.Sprint("fork", forks)}
			root := store.Lineage{{Branch: store.Catalogue, At: store.Latest}}
			_, err := e.Commit(b.Context(), store.Batch{Writes: []store.Write{{Branch: store.Catalogue, Key: record, Value: []byte(value)}}, Expect: []store.Expectation{{Lineage: root, Key: record}}})
			return err
		})
	})
	compareSearch(b, s, open(b, b.TempDir(), "search"))
	must.Do(b, e.Close())
	b.Run("start", func(b *testing.B) {
		measure(b, s, 1, min(b.N, 30), func(int, int) error { return open(b, dir, "bench").Close() })
	})
}

// compareReads measures reads of a key of which nothing was written on the branches between.
func compareReads(b *testing.B, s *server.Server, e store.Engine) {
	lineage := store.Lineage{{Branch: 1, At: store.Latest}}
	for depth := range 101 {
		if slices.Contains([]int{0, 10, 100}, depth) {
			b.Run(fmt.Sprintf("get at depth %d", depth), func(b *testing.B) {
				measure(b, s, 1, b.N, func(int, int) error {
					_, err := e.GetAt(b.Context(), lineage, []store.Key{key("warm")})
					return err
				})
			})
		}
		head := must.Get(e.Head(b.Context()))
		lineage = lineage.At(head.Version).Fork(store.BranchID(2 + depth))
		must.Get(e.Commit(b.Context(), store.Batch{Writes: []store.Write{{Branch: lineage[0].Branch, Key: key("own"), Value: []byte(value)}}}))
	}
}

const searched = 2000 // memories

// compareSearch measures a search by words, whose hits are read from the engine.
func compareSearch(b *testing.B, of *server.Server, e store.Engine) {
	s := must.Get(memory.Open(b.Context(), memory.Options{Engine: e, Index: search.New(search.Options{})}))
	a := s.As(memory.Caller{Agent: "bench", Rights: memory.FullRights()})
	words := []string{"walnut", "elm", "birch", "cedar", "rowan", "maple", "alder"}
	var items []memory.Item
	for i := range searched {
		text := fmt.Sprintf("%s by the %s, number %d", words[i%7], words[i/7%7], i)
		items = append(items, memory.Item{Key: fmt.Sprint("k", i), Value: []byte(strconv.Quote(text))})
	}
	for some := range slices.Chunk(items, 100) {
		must.Get(a.Store(b.Context(), memory.Location{}, some, memory.Write{}))
	}
	b.Run("search", func(b *testing.B) {
		measure(b, of, 1, b.N, func(_, i int) error {
			_, err := a.Search(b.Context(), memory.Search{Text: words[i%7] + " " + words[i%5], K: 10})
			return err
		})
	})
	must.Do(b, s.Close(b.Context()))
	must.Do(b, e.Close())
}

var value = string(slices.Repeat([]byte{'v'}, 200))

// measure has writers do something n times in all, and reports percentiles, the rate, and the processor time of this process and of the
// database, if there is one.
func measure(b *testing.B, s *server.Server, writers, n int, do func(w, i int) error) {
	b.Helper()
	var mu sync.Mutex
	var took []time.Duration
	var all sync.WaitGroup
	began, own, of := time.Now(), processor(b, nil), processor(b, s)
	for w := range writers {
		all.Go(func() {
			for i := range (n + writers - 1) / writers {
				at := time.Now()
				if err := do(w, i); err != nil {
					b.Errorf("operation %d of writer %d failed: %v", i, w, err)
					return
				}
				mu.Lock()
				took = append(took, time.Since(at))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(len(took))/time.Since(began).Seconds(), "/s")
	b.ReportMetric(float64((processor(b, nil)-own).Microseconds())/float64(len(took)), "cpu-µs")
	if s != nil {
		b.ReportMetric(float64((processor(b, s)-of).Microseconds())/float64(len(took)), "db-cpu-µs")
	}
	b.ReportMetric(0, "ns/op")
}

// processor returns the processor time of a server, or of this process.
func processor(b *testing.B, s *server.Server) (took time.Duration) {
	b.Helper()
	var err error
	if s == nil {
		took, err = server.ProcessorOf(os.Getpid())
	} else {
		took, err = s.Processor()
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		b.Fatalf("read how much processor time was taken: %v", err)
	}
	return took
}
