package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// rereadFrom is the Reread of a list.
func rereadFrom(docs []Doc) Reread {
	return func(_ context.Context, refs []Ref) (found []Doc, err error) {
		for _, d := range docs {
			if slices.Contains(refs, Ref{d.Branch, d.Version, d.Namespace, d.Collection, d.Key}) {
				found = append(found, d)
			}
		}
		return found, nil
	}
}

// TestADamagedFileIsAnErrorOrRebuiltAndNeverAWrongAnswer flips bytes all over the files of an index.
func TestADamagedFileIsAnErrorOrRebuiltAndNeverAWrongAnswer(t *testing.T) {
	c, s := newCorpus(3), &shelf{blobs: map[string][]byte{}}
	docs := c.docs(0, 600)
	x := New(Options{Tail: 150})
	x.Apply(docs...)
	tend(t, x)
	v := View{Lineage: trunk}
	same := func(y *Index) error {
		t.Helper()
		q := Query{Text: c.question(), K: 100, Plain: true}
		want, wrong := x.Search(t.Context(), v, q)
		r, err := y.Search(t.Context(), v, q)
		if err == nil && !slices.EqualFunc(r.Hits, want.Hits, func(a, b Hit) bool { return a.Score == b.Score && a.Key == b.Key }) {
			t.Fatalf("Search of the damaged index = %v, want %v", r.Hits, want.Hits)
		}
		if wrong != nil {
			t.Fatalf("Search of the intact index: %v", wrong)
		}
		return err
	}
	if err := x.SaveAll(t.Context(), s, uint64(len(docs))); err != nil {
		t.Fatal(err)
	}
	refused, rebuilt := 0, 0
	for name, data := range s.blobs {
		for at := 0; at < len(data); at += 1 + len(data)/50 {
			image := &shelf{blobs: map[string][]byte{}}
			for other, data := range s.blobs {
				image.blobs[other] = bytes.Clone(data)
			}
			image.blobs[name][at] ^= 0x10
			y := New(Options{Tail: 150})
			covered, err := y.Load(t.Context(), image, silent())
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range docs {
				if d.Version > covered.Of(d.Branch) {
					y.Apply(d)
				}
			}
			if err := same(y); err != nil {
				if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), name) {
					t.Fatalf("byte %d of %s: %v", at, name, err)
				}
				refused++
			}
			if err := y.Verify(t.Context()); err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Fatal(err)
				}
				<-y.Damaged()
				if err := repaired(t, y, docs); err != nil {
					t.Fatal(err)
				}
				rebuilt++
			}
			if err := y.Verify(t.Context()); err != nil {
				t.Fatalf("after a repair: %v", err)
			}
			if err := same(y); err != nil {
				t.Fatal(err)
			}
			tend(t, y)
			if err := y.SaveAll(t.Context(), image, uint64(len(docs))); err != nil {
				t.Fatal(err)
			}
			if err := same(y); err != nil {
				t.Fatal(err)
			}
			if err := y.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if refused == 0 || rebuilt == 0 {
		t.Errorf("%d searches were refused and %d parts rebuilt", refused, rebuilt)
	}
}

// repaired repairs an index of some documents, or fills it again if its rows are damaged.
func repaired(t *testing.T, x *Index, docs []Doc) error {
	t.Helper()
	err := x.Repair(t.Context(), rereadFrom(docs))
	if errors.Is(err, ErrBroken) {
		err = x.Reset()
		x.Apply(docs...)
	}
	return err
}

// onDisk saves an index of some documents in a store and loads it.
func onDisk(t *testing.T, docs []Doc) (x *Index, dir string, engine store.Engine) {
	t.Helper()
	dir = t.TempDir()
	engine, err := bolt.Open(t.Context(), dir, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	before := New(Options{Tail: 100})
	before.Apply(docs...)
	if err := before.SaveAll(t.Context(), engine, uint64(len(docs))); err != nil {
		t.Fatal(err)
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	x = New(Options{Tail: 100})
	if _, err := x.Load(t.Context(), engine, silent()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x, dir, engine
}

func zebras(n int) (docs []Doc) {
	for i := range n {
		docs = append(docs, Doc{Branch: 1, Version: uint64(i + 1), Namespace: "n", Collection: "c", Key: fmt.Sprint(i), State: Active,
			Text: []string{fmt.Sprintf("zebra%d %s", i, strings.Repeat(fmt.Sprint("word", i, " "), 20))}})
	}
	return docs
}

func TestAFileThatIsCutOffWhileItIsSearchedIsAnErrorAndRebuilt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not cut off a mapped file")
	}
	docs := zebras(2000)
	x, dir, _ := onDisk(t, docs)
	files, err := filepath.Glob(filepath.Join(dir, "blobs", "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("the files are %v: %v", files, err)
	}
	for _, name := range files {
		if err := os.Truncate(name, 0); err != nil {
			t.Fatal(err)
		}
	}
	view := View{Lineage: trunk}
	if _, err := x.Search(t.Context(), view, Query{Text: "zebra1234"}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "search/part-") {
		t.Fatalf("the error is %v", err)
	}
	if err := x.Repair(t.Context(), rereadFrom(docs)); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, x, view, Query{Text: "zebra1234"}); got != "1234" {
		t.Errorf("found %q", got)
	}
}

func TestDroppedFilesStayReadableForSearchesThatBegan(t *testing.T) {
	docs := zebras(2000)
	x, _, engine := onDisk(t, docs)
	done := make(chan error)
	go func() {
		for i := range 200 {
			r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: fmt.Sprint("zebra", i)})
			if err != nil || len(r.Hits) != 1 {
				done <- fmt.Errorf("%d hits: %w", len(r.Hits), err)
				return
			}
		}
		done <- nil
	}()
	for i := range 10 {
		for _, d := range docs[1000+10*i : 1010+10*i] {
			d.Text = []string{"purged"}
			x.Replace(d)
		}
		if err := x.SaveAll(t.Context(), engine, 2000); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(x.retired) != 0 {
		t.Errorf("%d files stay mapped", len(x.retired))
	}
}
