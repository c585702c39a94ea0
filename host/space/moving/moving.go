// Package moving copies a space to another store while it is in use.
//
// A copy is a dump, then the changes since, again and again until little is left. Then nothing is written any more, and the last changes
// follow. What was copied is verified before: a bundle of both is the same, byte for byte.
package moving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bundle"
)

const (
	mostRounds  = 20              // of following
	shortRound  = time.Second     // one that took no longer leaves little
	mostChanged = 5               // times that old versions were dropped or purged while they were copied or compared
	wholeWithin = 4 * time.Second // in which both are to be compared wholly while nothing is written
	blobBlock   = 1 << 20         // bytes
)

// Source is the engine of the space.
type Source interface {
	store.PortableEngine
	store.Remembering
}

// Copy is a copy that follows its space. Its methods are not called concurrently.
type Copy struct {
	from     Source
	to       store.Staged
	until    store.Point   // the copy has everything up to here
	verified uint64        // up to which version both are known to be equal, but for counters
	took     time.Duration // to compare them
	have     map[string]bool
	Entries  int // that were copied
	Bytes    int64
	Rounds   int
}

// New returns a copy of nothing yet.
func New(from Source, to store.Staged) *Copy {
	return &Copy{from: from, to: to, have: map[string]bool{}}
}

// Follow copies everything and follows until little is left, and verifies it.
func (c *Copy) Follow(ctx context.Context) error {
	for c.Rounds < mostRounds {
		began := time.Now()
		if err := c.round(ctx); err != nil {
			return err
		}
		if time.Since(began) < shortRound {
			break
		}
	}
	for again := 1; ; again++ {
		err := c.verifyFollowed(ctx)
		if !errors.As(err, new(*DifferError)) || again == mostChanged {
			return err
		}
		if err := c.round(ctx); err != nil { // something may have been purged meanwhile
			return err
		}
	}
}

// verifyFollowed compares what is not changed any more, but by purges, and copies what was written meanwhile.
func (c *Copy) verifyFollowed(ctx context.Context) error {
	began := time.Now()
	if err := c.verify(ctx, 0, lasting); err != nil {
		return err
	}
	c.verified, c.took = c.until.Version, time.Since(began)
	return c.round(ctx)
}

// Finish copies the last changes of a space to which nothing is written any more, and compares both wholly. If that would take too long, it
// compares what changed since the last comparison.
func (c *Copy) Finish(ctx context.Context) error {
	if err := c.round(ctx); err != nil {
		return err
	}
	since := c.verified
	if c.took < wholeWithin {
		since = 0
	}
	if err := c.verify(ctx, since, everything); err != nil {
		return err
	}
	return errors.Join(c.verifyMemos(ctx), c.verifyBlobs(ctx))
}

// round copies what is new.
func (c *Copy) round(ctx context.Context) (err error) {
	c.Rounds++
	for range mostChanged {
		if err = c.copyPieces(ctx); !errors.Is(err, store.ErrChanged) {
			break
		}
	}
	if err == nil {
		err = c.copyBlobs(ctx)
	}
	if err == nil {
		err = c.to.Sync(ctx)
	}
	if err != nil {
		return fmt.Errorf("copy the space: %w", err)
	}
	return nil
}

func (c *Copy) copyPieces(ctx context.Context) error {
	release, err := c.from.HoldVersions(ctx)
	if err != nil {
		return err
	}
	defer release()
	head, err := c.from.Head(ctx)
	if err != nil {
		return err
	}
	history, err := c.from.History(ctx)
	if err != nil {
		return err
	}
	c.to.Continue(history)
	if err := c.from.Dump(ctx, c.until.Version, head.Version, c.add); err != nil {
		return err
	}
	if err := c.from.Memos(ctx, c.until, c.to.Remember); err != nil {
		return err
	}
	c.until = head
	return nil
}

func (c *Copy) add(p store.Piece) error {
	if p.Entry != nil {
		c.Entries++
		c.Bytes += int64(len(p.Entry.Value) + len(p.Entry.Name))
	}
	return c.to.Add(p)
}

// copyBlobs copies the blobs that the copy does not have. One that is dropped or replaced meanwhile is left to the next round.
func (c *Copy) copyBlobs(ctx context.Context) error {
	list, err := c.from.Blobs(ctx, "")
	if err != nil {
		return err
	}
	var copied []store.Blob
	for _, b := range list {
		err := c.copyBlob(ctx, b)
		switch {
		case err == nil:
			copied = append(copied, b)
		case !errors.Is(err, store.ErrNotFound):
			return fmt.Errorf("blob %s: %w", b.Name, err)
		}
	}
	named := map[string]bool{}
	for _, b := range copied {
		named[b.Digest] = true
	}
	c.have = named // the others are dropped
	c.to.Blobs(copied)
	return nil
}

func (c *Copy) copyBlob(ctx context.Context, b store.Blob) error {
	if c.have[b.Digest] {
		return nil
	}
	r, err := c.from.GetBlob(ctx, b.Name)
	if err != nil {
		return err
	}
	defer r.Close()
	now, err := c.from.Blobs(ctx, b.Name) // after the reader was opened, whose content stays
	if err != nil {
		return err
	}
	if !slices.Contains(now, b) {
		return fmt.Errorf("it was replaced: %w", store.ErrNotFound)
	}
	section := io.NewSectionReader(r, 0, b.Size)
	for block := make([]byte, blobBlock); ; {
		n, err := io.ReadFull(section, block)
		if n > 0 || b.Size == 0 {
			if err := c.to.Blob(b.Digest, block[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	c.have[b.Digest] = true
	c.Bytes += b.Size
	return nil
}

// DifferError means that a copy is not equal to its original.
type DifferError struct{ What string }

func (e *DifferError) Error() string {
	return "the copy differs from the space in " + e.What + ": it is discarded, and the space stays where it is"
}

func everything(store.Piece) bool { return true }

// lasting reports whether a piece of a version stays as it is while others are written: counters and floors do not.
func lasting(p store.Piece) bool { return p.Counter == nil && p.Branch == nil && p.Branches == nil }

// selected dumps some of the pieces.
type selected struct {
	from interface {
		Dump(ctx context.Context, since, at uint64, yield func(store.Piece) error) error
	}
	of func(store.Piece) bool
}

// Dump yields the selected pieces.
func (s selected) Dump(ctx context.Context, since, at uint64, yield func(store.Piece) error) error {
	return s.from.Dump(ctx, since, at, func(p store.Piece) error {
		if !s.of(p) {
			return nil
		}
		return yield(p)
	})
}

// verify compares what both have after a version, as bundles.
func (c *Copy) verify(ctx context.Context, since uint64, of func(store.Piece) bool) error {
	release, err := c.from.HoldVersions(ctx)
	if err != nil {
		return err
	}
	defer release()
	var theirs bundle.Summary
	failed := make(chan error, 1)
	go func() {
		var err error
		theirs, err = bundle.Digest(ctx, selected{c.to, of}, since, c.until.Version)
		failed <- err
	}()
	ours, err := bundle.Digest(ctx, selected{c.from, of}, since, c.until.Version)
	if err := errors.Join(err, <-failed); err != nil {
		return fmt.Errorf("verify the copy: %w", err)
	}
	if ours.SHA256 != theirs.SHA256 {
		return &DifferError{fmt.Sprintf("its bundle from version %d to %d: %d lines with the sum %s, and %d with %s", since, c.until.Version, ours.Lines, ours.SHA256, theirs.Lines, theirs.SHA256)}
	}
	return nil
}

// verifyMemos looks for everything in the copy that the space remembers.
func (c *Copy) verifyMemos(ctx context.Context) error {
	theirs := map[string]bool{}
	err := c.to.Memos(ctx, store.Point{}, func(m store.Memo) error {
		theirs[memoText(m)] = true
		return nil
	})
	if err != nil {
		return err
	}
	return c.from.Memos(ctx, store.Point{}, func(m store.Memo) error {
		if !theirs[memoText(m)] {
			return &DifferError{"requests, purges or the note of a backup"}
		}
		return nil
	})
}

func memoText(m store.Memo) string {
	switch {
	case m.Request != nil:
		r := m.Request
		return fmt.Sprintf("request %x %x %d %d %v", r.Key, r.Digest, r.Version, r.Time.UnixMicro(), r.Sequences)
	case m.Purged != nil:
		return fmt.Sprintf("purged %t %d %q %q %q %d", m.Purged.Note, m.Purged.Branch, m.Purged.Key.Namespace, m.Purged.Key.Collection, m.Purged.Key.Name, m.Purged.Version)
	}
	return fmt.Sprintf("backup %d %d", m.Backup.Version, m.Backup.Made.UnixMicro())
}

func (c *Copy) verifyBlobs(ctx context.Context) error {
	ours, err := c.from.Blobs(ctx, "")
	if err != nil {
		return err
	}
	theirs, err := c.to.Stored(ctx)
	if err != nil {
		return err
	}
	if !slices.Equal(ours, theirs) {
		return &DifferError{fmt.Sprintf("its blobs: %d and %d", len(ours), len(theirs))}
	}
	return nil
}
