package backup

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/sealing"
)

// Read passes all parts of a backup, a folder or a single file, to a loader in order, and its settings files to files.
// They are valid only if there is no error. by opens parts that are encrypted; it and files may be nil; progress receives bytes read and in
// all, and may be nil.
func Read(ctx context.Context, path string, by *sealing.Opener, to store.Loader, files Files, progress func(done, all int64)) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return readSingle(ctx, path, by, to, files, progress)
	}
	return readFolder(ctx, path, by, to, files, progress)
}

// At is a backup in a folder or a single file.
type At string

// Read is the function Read for that backup.
func (a At) Read(ctx context.Context, by *sealing.Opener, to store.Loader, files Files, progress func(done, all int64)) error {
	return Read(ctx, string(a), by, to, files, progress)
}

func readFolder(ctx context.Context, dir string, by *sealing.Opener, to store.Loader, files Files, progress func(done, all int64)) error {
	c, err := Folder(dir)
	if err != nil {
		return err
	}
	return c.Read(ctx, by, to, files, progress)
}

func readFile(ctx context.Context, path string, by *sealing.Opener, to store.Loader, files Files, progress func(int64)) (Part, error) {
	f, err := regular.Open(path)
	if err != nil {
		return Part{}, err
	}
	defer f.Close()
	return readSealed(ctx, f, by, to, files, progress)
}

func readSealed(ctx context.Context, r io.Reader, by *sealing.Opener, to store.Loader, files Files, progress func(int64)) (Part, error) {
	opened, err := by.Open(r)
	if err != nil {
		return Part{}, err
	}
	return readPart(ctx, opened, to, files, progress)
}

const readSize = 1 << 20 // bytes

// readPart reads a part to its end.
func readPart(ctx context.Context, r io.Reader, to store.Loader, files Files, progress func(int64)) (Part, error) {
	p := newParser(func(run []byte) error { return store.ReadRun(run, to.Add) })
	p.content = to.Blob
	if files != nil {
		p.file = files.File
	}
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
	if files != nil {
		if err := files.Files(p.files.list); err != nil {
			return Part{}, err
		}
	}
	return p.part(), nil
}
