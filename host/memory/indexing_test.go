package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// indexed is a space whose index is compressed every few documents.
type indexed struct {
	*Space
	engine *bolt.Engine
	reads  atomic.Int64 // of whole branches
	log    bytes.Buffer
}

// counted counts how often a branch is read as a whole.
type counted struct {
	*bolt.Engine
	reads *atomic.Int64
}

func (c counted) Versions(ctx context.Context, l store.Lineage, r store.Range, from store.Cursor, limit int) ([]store.Entry, store.Cursor, error) {
	if r == (store.Range{}) && !l.Has(store.Catalogue) {
		c.reads.Add(1)
	}
	return c.Engine.Versions(ctx, l, r, from, limit)
}

func openIndexed(t *testing.T, dir string, steps func(bolt.Step) error) *indexed {
	t.Helper()
	engine, err := bolt.Open(t.Context(), dir, bolt.Options{MapSize: 1 << 20, Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	s := &indexed{engine: engine}
	s.Space, err = Open(t.Context(), Options{Engine: counted{engine, &s.reads}, Index: search.New(search.Options{Tail: 50}), Logger: slog.New(slog.NewTextHandler(&s.log, nil))})
	if err == nil {
		err = s.Ready(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *indexed) close(t *testing.T) {
	t.Helper()
	if err := errors.Join(s.Close(context.Background()), s.engine.Close()); err != nil {
		t.Fatal(err)
	}
}

// fill stores memories that all have the word "tea", and one word of their own each.
func (s *indexed) fill(t *testing.T, branch string, from, to int) {
	t.Helper()
	for i := from; i < to; i += 10 {
		var items []Item
		for j := i; j < min(i+10, to); j++ {
			items = append(items, Item{Key: fmt.Sprint("k", j), Value: fmt.Appendf(nil, `"tea own%d %s"`, j, branch)})
		}
		if _, err := s.Store(t.Context(), Location{Branch: branch}, items, Write{}); err != nil {
			t.Fatal(err)
		}
	}
}

// found is how many memories of a branch have tea.
func (s *indexed) found(t *testing.T, branch string) int {
	t.Helper()
	total := 0
	await.That(t, "the index answers", func() bool { // a damaged one is made anew meanwhile
		r, err := s.Search(t.Context(), Search{Text: "tea", Branch: branch})
		if err != nil && codeOf(err) != Unavailable {
			t.Fatal(err)
		}
		total = r.Total
		return err == nil
	})
	return total
}

func TestAnIndexIsLoadedAtTheNextStartAndNotMadeAnew(t *testing.T) {
	dir := t.TempDir()
	s := openIndexed(t, dir, nil)
	s.fill(t, "", 0, 600)
	if _, err := s.Fork(t.Context(), "", "side", AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
	s.fill(t, "side", 590, 700)
	s.close(t)
	image := copied(t, dir)
	s = openIndexed(t, dir, nil)
	if a, b := s.found(t, ""), s.found(t, "side"); a != 600 || b != 700 || s.reads.Load() != 0 {
		t.Errorf("%d and %d are found after %d reads of whole branches", a, b, s.reads.Load())
	}
	if v, err := s.Verify(t.Context()); err != nil || len(v.Findings) != 0 {
		t.Errorf("Verify = %+v, %v, want no findings", v, err)
	}
	s.fill(t, "", 600, 640)
	s.close(t)

	s = openIndexed(t, image, nil) // what was written since is in the log, had it crashed
	s.fill(t, "", 600, 640)
	resume := s.upkeep.Pause() // the background writes no files
	crashed := copied(t, image)
	resume()
	s.close(t)
	s = openIndexed(t, crashed, nil)
	defer s.close(t)
	if a := s.found(t, ""); a != 640 || s.reads.Load() != 0 {
		t.Errorf("after a crash %d are found after %d reads of whole branches", a, s.reads.Load())
	}
}

// TestADamagedFileOfTheIndexIsNamedAndMadeAnew flips a bit in several places of each file. Those in its end are always found; others may be of
// pages that later files have anew.
func TestADamagedFileOfTheIndexIsNamedAndMadeAnew(t *testing.T) {
	dir := t.TempDir()
	s := openIndexed(t, dir, nil)
	s.fill(t, "", 0, 600)
	s.close(t)
	tables := 0
	for _, blob := range indexFiles(t, dir) {
		found := 0
		for _, at := range []int64{0, blob.Size / 5, blob.Size / 2, blob.Size * 4 / 5, blob.Size - 1} {
			image := copied(t, dir)
			flip(t, filepath.Join(image, "blobs", blob.Digest), at)
			if log := rebuiltIndex(t, image); strings.Contains(log, "rebuilt") && strings.Contains(log, "search/") {
				found++
			} else if log != "" || at == blob.Size-1 {
				t.Errorf("with byte %d of %d of %s flipped, the log says %q", at, blob.Size, blob.Name, log)
			}
		}
		if found > 1 && strings.HasPrefix(blob.Name, "search/table-") {
			tables++
		}
	}
	if tables == 0 {
		t.Error("no page of the table was found to be damaged: the test shows nothing")
	}
}

// indexFiles lists the files of the index of a store.
func indexFiles(t *testing.T, dir string) []store.Blob {
	t.Helper()
	engine, err := bolt.Open(t.Context(), dir, bolt.Options{MapSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := engine.Blobs(t.Context(), "search/")
	if err := errors.Join(err, engine.Close()); err != nil || len(blobs) < 3 {
		t.Fatalf("files of the index %v (%v), want a manifest, a table and a part", blobs, err)
	}
	return blobs
}

// flip flips a bit of a file.
func flip(t *testing.T, path string, at int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[at] ^= 0x20
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// rebuiltIndex opens a store of 600 memories whose index is damaged, until that is whole again, and returns the log.
func rebuiltIndex(t *testing.T, dir string) (log string) {
	t.Helper()
	s := openIndexed(t, dir, nil)
	if r, err := s.Search(t.Context(), Search{Text: "tea"}); codeOf(err) != Unavailable && (err != nil || r.Total != 600) {
		t.Errorf("%d are found: %v", r.Total, err)
	}
	if err := s.WaitIdle(t.Context()); err != nil { // which includes the check of the files
		t.Fatal(err)
	}
	if n := s.found(t, ""); n != 600 {
		t.Errorf("%d are found", n)
	}
	if v, err := s.Verify(t.Context()); err != nil || len(v.Findings) != 0 {
		t.Errorf("Verify = %+v, %v, want no findings", v, err)
	}
	s.close(t)
	after := openIndexed(t, dir, nil) // of what was made anew
	if n := after.found(t, ""); n != 600 || after.reads.Load() != 0 {
		t.Errorf("after the next start %d are found after %d reads of whole branches, want 600 after none", n, after.reads.Load())
	}
	after.close(t)
	return s.log.String()
}

// TestNoSearchSeesAnIndexThatIsBeingFilledAgain writes and searches while the rows are damaged, and the index is filled again.
func TestNoSearchSeesAnIndexThatIsBeingFilledAgain(t *testing.T) {
	dir := t.TempDir()
	s := openIndexed(t, dir, nil)
	s.fill(t, "", 0, 600)
	s.close(t)
	blobs := indexFiles(t, dir)
	met := 0
	for round := range 20 {
		image := copied(t, dir)
		for _, blob := range blobs {
			if strings.HasPrefix(blob.Name, "search/table-") {
				flip(t, filepath.Join(image, "blobs", blob.Digest), int64(64+round*97)%(blob.Size/2)) // of a page
			}
		}
		s := openIndexed(t, image, nil)
		stored, done := atomic.Int64{}, make(chan struct{})
		stored.Store(600)
		go func() {
			defer close(done)
			for i := 600; i < 640; i += 10 {
				s.fill(t, "", i, i+10)
				stored.Store(int64(i + 10))
			}
		}()
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				for range 40 {
					least := stored.Load()
					r, err := s.Search(t.Context(), Search{Text: "tea"})
					if codeOf(err) == Unavailable {
						continue
					}
					if err != nil || int64(r.Total) < least {
						t.Errorf("round %d: %d are found (%v), want %d or more, or a refusal", round, r.Total, err, least)
						return
					}
				}
			})
		}
		readers.Wait()
		<-done
		if err := s.WaitIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := s.found(t, ""); n != 640 {
			t.Errorf("round %d: %d are found at last, want 640", round, n)
		}
		if v, err := s.Verify(t.Context()); err != nil || len(v.Findings) != 0 {
			t.Errorf("round %d: Verify = %+v, %v, want no findings", round, v, err)
		}
		s.close(t)
		if strings.Contains(s.log.String(), "search/table-") {
			met++
		}
	}
	if met == 0 {
		t.Error("nothing met the damage: the test shows nothing")
	}
}

// TestACrashWhileTheIndexIsSavedLeavesItSearchable takes a copy at every step of saving, merging and dropping files, and opens
// it.
func TestACrashWhileTheIndexIsSavedLeavesItSearchable(t *testing.T) {
	var images []string
	var mu sync.Mutex
	dir, recording := t.TempDir(), false
	s := openIndexed(t, dir, func(step bolt.Step) error {
		mu.Lock()
		defer mu.Unlock()
		if recording {
			images = append(images, copied(t, dir))
		}
		return nil
	})
	record := func(on bool) {
		mu.Lock()
		recording = on
		mu.Unlock()
	}
	s.fill(t, "", 0, 260)
	resume := s.upkeep.Pause() // the background does not save
	if err := s.index.SaveAll(t.Context(), s.engine, s.upkeep.UpTo()); err != nil {
		t.Fatal(err)
	}
	s.fill(t, "", 260, 420)
	record(true)
	err := errors.Join(s.index.Maintain(t.Context()), s.index.SaveAll(t.Context(), s.engine, s.upkeep.UpTo()))
	record(false)
	resume()
	if err != nil || len(images) == 0 {
		t.Fatalf("%d steps: %v", len(images), err)
	}
	s.close(t)
	for i, image := range images {
		s := openIndexed(t, image, nil)
		if n := s.found(t, ""); n != 420 {
			t.Errorf("step %d: %d are found", i+1, n)
		}
		if v, err := s.Verify(t.Context()); err != nil || len(v.Findings) != 0 {
			t.Errorf("step %d: %+v, %v", i+1, v, err)
		}
		s.close(t)
	}
	t.Logf("%d steps", len(images))
}

func TestAfterAPurgeNoFileOfTheIndexHasTheWords(t *testing.T) {
	dir := t.TempDir()
	s := openIndexed(t, dir, nil)
	defer s.close(t)
	s.fill(t, "", 0, 300)
	put(t, s.Space, "", "secret", "tea xylophonist")
	s.fill(t, "", 300, 600)
	s.upkeep.SaveAll(t.Context())
	if !inFiles(t, dir, "xylophonist") {
		t.Fatal("it is in no file to begin with")
	}
	if _, err := s.Purge(t.Context(), purge.Request{Key: "secret"}); err != nil {
		t.Fatal(err)
	}
	if inFiles(t, dir, "xylophonist") {
		t.Error("a file has it")
	}
	if n := s.found(t, ""); n != 600 {
		t.Errorf("%d are found", n)
	}
	if v, err := s.Verify(t.Context()); err != nil || len(v.Findings) != 0 {
		t.Errorf("Verify = %+v, %v, want no findings", v, err)
	}
}

// inFiles reports whether a blob has a word. The index is saved in the background, so that a listed file may be renamed or removed before it
// is read: the folder is then read again.
func inFiles(t *testing.T, dir, word string) bool {
	t.Helper()
	blobs := filepath.Join(dir, "blobs")
	if _, err := os.Stat(blobs); err != nil {
		t.Fatal(err)
	}
	for {
		found, err := readForWord(blobs, word)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatalf("read the blobs for %q: %v", word, err)
		}
		return found
	}
}

func readForWord(dir, word string) (found bool, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		found = found || bytes.Contains(data, []byte(word)) || bytes.Contains(data, []byte(search.Terms(word)[0]))
		return err
	})
	return found, err
}

// TestWhatIsAcknowledgedIsFoundWhileManyWriteAndSearch has writers look for what they stored, while its index is compressed,
// merged, saved and trimmed.
func TestWhatIsAcknowledgedIsFoundWhileManyWriteAndSearch(t *testing.T) {
	s := openIndexed(t, t.TempDir(), nil)
	defer s.close(t)
	var writers, searchers sync.WaitGroup
	stop := make(chan struct{})
	for w := range 16 {
		writers.Go(func() {
			for n := range 12 {
				word := fmt.Sprintf("own%dx%d", w, n)
				item := Item{Key: fmt.Sprintf("k%d-%d", w, n/2), Value: fmt.Appendf(nil, `"tea %s"`, word)}
				if _, err := s.Store(t.Context(), Location{}, []Item{item}, Write{}); err != nil {
					t.Error(err)
					return
				}
				if r, err := s.Search(t.Context(), Search{Text: word}); err != nil || len(r.Hits) != 1 || r.Hits[0].Key != item.Key {
					t.Errorf("%s is not found: %+v, %v", word, r, err)
					return
				}
			}
		})
		searchers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.Search(t.Context(), Search{Text: "tea own*", K: 5}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	if _, err := s.Trim(t.Context(), "", AsOf{}); err != nil {
		t.Error(err)
	}
	close(stop)
	searchers.Wait()
	if n := s.found(t, ""); n != 16*6 {
		t.Errorf("%d are found", n)
	}
}

func TestAWrongIndexIsNoticedAndMadeAnew(t *testing.T) {
	dir := t.TempDir()
	s := openIndexed(t, dir, nil)
	s.fill(t, "", 0, 600)
	s.index.Replace(search.Doc{Branch: s.catalogue.Kept()[0].ID, Version: mustRecall(t, s, "k5").Version, Namespace: Default, Collection: memories, Key: "k5", Deleted: true})
	v, err := s.Verify(t.Context())
	if err != nil || len(v.Findings) == 0 || !strings.Contains(v.Findings[0].What, "index") {
		t.Errorf("Verify = %+v, %v, want a finding of the index", v, err)
	}
	s.close(t)
	s = openIndexed(t, dir, nil)
	defer s.close(t)
	if n := s.found(t, ""); n != 600 {
		t.Errorf("%d are found", n)
	}
}

func mustRecall(t *testing.T, s *indexed, key string) *Memory {
	t.Helper()
	m, err := s.Recall(t.Context(), Location{}, key, AsOf{})
	if err != nil || m == nil {
		t.Fatalf("Recall(%s) = %v, %v, want a memory", key, m, err)
	}
	return m
}

// absent is an engine that fails when it is first asked for all versions.
type absent struct {
	store.Engine
	times     int64
	err       error
	questions atomic.Int64
}

func (e *absent) Versions(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) ([]store.Entry, store.Cursor, error) {
	if r == (store.Range{}) && e.questions.Add(1) <= e.times { // of all namespaces
		return nil, c, e.err
	}
	return e.Engine.Versions(ctx, l, r, c, limit)
}

func (e *absent) around(engine store.Engine) store.Engine {
	e.Engine = engine
	return e
}

func TestAnIndexIsFilledOnceTheDatabaseAnswers(t *testing.T) {
	e := &absent{times: 2, err: store.ErrUnavailable}
	s := testSpaceOn(t, e.around)
	put(t, s, "", "k", "walnut")
	if err := s.Ready(t.Context()); err != nil {
		t.Fatalf("wait for the index: got %v, want that it is filled", err)
	}
	if n := e.questions.Load(); n < 3 {
		t.Errorf("the engine was asked %d times, want 3: the first two fail", n)
	}
	found, err := s.Search(t.Context(), Search{Text: "walnut"})
	if err != nil || len(found.Hits) != 1 {
		t.Errorf("search: got %+v (%v), want one memory", found, err)
	}
}

func TestDamageThatKeepsTheIndexFromBeingFilledIsNamed(t *testing.T) {
	s := testSpaceOn(t, (&absent{times: 1 << 40, err: fmt.Errorf("row 7: %w", store.ErrDamaged)}).around)
	if err := s.Ready(t.Context()); !errors.Is(err, store.ErrDamaged) || codeOf(err) != Internal {
		t.Errorf("wait for the index: got %v, want the damage", err)
	}
	report, err := s.Verify(t.Context())
	if err != nil || len(report.Findings) != 1 || !strings.Contains(report.Findings[0].What, "row 7") {
		t.Errorf("verify: got %+v (%v), want the damage alone", report, err)
	}
}
