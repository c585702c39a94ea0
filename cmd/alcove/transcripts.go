package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/alcove-memory/alcove/host/capture"
	"github.com/alcove-memory/alcove/host/memory/importer"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
)

// followEvery is how long --follow waits at least before it looks again.
const followEvery = 2 * time.Second

// transcripts finds the client whose transcripts are at a path; ok is false if the input is of another format.
func (o importOptions) transcripts(path string) (s capture.Source, ok bool, err error) {
	if o.format != "" {
		s, ok = capture.SourceOf(capture.Client(o.format))
	} else {
		s, ok, err = capture.Detect(path)
	}
	if err == nil && !ok && (o.follow || o.again) {
		err = &usageError{fmt.Errorf("%s is not a folder of transcripts: --follow and --again are for those of %s", path, transcriptNames())}
	}
	return s, ok, err
}

func transcriptNames() string {
	names := ""
	for i, s := range capture.Sources() {
		if i > 0 {
			names += ", "
		}
		names += string(s.Client)
	}
	return names
}

// importTranscripts stores the turns of conversations that transcripts record. Lines that cannot be read are skipped and reported.
func (a *app) importTranscripts(ctx context.Context, s capture.Source, path string, o importOptions) error {
	if o.follow && o.dry {
		return &usageError{errors.New("--follow stores what is new, and --dry-run stores nothing: give one of them")}
	}
	dir, err := a.ownDir()
	if err != nil {
		return err
	}
	root, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("find %s: %w", path, err)
	}
	stored := &batcher{app: a, options: o, bar: a.progress("importing", -1)}
	var wrong wrongParts
	c := &capture.Collector{
		Reader: capture.Reader{Source: s, Wrong: wrong.add},
		Root:   root, Sink: sinkOf(stored), DryRun: o.dry, Again: o.again, Namespace: o.namespace, Names: a.projectNames,
		Cursors: cursors(dir, o.branch, o.namespace),
	}
	err = errors.Join(c.Collect(ctx), stored.bar.Close())
	if o.follow && ctx.Err() != nil {
		return nil // interrupted, as it is to end
	}
	if err != nil {
		return stored.resumable(err)
	}
	format := importer.Format(s.Client)
	if err := a.printImported(format, stored.done, wrong, o); err != nil || !o.follow {
		return err
	}
	return a.followTranscripts(ctx, c)
}

// cursors are those of a branch and of a namespace in which all is stored; empty: the usual ones.
func cursors(dir, branch, namespace string) *capture.Cursors {
	return &capture.Cursors{Dir: space.Directory(dir).Transcripts(), Target: cmp.Or(branch, "default") + " " + namespace}
}

// followTranscripts goes on until it is interrupted. An error is reported once, until another one follows.
func (a *app) followTranscripts(ctx context.Context, c *capture.Collector) error {
	c.Again = false
	c.Wrong = func(err *importer.InputError) error { return a.notef("skipped %s\n", err) }
	last := ""
	return c.Follow(ctx, followEvery, func(err error) error {
		if err.Error() == last {
			return nil
		}
		last = err.Error()
		return a.notef("alcove: %s; trying again\n", last)
	})
}

// sink stores what is collected at once.
type sink struct{ *batcher }

func sinkOf(b *batcher) capture.Sink { return sink{b} }

// Store implements capture.Sink.
func (s sink) Store(ctx context.Context, memories []operator.Memory) error {
	for _, m := range memories {
		if err := s.add(ctx, m); err != nil {
			return err
		}
	}
	return s.flush(ctx)
}
