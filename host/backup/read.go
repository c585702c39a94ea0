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
	"github.com/alcove-memory/alcove/host/store"
)

// Read gives the pieces of a backup, a folder or a single file: of all parts, in order. They count only if there is no error.
// progress is told how many bytes were read of how many; it may be nil.
func Read(ctx context.Context, path string, add func(store.Piece) error, progress func(done, all int64)) (Manifest, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return readSingle(ctx, path, add, progress)
	}
	return readFolder(ctx, path, add, progress)
}

func readFolder(ctx context.Context, dir string, add func(store.Piece) error, progress func(done, all int64)) (Manifest, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return m, err
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
		found, err := readFile(ctx, filepath.Join(dir, p.File), m.Format, add, tell)
		if errors.Is(err, fs.ErrNotExist) {
			return m, fmt.Errorf("%s is missing in %s: %s", p.File, dir, incomplete)
		}
		if err == nil {
			err = p.matches(found)
		}
		if err != nil {
			return m, fmt.Errorf("read %s: %w", p.File, err)
		}
		done += p.Bytes
		tell(0)
	}
	return m, nil
}

func readFile(ctx context.Context, path string, format int, add func(store.Piece) error, progress func(int64)) (Part, error) {
	f, err := os.Open(path)
	if err != nil {
		return Part{}, err
	}
	defer f.Close()
	if format == oldFormat {
		s, err := bundle.Read(ctx, f, add, progress)
		return Part{Since: s.Since, Until: s.Until, SHA256: s.SHA256}, err
	}
	return readPart(ctx, f, add, progress)
}

const readSize = 1 << 20 // bytes

// readPart reads a part to its end.
func readPart(ctx context.Context, r io.Reader, add func(store.Piece) error, progress func(int64)) (Part, error) {
	p := newParser(func(run []byte) error { return store.ReadRun(run, add) })
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
	return p.part(), nil
}
