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
	r, err := s.Search(t.Context(), Search{Text: "tea", Branch: branch})
	if err != nil {
		t.Fatal(err)
	}
	return r.Total
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

func TestADamagedFileOfTheIndexIsNamedAndMadeAnew(t *testing.T) {
	dir := t.TempDir()
	s := openIndexed(t, dir, nil)
	s.fill(t, "", 0, 600)
	s.close(t)
	files, err := filepath.Glob(filepath.Join(dir, "blobs", "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("files of the index %q (%v), want 2 or more", files, err)
	}
	for i, path := range files {
		image := copied(t, dir)
		path = filepath.Join(image, "blobs", filepath.Base(path))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)*i/len(files)] ^= 0x20
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := openIndexed(t, image, nil)
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
		if !strings.Contains(s.log.String(), "rebuilt") || !strings.Contains(s.log.String(), "search/") {
			t.Errorf("the log says %s", s.log.String())
		}
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
	err := errors.Join(s.index.Tend(t.Context()), s.index.SaveAll(t.Context(), s.engine, s.upkeep.UpTo()))
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
