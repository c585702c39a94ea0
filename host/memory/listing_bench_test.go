package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// fillListed fills a space with memories, of each hundred of which one is of a type, has a field and was recalled.
func fillListed(b *testing.B, s *Space, memories int) {
	b.Helper()
	full := s.As(Caller{Agent: "ann", Rights: FullRights()})
	for from := 0; from < memories; from += 1000 {
		items := make([]Item, 1000)
		var recalled []string
		for i := range items {
			n := from + i
			importance := float64(n*7919%1000) / 1000
			items[i] = Item{Key: fmt.Sprintf("key-%07d", n*7919%memories), Value: fmt.Appendf(nil, `"memory %d of green tea"`, n), Type: fmt.Sprint("type", n%100),
				Tags: []string{fmt.Sprint("tag", n%7)}, Importance: &importance, Metadata: map[string]json.RawMessage{"session": fmt.Appendf(nil, `"s%d"`, n%100)}}
			if n%10 == 0 {
				recalled = append(recalled, items[i].Key)
			}
		}
		if _, err := full.Store(b.Context(), Location{}, items, Write{}); err != nil {
			b.Fatal(err)
		}
		for _, key := range recalled {
			s.counters.touch(must(s.branch(Default)), memoryKey(Default, key), 1, 0)
		}
	}
	if err := s.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := s.Ready(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkListing lists the first hundred memories of those that a filter admits, one of a hundred unless the name says
// otherwise, on a branch, on a fork and at past versions, and compares it with reading everything:
//
//	go test ./host/memory -run '^$' -bench 'BenchmarkListing/100000' -benchtime 20x
//	go test ./host/memory -run '^$' -bench 'BenchmarkListing/1000000' -benchtime 5x -timeout 60m
func BenchmarkListing(b *testing.B) {
	for _, memories := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(memories), func(b *testing.B) {
			s, closeSpace := openSpace(b, b.TempDir(), time.Now)
			b.Cleanup(closeSpace)
			fillListed(b, s, memories)
			fork(b, s, "", "fork")
			put(b, s, "fork", "key-0000001", "changed")
			benchmarkListings(b, s)
		})
	}
}

func benchmarkListings(b *testing.B, s *Space) {
	one := int64(1)
	typed := Filter{Types: []string{"type42"}}
	for _, c := range []struct {
		name   string
		branch string
		l      Listing
	}{
		{"by importance", "", Listing{Filter: typed, Order: ByImportance}},
		{"by key", "", Listing{Filter: typed}},
		{"by creation", "", Listing{Filter: typed, Order: ByNewest}},
		{"by accesses", "", Listing{Filter: typed, Order: ByAccesses}},
		{"by a field", "", Listing{Filter: Filter{Fields: []FieldTest{{Field: "metadata.session", Equals: json.RawMessage(`"s42"`)}}}, Order: ByUpdate}},
		{"recalled ones, one in ten", "", Listing{Filter: Filter{Accesses: Range[int64]{Min: &one}}, Order: ByAccess}},
		{"all, by creation", "", Listing{Order: ByNewest}},
		{"count", "", Listing{Filter: typed, Count: CountOnly}},
		{"count of all", "", Listing{Count: CountOnly}},
		{"fork by importance", "fork", Listing{Filter: typed, Order: ByImportance}},
	} {
		c.l.Limit = 100
		st := stage(b, s, c.branch)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := st.Select(b.Context(), c.l); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	benchmarkPast(b, s, typed)
	for name, l := range map[string]Listing{"scan by importance": {Filter: typed, Order: ByImportance, Limit: 100}, "scan to count": {Filter: typed, Count: CountOnly}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				scanned(b, stage(b, s, ""), l)
			}
		})
	}
}

// scanned lists by reading everything.
func scanned(b *testing.B, st *Stage, l Listing) {
	q, err := st.listing(b.Context(), l)
	if err == nil {
		err = q.collect(b.Context(), q.byScan)
	}
	if err == nil {
		_, _, err = q.page(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
}

// benchmarkPast lists at versions that nobody asked for before, and at one that somebody did.
func benchmarkPast(b *testing.B, s *Space, typed Filter) {
	head := must(s.engine.Head(context.Background()))
	at := func(b *testing.B, version uint64) {
		st, err := s.As(Caller{Rights: FullRights()}).StageAt(b.Context(), "", AsOf{Version: version})
		if err == nil {
			_, err = st.Select(b.Context(), Listing{Filter: typed, Order: ByImportance, Limit: 100})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("a past version for the first time", func(b *testing.B) {
		version := head.Version - 2
		for b.Loop() {
			if version--; version < head.Version/2 {
				version = head.Version - 2
			}
			at(b, version)
		}
	})
	b.Run("a past version again", func(b *testing.B) {
		for b.Loop() {
			at(b, head.Version-10)
		}
	})
}
