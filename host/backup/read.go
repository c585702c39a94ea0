package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/bundle"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store"
)

// Read gives a loader all parts of a backup, a folder or a single file, in order. They count only if there is no error. progress
// is told how many bytes were read of how many; it may be nil.
func Read(ctx context.Context, path string, to store.Loader, progress func(done, all int64)) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return readSingle(ctx, path, to, progress)
	}
	return readFolder(ctx, path, to, progress)
}

func readFolder(ctx context.Context, dir string, to store.Loader, progress func(done, all int64)) error {
	m, err := ReadManifest(dir)
	if err != nil {
		return err
	}
	var done, all int64
	for _, p := range m.Parts {
		all += p.Bytes
	}
	for _, p := range m.Parts {
		tell := func(n int64) {
			if progress != nil {
				progress(done+n, all)
			}
		}
		found, err := readFile(ctx, filepath.Join(dir, p.File), m.Format, to, tell)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is missing in %s: %w", p.File, dir, ErrBroken)
		}
		if err == nil {
			err = p.matches(found)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", p.File, err)
		}
		done += p.Bytes
		tell(0)
	}
	to.Continue(m.Base().History)
	return nil
}

func readFile(ctx context.Context, path string, format int, to store.Loader, progress func(int64)) (Part, error) {
	f, err := regular.Open(path)
	if err != nil {
		return Part{}, err
	}
	defer f.Close()
	if format == oldFormat {
		s, err := bundle.Read(ctx, f, to.Add, progress)
		return Part{Since: s.Since, Until: s.Until, SHA256: s.SHA256}, err
	}
	return readPart(ctx, f, to, progress)
}

const readSize = 1 << 20 // bytes

// readPart reads a part to its end.
func readPart(ctx context.Context, r io.Reader, to store.Loader, progress func(int64)) (Part, error) {
	p := newParser(func(run []byte) error { return store.ReadRun(run, to.Add) })
	p.content = to.Blob
	for block := make([]byte, readSize); ; {
		if err := ctx.Err(); err != nil {
			return Part{}, err
		}
		n, err := r.Read(block)
		if _, err := p.Write(block[:n]); err != nil {
			return Part{}, err
		}
		progress(p.bytes)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Part{}, err
		}
	}
	if err := p.finish(); err != nil {
		return Part{}, err
	}
	to.Blobs(p.blobs.list)
	return p.part(), nil
}
