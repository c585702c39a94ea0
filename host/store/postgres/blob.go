package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// Blobs are stored in parts under the digest of their content, and read from copies in files of the data directory. A crash leaves at
// most parts that no blob refers to, which the next Open removes.

const (
	partSize    = 1 << 20    // bytes
	partial     = "partial-" // prefix of the name of a copy that is being written
	blobNameMax = 1 << 10    // bytes
)

func (e *Engine) blobDir() string { return filepath.Join(e.dir, "cache", "blobs") }

func (e *Engine) blobPath(digest string) string { return filepath.Join(e.blobDir(), digest) }

func checkBlobName(name string) error {
	if name == "" || len(name) > blobNameMax {
		return fmt.Errorf("the name of a blob has %d bytes: 1 to %d are allowed", len(name), blobNameMax)
	}
	return nil
}

// PutBlob stores a blob.
func (e *Engine) PutBlob(ctx context.Context, name string, r io.Reader) (blob store.Blob, err error) {
	if err := checkBlobName(name); err != nil {
		return blob, fmt.Errorf("put blob: %w", err)
	}
	if e.readOnly {
		return blob, fmt.Errorf("put blob %s: %w", name, store.ErrReadOnly)
	}
	e.blobMu.Lock() // a sweep must not remove the new parts as orphans
	defer e.blobMu.Unlock()
	if blob, err = e.writeCopy(r); err != nil {
		return blob, fmt.Errorf("put blob %s: %w", name, err)
	}
	blob.Name = name
	err = e.upload(ctx, blob.Digest, e.blobPath(blob.Digest))
	if err == nil {
		err = e.update(ctx, func(ctx context.Context, tx pgx.Tx) error { return putBlob(ctx, tx, e.space, blob) })
	}
	if err != nil {
		return blob, fmt.Errorf("put blob %s: %w", name, err)
	}
	if err := e.sweepBlobs(ctx); err != nil { // the blob is stored nevertheless
		e.logger.Warn("unreferenced blobs were not removed", "error", err)
	}
	return blob, nil
}

func putBlob(ctx context.Context, tx pgx.Tx, space int64, b store.Blob) error {
	digest, err := hex.DecodeString(b.Digest)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
INSERT INTO alcove.blobs (space, name, digest, size) VALUES ($1, $2, $3, $4)
ON CONFLICT (space, name) DO UPDATE SET digest = excluded.digest, size = excluded.size`, space, []byte(b.Name), digest, b.Size)
	return err
}

// writeCopy writes a file of the content, named by its digest.
func (e *Engine) writeCopy(r io.Reader) (blob store.Blob, err error) {
	f, err := os.CreateTemp(e.blobDir(), partial+"*")
	if err != nil {
		return blob, err
	}
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(f, h), r)
	blob = store.Blob{Digest: hex.EncodeToString(h.Sum(nil)), Size: size}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), e.blobPath(blob.Digest))
	}
	if err != nil {
		return blob, errors.Join(err, os.Remove(f.Name()))
	}
	return blob, nil
}

// upload stores the parts of a file. Parts that are there already are the same.
func (e *Engine) upload(ctx context.Context, digest, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum, err := hex.DecodeString(digest)
	if err != nil {
		return err
	}
	data := make([]byte, partSize)
	for part := 0; ; part++ {
		n, err := io.ReadFull(f, data)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		err = e.update(ctx, func(ctx context.Context, tx pgx.Tx) error { return putPart(ctx, tx, e.space, sum, part, data[:n]) })
		if err != nil {
			return err
		}
	}
}

func putPart(ctx context.Context, tx pgx.Tx, space int64, digest []byte, part int, data []byte) error {
	_, err := tx.Exec(ctx, `INSERT INTO alcove.blob_parts (space, digest, part, data) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, space, digest, part, data)
	return err
}

type blobReader struct {
	*os.File
	size int64
}

func (b blobReader) Size() int64 { return b.size }

// GetBlob opens a blob's copy, which it makes first if there is none.
func (e *Engine) GetBlob(ctx context.Context, name string) (r store.BlobReader, err error) {
	e.blobMu.Lock()
	defer e.blobMu.Unlock()
	err = e.read(ctx, func(ctx context.Context) error {
		var digest []byte
		var size int64
		err := e.pool.QueryRow(ctx, `SELECT digest, size FROM alcove.blobs WHERE space = $1 AND name = $2`, e.space, []byte(name)).Scan(&digest, &size)
		if errors.Is(err, pgx.ErrNoRows) {
			return store.ErrNotFound
		}
		if err != nil {
			return err
		}
		r, err = e.openCopy(ctx, digest, size)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get blob %s: %w", name, err)
	}
	return r, nil
}

func (e *Engine) openCopy(ctx context.Context, digest []byte, size int64) (store.BlobReader, error) {
	path := e.blobPath(hex.EncodeToString(digest))
	if info, err := os.Stat(path); err != nil || info.Size() != size {
		if err := e.download(ctx, digest); err != nil {
			return nil, err
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return blobReader{f, size}, nil
}

// download makes the copy of a blob.
func (e *Engine) download(ctx context.Context, digest []byte) error {
	if err := os.MkdirAll(e.blobDir(), 0o700); err != nil {
		return err
	}
	blob, err := e.writeCopy(&partReader{ctx: ctx, engine: e, digest: digest})
	if err == nil && blob.Digest != hex.EncodeToString(digest) {
		err = errors.Join(fmt.Errorf("the content of blob %x has another digest: %w", digest, store.ErrDamaged), os.Remove(e.blobPath(blob.Digest)))
	}
	return err
}

// partReader reads the parts of a blob.
type partReader struct {
	ctx    context.Context
	engine *Engine
	digest []byte
	part   int
	rest   []byte
}

func (r *partReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		err := r.engine.pool.QueryRow(r.ctx, `SELECT data FROM alcove.blob_parts WHERE space = $1 AND digest = $2 AND part = $3`, r.engine.space, r.digest, r.part).Scan(&r.rest)
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, io.EOF
		}
		if err != nil {
			return 0, err
		}
		r.part++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// DropBlob removes a blob.
func (e *Engine) DropBlob(ctx context.Context, name string) error {
	e.blobMu.Lock()
	defer e.blobMu.Unlock()
	err := e.update(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM alcove.blobs WHERE space = $1 AND name = $2`, e.space, []byte(name))
		return err
	})
	if err != nil {
		return fmt.Errorf("drop blob %s: %w", name, err)
	}
	return e.sweepBlobs(ctx)
}

// Blobs lists blobs.
func (e *Engine) Blobs(ctx context.Context, prefix string) (list []store.Blob, err error) {
	end := keycode.After([]byte(prefix))
	if end == nil {
		end = beyond
	}
	err = e.read(ctx, func(ctx context.Context) error {
		list, err = e.blobs(ctx, prefix, end)
		return err
	})
	return list, err
}

func (e *Engine) blobs(ctx context.Context, prefix string, end []byte) (list []store.Blob, err error) {
	query := `SELECT name, digest, size FROM alcove.blobs WHERE space = $1 AND name >= $2 AND name < $3 ORDER BY name`
	err = e.each(ctx, query, []any{e.space, []byte(prefix), end}, func(rows pgx.Rows) error {
		var name, digest []byte
		var b store.Blob
		err := rows.Scan(&name, &digest, &b.Size)
		b.Name, b.Digest = string(name), hex.EncodeToString(digest)
		list = append(list, b)
		return err
	})
	return list, err
}

// sweepBlobs removes unreferenced parts and copies.
func (e *Engine) sweepBlobs(ctx context.Context) error {
	_, err := e.pool.Exec(ctx, `
DELETE FROM alcove.blob_parts p WHERE p.space = $1 AND NOT EXISTS (SELECT 1 FROM alcove.blobs b WHERE b.space = $1 AND b.digest = p.digest)
AND EXISTS (SELECT 1 FROM alcove.spaces s WHERE s.space = $1 AND s.owner = $2)`, e.space, e.owner)
	if err != nil {
		return fmt.Errorf("sweep blobs: %w", err)
	}
	return e.sweepCopies(ctx)
}

// sweepCopies removes unreferenced copies. On Windows, one that a reader has open stays until the next sweep.
func (e *Engine) sweepCopies(ctx context.Context) error {
	list, err := e.blobs(ctx, "", beyond)
	if err != nil {
		return fmt.Errorf("sweep blobs: %w", err)
	}
	named := map[string]bool{}
	for _, b := range list {
		named[b.Digest] = true
	}
	files, err := os.ReadDir(e.blobDir())
	if err != nil && !(e.readOnly && errors.Is(err, fs.ErrNotExist)) {
		return fmt.Errorf("sweep blobs: %w", err)
	}
	for _, f := range files {
		if !named[f.Name()] {
			_ = os.Remove(e.blobPath(f.Name())) // the next sweep does
		}
	}
	return nil
}
