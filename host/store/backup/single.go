package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/sealing"
)

// ToFile makes a full backup as a single file, which is a part. It replaces an earlier one of the same space.
func (w Writer) ToFile(ctx context.Context, path string, from Source, now time.Time) (Part, error) {
	path, err := regular.Destination(path)
	if err != nil {
		return Part{}, fmt.Errorf("back up: %w", err)
	}
	old, err := readHeader(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Part{}, fmt.Errorf("%s is there already, and not replaced: %w", path, err)
	}
	if err := removeAbandoned(filepath.Dir(path), filepath.Base(path)+"-", time.Now()); err != nil {
		return Part{}, fmt.Errorf("back up: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*"+partial)
	if err != nil {
		return Part{}, fmt.Errorf("back up: %w", err)
	}
	p, err := writePart(ctx, f, w.Sealer, Base{}, from, now)
	if root := old.Until.History.Root(); err == nil && root != "" && root != p.History.Root() {
		err = fmt.Errorf("to %s: %w", path, ErrOccupied)
	}
	if err != nil {
		return Part{}, fmt.Errorf("back up: %w", errors.Join(err, os.Remove(f.Name())))
	}
	p.File = filepath.Base(path)
	if err := replace(f.Name(), path); err != nil {
		return Part{}, fmt.Errorf("back up: %w", err)
	}
	return p, nil
}

// replace durably replaces a file by another. The old file's space is returned afterwards.
func replace(from, to string) error {
	old := from + "-old" + partial
	linked := os.Link(to, old) == nil // there may be no old file, or no hard links
	if err := os.Rename(from, to); err != nil {
		return errors.Join(err, os.Remove(from))
	}
	err := syncFolder(filepath.Dir(to))
	if linked {
		err = errors.Join(err, removeSlowly(old))
	}
	return err
}

// readHeader reads the header of a part.
func readHeader(path string) (Header, error) {
	f, err := regular.Open(path)
	if err != nil {
		return Header{}, err
	}
	defer f.Close()
	p := newParser(nil)
	for block := make([]byte, 4<<10); p.number == 0; {
		n, err := f.Read(block)
		if sealing.IsSealed(block[:n]) {
			return Header{}, errors.New("it is encrypted, so that whose backup it is cannot be seen: choose another name, or delete it first")
		}
		if _, err := p.Write(block[:n]); err != nil && p.number == 0 {
			return Header{}, err
		}
		if errors.Is(err, io.EOF) && p.number == 0 {
			return Header{}, ErrNoPart
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return Header{}, err
		}
	}
	return p.header, nil
}

// readSingle reads a backup that is a single file.
func readSingle(ctx context.Context, path string, by *sealing.Opener, to store.Loader, files Files, progress func(done, all int64)) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	tell := func(n int64) {
		if progress != nil {
			progress(n, info.Size())
		}
	}
	p, err := readFile(ctx, path, by, to, files, tell)
	if err == nil && p.Since != 0 {
		err = fmt.Errorf("it continues version %d: restore the folder that it belongs to", p.Since)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	to.Continue(p.History)
	return nil
}

// IsFile reports whether a path means a single file: an existing one, or a name with an extension.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	if err == nil {
		return info.Mode().IsRegular()
	}
	return filepath.Ext(path) != "" && !os.IsPathSeparator(path[len(path)-1])
}
