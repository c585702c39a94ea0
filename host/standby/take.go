package standby

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/host/store/sealing"
)

// mostApplied is how many bytes are applied in one commit, which has them in memory. With a longer increment the chain is taken over.
const mostApplied = 128 << 20

const copyFolder = "copy" // a store that is made beside the one in use

func (f *Follower) work(name string) string { return filepath.Join(f.Dir.Path, workFolder, name) }

// apply applies an increment.
func (f *Follower) apply(ctx context.Context, c backup.Chain, p backup.Part) error {
	one, done, err := f.fetch(ctx, c, p)
	if err != nil {
		return err
	}
	defer done()
	files, err := newIncoming(f.Dir.Path, f.work(""))
	if err != nil {
		return err
	}
	err = f.Space.Take(ctx, func() (store.Applied, error) {
		return f.Engine.Apply(ctx, func(l store.Loader) error {
			err := one.Read(ctx, f.Opener, datadir.Limited(&bounded{Loader: l, left: mostApplied}), files, nil)
			if err == nil {
				err = files.finish(p.Until) // before they count
			}
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("take %s of %s: %w", p.File, c.Place, err)
	}
	f.applied = c.Place + "/" + p.File
	return putInForce(f.Dir.Path, p.Until)
}

// fetch returns a chain of one part that is on this machine, until done is called.
func (f *Follower) fetch(ctx context.Context, c backup.Chain, p backup.Part) (one backup.Chain, done func(), err error) {
	path := f.work("part")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return one, nil, err
	}
	if err := copyPart(ctx, c, p, path); err != nil {
		return one, nil, errors.Join(fmt.Errorf("fetch %s of %s: %w", p.File, c.Place, err), os.Remove(path))
	}
	one = backup.Chain{Place: c.Place, Open: func(context.Context, backup.Part) (io.ReadCloser, error) { return regular.Open(path) }}
	one.Manifest.Parts = []backup.Part{p}
	return one, func() { _ = os.Remove(path) }, nil // it is overwritten otherwise
}

func copyPart(ctx context.Context, c backup.Chain, p backup.Part, path string) error {
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	from, err := c.Open(ctx, p)
	if err != nil {
		return errors.Join(err, to.Close())
	}
	most := max(p.Bytes, p.Stored)
	n, err := io.Copy(to, io.LimitReader(from, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("it has more than the %d bytes that its manifest says: %w", most, backup.ErrBroken)
	}
	return errors.Join(err, from.Close(), to.Close())
}

// bounded refuses more than so many bytes of values.
type bounded struct {
	store.Loader
	left int64
}

func (b *bounded) Add(p store.Piece) error {
	if p.Entry != nil {
		b.left -= int64(len(p.Entry.Value))
	}
	if b.left -= int64(len(p.Note)); b.left < 0 {
		return fmt.Errorf("it has more than the %d bytes that an increment may have: %w", mostApplied, backup.ErrBroken)
	}
	return b.Loader.Add(p)
}

// takeOver makes a copy of a whole chain beside the one in use, and goes over to it.
func (f *Follower) takeOver(ctx context.Context, c backup.Chain) error {
	f.waits(len(c.Manifest.Parts))
	head, err := f.Engine.Head(ctx)
	if err != nil {
		return err
	}
	beside := f.Dir
	beside.Path = f.work(copyFolder)
	if err := errors.Join(os.RemoveAll(f.work(readyFile)), os.RemoveAll(beside.Path)); err != nil {
		return err
	}
	found := &purged{Chain: c, upTo: head.Version}
	_, err = beside.RestoreFrom(ctx, found, datadir.RestoreOptions{Opener: f.Opener})
	if err == nil {
		err = noteReady(f.work(""), copyFolder, c.Manifest.Base().Version)
	}
	if err != nil {
		return fmt.Errorf("begin again with %s: %w", c.Place, err)
	}
	err = f.Space.Take(ctx, func() (store.Applied, error) {
		done, err := f.Engine.Adopt(ctx, beside.Path)
		done.Replaced, done.All = found.list, found.more
		return done, err
	})
	if err != nil {
		return fmt.Errorf("begin again with %s: %w", c.Place, err)
	}
	f.applied = c.Place + "/" + c.Manifest.Parts[len(c.Manifest.Parts)-1].File
	f.note(ctx, nil)
	f.waits(0)
	return errors.Join(putInForce(f.Dir.Path, c.Manifest.Base().Version), os.RemoveAll(beside.Path))
}

// purged is a chain in which versions are noted that a purge left: the index of an earlier copy may have what they were.
type purged struct {
	backup.Chain
	upTo uint64 // the newest version of that copy
	list []store.Entry
	more bool // than list has
}

// Read implements datadir.Backup.
func (p *purged) Read(ctx context.Context, by *sealing.Opener, to store.Loader, files backup.Files, progress func(done, all int64)) error {
	return p.Chain.Read(ctx, by, noting{to, p}, files, progress)
}

type noting struct {
	store.Loader
	in *purged
}

// Add implements store.Loader.
func (n noting) Add(p store.Piece) error {
	switch {
	case p.Entry == nil || p.Entry.Version > n.in.upTo || !memory.IsPurged(*p.Entry):
	case len(n.in.list) == store.MostReplaced:
		n.in.more = true
	default:
		n.in.list = append(n.in.list, store.Entry{Key: p.Entry.Key, Point: p.Entry.Point, Branch: p.Entry.Branch})
	}
	return n.Loader.Add(p)
}
