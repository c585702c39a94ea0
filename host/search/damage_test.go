package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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

// TestAFileThatIsCutOffBeforeAStartIsRebuiltAndNeverAWrongAnswer cuts off each file of an index at many places, and leaves it out.
func TestAFileThatIsCutOffBeforeAStartIsRebuiltAndNeverAWrongAnswer(t *testing.T) {
	c, s := newCorpus(4), &shelf{blobs: map[string][]byte{}}
	docs := c.docs(0, 600)
	x := New(Options{Tail: 150})
	for i := range docs { // in several saves, whose files stay in use
		x.Apply(docs[i])
		if i%200 == 199 {
			if err := errors.Join(x.Maintain(t.Context()), x.SaveAll(t.Context(), s, uint64(i+1))); err != nil {
				t.Fatal(err)
			}
		}
	}
	v, q := View{Lineage: trunk}, Query{Text: c.question(), K: 100, Plain: true}
	want, err := x.Search(t.Context(), v, q)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range s.blobs {
		for cut := -1; cut < len(data); cut += 1 + len(data)/40 {
			image := &shelf{blobs: maps.Clone(s.blobs)}
			if image.blobs[name] = data[:max(cut, 0)]; cut < 0 {
				delete(image.blobs, name)
			}
			y := New(Options{Tail: 150})
			covered, err := y.Load(t.Context(), image, silent())
			if err != nil {
				t.Fatal(err)
			}
			if covered.Of(1) > 0 && strings.Contains(name, "table-") {
				t.Errorf("a table whose file %s is cut off at %d of %d bytes covers version %d, want none", name, cut, len(data), covered.Of(1))
			}
			for _, d := range docs {
				if d.Version > covered.Of(d.Branch) {
					y.Apply(d)
				}
			}
			r, err := y.Search(t.Context(), v, q)
			if err != nil || !slices.EqualFunc(r.Hits, want.Hits, func(a, b Hit) bool { return a.Score == b.Score && a.Key == b.Key }) {
				t.Fatalf("Search with %s cut off at %d of %d bytes = %v (%v), want %v", name, cut, len(data), r.Hits, err, want.Hits)
			}
		}
	}
}

func TestAnIndexOfAnotherFormatIsRebuilt(t *testing.T) {
	docs, s := zebras(600), &shelf{blobs: map[string][]byte{}}
	x := New(Options{Tail: 100})
	x.Apply(docs...)
	if err := x.SaveAll(t.Context(), s, 600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []int{1, 2, 3, manifestFormat - 1, manifestFormat + 1} {
		image := &shelf{blobs: maps.Clone(s.blobs)}
		m := manifest{Format: format, Analysers: x.analyserIDs(), Others: 600, Table: x.inventory(600).Table, Branches: x.inventory(600).Branches}
		data, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		image.blobs[manifestName] = data
		y := New(Options{Tail: 100})
		covered, err := y.Load(t.Context(), image, silent())
		if err != nil || covered.Of(1) != 0 || len(image.blobs) != 0 {
			t.Errorf("Load of format %d covers %d, and leaves %d files (%v), want none of either", format, covered.Of(1), len(image.blobs), err)
		}
	}
}

// repaired repairs an index of some documents, or fills it again if its rows are damaged.
func repaired(t *testing.T, x *Index, docs []Doc) error {
	t.Helper()
	err := x.Repair(t.Context(), rereadFrom(docs))
	if errors.Is(err, ErrBroken) {
		err = x.Reset()
		if _, refused := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: "a"}); !errors.Is(refused, ErrBroken) {
			t.Errorf("a search of an index that is being filled: %v, want %v", refused, ErrBroken)
		}
		x.Apply(docs...)
		x.Refilled()
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
	if _, err := x.Search(t.Context(), view, Query{Text: "zebra1234"}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "search/") {
		t.Fatalf("Search of a file that was cut off: %v, want %v with the file's name", err, ErrDamaged)
	}
	if err := repaired(t, x, docs); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, x, view, Query{Text: "zebra1234"}); got != "1234" {
		t.Errorf("after the repair %q is found, want 1234", got)
	}
}

// bySize lists the files of an index, the smallest first, as their names differ from run to run.
func bySize(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "blobs", "*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("the files are %v (%v), want a manifest, a table and a part", files, err)
	}
	size := func(name string) int64 {
		s, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return s.Size()
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(size(a), size(b)) })
	return files
}

// TestEachFileThatIsCutOffIsFoundByWhateverUsesTheIndex cuts off one file at a time, and then asks for all that an index does.
func TestEachFileThatIsCutOffIsFoundByWhateverUsesTheIndex(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not cut off a mapped file")
	}
	docs := zebras(1500)
	view := View{Lineage: trunk, Namespaces: []string{"n"}, Collections: []string{"c"}}
	byUpdate := Ordering{By: ByUpdate, Descending: true, Most: 3}
	uses := map[string]func(x *Index, engine store.Engine) error{
		"search": func(x *Index, _ store.Engine) error {
			_, err := x.Search(t.Context(), view, Query{Text: "zebra1234"})
			return err
		},
		"listing": func(x *Index, _ store.Engine) error {
			return x.Select(t.Context(), view, Filter{States: []string{Active}}, byUpdate, func(*Columns) bool { return true })
		},
		"keys": func(x *Index, _ store.Engine) error {
			return x.SelectKeys(t.Context(), view, Filter{}, slices.Values([]string{"1234"}), func(*Columns) bool { return true })
		},
		"write": func(x *Index, _ store.Engine) error {
			x.Apply(Doc{Branch: 1, Version: 1501, Namespace: "n", Collection: "c", Key: "1234", State: Active, Text: []string{"zebra1234"}})
			_, err := x.Search(t.Context(), view, Query{Text: "zebra1234"})
			return err
		},
		"purge": func(x *Index, _ store.Engine) error {
			x.Replace(Doc{Branch: 1, Version: 1235, Namespace: "n", Collection: "c", Key: "1234", State: Active, Text: []string{"zebra1234"}})
			_, err := x.Search(t.Context(), view, Query{Text: "zebra1234"})
			return err
		},
		"trim":   func(x *Index, _ store.Engine) error { x.Trim(1, 1500, nil); return nil },
		"tend":   func(x *Index, _ store.Engine) error { return x.Maintain(t.Context()) },
		"save":   func(x *Index, engine store.Engine) error { return x.SaveAll(t.Context(), engine, 1500) },
		"verify": func(x *Index, _ store.Engine) error { return x.Verify(t.Context()) },
	}
	found, cut := map[string]int{}, 0
	for what, use := range uses {
		for i := 0; ; i++ {
			x, dir, engine := onDisk(t, docs)
			files := bySize(t, dir)
			if i == len(files) {
				if what == "verify" && found[what] < len(files)-1 { // the manifest is read at the start alone
					t.Errorf("Verify found %d of %d files that were cut off", found[what], len(files))
				}
				break
			}
			if err := os.Truncate(files[i], 0); err != nil {
				t.Fatal(err)
			}
			if err := use(x, engine); err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Fatalf("%s with a file cut off: %v, want %v", what, err, ErrDamaged)
				}
				found[what]++
			}
			cut++
			if err := repaired(t, x, docs); err != nil { // of what was found so far
				t.Fatal(err)
			}
			if err := x.Verify(t.Context()); err != nil {
				if err := repaired(t, x, docs); err != nil {
					t.Fatal(err)
				}
			}
			if got := keys(t, x, view, Query{Text: "zebra1234"}); got != "1234" {
				t.Errorf("after %s, damage and a repair %q is found, want 1234", what, got)
			}
			if err := x.SaveAll(t.Context(), engine, 1500); err != nil {
				t.Errorf("after %s, damage and a repair, a save: %v", what, err)
			}
		}
	}
	if found["search"] == 0 || found["listing"] == 0 || found["keys"] == 0 || found["write"] == 0 {
		t.Errorf("of %d files that were cut off, these were met: %v, want some by each kind of use that reads them", cut, found)
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

func TestAnIndexThatIsFilledAgainKnowsNoWordByItsFormerPlace(t *testing.T) {
	x := New(Options{})
	x.Apply(Doc{Branch: 1, Version: 1, Key: "a", Text: []string{"tea milk"}, State: Active})
	if err := x.Reset(); err != nil {
		t.Fatal(err)
	}
	x.Apply(Doc{Branch: 1, Version: 1, Key: "b", Text: []string{"milk sugar tea"}, State: Active})
	x.Refilled()
	for _, word := range []string{"tea", "milk", "sugar"} {
		if got := keys(t, x, View{Lineage: trunk}, Query{Text: `"` + word + `"`}); got != "b" {
			t.Errorf("of %s, the index finds %q, want %q", word, got, "b")
		}
	}
	r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: "sugar", Explain: true})
	if err != nil || len(r.Hits) != 1 || r.Hits[0].Why.Terms[0].Frequency != 1 {
		t.Errorf("sugar is found as %+v (%v), want one hit with it once", r.Hits, err)
	}
}
