package semantic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// cupboard keeps blobs in memory.
type cupboard struct {
	mu     sync.Mutex
	blobs  map[string][]byte
	broken error  // of writing
	during func() // called before something is written; nil: nothing is
	open   func() // likewise, before something is read
}

func newCupboard() *cupboard { return &cupboard{blobs: map[string][]byte{}} }

func (c *cupboard) PutBlob(_ context.Context, name string, r io.Reader) (store.Blob, error) {
	data, err := io.ReadAll(r)
	if c.during != nil {
		c.during()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err = errors.Join(err, c.broken); err == nil {
		c.blobs[name] = data
	}
	return store.Blob{Name: name, Size: int64(len(data))}, err
}

type openBlob struct{ *bytes.Reader }

func (openBlob) Close() error  { return nil }
func (b openBlob) Size() int64 { return b.Reader.Size() }

func (c *cupboard) GetBlob(_ context.Context, name string) (store.BlobReader, error) {
	if c.open != nil {
		c.open()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	data, ok := c.blobs[name]
	if !ok {
		return nil, store.ErrNotFound
	}
	return openBlob{bytes.NewReader(data)}, nil
}

func (c *cupboard) DropBlob(_ context.Context, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.blobs, name)
	return nil
}

func (c *cupboard) Blobs(_ context.Context, prefix string) ([]store.Blob, error) {
	var list []store.Blob
	for _, name := range c.names() {
		if strings.HasPrefix(name, prefix) {
			list = append(list, store.Blob{Name: name})
		}
	}
	return list, nil
}

func (c *cupboard) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for name := range c.blobs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (c *cupboard) holds(v []float32) bool {
	needle := encodeRows(len(v), []row{{raw: encodeVector(v)}})[blobHeader+blobEntry+4:]
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, data := range c.blobs {
		if bytes.Contains(data, needle) {
			return true
		}
	}
	return false
}

// world is documents and a keeper of their vectors, as an index would hold them.
type world struct {
	t      *testing.T
	blobs  *cupboard
	keeper *Keeper
	mu     sync.Mutex
	docs   map[search.Ref]search.Doc
	refs   map[uint32]search.Ref
	next   uint32
}

func newWorld(t *testing.T, blobs *cupboard, o Options) *world {
	t.Helper()
	o.Blobs = blobs
	o.Retry, o.FlushAfter = max(o.Retry, time.Millisecond), max(o.FlushAfter, time.Millisecond)
	w := &world{t: t, blobs: blobs, keeper: New(o), docs: map[search.Ref]search.Doc{}, refs: map[uint32]search.Ref{}}
	w.keeper.Begin(w, search.Held{})
	t.Cleanup(func() { w.keeper.Close() })
	return w
}

func ref(key string, version uint64) search.Ref {
	return search.Ref{Branch: 1, Version: version, Namespace: "n", Collection: "memory", Key: key}
}

func (w *world) Documents(_ context.Context, refs []search.Ref) ([]search.Doc, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]search.Doc, len(refs))
	for i, r := range refs {
		d, ok := w.docs[r]
		d.Deleted = !ok
		list[i] = d
	}
	return list, nil
}

// Refs implements search.Documents.
func (w *world) Refs(numbers []uint32) ([]search.Ref, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]search.Ref, len(numbers))
	for i, n := range numbers {
		list[i] = w.refs[n]
	}
	return list, nil
}

// add adds a document and returns its number.
func (w *world) add(r search.Ref, d search.Doc) uint32 {
	w.mu.Lock()
	number := w.next
	w.next++
	w.mu.Unlock()
	w.addAs(number, r, d)
	return number
}

func (w *world) addAs(number uint32, r search.Ref, d search.Doc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.docs[r], w.refs[number] = d, r
	w.keeper.Add(number, r, w.keeper.EmbedDocument(&d, search.DocumentWords{}))
}

// hold gives a new world the documents of a former one, as when an index is loaded that was saved as a state.
func (w *world) hold(former *world, state string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.docs, w.refs, w.next = former.docs, former.refs, former.next
	w.keeper.Begin(w, search.Held{Numbers: w.next, Documents: len(w.refs), State: state})
}

func (w *world) remove(number uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.refs, number)
	w.keeper.Remove(number)
}

func (w *world) say(key, text string) uint32 {
	return w.add(ref(key, 1), search.Doc{Text: []string{text}})
}

func (w *world) set(s Settings) {
	w.t.Helper()
	if err := w.keeper.Set(s); err != nil {
		w.t.Fatal(err)
	}
}

// awaitVectors waits until nothing waits for a vector, and all are kept.
func (w *world) awaitVectors() {
	w.t.Helper()
	await.That(w.t, "nothing waits", func() bool {
		w.keeper.mu.RLock()
		defer w.keeper.mu.RUnlock()
		for _, l := range w.keeper.lanes() {
			if s := l.status(0); s.Waiting > 0 || l.tailLen() > 0 {
				return false
			}
		}
		return true
	})
}

// tailLen is the number of vectors that are in no file yet.
func (l *lane) tailLen() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.tail)
}

func (w *world) status() Status {
	w.t.Helper()
	list := w.keeper.Status()
	if len(list) != 1 {
		w.t.Fatalf("%d lanes: %+v", len(list), list)
	}
	return list[0]
}

// everything is the numbers below one.
func everything(below uint32) search.Set {
	set := make(search.Set, (below+63)/64)
	for n := range below {
		set[n/64] |= 1 << (n % 64)
	}
	return set
}

// nearest are the numbers nearest to a text.
func (w *world) nearest(text string, k int) []uint32 {
	w.t.Helper()
	v, err := w.keeper.Embed(w.t.Context(), "", text)
	if err != nil {
		w.t.Fatal(err)
	}
	found, err := w.keeper.Nearest(w.t.Context(), search.Query{Vector: v}, everything(w.next), k)
	if err != nil {
		w.t.Fatal(err)
	}
	var numbers []uint32
	for _, n := range found {
		numbers = append(numbers, n.Number)
	}
	return numbers
}

// letters is an embedder: how often a text has each letter.
type letters struct {
	mu     sync.Mutex
	asked  []string
	fail   error
	refuse string // texts with this are refused
	gate   chan struct{}
}

var errRefuse = errors.New("this text is refused")

func (l *letters) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if l.gate != nil {
		select {
		case <-l.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		return nil, l.fail
	}
	var vectors [][]float32
	for _, text := range texts {
		if l.refuse != "" && strings.Contains(text, l.refuse) {
			return nil, fmt.Errorf("text %.20q: %w", text, errRefuse)
		}
		vectors = append(vectors, spelled(text))
	}
	l.asked = append(l.asked, texts...)
	return vectors, nil
}

func (l *letters) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.asked)
}

func (l *letters) failing(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail = err
}

func spelled(text string) []float32 {
	v := make([]float32, 27)
	v[26] = .1
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' {
			v[r-'a']++
		}
	}
	return v
}

func directed(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

func byLetters(e Embedder) Settings {
	return Settings{Name: "letters", Identity: "1", Dimensions: 27, Embedder: e, Batch: 4}
}
