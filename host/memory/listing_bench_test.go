package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/must"
)

// listedSpace is a space with memories for listings, and what filters of one in a hundred ask of it.
type listedSpace struct {
	*Space
	memories int
	late     time.Time // the last hundredth is written from then on
	recently time.Time // the last hundredth of recalls is from then on
}

// benchMemories is how many memories listings are measured on: ALCOVE_BENCH_MEMORIES, or 100,000.
func benchMemories(b *testing.B) int {
	text := os.Getenv("ALCOVE_BENCH_MEMORIES")
	if text == "" {
		b.Log("100,000 memories; ALCOVE_BENCH_MEMORIES=1000000 measures a million")
		return 100_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 10_000 || n%10_000 != 0 {
		b.Fatalf("ALCOVE_BENCH_MEMORIES=%s is no multiple of 10000", text)
	}
	return n
}

// fillListed fills a space with memories, of each hundred of which one is of a type, has a field, a tag, a state and an author, and
// expires. One in ten was recalled.
func fillListed(b *testing.B, memories int) *listedSpace {
	b.Helper()
	var clock atomic.Int64
	clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
	now := func() time.Time { return time.UnixMicro(clock.Load()).UTC() }
	space, closeSpace := openSpace(b, b.TempDir(), now)
	b.Cleanup(closeSpace)
	s := &listedSpace{Space: space, memories: memories}
	batch := memories / 100
	for from := 0; from < memories; from += batch {
		clock.Add(int64(time.Minute / time.Microsecond))
		if from == memories-batch {
			s.late = now()
		}
		for agent := range 10 {
			s.fill(b, fmt.Sprint("agent", agent), from+agent*batch/10, from+(agent+1)*batch/10, now())
		}
		if err := s.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	s.recently = s.late
	clock.Add(int64(2 * time.Hour / time.Microsecond))
	if err := s.Ready(b.Context()); err != nil {
		b.Fatal(err)
	}
	fork(b, space, "", "fork")
	put(b, space, "fork", "key-0000001", "changed")
	return s
}

func (s *listedSpace) fill(b *testing.B, agent string, from, to int, now time.Time) {
	items := make([]Item, 0, to-from)
	var recalled []string
	for n := from; n < to; n++ {
		importance := float64(n*7919%1000) / 1000
		it := Item{Key: fmt.Sprintf("key-%07d", n*7919%s.memories), Value: fmt.Appendf(nil, `"memory %d of green tea"`, n), Type: fmt.Sprint("type", n%100),
			Tags: []string{fmt.Sprint("tag", n%7), fmt.Sprint("rare", n%100)}, Importance: &importance, Metadata: map[string]json.RawMessage{"session": fmt.Appendf(nil, `"s%d"`, n%100)}}
		if n%100 == 17 {
			it.State, it.ExpiresAt = Archived, now.Add(time.Hour)
		}
		if n%10 == 0 {
			recalled = append(recalled, it.Key)
		}
		items = append(items, it)
	}
	for batch := range slices.Chunk(items, 1000) {
		if _, err := s.As(Caller{Agent: agent, Rights: FullRights()}).Store(b.Context(), Location{}, batch, Write{}); err != nil {
			b.Fatal(err)
		}
	}
	for i, key := range recalled {
		s.counters.Touch(must.Get(s.branch(Default)), memoryKey(Default, key), 1+int64(i%10), float64(i%5-2)/5)
	}
}

// listingCase is a listing to measure.
type listingCase struct {
	name   string
	branch string
	l      Listing
}

// cases are listings by every filter and order; a filter admits one in a hundred unless its name says otherwise.
func (s *listedSpace) cases() []listingCase {
	typed := Filter{Types: []string{"type42"}}
	prefix := fmt.Sprintf("key-%07d", s.memories/2)
	prefix = prefix[:len(prefix)-len(strconv.Itoa(s.memories))+3]
	list := []listingCase{
		{"one type", "", Listing{Filter: typed}},
		{"one tag", "", Listing{Filter: Filter{Tags: []string{"rare42"}}}},
		{"one tag of two", "", Listing{Filter: Filter{AnyTags: []string{"rare42", "rare43"}}}},
		{"all but one tag", "", Listing{Filter: Filter{NoTags: []string{"rare42"}}}},
		{"one state", "", Listing{Filter: Filter{States: []State{Archived}, Expiry: WithExpired}}},
		{"one writer, one in ten", "", Listing{Filter: Filter{Writers: []string{"agent3"}}}},
		{"a prefix", "", Listing{Filter: Filter{Prefix: prefix}}},
		{"a field", "", Listing{Filter: Filter{Fields: []FieldTest{{Field: "metadata.session", Equals: json.RawMessage(`"s42"`)}}}}},
		{"a field that all have", "", Listing{Filter: Filter{Fields: []FieldTest{{Field: "metadata.session"}}}}},
		{"a field that none has", "", Listing{Filter: Filter{Fields: []FieldTest{{Field: "metadata.other"}}}}},
		{"importance", "", Listing{Filter: Filter{Importance: Range[float64]{Min: pointer(.99)}}}},
		{"created lately", "", Listing{Filter: Filter{Created: Span{Since: s.late}}}},
		{"updated before", "", Listing{Filter: Filter{Updated: Span{Until: s.late.Add(-98 * time.Minute)}}}},
		{"expired", "", Listing{Filter: Filter{Expiry: OnlyExpired}}},
		{"accessed lately, one in a thousand", "", Listing{Filter: Filter{Accessed: Span{Since: s.recently}}}},
		{"accesses, one in ten", "", Listing{Filter: Filter{Accesses: Range[int64]{Min: pointer(int64(1))}}}},
		{"never accessed, nine in ten", "", Listing{Filter: Filter{Accesses: Range[int64]{Max: pointer(int64(0))}}}},
		{"health", "", Listing{Filter: Filter{Health: Range[float64]{Min: pointer(.3)}}}},
		{"recalled ones by access, one in ten", "", Listing{Filter: Filter{Accesses: Range[int64]{Min: pointer(int64(1))}}, Order: ByAccess}},
		{"all, second half", "", Listing{Order: ByNewest, After: "half"}},
		{"fork, one type by importance", "fork", Listing{Filter: typed, Order: ByImportance}},
		{"fork, all by importance", "fork", Listing{Order: ByImportance}},
		{"count of one type", "", Listing{Filter: typed, Count: CountOnly}},
		{"count of all", "", Listing{Count: CountOnly}},
		{"count beside a page of all", "", Listing{Count: CountAlso, Order: ByNewest}},
		{"count of one importance", "", Listing{Filter: Filter{Importance: Range[float64]{Min: pointer(.99)}}, Count: CountOnly}},
		{"count of recalled ones, one in ten", "", Listing{Filter: Filter{Accesses: Range[int64]{Min: pointer(int64(1))}}, Count: CountOnly}},
	}
	for _, order := range []Order{ByKey, ByNewest, ByOldest, ByUpdate, ByImportance, ByAccesses, ByAccess} {
		list = append(list, listingCase{"one type by " + string(order), "", Listing{Filter: typed, Order: order}}, listingCase{"all by " + string(order), "", Listing{Order: order}})
	}
	return list
}

// BenchmarkListing lists the first hundred memories that a filter admits, by every filter and order, and compares each page with a
// read of everything; beyond 100,000 memories, each eighth page. It prints the median, the CPU time, the time of the first listing, which may sort a column, and how many times
// longer the read of everything takes in the same run:
//
//	go test ./host/memory -run '^$' -bench BenchmarkListing -benchtime 20x -timeout 60m
//	ALCOVE_BENCH_MEMORIES=1000000 go test ./host/memory -run '^$' -bench BenchmarkListing -benchtime 20x -timeout 120m
func BenchmarkListing(b *testing.B) {
	s := fillListed(b, benchMemories(b))
	var all scanFigures
	for i, c := range s.cases() {
		c.l.Limit = 100
		st := stage(b, s.Space, c.branch)
		if c.l.After != "" {
			c.l.After = s.middle(b, st, c.l)
		}
		if s.memories > 100_000 && i%8 != 0 { // all take the same time
			all.page = nil
		} else {
			all = measureScan(b, st, c.l)
		}
		b.Run(c.name, func(b *testing.B) { compareWithScan(b, st, c.l, all) })
	}
	s.benchmarkPast(b)
}

// middle is where a listing has its second half.
func (s *listedSpace) middle(b *testing.B, st *Stage, l Listing) string {
	l.After = ""
	q, err := st.listing(b.Context(), l)
	if err != nil {
		b.Fatal(err)
	}
	q.Limit = s.memories / 2
	middle := s.late.Add(-50 * time.Minute).UnixMicro()
	return cursor{q.digest, q.view.version, q.Began, q.view.now, middle, ""}.String()
}

// scanFigures are what a read of everything took and found.
type scanFigures struct {
	took, cpu time.Duration
	page      *Listed // nil: of another listing
}

func measureScan(b *testing.B, st *Stage, l Listing) scanFigures {
	began, used := time.Now(), usedCPU()
	page := scanned(b, st, l)
	return scanFigures{time.Since(began), usedCPU() - used, &page}
}

func compareWithScan(b *testing.B, st *Stage, l Listing, all scanFigures) {
	began := time.Now()
	if _, err := st.Select(b.Context(), l); err != nil { // it may sort a column
		b.Fatal(err)
	}
	first := time.Since(began)
	var took []time.Duration
	used := usedCPU()
	for b.Loop() {
		began := time.Now()
		got, err := st.Select(b.Context(), l)
		if took = append(took, time.Since(began)); err != nil || all.page != nil && !reflect.DeepEqual(got, *all.page) {
			b.Fatalf("%d memories of %d are not those of a read of everything: %v", len(got.Memories), got.Total, err)
		}
	}
	listed := (usedCPU() - used) / time.Duration(len(took))
	slices.Sort(took)
	p50 := took[len(took)/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(p50.Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
	b.ReportMetric(float64(first.Microseconds())/1000, "first-ms")
	b.ReportMetric(float64(listed.Microseconds())/1000, "cpu-ms")
	b.ReportMetric(float64(all.took)/float64(p50), "scan/p50")
	b.ReportMetric(float64(all.cpu)/float64(max(1, listed)), "scan/listing-cpu")
}

// scanned lists by reading everything.
func scanned(b testing.TB, st *Stage, l Listing) Listed {
	q, err := st.listing(b.Context(), l)
	if err == nil {
		err = q.collect(b.Context(), q.byScan)
	}
	var page Listed
	if err == nil {
		page, _, err = q.page(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
	return page
}

// benchmarkPast lists at versions that nobody asked for before, and at one that somebody did.
func (s *listedSpace) benchmarkPast(b *testing.B) {
	head := must.Get(s.engine.Head(context.Background()))
	at := func(b *testing.B, version uint64) {
		st, err := s.As(Caller{Rights: FullRights()}).StageAt(b.Context(), "", AsOf{Version: version})
		if err == nil {
			_, err = st.Select(b.Context(), Listing{Filter: Filter{Types: []string{"type42"}}, Order: ByImportance, Limit: 100})
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

// BenchmarkBrowse lists by each order without a query, the first page and the one after it, in all namespaces:
//
//	go test ./host/memory -run '^$' -bench BenchmarkBrowse -benchtime 20x
func BenchmarkBrowse(b *testing.B) {
	s := fillListed(b, benchMemories(b))
	for _, order := range []Order{ByNewest, ByKey, ByImportance, ByAccesses} {
		for name, q := range map[string]Search{"all": {}, "tagged": {Tags: []string{"rare42"}}, "one namespace": {Namespaces: []string{Default}}} {
			q.Order, q.K = order, 10
			first, err := s.Search(b.Context(), q) // sorts a column
			if err != nil || first.Next == "" {
				b.Fatalf("the first page has no next: %v", err)
			}
			for page, after := range map[string]string{"first": "", "second": first.Next} {
				b.Run(fmt.Sprintf("%s/%s/%s", order, name, page), func(b *testing.B) {
					q := q
					for q.After = after; b.Loop(); {
						if _, err := s.Search(b.Context(), q); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
