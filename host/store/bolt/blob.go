package bolt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// Blobs are files named by the digest of their content. The database maps names to digests, so a crash leaves at most an
// unreferenced file, which the next Open removes.

const partial = "partial-" // prefix of the name of a file that is being written

func (e *Engine) blobDir() string { return layout.Blobs(e.dir) }

func (e *Engine) blobPath(digest string) string { return filepath.Join(e.blobDir(), digest) }

// PutBlob stores a blob.
func (e *Engine) PutBlob(ctx context.Context, name string, r io.Reader) (store.Blob, error) {
	if err := layout.CheckBlobName(name); err != nil {
		return store.Blob{}, fmt.Errorf("put blob: %w", err)
	}
	e.blobMu.Lock() // a sweep must not remove the new file as an orphan
	defer e.blobMu.Unlock()
	if err := e.Writable(); err != nil { // the directory may belong to another store
		return store.Blob{}, fmt.Errorf("put blob %s: %w", name, err)
	}
	blob, err := e.writeBlob(name, r)
	if err != nil {
		return blob, fmt.Errorf("put blob %s: %w", name, diskError(err))
	}
	data, err := json.Marshal(blob)
	if err == nil {
		err = e.reach(BlobInPlace)
	}
	if err != nil {
		return blob, fmt.Errorf("put blob %s: %w", name, err)
	}
	err = e.update(ctx, func(tx *bbolt.Tx) error { return layout.InSpace(tx, layout.KindBlobs).Write([]byte(name), data) })
	if err != nil {
		return blob, fmt.Errorf("put blob %s: %w", name, err)
	}
	e.passed(BlobRecorded)
	if err := e.sweepBlobs(); err != nil { // the blob is stored nevertheless
		e.logger.Warn("unreferenced files of blobs were not removed", "error", err)
	}
	return blob, nil
}

// writeBlob writes a blob's file and syncs it and its directory.
func (e *Engine) writeBlob(name string, r io.Reader) (blob store.Blob, err error) {
	f, err := os.CreateTemp(e.blobDir(), partial+"*")
	if err != nil {
		return blob, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(f, h), r)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return blob, err
	}
	if err = e.reach(BlobWritten); err != nil {
		return blob, err
	}
	blob = store.Blob{Name: name, Digest: hex.EncodeToString(h.Sum(nil)), Size: size}
	if err = e.placeBlob(f.Name(), blob); err != nil {
		return blob, err
	}
	return blob, durable.SyncDir(e.blobDir())
}

// placeBlob gives a written file its name. On Windows that fails while a blob of the same content is mapped, which then serves both.
func (e *Engine) placeBlob(written string, blob store.Blob) error {
	err := os.Rename(written, e.blobPath(blob.Digest))
	if err == nil || !e.hasBlob(blob) {
		return err
	}
	return os.Remove(written)
}

// hasBlob reports whether the file of a blob is there, intact.
func (e *Engine) hasBlob(blob store.Blob) bool {
	f, err := os.Open(e.blobPath(blob.Digest))
	if err != nil {
		return false
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return err == nil && hex.EncodeToString(h.Sum(nil)) == blob.Digest
}

type blobReader struct {
	*os.File
	size int64
}

func (b blobReader) Size() int64 { return b.size }

// GetBlob opens a blob.
func (e *Engine) GetBlob(ctx context.Context, name string) (store.BlobReader, error) {
	e.blobMu.Lock()
	defer e.blobMu.Unlock()
	var blob store.Blob
	err := e.read(ctx, func(tx *bbolt.Tx) error {
		data, err := layout.InSpace(tx, layout.KindBlobs).Read([]byte(name))
		if err != nil {
			return err
		}
		if data == nil {
			return store.ErrNotFound
		}
		blob, err = layout.DecodeBlob(data)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get blob %s: %w", name, err)
	}
	f, err := os.Open(e.blobPath(blob.Digest))
	if err != nil {
		return nil, fmt.Errorf("get blob %s: %w", name, err)
	}
	return blobReader{f, blob.Size}, nil
}

// DropBlob removes a blob.
func (e *Engine) DropBlob(ctx context.Context, name string) error {
	e.blobMu.Lock()
	defer e.blobMu.Unlock()
	if err := e.update(ctx, func(tx *bbolt.Tx) error { return layout.InSpace(tx, layout.KindBlobs).Remove([]byte(name)) }); err != nil {
		return fmt.Errorf("drop blob %s: %w", name, err)
	}
	e.passed(BlobForgotten)
	return e.sweepBlobs()
}

// Blobs lists blobs.
func (e *Engine) Blobs(ctx context.Context, prefix string) (list []store.Blob, err error) {
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		blobs := layout.InSpace(tx, layout.KindBlobs)
		c := blobs.Cursor()
		for name, data := c.Seek([]byte(prefix)); name != nil && strings.HasPrefix(string(name), prefix); name, data = c.Next() {
			blob, err := blobs.Blob(name, data)
			if err != nil {
				return fmt.Errorf("list blobs: %s: %w", name, err)
			}
			list = append(list, blob)
		}
		return nil
	})
	return list, err
}

// sweepBlobs removes unreferenced files. On Windows, a file that a reader has open or mapped stays until a later sweep.
func (e *Engine) sweepBlobs() error {
	named := map[string]bool{}
	err := e.view(func(tx *bbolt.Tx) error {
		blobs := layout.InSpace(tx, layout.KindBlobs)
		return blobs.ForEach(func(name, data []byte) error {
			blob, err := blobs.Blob(name, data)
			named[blob.Digest] = true
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("sweep blobs: %w", err)
	}
	if err := e.intact(); err != nil { // the files may belong to another store
		return fmt.Errorf("sweep blobs: %w", err)
	}
	files, err := os.ReadDir(e.blobDir())
	if err != nil {
		return fmt.Errorf("sweep blobs: %w", err)
	}
	for _, f := range files {
		if named[f.Name()] {
			continue
		}
		if err := os.Remove(e.blobPath(f.Name())); err != nil {
			e.logger.Warn("an unreferenced file of blobs could not be removed", "file", f.Name(), "error", err)
			continue
		}
		e.passed(UnusedFileGone)
	}
	return nil
}
