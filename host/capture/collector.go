package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/capture/project"
	"github.com/alcove-memory/alcove/host/memory/portable"
)

// Sink stores memories. Storing one again with the same content changes nothing. A Collector stores on a goroutine of its own, one batch after
// the other.
type Sink interface {
	Store(ctx context.Context, memories []portable.Memory) error
}

// Collector takes the new turns of transcripts to a sink. Killed at any point, the next one goes on: a cursor is saved after what it
// follows was stored.
type Collector struct {
	Reader
	Root      string // a transcript, or a folder of them
	Sink      Sink
	Cursors   *Cursors // nil: all is read from the beginning
	DryRun    bool     // saves no cursors
	Again     bool     // reads from the beginning, and saves cursors
	Namespace string   // of all memories; empty: each has that of its project
	// Names returns what the owner says about projects, when a pass begins; nil: nothing.
	Names func() (project.Names, error)
	Clock func() time.Time // nil: time.Now

	names   project.Names
	places  map[[2]string]string // namespaces, by folder and project
	seen    map[string]string    // stamps of the transcripts of which everything was stored
	done    map[string]bool      // transcripts whose cursors were saved
	batch   batch
	storing *storing // nil: nothing is being stored
}

// storing is a batch that is being stored, while the next one is read.
type storing struct {
	batch
	ended chan error
}

const (
	mostPlaces = 10_000
	unsettled  = 2 * time.Second // for which a file may change again without a newer time
	idleShare  = 20              // times as long as a pass took, Follow waits
)

func (c *Collector) now() time.Time {
	if c.Clock == nil {
		return time.Now()
	}
	return c.Clock()
}

// Collect reads what is new in all transcripts. A transcript that cannot be read is reported as wrong, and left.
func (c *Collector) Collect(ctx context.Context) (err error) {
	c.batch = batch{} // what was gathered when the last pass failed is read again
	if c.Cursors != nil && !c.DryRun {
		release, failed := c.Cursors.lock(ctx)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, release()) }()
	}
	defer func() { err = errors.Join(err, c.stored()) }()
	files, err := c.Source.Files(ctx, c.Root)
	if err == nil && c.Names != nil {
		c.places = nil
		c.names, err = c.Names()
	}
	if err != nil {
		return err
	}
	for _, path := range files {
		if err := c.file(ctx, path); err != nil {
			return err
		}
	}
	return c.flush(ctx)
}

// Follow collects until the context ends: at least so long after each pass, and longer if a pass takes long. Failed gets the error of a
// pass, after which Follow goes on; it ends with an error that failed returns.
func (c *Collector) Follow(ctx context.Context, every time.Duration, failed func(error) error) error {
	for {
		began := c.now()
		if err := c.Collect(ctx); err != nil && ctx.Err() == nil {
			if err := failed(err); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(every, idleShare*c.now().Sub(began))):
		}
	}
}

// stopError is an error of the sink or the cursors, which ends a pass.
type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }
func (e *stopError) Unwrap() error { return e.err }

func (c *Collector) file(ctx context.Context, path string) error {
	stamp, newest := c.Source.stamp(path)
	if stamp != "" && c.seen[path] == stamp {
		return nil
	}
	from, err := c.from(path)
	if err != nil {
		return err
	}
	err = c.Read(ctx, path, from, func(turns []Turn, at Cursor) error {
		if err := c.take(ctx, path, turns, at); err != nil {
			return &stopError{err}
		}
		return nil
	})
	if isStop := new(stopError); errors.As(err, &isStop) {
		return isStop.err
	}
	if err != nil && ctx.Err() == nil {
		if err := c.wrongIn(path, err); err != nil {
			return err
		}
	}
	if c.now().Sub(newest) >= unsettled { // otherwise it may yet change without a newer time
		c.batch.stamps = noted(c.batch.stamps, path, stamp)
	}
	return ctx.Err()
}

func (c *Collector) from(path string) (Cursor, error) {
	if c.Cursors == nil || c.Again && !c.done[path] {
		return Cursor{}, nil
	}
	return c.Cursors.Load(path)
}

// take gathers turns, and stores them once there are enough.
func (c *Collector) take(ctx context.Context, path string, turns []Turn, at Cursor) error {
	for _, t := range turns {
		for _, m := range t.memories(cmp.Or(c.Namespace, c.namespace(t))) {
			c.batch.add(m)
		}
	}
	c.batch.cursors = noted(c.batch.cursors, path, at)
	if len(c.batch.memories) < chunkTurns && c.batch.bytes < chunkBytes {
		return nil
	}
	return c.flush(ctx)
}

// flush begins to store what was gathered, when what was gathered before is stored.
func (c *Collector) flush(ctx context.Context) error {
	if err := c.stored(); err != nil {
		return err
	}
	s := &storing{c.batch, make(chan error, 1)}
	c.batch, c.storing = batch{}, s
	if len(s.memories) == 0 {
		s.ended <- nil
		return nil
	}
	go func() { s.ended <- c.Sink.Store(ctx, s.memories) }()
	return nil
}

// stored waits until what is being stored is, and then notes how far that goes.
func (c *Collector) stored() error {
	s := c.storing
	if s == nil {
		return nil
	}
	c.storing = nil
	if err := <-s.ended; err != nil {
		return err
	}
	for path, at := range s.cursors {
		if c.Cursors == nil || c.DryRun {
			break
		}
		if err := c.Cursors.Save(path, at); err != nil {
			return err
		}
		c.done = noted(c.done, path, true)
	}
	for path, stamp := range s.stamps {
		c.seen = noted(c.seen, path, stamp)
	}
	return nil
}

// namespace is that of a turn's project.
func (c *Collector) namespace(t Turn) string {
	key := [2]string{t.Folder, t.Project}
	if name, known := c.places[key]; known {
		return name
	}
	if len(c.places) >= mostPlaces {
		c.places = nil
	}
	name := c.names.Namespace(t.Folder, t.Project)
	c.places = noted(c.places, key, name)
	return name
}

// batch is what was gathered and not stored.
type batch struct {
	memories []portable.Memory
	at       map[[2]string]int // by namespace and key
	bytes    int
	cursors  map[string]Cursor // by transcript
	stamps   map[string]string // of the transcripts that were read to their end
}

// add adds a memory; of those with one key, the last one counts.
func (b *batch) add(m portable.Memory) {
	key := [2]string{m.Namespace, m.Key}
	b.bytes += len(m.Value)
	if at, known := b.at[key]; known {
		b.memories[at] = m
		return
	}
	b.at = noted(b.at, key, len(b.memories))
	b.memories = append(b.memories, m)
}

func noted[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	m[key] = value
	return m
}

// stamp is what changes when a transcript does, and its newest time.
func (s Source) stamp(path string) (stamp string, newest time.Time) {
	var b strings.Builder
	for _, file := range s.filesOf(path) {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		_, _ = fmt.Fprintf(&b, "%d %d\n", info.Size(), info.ModTime().UnixNano())
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return b.String(), newest
}

// filesOf are the files and folders of a transcript.
func (s Source) filesOf(path string) []string {
	if s.parts == nil {
		return []string{path}
	}
	return append(s.parts(path), path)
}
