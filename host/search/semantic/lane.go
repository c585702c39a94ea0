package semantic

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/search/vector"
	"github.com/alcove-memory/alcove/host/store"
)

// lane is the vectors of one embedder under one identity. The lock order is work, the index's, Keeper.mu, mu.
type lane struct {
	keeper     *Keeper
	name       string
	dimensions int
	id         string // names its blobs: blobPrefix + id + "/"
	set        *vector.Set
	instant    bool
	queue      queue
	wake       chan struct{}
	stop       context.CancelFunc // nil: not running yet
	ended      chan struct{}

	using sync.RWMutex // read-held while a search reads files; held while they are dropped
	work  sync.Mutex   // held while files are read or rewritten; never during a request to an embedder

	parts    []snapshotPart   // of the set, as they are stored; guarded by work, as those that follow
	nextPart uint64           // the last one's number
	stored   map[uint64]bool  // numbers of parts that are stored, or may be
	mapped   []*store.Mapping // of parts, some of which the set uses

	damaged atomic.Pointer[file] // which a search found; nil: none

	mu        sync.Mutex
	settings  Settings
	files     []*file
	next      uint64     // the next blob's number
	loaded    bool       // files are those that were stored
	restoring *restoring // nil: no snapshot may be of the documents' numbers
	flights   []*flight
	known     map[digest]location // unclaimed rows
	tail      []row               // not yet in a file; number none: removed. Vectors are in set, with their place in the tail
	scheduled *scheduledSnapshot  // nil: no snapshot is to be written
	snapshot  string              // the state of the index that the stored snapshot is of, if it is of the set as it is; empty: it is not
	since     time.Time           // when the tail began
	texts     map[digest]uint32
	refused   map[uint32]bool
	trouble   error
}

// location is the row of a file, or of the tail, that holds a vector.
type location struct {
	file *file // nil: tail
	row  uint32
}

// isAt reports whether a number's vector is at a location.
func (l *lane) isAt(number uint32, at location) bool {
	from, row, ok := l.set.Source(number)
	return ok && row == at.row && from == at.reader()
}

// reader is the location's file; nil for the tail.
func (at location) reader() vector.Reader {
	if at.file == nil {
		return nil
	}
	return at.file
}

// flight is the numbers of documents that vectors are being found for. A number leaves it when its document is removed.
type flight struct{ numbers map[uint32]struct{} }

// depart makes a flight of numbers. It ends with arrive.
func (l *lane) depart(numbers []uint32) *flight {
	f := &flight{map[uint32]struct{}{}}
	for _, n := range numbers {
		f.numbers[n] = struct{}{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flights = append(l.flights, f)
	return f
}

func (l *lane) arrive(f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flights = slices.DeleteFunc(l.flights, func(other *flight) bool { return other == f })
}

// begin has the lane find the vectors of the documents that the index has. The caller holds Keeper.mu.
func (l *lane) begin(h search.Held) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endRestoring()
	if h.State != "" && !l.loaded {
		l.restoring = &restoring{h.State, map[uint32]struct{}{}, make(chan struct{})}
	}
	l.queue.setBelow(h.Numbers)
}

const (
	defaultBatch = 32
	defaultChars = 8000
	takenAtOnce  = 512
	tailRows     = 1024
	longestPause = 5 * time.Minute
)

func newLane(k *Keeper, s Settings) (*lane, error) {
	set, err := vector.New(vector.Options{Dimensions: s.Dimensions, Metric: s.Metric})
	if err != nil {
		return nil, err
	}
	sum := digestOf(s.Identity)
	return &lane{keeper: k, name: s.Name, dimensions: s.Dimensions, settings: s, set: set, instant: s.Instant != nil, id: s.Name + "-" + hex.EncodeToString(sum[:6]), wake: make(chan struct{}, 1),
		known: map[digest]location{}, texts: map[digest]uint32{}, refused: map[uint32]bool{}, stored: map[uint64]bool{}}, nil
}

func (l *lane) owns(blob string) bool { return strings.HasPrefix(blob, blobPrefix+l.id+"/") }

func (l *lane) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run embeds waiting documents until ctx ends.
func (l *lane) run(ctx context.Context, source Source) {
	l.load(ctx)
	for failures := 0; ctx.Err() == nil; {
		numbers := l.queue.pop(takenAtOnce)
		if len(numbers) == 0 {
			numbers = l.queue.popBelow(takenAtOnce, l.set.Without)
		}
		if len(numbers) == 0 {
			if !l.examine(ctx) {
				l.wait(ctx)
			}
			continue
		}
		err := l.serve(ctx, source, numbers)
		l.mu.Lock()
		l.trouble = err
		l.mu.Unlock()
		if err == nil || ctx.Err() != nil {
			failures = 0
			continue
		}
		failures++
		pause := min(l.keeper.options.Retry<<min(failures-1, 20), longestPause)
		l.keeper.options.Logger.Warn("embedding failed and will be retried", "embedder", l.name, "after", pause, "error", err)
		sleep(ctx, pause)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// wait waits for work, and flushes the tail when FlushAfter has passed.
func (l *lane) wait(ctx context.Context) {
	l.mu.Lock()
	waiting, since := len(l.tail), l.since
	l.mu.Unlock()
	if l.isScheduled() {
		l.writeScheduled(ctx)
	}
	if waiting == 0 {
		l.tidy(ctx)
		l.keeper.completed(l)
		select {
		case <-ctx.Done():
		case <-l.wake:
		}
		return
	}
	left := time.Until(since.Add(l.keeper.options.FlushAfter))
	if left <= 0 || waiting >= tailRows || l.keeper.awaits(l) {
		l.flushOrLog(ctx)
		return
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-l.wake:
	case <-t.C:
	}
}

func (l *lane) flushOrLog(ctx context.Context) {
	if err := l.flush(ctx); err != nil && ctx.Err() == nil {
		l.keeper.options.Logger.Warn("vectors were not written; after a restart they are computed again", "embedder", l.name, "error", err)
		l.mu.Lock()
		l.since = time.Now()
		l.mu.Unlock()
	}
}

// pendingDoc is a document without a vector.
type pendingDoc struct {
	number uint32
	ref    search.Ref
	in     *flight
}

// isGone reports whether the document was removed. The caller holds the lane's mu.
func (w pendingDoc) isGone() bool {
	_, ok := w.in.numbers[w.number]
	return !ok
}

// serve computes documents' vectors, the newest batch first. Numbers ascend within one, so that rows of the set follow them. After a
// failure, the remaining documents are queued again.
func (l *lane) serve(ctx context.Context, source Source, numbers []uint32) error {
	slices.Sort(numbers)
	in := l.depart(numbers)
	defer l.arrive(in)
	defer l.queue.setOut(0)
	list, err := l.pending(numbers, in)
	if err != nil {
		l.queue.push(numbers...)
		return err
	}
	list = l.claim(list)
	for len(list) > 0 {
		first := max(0, len(list)-l.current().Batch)
		if err := l.embed(ctx, source, list[first:]); err != nil {
			for _, w := range list {
				l.queue.push(w.number)
			}
			return err
		}
		list = list[:first]
		l.queue.setOut(len(list))
		if l.overdue() {
			l.flushOrLog(ctx)
		}
	}
	return nil
}

func (l *lane) current() Settings {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.settings
}

// overdue reports whether the tail is to be written before more is embedded.
func (l *lane) overdue() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.tail) >= tailRows || len(l.tail) > 0 && time.Since(l.since) >= l.keeper.options.FlushAfter
}

// pending returns the documents of the numbers of a flight that need a vector.
func (l *lane) pending(numbers []uint32, in *flight) ([]pendingDoc, error) {
	refs, err := l.keeper.refs(numbers)
	if err != nil {
		return nil, fmt.Errorf("find documents: %w", err)
	}
	list := make([]pendingDoc, 0, len(numbers))
	for i, n := range numbers {
		if r := refs[i]; r != (search.Ref{}) && l.keeper.options.Gate(r.Collection) > 0 && !l.set.Has(n) {
			list = append(list, pendingDoc{n, r, in})
		}
	}
	return list, nil
}

// embed computes the vectors of a batch of documents.
func (l *lane) embed(ctx context.Context, source Source, list []pendingDoc) error {
	refs := make([]search.Ref, len(list))
	for i, w := range list {
		refs[i] = w.ref
	}
	docs, err := source.Documents(ctx, refs)
	if err != nil {
		return fmt.Errorf("read documents: %w", err)
	}
	if len(docs) != len(list) {
		return fmt.Errorf("read documents: got %d for %d references", len(docs), len(list))
	}
	s := l.current()
	var asked []pendingDoc
	var texts []string
	for i, d := range docs {
		text := s.text(d)
		switch v := given(s, d); {
		case d.Deleted:
		case v != nil:
			l.put(list[i], digest{}, v)
		case s.Embedder == nil || text == "":
		case s.Costly && l.copied(list[i], digestOf(text)):
		default:
			asked, texts = append(asked, list[i]), append(texts, text)
		}
	}
	vectors, err := l.ask(ctx, s, texts)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		l.put(asked[i], digestOf(texts[i]), v)
	}
	return nil
}

// text returns the embedded text of a document.
func (s Settings) text(d search.Doc) string {
	parts := d.Text
	if d.Turn != nil {
		if d.Turn.Speaker != "" {
			parts = append([]string{d.Turn.Speaker + ":"}, parts...)
		}
		if d.Turn.Caption != "" {
			parts = append(parts[:len(parts):len(parts)], d.Turn.Caption)
		}
	}
	text := strings.TrimSpace(strings.Join(parts, "\n"))
	if text == "" {
		return ""
	}
	return s.Prefix + clipped(text, s.MaxChars)
}

func clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n := 0
	for at := range text {
		if n == most {
			return text[:at]
		}
		n++
	}
	return text
}

// given returns a document's own vector if it is of this embedder and its dimensions; else nil.
func given(s Settings, d search.Doc) []float32 {
	if len(d.Vector) != s.Dimensions || d.VectorOf != "" && d.VectorOf != s.Name {
		return nil
	}
	return d.Vector
}

// ask embeds texts. The vector of a refused text, or one without known tokens, is nil.
func (l *lane) ask(ctx context.Context, s Settings, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	vectors, err := s.Embedder.Embed(ctx, texts)
	switch {
	case err == nil && len(vectors) != len(texts):
		return nil, fmt.Errorf("%d vectors came for %d texts", len(vectors), len(texts))
	case err == nil || !l.keeper.options.Refused(err):
		return vectors, err
	case len(texts) == 1:
		l.keeper.options.Logger.Warn("an embedder refused a text; only lexical search finds it", "embedder", s.Name, "error", err)
		return [][]float32{nil}, nil
	}
	half := len(texts) / 2
	front, err := l.ask(ctx, s, texts[:half])
	if err != nil {
		return nil, err
	}
	back, err := l.ask(ctx, s, texts[half:])
	return append(front, back...), err
}

// put stores a document's vector, unless the document is gone.
func (l *lane) put(w pendingDoc, text digest, v []float32) { l.putEncoded(w, text, l.encode(v)) }

// encode is a vector as a file has it; nil: it is refused.
func (l *lane) encode(v []float32) []byte {
	ready, err := l.set.Ready(v)
	if err != nil {
		return nil
	}
	raw := encodeVector(ready)
	if l.current().Metric == vector.Cosine {
		setUnitLength(raw)
	}
	return raw
}

func (l *lane) putEncoded(w pendingDoc, text digest, raw []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.isGone() {
		return
	}
	if l.append(w, text, raw) && l.settings.Costly && text != (digest{}) {
		l.texts[text] = w.number
	}
}

// putInstantly stores the vector that was made of a new document; nil: it has none. The caller holds Keeper.mu.
func (l *lane) putInstantly(number uint32, r search.Ref, v []float32) {
	if v == nil {
		return
	}
	raw := l.encode(v)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.append(pendingDoc{number: number, ref: r}, digest{}, raw) && (len(l.tail) == 1 || len(l.tail) >= tailRows) {
		l.wakeUp()
	}
}

// append adds a vector to the tail, as a file will have it, so that scores do not change when it is written. It reports false for a document
// that has one, and for a vector that is refused. The caller holds mu.
func (l *lane) append(w pendingDoc, text digest, raw []byte) bool {
	if l.set.Has(w.number) {
		return false
	}
	if raw == nil {
		l.refused[w.number] = true
		return false
	}
	if err := l.set.PutKept(w.number, decoded(raw), nil, uint32(len(l.tail))); err != nil {
		l.refused[w.number] = true
		return false
	}
	if len(l.tail) == 0 {
		l.since = time.Now()
	}
	l.snapshot = ""
	l.tail = append(l.tail, row{number: w.number, key: keyOf(w.ref), text: text, raw: raw})
	return true
}

// dropFlushed removes the first rows of the tail, which are in a file. The caller holds mu.
func (l *lane) dropFlushed(n int) {
	if n == 0 {
		return
	}
	l.tail = slices.Clone(l.tail[n:])
	l.since = time.Now()
	for i, r := range l.tail {
		if r.number != none {
			l.set.Moved(r.number, nil, uint32(i))
		}
	}
}

// copied copies the vector of another document with the same text, and reports whether there is one.
func (l *lane) copied(w pendingDoc, text digest) bool {
	l.mu.Lock()
	other, ok := l.texts[text]
	l.mu.Unlock()
	if !ok {
		return false
	}
	v, err := l.set.Vector(other)
	if err != nil || v == nil {
		return false
	}
	l.putEncoded(w, text, encodeVector(v)) // v is one already: encoded again, it is the same
	return true
}

// release removes a number's vector. A stored row becomes unclaimed. The caller holds Keeper.mu.
func (l *lane) release(number uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.refused, number)
	for _, f := range l.flights {
		delete(f.numbers, number)
	}
	if l.restoring != nil {
		l.restoring.removed[number] = struct{}{}
	}
	l.changes(number)
	l.forget(number)
}

// forget removes a number's vector. A stored row becomes unclaimed. The caller holds mu.
func (l *lane) forget(number uint32) {
	from, row, ok := l.set.Source(number)
	if !ok {
		return
	}
	l.set.Remove(number)
	l.snapshot = ""
	text := digest{}
	if f, stored := from.(*file); stored {
		var key digest
		var err error
		if key, text, err = f.digests(row); err == nil {
			l.known[key] = location{f, row}
		}
	} else {
		text = l.tail[row].text
		l.tail[row].number = none
	}
	if l.texts[text] == number {
		delete(l.texts, text)
	}
}

// status is the lane's progress with the documents that the index had.
func (l *lane) status(documents int) Status {
	waiting, below := l.queue.len()
	waiting += min(below, max(1, documents-l.set.Len())) // until those below are gone through, one may wait
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Status{Name: l.name, Dimensions: l.dimensions, Vectors: l.set.Len(), Waiting: waiting, Refused: len(l.refused)}
	if l.trouble != nil && !errors.Is(l.trouble, context.Canceled) {
		s.Error = l.trouble.Error()
	}
	return s
}
