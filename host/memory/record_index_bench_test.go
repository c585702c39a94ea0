package memory

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// benchSpace is a space on disk whose commits are not synced: what is compared is the work.
func benchSpace(b *testing.B) *Space {
	b.Helper()
	engine, err := bolt.Open(b.Context(), b.TempDir(), bolt.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	s, err := Open(b.Context(), Options{Engine: engine, Index: search.New(search.Options{}), Limits: Limits{StageReads: 1 << 30}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = s.Close(b.Context())
		_ = engine.Close()
	})
	return s
}

func benchIndexes(n int) []query.Index {
	return []query.Index{{{Path: "group", Type: query.Number}, {Path: "n", Type: query.Number}}, {{Path: "n", Type: query.Number}}, {{Path: "name", Type: query.String}}}[:n]
}

func benchRecord(i int) json.RawMessage {
	return fmt.Appendf(nil, `{"group":%d,"n":%d,"name":"name %d","text":"some words that a record has beside its fields"}`, i%1000, i, i*7919%100_000)
}

func fillRecords(b *testing.B, s *Space, c Collection, n int) {
	b.Helper()
	s.DeclareIndexes(c)
	for i := 0; i < n; {
		st := stage(b, s, "")
		for range 10_000 {
			if i < n {
				keepIn(b, st, c, fmt.Sprintf("%08d", i), string(benchRecord(i)))
				i++
			}
		}
		stageCommit(b, st, Commit{})
	}
}

// scannedRecords is what a family did before there were indexes: it listed everything, and chose.
func scannedRecords(b *testing.B, st *Stage, c Collection, group int) (found int) {
	b.Helper()
	for after, first := "", true; first || after != ""; first = false {
		page, next, err := st.ListRecords(b.Context(), c, "", "", after, 1000)
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range page {
			var v struct{ Group int }
			if err := json.Unmarshal(r.Value, &v); err != nil {
				b.Fatal(err)
			}
			if v.Group == group {
				found++
			}
		}
		after = next
	}
	return found
}

// BenchmarkRecordsAreFound compares an index with a scan in one run. ALCOVE_BENCH_RECORDS is how many records there are; 100,000
// without it.
func BenchmarkRecordsAreFound(b *testing.B) {
	n, _ := strconv.Atoi(os.Getenv("ALCOVE_BENCH_RECORDS"))
	if n == 0 {
		n = 100_000
	}
	s := benchSpace(b)
	c := Collection{Name: "fam/things", Indexes: benchIndexes(1)}
	began := time.Now()
	fillRecords(b, s, c, n)
	b.Logf("%d records were put in %v", n, time.Since(began))
	q := query.Query{Order: "n", Descending: true, Limit: 20, Filters: []query.Filter{{Field: "group", Op: query.Equal, Value: json.RawMessage(`7`)}}}
	b.Run("a page of 20 by an index", func(b *testing.B) {
		for b.Loop() {
			if page, err := stage(b, s, "").QueryRecords(b.Context(), c, "", q); err != nil || len(page.Records) != 20 {
				b.Fatalf("QueryRecords = %d records, %v, want 20", len(page.Records), err)
			}
		}
	})
	b.Run("and a count", func(b *testing.B) {
		counted := q
		counted.Count = true
		for b.Loop() {
			if page, err := stage(b, s, "").QueryRecords(b.Context(), c, "", counted); err != nil || page.Total != n/1000 {
				b.Fatalf("QueryRecords counts %d, %v, want %d", page.Total, err, n/1000)
			}
		}
	})
	b.Run("a scan", func(b *testing.B) {
		for b.Loop() {
			if found := scannedRecords(b, stage(b, s, ""), c, 7); found != n/1000 {
				b.Fatalf("the scan finds %d, want %d", found, n/1000)
			}
		}
	})
}

func BenchmarkARecordIsPutWithIndexes(b *testing.B) {
	for _, indexes := range []int{0, 1, 3} {
		b.Run(fmt.Sprint(indexes, " indexes"), func(b *testing.B) {
			s := benchSpace(b)
			c := Collection{Name: "fam/things", Indexes: benchIndexes(indexes)}
			fillRecords(b, s, c, 20_000)
			for i := 0; b.Loop(); i++ {
				st := stage(b, s, "")
				keepIn(b, st, c, fmt.Sprintf("%08d", i%20_000), string(benchRecord(i+1)))
				stageCommit(b, st, Commit{})
			}
		})
	}
}

func BenchmarkLinksBack(b *testing.B) {
	s := benchSpace(b)
	const n = 100_000
	for i := 0; i < n; {
		var items []Item
		for range 1000 {
			items = append(items, Item{Key: fmt.Sprintf("%06d", i), Value: json.RawMessage(`"x"`), Links: []string{fmt.Sprintf("%06d", i%5000), "hub"}})
			i++
		}
		if _, err := s.Store(b.Context(), Location{}, items, Write{}); err != nil {
			b.Fatal(err)
		}
	}
	began := time.Now()
	if err := s.indexes.KeepLinks(b.Context()); err != nil {
		b.Fatal(err)
	}
	settled(b, s)
	b.Logf("the index of %d links was built in %v", 2*n, time.Since(began))
	for name, q := range map[string]LinkQuery{"20 of 100000": {To: Ref{Namespace: "default", Key: "000007"}}, "a page of 100 of a hub": {To: Ref{Namespace: "default", Key: "hub"}, Limit: 100}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if list, _, err := stage(b, s, "").LinkedFrom(b.Context(), q); err != nil || len(list) < 20 {
					b.Fatalf("LinkedFrom = %d links, %v, want 20 or more", len(list), err)
				}
			}
		})
	}
	b.Run("a scan", func(b *testing.B) {
		for b.Loop() {
			found := 0
			for m, err := range store.Entries(b.Context(), s.engine.ScanAt, s.catalogue.Named(Default).Lineage, store.Range{Namespace: "default", Collection: memories}, fillPage) {
				if err != nil {
					b.Fatal(err)
				}
				if r, err := record.Decode(m); err == nil && len(r.Links) > 0 && r.Links[0] == "000007" {
					found++
				}
			}
			if found != 20 {
				b.Fatalf("the scan finds %d, want 20", found)
			}
		}
	})
}

// BenchmarkAMemoryIsStoredBesideAnIndexOfLinks shows what memories without links pay for it: nothing before somebody asks for links.
func BenchmarkAMemoryIsStoredBesideAnIndexOfLinks(b *testing.B) {
	for _, kept := range []bool{false, true} {
		b.Run(fmt.Sprintf("kept=%t", kept), func(b *testing.B) {
			s := benchSpace(b)
			if kept {
				if err := s.indexes.KeepLinks(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			for i := 0; b.Loop(); i++ {
				if _, err := s.Store(b.Context(), Location{}, []Item{{Key: fmt.Sprint(i), Value: json.RawMessage(`"some words"`)}}, Write{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
