package bolt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// Blob adds bytes to a blob's content. The calls for one blob are consecutive.
func (l *loader) Blob(digest string, data []byte) error {
	if err := layout.CheckDigest(digest); err != nil {
		return err
	}
	if l.blob == nil || filepath.Base(l.blob.Name()) != digest {
		if err := l.closeBlob(); err != nil {
			return err
		}
		f, err := os.OpenFile(filepath.Join(layout.Blobs(l.dir), digest), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("load a blob: %w", err)
		}
		l.blob, l.files[digest] = f, true
	}
	if _, err := l.blob.Write(data); err != nil {
		return fmt.Errorf("load a blob: %w", err)
	}
	return nil
}

// Blobs sets the list of blobs, replacing an earlier one.
func (l *loader) Blobs(list []store.Blob) { l.blobs = list }

func (l *loader) closeBlob() error {
	if l.blob == nil {
		return nil
	}
	err := errors.Join(l.blob.Sync(), l.blob.Close())
	l.blob = nil
	if err != nil {
		return fmt.Errorf("load a blob: %w", err)
	}
	return nil
}

// finishBlobs verifies the blobs' files against their digests, records the blobs, and removes other files.
func (l *loader) finishBlobs() error {
	if err := l.closeBlob(); err != nil {
		return err
	}
	named := map[string]bool{}
	for _, b := range l.blobs {
		named[b.Digest] = true
		if l.staged.checked(b) {
			continue
		}
		if err := l.checkBlob(b); err != nil {
			return fmt.Errorf("blob %s: %w", b.Name, err)
		}
	}
	for digest := range l.files {
		if !named[digest] {
			if err := os.Remove(filepath.Join(layout.Blobs(l.dir), digest)); err != nil {
				return err
			}
			delete(l.files, digest)
		}
	}
	if len(l.files) == 0 && l.staged == nil {
		return nil
	}
	if err := durable.SyncDir(layout.Blobs(l.dir)); err != nil {
		return err
	}
	return l.db.Update(func(tx *bbolt.Tx) error {
		if err := dropBlobs(tx, l.blobs); err != nil {
			return err
		}
		for _, b := range l.blobs {
			data, err := json.Marshal(b)
			if err := errors.Join(err, layout.InSpace(tx, layout.KindBlobs).Write([]byte(b.Name), data)); err != nil {
				return err
			}
		}
		return nil
	})
}

// dropBlobs drops the records of blobs that are not in a list.
func dropBlobs(tx *bbolt.Tx, keep []store.Blob) error {
	var drop [][]byte
	blobs := layout.InSpace(tx, layout.KindBlobs)
	c := blobs.Cursor()
	for name, _ := c.First(); name != nil; name, _ = c.Next() {
		if !slices.ContainsFunc(keep, func(b store.Blob) bool { return b.Name == string(name) }) {
			drop = append(drop, bytes.Clone(name))
		}
	}
	for _, name := range drop {
		if err := blobs.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) checkBlob(b store.Blob) error {
	if err := errors.Join(layout.CheckBlobName(b.Name), layout.CheckDigest(b.Digest)); err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(layout.Blobs(l.dir), b.Digest))
	if err != nil {
		return fmt.Errorf("its content is missing: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	if found := hex.EncodeToString(h.Sum(nil)); err == nil && (size != b.Size || found != b.Digest) {
		err = fmt.Errorf("it has %d bytes with the digest %s, and should have %d with %s", size, found, b.Size, b.Digest)
	}
	return err
}
