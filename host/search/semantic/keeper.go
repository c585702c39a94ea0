// Package semantic is the vector index: it embeds new documents in the background, and ranks by their vectors.
//
// Vectors are derived. What is missing, after a crash for instance, is embedded again.
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

// Blobs keeps files of vectors.
type Blobs interface {
	PutBlob(ctx context.Context, name string, r io.Reader) (store.Blob, error)
	GetBlob(ctx context.Context, name string) (store.BlobReader, error)
	DropBlob(ctx context.Context, name string) error
	Blobs(ctx context.Context, prefix string) ([]store.Blob, error)
}

// Source reads documents. One that is not there any more is answered as deleted.
type Source interface {
	Documents(ctx context.Context, refs []search.Ref) ([]search.Doc, error)
}

// Embedder turns texts into vectors.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Settings say how an embedder is used.
type Settings struct {
	Name       string
	Identity   string // of all that its vectors depend on: under another identity they are made anew
	Dimensions int
	Metric     vector.Metric
	Embedder   Embedder // nil: vectors come with documents and queries
	Asker      Embedder // of queries, where those are embedded otherwise; nil: Embedder
	Batch      int      // texts asked for at once; 32
	MaxChars   int      // of a text; 8,000
	Prefix     string   // of documents
	Question   string   // prefix of queries
	Weight     float64  // of meaning beside words, from 0 to 1; .5
	Threshold  float64  // nearness below which meaning alone finds nothing; 0: none
	Costly     bool     // texts that were embedded before are not embedded again
}

// Options configure a Keeper.
type Options struct {
	Blobs    Blobs
	Logger   *slog.Logger                             // nil: discards
	Refused  func(error) bool                         // whether an embedder will never take a text, however often it is asked; nil: never
	Switched func(name string)                        // called when new vectors of an embedder have taken the place of its old ones; may be nil
	Gate     func(collection string) (weight float64) // how much meaning counts in a collection, from 0 (nothing is embedded) to 1; nil: 1

	Retry      time.Duration // from a failure to the next attempt, at first; 1 s
	FlushAfter time.Duration // how long vectors may wait to be kept, and so what a crash costs; 3 s
}

// Keeper keeps the vectors of a space's documents, of any number of embedders. It is the Semantic of an index. Its
// methods may be called from many goroutines at once.
type Keeper struct {
	options Options

	mu       sync.RWMutex
	refs     []search.Ref // by number; the zero Ref where there is none
	settled  bool
	source   Source
	entries  map[string]*entry
	standard string // the embedder of searches that name none
	running  sync.WaitGroup
	ctx      context.Context
	stop     context.CancelFunc

	questions *questions
}

// entry is an embedder: its vectors, and those that shall take their place.
type entry struct {
	serving  *lane
	building *lane // nil: none
}

// New makes a Keeper without embedders.
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

// Start lets embedders work from documents that source reads.
func (k *Keeper) Start(source Source) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.source = source
	for _, l := range k.lanes() {
		k.run(l)
	}
}

// Settled tells the Keeper that the index is complete: vectors of other documents are obsolete.
func (k *Keeper) Settled() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.settled = true
	for _, l := range k.lanes() {
		l.wakeUp()
	}
}

// Close keeps what waits to be kept, and ends all work.
func (k *Keeper) Close() error {
	k.stop()
	k.running.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	var errs []error
	for _, l := range k.lanes() {
		errs = append(errs, l.close())
	}
	return errors.Join(errs...)
}

// lanes are all there are. The caller holds mu.
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

// run starts a lane's work, once there is a source. The caller holds mu.
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

// Set adds an embedder, or changes one. When its vectors have to be made anew, searches use the old ones until that is
// done. The first embedder is the standard one.
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
	for number, r := range k.refs {
		if r != (search.Ref{}) && k.options.Gate(r.Collection) > 0 {
			l.queue.push(uint32(number))
		}
	}
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

// adjust changes what does not change vectors. The caller holds mu.
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
	if e.building != nil && e.serving.settings.Identity == s.Identity { // back to what it was
		k.discard(e.building)
		e.building = nil
	}
}

// Drop forgets an embedder and its vectors.
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

// SetStandard chooses the embedder of searches that name none; empty: none, and searches are by words.
func (k *Keeper) SetStandard(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.standard = name
}

// discard ends a lane and, in the background, drops its blobs. The caller holds mu.
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
			k.options.Logger.Warn("vectors that nobody needs stay on the disk until the next start", "embedder", l.name, "error", err)
		}
	})
}

// awaits reports whether a lane is to take another's place.
func (k *Keeper) awaits(l *lane) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	e := k.entries[l.name]
	return e != nil && e.building == l
}

// completed lets a lane serve that has all its vectors.
func (k *Keeper) completed(l *lane) {
	k.mu.Lock()
	e := k.entries[l.name]
	if e == nil || e.building != l || !k.settled {
		k.mu.Unlock()
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
}

// Sweep drops blobs of vectors that no embedder has. It is called after all have been set.
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

// Add implements search.Semantic.
func (k *Keeper) Add(number uint32, r search.Ref) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for int(number) >= len(k.refs) {
		k.refs = append(k.refs, search.Ref{})
	}
	k.refs[number] = r
	if k.options.Gate(r.Collection) <= 0 {
		return
	}
	for _, l := range k.lanes() {
		l.queue.push(number)
		l.wakeUp()
	}
}

// Recheck looks again at which documents want vectors, after the gate has changed.
func (k *Keeper) Recheck() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for number, r := range k.refs {
		if r == (search.Ref{}) || k.options.Gate(r.Collection) <= 0 {
			continue
		}
		for _, l := range k.lanes() {
			l.queue.push(uint32(number))
		}
	}
	for _, l := range k.lanes() {
		l.wakeUp()
	}
}

// Remove implements search.Semantic.
func (k *Keeper) Remove(number uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if int(number) >= len(k.refs) || k.refs[number] == (search.Ref{}) {
		return
	}
	k.refs[number] = search.Ref{}
	for _, l := range k.lanes() {
		l.release(number)
	}
}

// ref is the document of a number; the zero Ref if there is none.
func (k *Keeper) ref(number uint32) search.Ref {
	if int(number) >= len(k.refs) {
		return search.Ref{}
	}
	return k.refs[number]
}

// Status is what there is of an embedder's vectors.
type Status struct {
	Name       string
	Standard   bool
	Dimensions int
	Vectors    int    // documents that have one
	Waiting    int    // documents that wait for one
	Refused    int    // documents that the embedder does not take
	Making     bool   // these are new vectors, which will take the place of those in use when they are complete
	Error      string // why nothing is embedded just now; empty: nothing is wrong
}

// Status tells how far embedding is, by the embedders' names.
func (k *Keeper) Status() []Status {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var list []Status
	for name, e := range k.entries {
		for _, l := range []*lane{e.serving, e.building} {
			if l == nil {
				continue
			}
			s := l.status()
			s.Standard, s.Making = name == k.standard, l == e.building
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Scrub makes sure that no file has vectors of documents that are gone. The index must hold everything.
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
