package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/sealing"
)

// Chain is a full part and its increments, wherever they are.
type Chain struct {
	Manifest Manifest
	Place    string // named in errors
	Open     func(context.Context, Part) (io.ReadCloser, error)
}

// Folder returns the chain in a folder.
func Folder(dir string) (Chain, error) {
	m, err := ReadManifest(dir)
	return Chain{Manifest: m, Place: dir, Open: func(_ context.Context, p Part) (io.ReadCloser, error) {
		return regular.Open(filepath.Join(dir, p.File))
	}}, err
}

// ErrLater means that a backup begins after a moment that was asked for.
var ErrLater = errors.New("the backup begins later")

// AsOf returns the chain up to its last part that has nothing newer than a moment.
func (c Chain) AsOf(at time.Time) (Chain, error) {
	n := 0
	for n < len(c.Manifest.Parts) && !c.Manifest.Parts[n].UntilTime.After(at) {
		n++
	}
	if n == 0 {
		return c, fmt.Errorf("read %s as of %s: %w", c.Place, at.Format(time.RFC3339), ErrLater)
	}
	c.Manifest.Parts = c.Manifest.Parts[:n:n]
	return c, nil
}

// Read is the function Read for a chain.
func (c Chain) Read(ctx context.Context, by *sealing.Opener, to store.Loader, files Files, progress func(done, all int64)) error {
	var done, all int64
	for _, p := range c.Manifest.Parts {
		all += p.Bytes
	}
	for _, p := range c.Manifest.Parts {
		tell := func(n int64) {
			if progress != nil {
				progress(done+n, all)
			}
		}
		if err := c.readPart(ctx, p, by, to, files, tell); err != nil {
			return err
		}
		done += p.Bytes
		tell(0)
	}
	to.Continue(c.Manifest.Base().History)
	return nil
}

func (c Chain) readPart(ctx context.Context, p Part, by *sealing.Opener, to store.Loader, files Files, tell func(int64)) error {
	from, err := c.Open(ctx, p)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing in %s: %w", p.File, c.Place, ErrBroken)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", p.File, err)
	}
	defer from.Close()
	stored := &storedReader{r: from, sum: sha256.New()}
	found, err := readSealed(ctx, stored, by, to, files, tell)
	if err == nil {
		err = p.matches(found)
	}
	if err == nil && p.StoredSHA256 != "" {
		err = stored.check(p)
	}
	if err != nil {
		return fmt.Errorf("read %s in %s: %w", p.File, c.Place, err)
	}
	return nil
}

// storedReader digests what is read.
type storedReader struct {
	r   io.Reader
	sum hash.Hash
	n   int64
}

func (s *storedReader) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.sum.Write(b[:n])
	s.n += int64(n)
	return n, err
}

// check compares what was read, and what is left, with the manifest.
func (s *storedReader) check(p Part) error {
	if _, err := io.Copy(io.Discard, s); err != nil {
		return err
	}
	if sum := hex.EncodeToString(s.sum.Sum(nil)); s.n != p.Stored || sum != p.StoredSHA256 {
		return fmt.Errorf("it has %d bytes with the sha256 %s, and should have %d with %s: it was changed", s.n, sum, p.Stored, p.StoredSHA256)
	}
	return nil
}
