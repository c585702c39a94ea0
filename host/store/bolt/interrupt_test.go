package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/stress"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

var errInterrupted = errors.New("interrupted by the test")

// work is an operation that is interrupted at each of its steps. Whatever is left must look as before or as after
// it, and doing it again must end as if nothing had happened.
type work struct {
	name  string
	do    func(ctx context.Context, e *bolt.Engine) error
	look  func(s *stage, e *bolt.Engine) string
	steps []bolt.Step // that it must reach
}

// late are the steps at which it is too late to fail.
var late = []bolt.Step{bolt.GroupDurable, bolt.BranchErased, bolt.BlobRecorded, bolt.BlobForgotten, bolt.UnusedFileGone,
	bolt.CompactSwapped, bolt.PurgeRewritten}

// onWriter are the steps that the writer itself reaches, so that nothing can be committed there.
var onWriter = []bolt.Step{bolt.BatchApplied, bolt.GroupDurable, bolt.CompactCopied, bolt.CompactSwapped}

const (
	stageDepth = 40
	stageKeys  = 2100 // more than an overlay or a trim handles in one transaction
	shortKeys  = 210  // of a short stage, whose engines handle a tenth in one transaction
	sideBranch = 900
)

// stage is a directory to work on: a deep lineage, part of which has an overlay, and blobs.
type stage struct {
	t       testing.TB
	dir     string
	keys    int // on the first branch
	lineage store.Lineage
	pin     uint64 // a version of the first branch, at which the second was forked
	floor   uint64 // a later one
	noted   []string
	was     map[string]bool // what was true before something was trimmed
}

func stageKey(name string) store.Key { return store.Key{Namespace: "n", Collection: "c", Name: name} }

func newStage(t testing.TB) *stage {
	return fixtures.full.copy(t, func(s *stage) { s.fill(stageKeys) })
}

// newShortStage is as a stage of many keys to engines that handle a tenth as many in one transaction.
func newShortStage(t testing.TB) *stage {
	return fixtures.short.copy(t, func(s *stage) { s.fill(shortKeys) })
}

func (s *stage) fill(keys int) {
	s.keys = keys
	e := s.open(s.dir, bolt.Options{})
	var root store.Batch
	for i := range keys {
		value := []byte(fmt.Sprint("root", i))
		if i%100 == 0 {
			value = bytes.Repeat(value, 500)
		}
		root.Writes = append(root.Writes, store.Write{Branch: 1, Key: stageKey(fmt.Sprintf("k%04d", i)), Value: value})
	}
	s.pin = s.commit(e, root)
	for i := range root.Writes {
		root.Writes[i].Value = fmt.Append(nil, "second", i)
	}
	s.floor = s.commit(e, root)
	s.lineage = store.Lineage{{Branch: 1, At: store.Latest}}.At(s.pin)
	for i := range stageDepth {
		s.lineage = s.lineage.At(s.head(e)).Fork(store.BranchID(2 + i))
		s.commit(e, store.Batch{Writes: []store.Write{
			{Branch: s.lineage[0].Branch, Key: stageKey(fmt.Sprintf("k%04d", i)), Value: fmt.Append(nil, "deep", i)},
			{Branch: s.lineage[0].Branch, Key: stageKey(fmt.Sprintf("k%04d", 7*i)), Delete: true},
		}[:1+min(i, 1)]})
		if i == stageDepth/2 {
			s.ok(e.Consolidate(s.t.Context(), s.lineage))
		}
	}
	for _, name := range []string{"s/1", "s/2"} {
		_, err := e.PutBlob(s.t.Context(), name, strings.NewReader("old "+name))
		s.ok(err)
	}
	s.ok(e.Close())
}

func (s *stage) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) open(dir string, o bolt.Options) *bolt.Engine {
	s.t.Helper()
	o.MapSize = 16 << 20
	if s.keys == shortKeys {
		o = bolt.WithChunk(o, shortKeys-10)
	}
	e, err := bolt.Open(s.t.Context(), dir, o)
	s.ok(err)
	return e
}

func (s *stage) commit(e *bolt.Engine, b store.Batch) uint64 {
	s.t.Helper()
	done, err := e.Commit(context.Background(), b)
	s.ok(err)
	return done.Version
}

func (s *stage) head(e *bolt.Engine) uint64 {
	s.t.Helper()
	p, err := e.Head(context.Background())
	s.ok(err)
	return p.Version
}

// in is the same stage, for a subtest.
func (s *stage) in(t *testing.T) *stage {
	c := *s
	c.t = t
	return &c
}

// copyOf is the stage as it is in a directory now.
func (s *stage) copyOf(dir string) *stage {
	s.t.Helper()
	c := *s
	c.dir, c.noted = s.t.TempDir(), slices.Clone(s.noted)
	s.ok(os.CopyFS(c.dir, os.DirFS(dir)))
	return &c
}

// note commits something beside the work, which must never be lost.
func (s *stage) note(e *bolt.Engine) {
	s.t.Helper()
	name := fmt.Sprintf("note%d", len(s.noted))
	s.commit(e, store.Batch{Writes: []store.Write{{Branch: sideBranch, Key: stageKey(name), Value: []byte(name)}}})
	s.noted = append(s.noted, name)
}

func (s *stage) checkNotes(e *bolt.Engine) {
	s.t.Helper()
	for _, name := range s.noted {
		if got := s.get(e, store.Lineage{{Branch: sideBranch, At: store.Latest}}, name); got != name {
			s.t.Errorf("the acknowledged write %s reads %q", name, got)
		}
	}
}

func (s *stage) get(e *bolt.Engine, l store.Lineage, name string) string {
	found, err := e.GetAt(context.Background(), l, []store.Key{stageKey(name)})
	if err != nil {
		return err.Error()
	}
	return string(found[0].Value)
}

func (s *stage) list(e *bolt.Engine, l store.Lineage) string {
	var out strings.Builder
	var cursor store.Cursor
	for {
		page, next, err := e.ScanAt(context.Background(), l, store.Range{Namespace: "n"}, cursor, 1000)
		if err != nil {
			return err.Error()
		}
		for _, entry := range page {
			fmt.Fprintf(&out, "%s=%s@%d ", entry.Name, entry.Value, entry.Version)
		}
		if next == "" {
			return out.String()
		}
		cursor = next
	}
}

// versions is everything there is on a branch, what nobody can ask for included.
func (s *stage) versions(e *bolt.Engine, b store.BranchID) string {
	list, _, err := e.Versions(context.Background(), store.Lineage{{Branch: b, At: store.Latest}}, store.Range{}, "", 1<<20)
	return fmt.Sprint(list, err)
}

func (s *stage) blob(e *bolt.Engine, name string) string {
	r, err := e.GetBlob(context.Background(), name)
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	content, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
	return fmt.Sprint(string(content), err)
}

// deepLook is what every branch of the lineage sees, now and where its parent was forked.
func deepLook(s *stage, e *bolt.Engine) string {
	var out strings.Builder
	for i := 0; i < len(s.lineage)-1; i += 9 {
		fmt.Fprintln(&out, s.list(e, s.lineage[i:]), s.get(e, s.lineage[i:], "k0005"))
	}
	return out.String()
}

func blobLook(s *stage, e *bolt.Engine) string {
	return s.blob(e, "s/1") + " " + s.blob(e, "s/2")
}

// works are the operations. The first branch is trimmed between the pin and the floor, and the last one erased.
func (s *stage) works() []work {
	first := store.Lineage{{Branch: 1, At: store.Latest}}
	batch := store.Batch{
		Writes: []store.Write{
			{Branch: 1, Key: stageKey("k0001"), Value: []byte("one")},
			{Branch: 2, Key: stageKey("k0001"), Value: bytes.Repeat([]byte("two"), 5000)},
			{Branch: 50, Key: stageKey("new"), Value: []byte("three")},
		},
		Appends: []store.Append{{Lineage: first, Namespace: "n", Collection: "log",
			Seal: func(store.Entry, uint64, store.Point) ([]byte, error) { return []byte("sealed"), nil }}},
		Counters: []store.CounterWrite{{Branch: 1, Key: stageKey("k0001"), Version: 1, Value: []byte("9")}},
		Request:  store.Request{Caller: "c", ID: "r", Digest: [32]byte{1}},
	}
	return []work{
		{"commit", func(ctx context.Context, e *bolt.Engine) error {
			_, err := e.Commit(ctx, batch)
			return err
		}, func(s *stage, e *bolt.Engine) string {
			counted, err := e.Counters(context.Background(), first, []store.Key{stageKey("k0001")})
			_, done, errR := e.Requested(context.Background(), batch.Request)
			return fmt.Sprint(s.get(e, first, "k0001"), s.get(e, s.lineage, "k0001"), s.get(e, store.Lineage{{Branch: 50, At: store.Latest}}, "new"),
				strings.Contains(s.list(e, first), "sealed"), string(counted[0]), err, done, errR)
		}, []bolt.Step{bolt.BatchApplied, bolt.GroupDurable}},
		{"consolidate", func(ctx context.Context, e *bolt.Engine) error { return e.Consolidate(ctx, s.lineage) }, deepLook,
			[]bolt.Step{bolt.OverlayBegun, bolt.OverlayCopied, bolt.OverlayWhole, bolt.OverlayUsed, bolt.OverlaysDropped}},
		{"trim", func(ctx context.Context, e *bolt.Engine) error { return e.Trim(ctx, 1, s.floor, []uint64{s.pin}) },
			func(s *stage, e *bolt.Engine) string {
				return s.list(e, first) + s.list(e, first.At(s.floor)) + s.get(e, first.At(s.pin-1), "k0001") + deepLook(s, e)
			}, []bolt.Step{bolt.TrimRecorded, bolt.TrimEntries, bolt.TrimLog}},
		{"reclaim", func(ctx context.Context, e *bolt.Engine) error { return e.Reclaim(ctx, s.lineage[1].Branch) },
			func(s *stage, e *bolt.Engine) string {
				return s.versions(e, s.lineage[1].Branch) + s.list(e, s.lineage[2:])
			}, []bolt.Step{bolt.BranchForgotten, bolt.BranchErased}},
		{"put a blob", func(ctx context.Context, e *bolt.Engine) error {
			_, err := e.PutBlob(ctx, "s/3", strings.NewReader("new"))
			return err
		}, func(s *stage, e *bolt.Engine) string { return blobLook(s, e) + s.blob(e, "s/3") },
			[]bolt.Step{bolt.BlobWritten, bolt.BlobInPlace, bolt.BlobRecorded}},
		{"swap a blob", func(ctx context.Context, e *bolt.Engine) error {
			_, err := e.PutBlob(ctx, "s/1", strings.NewReader("new"))
			return err
		}, blobLook, []bolt.Step{bolt.BlobWritten, bolt.BlobInPlace, bolt.BlobRecorded, bolt.UnusedFileGone}},
		{"drop a blob", func(ctx context.Context, e *bolt.Engine) error { return e.DropBlob(ctx, "s/1") }, blobLook,
			[]bolt.Step{bolt.BlobForgotten, bolt.UnusedFileGone}},
		{"compact", func(ctx context.Context, e *bolt.Engine) error {
			_, err := e.Compact(ctx)
			return err
		}, deepLook, []bolt.Step{bolt.CompactCopied, bolt.CompactSwapped}},
		{"purge", func(ctx context.Context, e *bolt.Engine) error {
			_, err := e.Purge(ctx, stageKey("k0000"), func(was store.Entry) ([]byte, bool) {
				return []byte("purged"), !was.Deleted && string(was.Value) != "purged"
			})
			return err
		}, deepLook, []bolt.Step{bolt.PurgeRewritten, bolt.CompactCopied, bolt.CompactSwapped}},
	}
}

// outcome is how things look when the work is done without an interruption, and which steps it reached.
type outcome struct {
	before, after, all string
	steps              []bolt.Step
}

// extent is where a step is reached first and last.
func (o outcome) extent(step bolt.Step) (first, last int) {
	first, last = slices.Index(o.steps, step), len(o.steps)-1
	for o.steps[last] != step {
		last--
	}
	return first, last
}

func (s *stage) undisturbed(w work) outcome {
	s.t.Helper()
	var o outcome
	c := s.copyOf(s.dir)
	e := s.open(c.dir, bolt.Options{Steps: func(step bolt.Step) error {
		o.steps = append(o.steps, step)
		return nil
	}})
	o.before = w.look(c, e)
	o.steps = nil
	s.ok(w.do(s.t.Context(), e))
	o.after, o.all = w.look(c, e), c.everything(e)
	s.ok(e.Check(s.t.Context()))
	s.ok(e.Close())
	return o
}

// everything is what all branches hold, and which files there are.
func (s *stage) everything(e *bolt.Engine) string {
	var out strings.Builder
	for b := range store.BranchID(60) {
		fmt.Fprintln(&out, s.versions(e, b))
	}
	files, err := os.ReadDir(filepath.Join(s.dir, "blobs"))
	s.ok(err)
	for _, f := range files {
		fmt.Fprintln(&out, f.Name())
	}
	return out.String()
}

// mustRecover makes sure that what an interruption left is right, and that the work can be done again.
func (s *stage) mustRecover(w work, o outcome, e *bolt.Engine) {
	s.t.Helper()
	if got := w.look(s, e); got != o.before && got != o.after {
		s.t.Errorf("it looks neither as before nor as after:\n%.300s", got)
	}
	s.ok(e.Check(context.Background()))
	if inFile, inUse, err := bolt.Overlays(e); inFile != inUse || err != nil {
		s.t.Errorf("of %d overlays in the file %d are in use (%v)", inFile, inUse, err)
	}
	s.checkNotes(e)
	s.ok(w.do(context.Background(), e))
	if got := w.look(s, e); got != o.after {
		s.t.Errorf("done again, it does not look as after:\n%.300s", got)
	}
	if w.name != "commit" && len(s.noted) == 0 && s.everything(e) != o.all { // versions differ otherwise
		s.t.Error("done again, something else is there than without the interruption")
	}
	s.ok(e.Check(context.Background()))
	s.checkNotes(e)
}

func TestEveryStepIsInterruptedSomewhere(t *testing.T) {
	t.Parallel()
	s := newShortStage(t)
	reached := map[bolt.Step]bool{}
	for _, w := range s.works() {
		o := s.undisturbed(w)
		for _, step := range w.steps {
			if !slices.Contains(o.steps, step) {
				t.Errorf("to %s does not reach the step %q, only %q", w.name, step, o.steps)
			}
		}
		for _, step := range o.steps {
			reached[step] = true
		}
	}
	for _, step := range bolt.Steps() {
		if !reached[step] {
			t.Errorf("no work reaches the step %q", step)
		}
	}
}

func TestAProcessThatDiesAtAnyStepLeavesAllOrNothing(t *testing.T) {
	notShort(t)
	t.Parallel()
	s := newShortStage(t)
	for _, w := range s.works() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := s.in(t)
			o := s.undisturbed(w)
			for i, image := range s.images(w) {
				e := image.open(image.dir, bolt.Options{})
				image.mustRecover(w, o, e)
				s.ok(e.Close())
				if t.Failed() {
					t.Fatalf("after a crash at step %d", i+1)
				}
			}
		})
	}
}

func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine at a time works here, so the race detector has nothing to find: it runs in the long form")
	}
}

// images are what a crash at each step would leave.
func (s *stage) images(w work) []*stage {
	s.t.Helper()
	var images []*stage
	var e *bolt.Engine
	c := s.copyOf(s.dir)
	busy := true
	e = s.open(c.dir, bolt.Options{Steps: func(step bolt.Step) error {
		if busy {
			return nil
		}
		busy = true
		defer func() { busy = false }()
		if !slices.Contains(onWriter, step) {
			c.note(e)
		}
		images = append(images, c.copyOf(c.dir))
		return nil
	}})
	busy = false
	s.ok(w.do(s.t.Context(), e))
	busy = true
	s.ok(e.Close())
	return images
}

func TestAnOperationThatFailsOrIsCancelledAtAnyStepLeavesAllOrNothing(t *testing.T) {
	notShort(t)
	t.Parallel()
	s := newShortStage(t)
	for _, w := range stress.Pick(t, 6, s.works()) { // the others on other days
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := s.in(t)
			o := s.undisturbed(w)
			for i, step := range o.steps {
				if first, last := o.extent(step); i != first && i != last {
					continue // between them it is the same again
				}
				s.interrupt(w, o, i, step, func() error { return errInterrupted })
				ctx, cancel := context.WithCancel(t.Context())
				s.interruptWith(ctx, w, o, i, func() error { cancel(); return nil })
				cancel()
				if t.Failed() {
					t.Fatalf("after an interruption at step %d, %s", i+1, step)
				}
			}
		})
	}
}

// interrupt makes the work fail at a step, which it must report unless it is too late.
func (s *stage) interrupt(w work, o outcome, at int, step bolt.Step, stop func() error) {
	s.t.Helper()
	err := s.interruptWith(s.t.Context(), w, o, at, stop)
	if failed := errors.Is(err, errInterrupted); failed == slices.Contains(late, step) {
		s.t.Errorf("%s was interrupted at %q with the result: %v", w.name, step, err)
	}
}

func (s *stage) interruptWith(ctx context.Context, w work, o outcome, at int, stop func() error) error {
	s.t.Helper()
	c := s.copyOf(s.dir)
	n := -1 << 20 // no step of opening counts
	e := s.open(c.dir, bolt.Options{Steps: func(bolt.Step) error {
		if n++; n == at+1 {
			return stop()
		}
		return nil
	}})
	n = 0
	err := w.do(ctx, e)
	n = 1 << 20
	if got := w.look(c, e); err == nil && got != o.after {
		s.t.Errorf("it was reported as done, and looks like:\n%.300s", got)
	}
	again := c.copyOf(c.dir)
	c.mustRecover(w, o, e)
	s.ok(e.Close())
	e = again.open(again.dir, bolt.Options{}) // and once more after a restart
	again.mustRecover(w, o, e)
	s.ok(e.Close())
	return err
}

func TestARequestThatIsUsedAgainIsNotForgottenWithItsFirstUse(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s := &stage{t: t}
	e := s.open(t.TempDir(), bolt.Options{Now: now.Now})
	defer e.Close()
	again := store.Batch{Request: store.Request{Caller: "c", ID: "again", Digest: [32]byte{1}}}
	s.commit(e, again)
	now.Add(25 * time.Hour)
	second := s.commit(e, again)
	if second != 2 {
		t.Fatalf("after a day the request is at version %d, not new", second)
	}
	for i := range 40 { // each commit with a request drops some old ones
		s.commit(e, store.Batch{Request: store.Request{Caller: "c", ID: fmt.Sprint(i), Digest: [32]byte{1}}})
	}
	done, err := e.Commit(t.Context(), again)
	if err != nil || !done.Replayed || done.Version != second {
		t.Errorf("used again at once: %+v %v", done, err)
	}
}
