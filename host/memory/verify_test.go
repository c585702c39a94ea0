package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// tamperedIndex lets a test change what reaches an index.
type tamperedIndex struct {
	Index
	apply   atomic.Pointer[func(docs []search.Doc) []search.Doc] // nil: all of it
	unsaved atomic.Int64
	dropped atomic.Int64
}

func (x *tamperedIndex) Drop(b store.BranchID) {
	x.dropped.Add(1)
	x.Index.Drop(b)
}

// Prepare leaves documents to Apply, which may get others.
func (x *tamperedIndex) Prepare([]search.Doc) {}

func (x *tamperedIndex) Apply(docs ...search.Doc) {
	if apply := x.apply.Load(); apply != nil {
		docs = (*apply)(docs)
	}
	x.Index.Apply(docs...)
}

func (x *tamperedIndex) Unsave(ctx context.Context, from search.Blobs) error {
	x.unsaved.Add(1)
	return x.Index.Unsave(ctx, from)
}

func tampered(t *testing.T, now func() time.Time) (*Space, *tamperedIndex) {
	t.Helper()
	index := &tamperedIndex{Index: search.New(search.Options{Tail: 50})}
	s, closeSpace := openSpaceWith(t, t.TempDir(), now, index)
	t.Cleanup(closeSpace)
	return s, index
}

func verify(t *testing.T, s *Space) integrity.Report {
	t.Helper()
	v, err := s.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAVerifyPassesOverACommitThatHasNotReachedTheIndex(t *testing.T) {
	s, index := tampered(t, time.Now)
	put(t, s, "", "a", "there before")
	if err := s.Ready(t.Context()); err != nil { // or the fill of the index is what is held
		t.Fatal(err)
	}
	arrived, release := make(chan struct{}), make(chan struct{})
	hold := func(docs []search.Doc) []search.Doc {
		close(arrived)
		<-release
		return docs
	}
	index.apply.Store(&hold)
	stored := make(chan error, 1)
	go func() {
		_, err := s.Store(context.WithoutCancel(t.Context()), Location{}, []Item{{Key: "b", Value: json.RawMessage(`"on its way"`)}}, Write{})
		stored <- err
	}()
	<-arrived
	index.apply.Store(nil)
	v := verify(t, s)
	close(release)
	if err := <-stored; err != nil || len(v.Findings) != 0 || index.unsaved.Load() != 0 {
		t.Errorf("%+v, with files dropped %d times (%v)", v, index.unsaved.Load(), err)
	}
	if after := verify(t, s); len(after.Findings) != 0 {
		t.Errorf("afterwards: %+v", after)
	}
}

func TestAVerifyCountsMemoriesInAllStates(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "a", "active")
	put(t, s, "", "b", "set aside")
	if _, err := s.SetState(t.Context(), Location{}, []string{"b"}, Archived, Write{}); err != nil {
		t.Fatal(err)
	}
	if v := verify(t, s); len(v.Findings) != 0 {
		t.Errorf("Verify = %+v, want no findings", v)
	}
}

// busy is clients that write in every way there is until each has done so many operations.
type busy struct {
	t     *testing.T
	space *Space
	clock atomic.Int64 // ns since the epoch
}

func (b *busy) now() time.Time { return time.Unix(0, b.clock.Add(int64(time.Second))) }

// ok reports errors other than those that clients who meet may be told.
func (b *busy) ok(err error) {
	var known *Error
	if err != nil && !(errors.As(err, &known) && (known.Code == NotFound || known.Code == Conflict || known.Code == InvalidArgument)) {
		b.t.Error(err)
	}
}

func (b *busy) store(branch, key, value string, expires time.Time) {
	_, err := b.space.Store(b.t.Context(), Location{Branch: branch}, []Item{{Key: key, Value: json.RawMessage(`"` + value + `"`), ExpiresAt: expires}}, Write{})
	b.ok(err)
}

func (b *busy) client(id, operations int) {
	ctx, r := b.t.Context(), rand.New(rand.NewPCG(7, uint64(id)))
	for n := range operations {
		own := fmt.Sprintf("c%d-%d", id, n)
		shared := fmt.Sprint("shared", r.IntN(20))
		switch r.IntN(12) {
		case 0, 1, 2:
			b.store("", own, "new tea "+own, time.Time{})
		case 3, 4:
			b.store("", shared, "tea again "+own, time.Time{})
		case 5:
			_, err := b.space.Forget(ctx, Location{}, []string{shared}, Write{})
			b.ok(err)
		case 6:
			_, err := b.space.SetState(ctx, Location{}, []string{shared}, Archived, Write{})
			b.ok(err)
		case 7:
			b.store("", "passing"+own, "tea for a while", time.Unix(0, b.clock.Load()).Add(time.Duration(r.IntN(300)+1)*time.Second))
		case 8:
			_, err := b.space.Append(ctx, Location{}, "drank", json.RawMessage(`"tea"`), Write{})
			b.ok(err)
		case 9, 10:
			b.fork(ctx, own, shared, r.IntN(2) == 0)
		case 11:
			b.care(ctx, r.IntN(2), own)
		}
	}
}

// fork forks, writes there, merges perhaps, and deletes the fork.
func (b *busy) fork(ctx context.Context, own, shared string, merge bool) {
	_, err := b.space.Fork(ctx, "", own, AsOf{}, Write{})
	b.ok(err)
	b.store(own, shared, "tea on "+own, time.Time{})
	b.store(own, own, "tea on a fork", time.Time{})
	if merge {
		_, err := b.space.Merge(ctx, Merge{Source: own, Strategy: Newest}, Write{})
		b.ok(err)
	}
	b.ok(b.space.Delete(ctx, own, Write{}))
}

func (b *busy) care(ctx context.Context, which int, own string) {
	if which == 0 {
		_, err := b.space.Trim(ctx, "", AsOf{})
		b.ok(err)
		return
	}
	b.store("", "secret"+own, "a secret of "+own, time.Time{})
	_, err := b.space.Purge(ctx, purge.Request{Key: "secret" + own})
	b.ok(err)
}

func TestVerifyRaisesNoFalseAlarmWhileClientsWrite(t *testing.T) {
	b := &busy{t: t}
	b.clock.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	s, index := tampered(t, b.now)
	b.space = s
	var clients sync.WaitGroup
	for id := range 5 {
		clients.Go(func() { b.client(id, 120) })
	}
	done := make(chan struct{})
	go func() { clients.Wait(); close(done) }()
	verifies, least := 0, 200
	if testing.Short() {
		least = 40 // and as many as fit while the clients write
	}
	for writing := true; writing || verifies < least; verifies++ {
		select {
		case <-done:
			writing = false
		default:
		}
		if v, err := s.Verify(t.Context()); err != nil || len(v.Findings) != 0 {
			t.Errorf("verify %d: %+v (%v)", verifies, v.Findings, err)
			break
		}
	}
	<-done
	t.Logf("%d verifies", verifies)
	if !s.upkeep.IsTrusted() {
		t.Error("the index is not saved any more")
	}
	if err := s.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	index.unsaved.Store(0)
	if v := verify(t, s); len(v.Findings) != 0 || index.unsaved.Load() != 0 {
		t.Errorf("when all is quiet: %+v", v)
	}
}

func TestADamagedIndexIsFoundWhileClientsWrite(t *testing.T) {
	for name, tamper := range map[string]struct {
		apply func(docs []search.Doc) []search.Doc
		says  string
	}{
		"a version is missing": {func(docs []search.Doc) []search.Doc {
			return slices.DeleteFunc(docs, func(d search.Doc) bool { return d.Key == "lost" })
		}, "1 versions are not in the index"},
		"a memory too many": {func(docs []search.Doc) []search.Doc {
			if len(docs) == 1 && docs[0].Key == "lost" {
				more := docs[0]
				more.Key = "never stored"
				return append(docs, more)
			}
			return docs
		}, "the index has"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &busy{t: t}
			b.clock.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
			s, index := tampered(t, b.now)
			b.space = s
			index.apply.Store(&tamper.apply)
			put(t, s, "", "lost", "tea that is lost")
			var clients sync.WaitGroup
			for id := range 4 {
				clients.Go(func() {
					for n := range 100 {
						b.store("", fmt.Sprintf("c%d-%d", id, n), "tea", time.Time{})
						b.store("", fmt.Sprint("shared", n%7), fmt.Sprintf("tea %d %d", id, n), time.Time{})
					}
				})
			}
			v := verify(t, s)
			clients.Wait()
			found := slices.ContainsFunc(v.Findings, func(f integrity.Finding) bool { return strings.Contains(f.What, tamper.says) })
			if !found || s.upkeep.IsTrusted() || index.unsaved.Load() == 0 {
				t.Errorf("%+v; the index is trusted: %t", v.Findings, s.upkeep.IsTrusted())
			}
		})
	}
}

// trimmingEngine trims a branch each time that it was listed.
type trimmingEngine struct {
	store.Engine
	after func()
}

func (e *trimmingEngine) ScanAt(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) ([]store.Entry, store.Cursor, error) {
	if e.after != nil {
		e.after()
	}
	return e.Engine.ScanAt(ctx, l, r, c, limit)
}

func TestABranchThatIsTrimmedWhileItIsCountedIsCountedAgain(t *testing.T) {
	s := testSpace(t)
	if err := s.WaitIdle(t.Context()); err != nil { // what reads the engine
		t.Fatal(err)
	}
	put(t, s, "", "k", "one")
	engine := &trimmingEngine{Engine: s.engine}
	s.engine = engine
	trims := 0
	engine.after = func() {
		if trims++; trims > 3 {
			return
		}
		put(t, s, "", "k", fmt.Sprint("again ", trims))
		if _, err := s.Trim(t.Context(), "", AsOf{}); err != nil {
			t.Error(err)
		}
	}
	if v := verify(t, s); len(v.Findings) != 0 || trims < 4 {
		t.Errorf("%+v after %d trims", v, trims)
	}
	trims = -1 << 30
	if v := verify(t, s); len(v.Findings) != 1 || v.Findings[0].Do != "run alcove verify again" || !s.upkeep.IsTrusted() {
		t.Errorf("trimmed all the time: %+v", v)
	}
	engine.after = nil
}

func TestASearchMissesNothingWhileTheIndexCatchesUpWithATrimmedBranch(t *testing.T) {
	s, index := tampered(t, time.Now)
	put(t, s, "", "k", "tea")
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Trim(t.Context(), "", AsOf{}); err != nil {
		t.Fatal(err)
	}
	if err := s.upkeep.CatchUp(t.Context(), 1, 1); err != nil || index.dropped.Load() != 0 {
		t.Errorf("the branch was dropped %d times from the index (%v)", index.dropped.Load(), err)
	}
	if v := verify(t, s); len(v.Findings) != 0 {
		t.Errorf("Verify = %+v, want no findings", v)
	}
}

// readingEngine counts the entries that are read.
type readingEngine struct {
	store.Engine
	read int
}

func (e *readingEngine) Collections(ctx context.Context, b store.BranchID) ([]store.Key, error) {
	return e.Engine.(store.Collecting).Collections(ctx, b)
}

func (e *readingEngine) GetAt(ctx context.Context, l store.Lineage, keys []store.Key) ([]store.Entry, error) {
	e.read += len(keys)
	return e.Engine.GetAt(ctx, l, keys)
}

func (e *readingEngine) ScanAt(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) ([]store.Entry, store.Cursor, error) {
	page, next, err := e.Engine.ScanAt(ctx, l, r, c, limit)
	e.read += len(page)
	return page, next, err
}

func (e *readingEngine) Versions(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) ([]store.Entry, store.Cursor, error) {
	page, next, err := e.Engine.Versions(ctx, l, r, c, limit)
	e.read += len(page)
	return page, next, err
}

// ofMany fills a space with linked memories, events, and branches that add a memory and an event each.
func ofMany(t testing.TB, s *Space, memories, branches int) {
	t.Helper()
	if err := s.indexes.KeepLinks(t.Context()); err != nil {
		t.Fatal(err)
	}
	items := make([]Item, memories)
	for i := range items {
		items[i] = Item{Key: fmt.Sprint("k", i), Value: json.RawMessage(`"tea"`), Links: []string{"cup"}}
	}
	for page := range slices.Chunk(items, 100) {
		if _, err := s.Store(t.Context(), Location{}, page, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	log := func(branch string) {
		if _, err := s.Append(t.Context(), Location{Branch: branch}, "drank", json.RawMessage(`"tea"`), Write{}); err != nil {
			t.Fatal(err)
		}
	}
	log("")
	for i := range branches {
		name := fmt.Sprint("b", i)
		fork(t, s, "", name)
		put(t, s, name, "own", "tea "+name)
		log(name)
	}
	settled(t, s)
}

// Branches are cheap to make: a verify reads what each has of its own, and not for each what it inherits.
func TestAVerifyReadsWhatBranchesShareOnce(t *testing.T) {
	const memories, few, many, each = 400, 5, 25, 12 // each: entries of a branch, read in several ways
	read := map[int]int{}
	for _, branches := range []int{few, many} {
		s := testSpace(t)
		ofMany(t, s, memories, branches)
		engine := &readingEngine{Engine: s.engine}
		s.engine = engine
		v := verify(t, s)
		s.engine = engine.Engine
		if len(v.Findings) != 0 || v.Events != branches+1 {
			t.Errorf("with %d branches: %d events and %+v, want %d and nothing", branches, v.Events, v.Findings, branches+1)
		}
		read[branches] = engine.read
	}
	if more := read[many] - read[few]; more > (many-few)*each {
		t.Errorf("%d entries are read with %d branches, and %d with %d: want at most %d more for each", read[few], few, read[many], many, each)
	}
}

func TestAVerifyFindsABrokenLogOfADeletedBranchThatOthersDescendFrom(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "tea")
	fork(t, s, "", "middle")
	for range 3 {
		if _, err := s.Append(t.Context(), Location{Branch: "middle"}, "drank", json.RawMessage(`"tea"`), Write{}); err != nil {
			t.Fatal(err)
		}
	}
	middle := s.catalogue.Named("middle").ID
	lost := store.Key{Namespace: Default, Collection: events, Name: store.SequenceName(2)}
	if _, err := s.engine.Commit(t.Context(), store.Batch{Writes: []store.Write{{Branch: middle, Key: lost, Delete: true}}}); err != nil {
		t.Fatal(err)
	}
	fork(t, s, "middle", "leaf")
	if err := s.Delete(t.Context(), "middle", Write{}); err != nil {
		t.Fatal(err)
	}
	if err := s.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := verify(t, s)
	if !slices.ContainsFunc(v.Findings, func(f integrity.Finding) bool { return strings.Contains(f.What, "event 2 is missing") }) {
		t.Errorf("got %+v, want that event 2 is missing", v.Findings)
	}
}

func TestAVerifyFindsAForksLogThatDoesNotContinueWhatItInherited(t *testing.T) {
	s := testSpace(t)
	drank := func(branch string) {
		if _, err := s.Append(t.Context(), Location{Branch: branch}, "drank", json.RawMessage(`"tea"`), Write{}); err != nil {
			t.Fatal(err)
		}
	}
	drank("")
	fork(t, s, "", "side")
	drank("side")
	drank("side")
	first := store.Key{Namespace: Default, Collection: events, Name: store.SequenceName(2)}
	if _, err := s.engine.Commit(t.Context(), store.Batch{Writes: []store.Write{{Branch: s.catalogue.Named("side").ID, Key: first, Delete: true}}}); err != nil {
		t.Fatal(err)
	}
	v := verify(t, s)
	if !slices.ContainsFunc(v.Findings, func(f integrity.Finding) bool {
		return strings.Contains(f.What, "branch side, namespace default: verify log: event 2 is missing")
	}) {
		t.Errorf("got %+v, want that event 2 of the branch side is missing", v.Findings)
	}
}

func TestAVerifyFindsEntriesThatAnIndexLacksForForksAlone(t *testing.T) {
	s := testSpace(t)
	if err := s.indexes.KeepLinks(t.Context()); err != nil {
		t.Fatal(err)
	}
	store := func(links ...string) {
		if _, err := s.Store(t.Context(), Location{}, []Item{{Key: "tea", Value: json.RawMessage(`1`), Links: links}}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	store("cup")
	settled(t, s)
	loseEntries(t, s, memories, nil)
	fork(t, s, "", "side")
	store() // the parent has nothing to index any more
	v := verify(t, s)
	if len(v.Findings) != 1 || !strings.Contains(v.Findings[0].What, "the indexes of memory lack 1 entries") {
		t.Errorf("got %+v, want that the index lacks what the fork inherited", v.Findings)
	}
}

func BenchmarkVerifyOfManyBranches(b *testing.B) {
	s := testSpace(b)
	ofMany(b, s, 5000, 400)
	for b.Loop() {
		if v, err := s.Verify(b.Context()); err != nil || len(v.Findings) != 0 {
			b.Fatalf("Verify = %+v, %v, want no findings", v.Findings, err)
		}
	}
}
