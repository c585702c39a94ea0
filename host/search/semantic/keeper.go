// Package semantic is the vector index: it embeds new documents in the background and ranks documents by their vectors.
//
// Vectors are derived data: missing ones, for instance after a crash, are computed again.
package semantic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/search/vector"
	"github.com/alcove-memory/alcove/host/store"
)

// Blobs stores files of vectors.
type Blobs interface {
	PutBlob(ctx context.Context, name string, r io.Reader) (store.Blob, error)
	GetBlob(ctx context.Context, name string) (store.BlobReader, error)
	DropBlob(ctx context.Context, name string) error
	Blobs(ctx context.Context, prefix string) ([]store.Blob, error)
}

// Source reads documents by reference, in order. A document that no longer exists is returned as Deleted.
type Source interface {
	Documents(ctx context.Context, refs []search.Ref) ([]search.Doc, error)
}

// Embedder turns texts into vectors.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Instant makes vectors in microseconds. It is safe for concurrent use.
type Instant interface {
	// Vector returns a text's vector; nil if it has none.
	Vector(text string) []float32
	// OfWords returns the vector of the text that has the words; ok is false if another analysis found them than that of Vector.
	OfWords(w search.DocumentWords) (v []float32, ok bool)
}

// Settings configure an embedder. Zero fields mean the default in the comment.
type Settings struct {
	Name       string
	Identity   string // of all that its vectors depend on; another identity means other vectors
	Dimensions int
	Metric     vector.Metric
	Embedder   Embedder       // nil: vectors come with documents and queries
	Asker      Embedder       // for queries; nil: Embedder
	Batch      int            // texts per request; 32
	MaxChars   int            // embedded characters of a text; 8,000
	Prefix     string         // prefix of documents
	Question   string         // prefix of queries
	Weight     float64        // of vector scores beside lexical ones, from 0 to 1; 0: by Fusion, or .5 without one
	Threshold  float64        // the least similarity of a hit without a lexical match; 0: none
	Costly     bool           // reuse vectors of equal texts
	Instant    Instant        // embeds documents as they are indexed, in place of Embedder; nil: they are embedded in the background
	Fusion     *search.Fusion // how its scores are combined with lexical ones where there is no Weight; nil: as if Weight were .5
}

// Options configure a Keeper.
type Options struct {
	Blobs    Blobs
	Logger   *slog.Logger                             // nil: discards
	Refused  func(error) bool                         // reports whether an error of an embedder is permanent for its text; nil: none is
	Switched func(name string)                        // called after an embedder's new vectors replaced its old ones; may be nil
	Complete func(name string)                        // called whenever nothing waits for an embedder's vectors any more; may be nil
	Awaited  func(name string) bool                   // reports whether Complete is waited for, so that vectors are written at once; nil: it is not
	Gate     func(collection string) (weight float64) // the weight of vector scores in a collection, from 0 (nothing is embedded) to 1; nil: 1

	Retry      time.Duration // between a failure and the first retry; 1 s
	FlushAfter time.Duration // the longest time that vectors stay unwritten; a crash loses those; 3 s
}

// Keeper is a search.Semantic with the vectors of a space's documents by any number of embedders. It is safe for
// concurrent use.
type Keeper struct {
	options Options

	mu        sync.RWMutex
	documents search.Documents // nil: the index has none yet
	held      search.Held      // what the index had at Begin; Numbers grows, and State is that of now
	unchanged bool             // since the last Saving, nothing was added or removed
	settled   bool
	source    Source
	entries   map[string]*entry
	standard  string // the default embedder
	running   sync.WaitGroup
	ctx       context.Context
	stop      context.CancelFunc

	questions *questions
}

// entry is an embedder: its vectors in use, and those that will replace them.
type entry struct {
	serving  *lane
	building *lane // nil: none
}

// New returns a Keeper without embedders.
func New(o Options) *Keeper {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Refused == nil {
		o.Refused = func(error) bool { return false }
	}
	if o.Gate == nil {
		o.Gate = func(string) float64 { return 1 }
	}
	o.Retry, o.FlushAfter = cmp.Or(o.Retry, time.Second), cmp.Or(o.FlushAfter, 3*time.Second)
	k := &Keeper{options: o, entries: map[string]*entry{}, questions: newQuestions()}
	k.ctx, k.stop = context.WithCancel(context.Background())
	return k
}

// Start starts embedding the documents of a source in the background.
func (k *Keeper) Start(source Source) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.source = source
	for _, l := range k.lanes() {
		k.run(l)
	}
}

// IndexFilled reports that the index is complete: vectors of other documents are obsolete.
func (k *Keeper) IndexFilled() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.settled = true
	for _, l := range k.lanes() {
		l.wakeUp()
	}
}

// Close ends all work and writes what is unwritten. Nothing is added or removed any more.
func (k *Keeper) Close() error {
	k.stop()
	k.running.Wait()
	k.mu.RLock()
	lanes, state := k.lanes(), k.held.State
	k.mu.RUnlock()
	var errs []error
	for _, l := range lanes {
		errs = append(errs, l.close(state))
	}
	return errors.Join(errs...)
}

// lanes returns all lanes. The caller holds mu.
func (k *Keeper) lanes() []*lane {
	var list []*lane
	for _, e := range k.entries {
		list = append(list, e.serving)
		if e.building != nil {
			list = append(list, e.building)
		}
	}
	return list
}

// run starts a lane's goroutine if there is a source. The caller holds mu.
func (k *Keeper) run(l *lane) {
	if k.source == nil || k.ctx.Err() != nil {
		return
	}
	ctx, stop := context.WithCancel(k.ctx)
	l.stop, l.ended = stop, make(chan struct{})
	k.running.Go(func() {
		defer close(l.ended)
		l.run(ctx, k.source)
	})
}

// Set adds or changes an embedder. If its identity changes, searches use the old vectors until the new ones are complete.
// The first embedder becomes the default.
func (k *Keeper) Set(s Settings) error {
	s.Batch, s.MaxChars = cmp.Or(s.Batch, defaultBatch), cmp.Or(s.MaxChars, defaultChars)
	l, err := newLane(k, s)
	if err != nil {
		return fmt.Errorf("use embedder %s: %w", s.Name, err)
	}
	k.questions.clear()
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.entries[s.Name]
	if e != nil && (e.serving.settings.Identity == s.Identity || e.building != nil && e.building.settings.Identity == s.Identity) {
		k.adjust(e, s)
		return nil
	}
	l.begin(k.held)
	if e == nil {
		k.entries[s.Name] = &entry{serving: l}
		k.standard = cmp.Or(k.standard, s.Name)
	} else {
		k.discard(e.building)
		e.building = l
	}
	k.run(l)
	return nil
}

// adjust applies settings that do not affect vectors. The caller holds mu.
func (k *Keeper) adjust(e *entry, s Settings) {
	for _, l := range []*lane{e.serving, e.building} {
		if l == nil || l.settings.Identity != s.Identity {
			continue
		}
		l.mu.Lock()
		l.settings = s
		l.mu.Unlock()
		l.wakeUp()
	}
	if e.building != nil && e.serving.settings.Identity == s.Identity { // back to the former identity
		k.discard(e.building)
		e.building = nil
	}
}

// Drop removes an embedder and, in the background, its vectors.
func (k *Keeper) Drop(name string) {
	k.questions.clear()
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.entries[name]
	if e == nil {
		return
	}
	delete(k.entries, name)
	k.discard(e.serving)
	k.discard(e.building)
	if k.standard == name {
		k.standard = ""
	}
}

// SetStandard sets the default embedder; empty: none, and searches without a named embedder are lexical.
func (k *Keeper) SetStandard(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.standard = name
}

// discard stops a lane and drops its blobs in the background. The caller holds mu.
func (k *Keeper) discard(l *lane) {
	if l == nil {
		return
	}
	if l.stop != nil {
		l.stop()
	}
	k.running.Go(func() {
		if l.ended != nil {
			<-l.ended
		}
		if err := l.dropAll(context.WithoutCancel(k.ctx)); err != nil {
			k.options.Logger.Warn("unused vectors stay on the disk until the next start", "embedder", l.name, "error", err)
		}
	})
}

// awaits reports whether a lane will replace another, or its embedder's vectors are waited for.
func (k *Keeper) awaits(l *lane) bool {
	k.mu.RLock()
	e := k.entries[l.name]
	replaces := e != nil && e.building == l
	k.mu.RUnlock()
	return replaces || e != nil && k.options.Awaited != nil && k.options.Awaited(l.name)
}

// completed puts a complete lane into use.
func (k *Keeper) completed(l *lane) {
	k.mu.Lock()
	e := k.entries[l.name]
	if e == nil || !k.settled {
		k.mu.Unlock()
		return
	}
	if e.building != l {
		complete := e.serving == l
		k.mu.Unlock()
		if complete && k.options.Complete != nil {
			k.options.Complete(l.name)
		}
		return
	}
	k.discard(e.serving)
	e.serving, e.building = l, nil
	k.mu.Unlock()
	k.questions.clear()
	k.options.Logger.Info("an embedder's new vectors are in use", "embedder", l.name)
	if k.options.Switched != nil {
		k.options.Switched(l.name)
	}
	if k.options.Complete != nil {
		k.options.Complete(l.name)
	}
}

// Sweep drops blobs of vectors of unknown embedders. It must be called after all embedders have been set.
func (k *Keeper) Sweep(ctx context.Context) error {
	list, err := k.options.Blobs.Blobs(ctx, blobPrefix)
	if err != nil {
		return fmt.Errorf("sweep vectors: %w", err)
	}
	k.mu.RLock()
	lanes := k.lanes()
	k.mu.RUnlock()
	for _, b := range list {
		if slices.ContainsFunc(lanes, func(l *lane) bool { return l.owns(b.Name) }) {
			continue
		}
		if err := k.options.Blobs.DropBlob(ctx, b.Name); err != nil {
			return fmt.Errorf("sweep vectors: %w", err)
		}
	}
	return nil
}

// EmbedDocument implements search.Semantic.
func (k *Keeper) EmbedDocument(d *search.Doc, w search.DocumentWords) search.Embedding {
	l := k.instant()
	if l == nil || k.options.Gate(d.Collection) <= 0 {
		return search.Embedding{}
	}
	s := l.current()
	if v := given(s, *d); v != nil {
		return search.Embedding{By: l.id, Vector: v}
	}
	if s.takesAll(d) {
		if v, ok := s.Instant.OfWords(w); ok {
			return search.Embedding{By: l.id, Vector: v}
		}
	}
	e := search.Embedding{By: l.id}
	if text := s.text(*d); text != "" {
		e.Vector = s.Instant.Vector(text)
	}
	return e
}

// takesAll reports whether the embedded text of a document is what it says, and no more.
func (s Settings) takesAll(d *search.Doc) bool {
	size := len(d.Text)
	for _, passage := range d.Text {
		size += len(passage)
	}
	if d.Turn != nil {
		size += len(d.Turn.Speaker) + len(d.Turn.Caption) + 4
	}
	return s.Prefix == "" && size <= s.MaxChars
}

// instant returns the lane of an embedder that is instant; nil: none is.
func (k *Keeper) instant() *lane {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, e := range k.entries {
		for _, l := range []*lane{e.building, e.serving} {
			if l != nil && l.instant {
				return l
			}
		}
	}
	return nil
}

// Begin implements search.Semantic.
func (k *Keeper) Begin(d search.Documents, h search.Held) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.documents, k.held = d, h
	for _, l := range k.lanes() {
		l.begin(h)
		l.wakeUp()
	}
}

// Saving implements search.Semantic.
func (k *Keeper) Saving() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.unchanged = true
	for _, l := range k.lanes() {
		l.trackChanges()
	}
}

// Saved implements search.Semantic.
func (k *Keeper) Saved(state string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.unchanged {
		k.held.State = state
	}
	for _, l := range k.lanes() {
		l.scheduleSnapshot(state)
	}
}

// Add implements search.Semantic.
func (k *Keeper) Add(number uint32, r search.Ref, e search.Embedding) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held.Numbers, k.held.State, k.unchanged = max(k.held.Numbers, number+1), "", false
	for _, l := range k.lanes() {
		l.added(number)
	}
	if k.options.Gate(r.Collection) <= 0 {
		return
	}
	for _, l := range k.lanes() {
		if e.By == l.id {
			l.putInstantly(number, r, e.Vector)
			continue
		}
		l.queue.push(number)
		l.wakeUp()
	}
}

// Recheck applies a change of Options.Gate to all documents.
func (k *Keeper) Recheck() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range k.lanes() {
		l.queue.setBelow(k.held.Numbers)
		l.wakeUp()
	}
}

// Remove implements search.Semantic.
func (k *Keeper) Remove(number uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held.State, k.unchanged = "", false
	for _, l := range k.lanes() {
		l.release(number)
	}
}

// refs returns the documents of numbers, in their order; the zero Ref for a number without one. The caller holds no lock of Keeper or lane but
// work.
func (k *Keeper) refs(numbers []uint32) ([]search.Ref, error) {
	k.mu.RLock()
	d := k.documents
	k.mu.RUnlock()
	if d == nil {
		return make([]search.Ref, len(numbers)), nil
	}
	return d.Refs(numbers)
}

// Status is the progress of an embedder.
type Status struct {
	Name       string
	Standard   bool
	Dimensions int
	Vectors    int    // documents with a vector
	Waiting    int    // documents that wait for one
	Refused    int    // documents that the embedder refused
	Making     bool   // new vectors that will replace those in use
	Error      string // the current failure; empty: none
}

// Status returns the progress of each embedder, ordered by name.
func (k *Keeper) Status() []Status {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var list []Status
	for name, e := range k.entries {
		for _, l := range []*lane{e.serving, e.building} {
			if l == nil {
				continue
			}
			s := l.status(k.held.Documents)
			s.Standard, s.Making = name == k.standard, l == e.building
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Scrub removes vectors of deleted documents from all files. The index must be complete.
func (k *Keeper) Scrub(ctx context.Context) error {
	k.mu.RLock()
	lanes := k.lanes()
	k.mu.RUnlock()
	for _, l := range lanes {
		if err := l.scrub(ctx); err != nil {
			return fmt.Errorf("erase vectors of %s: %w", l.name, err)
		}
	}
	k.questions.clear()
	return nil
}
