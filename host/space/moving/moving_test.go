package moving_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/space/moving"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bundle"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
)

// open opens the space of a driver in a directory.
func open(t *testing.T, d store.Driver, dir string) moving.Source {
	t.Helper()
	e, err := d.Open(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatalf("open the space: %v", err)
	}
	return e.(moving.Source)
}

// writer writes all kinds of things to a space.
type writer struct {
	t *testing.T
	e moving.Source
	r *rand.Rand
	n int
}

func (w *writer) key() store.Key {
	return store.Key{Namespace: fmt.Sprint("n", w.r.IntN(3)), Collection: "c", Name: fmt.Sprint("k", w.r.IntN(40), "\x00\xff")}
}

func lineage(b store.BranchID) store.Lineage { return store.Lineage{{Branch: b, At: store.Latest}} }

// commit commits a batch of a few changes, with a note and a request.
func (w *writer) commit() store.Committed {
	w.t.Helper()
	w.n++
	branch := store.BranchID(1 + w.r.IntN(3))
	written := w.key()
	batch := store.Batch{
		Writes:   []store.Write{{Branch: branch, Key: written, Value: []byte(strings.Repeat("v", w.r.IntN(3000))), Delete: w.r.IntN(5) == 0}},
		Counters: []store.CounterWrite{{Branch: branch, Key: w.key(), Version: uint64(w.n), Value: []byte{byte(w.n)}}},
		Request:  store.Request{Caller: "ann", ID: fmt.Sprint("r", w.n), Digest: [32]byte{byte(w.n)}},
	}
	if w.r.IntN(2) == 0 {
		batch.Note = []byte(fmt.Sprint("note ", w.n))
	}
	if w.r.IntN(3) == 0 {
		batch.Appends = []store.Append{{Lineage: lineage(branch), Namespace: "n0", Collection: "log", Seal: func(store.Entry, uint64, store.Point) ([]byte, error) { return []byte("event"), nil }}}
	}
	return must.Get(w.e.Commit(w.t.Context(), batch))
}

func (w *writer) commits(n int) (last store.Committed) {
	for range n {
		last = w.commit()
	}
	return last
}

// purge erases the newest value of a key.
func (w *writer) purge(branch store.BranchID) {
	w.t.Helper()
	list, _, err := w.e.ScanAt(w.t.Context(), lineage(branch), store.Range{}, "", 1)
	if err != nil || len(list) == 0 {
		w.t.Fatalf("find what to purge: got %d entries, %v, want one", len(list), err)
	}
	p := w.e.(store.Purger)
	must.Do(w.t, p.Replace(w.t.Context(), []store.Replacement{{Branch: list[0].Branch, Key: list[0].Key, Version: list[0].Version, Value: []byte("gone")}}))
	must.Do(w.t, p.PurgeNotes(w.t.Context(), []uint64{list[0].Version}))
	must.Do(w.t, p.Erase(w.t.Context()))
}

func (w *writer) blob(name, content string) {
	w.t.Helper()
	must.Get(w.e.PutBlob(w.t.Context(), name, strings.NewReader(content)))
}

func bundleOf(t *testing.T, e moving.Source) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Get(bundle.Write(t.Context(), &b, e, 0, nil))
	return b.Bytes()
}

// copyWhileWritten copies a space to a driver while it is written to, and places the copy.
func copyWhileWritten(t *testing.T, w *writer, to store.Driver, dir, move string) {
	t.Helper()
	ctx := t.Context()
	staged, err := to.(store.Movable).Stage(ctx, dir, move)
	if err != nil {
		t.Fatalf("begin a copy: %v", err)
	}
	c := moving.New(w.e, staged)
	must.Do(t, c.Follow(ctx))
	for range 3 { // of all that can be written between two rounds
		last := w.commits(30)
		w.purge(2)
		w.blob("a", fmt.Sprint("replaced ", w.n))
		must.Do(t, w.e.DropBlob(ctx, "b"))
		must.Do(t, w.e.Trim(ctx, 1, last.Version-20, []uint64{last.Version - 25}, store.Keep{Versions: 2}))
		must.Do(t, c.Follow(ctx))
	}
	w.commits(10)
	must.Do(t, w.e.Reclaim(ctx, 3))
	must.Do(t, c.Finish(ctx))
	must.Do(t, staged.Place(ctx))
	must.Do(t, staged.Close())
}

// compare compares a copy with what its original had.
func compare(t *testing.T, copied moving.Source, want []byte, requests int) {
	t.Helper()
	if got := bundleOf(t, copied); !bytes.Equal(got, want) {
		t.Errorf("the bundle of the copy: got %d bytes, want the %d of the original", len(got), len(want))
	}
	for _, n := range []int{1, requests} {
		r := store.Request{Caller: "ann", ID: fmt.Sprint("r", n), Digest: [32]byte{byte(n)}}
		if _, done, err := copied.Requested(t.Context(), r); !done || err != nil {
			t.Errorf("request %d: got done %t, %v, want that the copy knows it", n, done, err)
		}
		r.Digest[5]++
		if _, _, err := copied.Requested(t.Context(), r); !errors.Is(err, store.ErrRequestReused) {
			t.Errorf("request %d with another digest: got %v, want ErrRequestReused", n, err)
		}
	}
	blob := must.Get(copied.GetBlob(t.Context(), "a"))
	defer blob.Close()
	if got := must.Get(io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))); !strings.HasPrefix(string(got), "replaced ") {
		t.Errorf("the blob of the copy: got %.20q, want the last content", got)
	}
	if list := must.Get(copied.Blobs(t.Context(), "")); len(list) != 1 {
		t.Errorf("blobs of the copy: got %+v, want the one that was not dropped", list)
	}
	if err := copied.Check(t.Context()); err != nil {
		t.Errorf("check the copy: got %v, want no fault", err)
	}
}

func TestACopyThatFollowsItsSpaceIsTheSameBundle(t *testing.T) {
	t.Parallel()
	database := must.Get(space.DriverFor(must.Get(postgres.Start(t).Database())))
	from, there, back := t.TempDir(), t.TempDir(), t.TempDir()
	w := &writer{t: t, e: open(t, space.DefaultDriver(), from), r: rand.New(rand.NewPCG(1, 2))}
	w.commits(200)
	w.purge(1)
	w.blob("a", "first")
	w.blob("b", strings.Repeat("b", 3<<20))

	copyWhileWritten(t, w, database, there, "one")
	want := bundleOf(t, w.e)
	must.Do(t, w.e.Close())
	w.e = open(t, database, there)
	compare(t, w.e, want, w.n)

	w.commits(50)
	w.blob("b", "again")
	copyWhileWritten(t, w, space.DefaultDriver(), back, "two")
	want = bundleOf(t, w.e)
	must.Do(t, w.e.(store.Departing).Depart(t.Context(), "two", "a directory"))
	if _, err := w.e.Commit(context.WithoutCancel(t.Context()), store.Batch{}); !errors.As(err, new(*store.DepartedError)) {
		t.Errorf("write to a space that was moved away: got %v, want a DepartedError", err)
	}
	must.Do(t, w.e.Close())
	if _, err := database.Open(t.Context(), there, store.Options{}); !errors.As(err, new(*store.DepartedError)) {
		t.Errorf("open a space that was moved away: got %v, want a DepartedError", err)
	}
	again := open(t, space.DefaultDriver(), back)
	defer again.Close()
	compare(t, again, want, w.n)
}

// replacing is a source whose blobs are replaced by others as long, just before they are opened.
type replacing struct {
	moving.Source
	t        *testing.T
	replaced bool
}

func (r *replacing) GetBlob(ctx context.Context, name string) (store.BlobReader, error) {
	if !r.replaced {
		r.replaced = true
		must.Get(r.PutBlob(ctx, name, strings.NewReader("later")))
	}
	return r.Source.GetBlob(ctx, name)
}

func TestABlobThatIsReplacedByOneAsLongIsCopiedInTheNextRound(t *testing.T) {
	ctx, d, dir := t.Context(), space.DefaultDriver(), t.TempDir()
	from := &replacing{Source: open(t, d, t.TempDir()), t: t}
	defer from.Close()
	must.Get(from.PutBlob(ctx, "b", strings.NewReader("first")))
	staged, err := d.(store.Movable).Stage(ctx, dir, "move")
	if err != nil {
		t.Fatalf("begin a copy: %v", err)
	}
	defer staged.Close()
	c := moving.New(from, staged)
	must.Do(t, c.Follow(ctx))
	must.Do(t, c.Finish(ctx))
	want := must.Get(from.Blobs(ctx, ""))
	if got := must.Get(staged.Stored(ctx)); !slices.Equal(got, want) {
		t.Errorf("the copy has the blobs %+v, want %+v", got, want)
	}
}
