package capture

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/alcove-memory/alcove/host/regular"
)

// Cursor is how far a transcript was read. The zero Cursor is its beginning. It has no text that was said.
type Cursor struct {
	Offset int64  `json:"offset,omitempty"` // of the next line, or of the first whose call waits for its outcome; in bytes
	Lines  int    `json:"lines,omitempty"`  // that ended before it
	Place  place  `json:"place"`
	Given  int64  `json:"given,omitempty"`  // the offset up to which all turns were given, but for calls that wait
	Called bool   `json:"called,omitempty"` // those, too, were given, without outcomes
	Head   string `json:"head,omitempty"`   // the hash of the transcript's first bytes
	Tail   string `json:"tail,omitempty"`   // the hash of those before Given
	Sum    string `json:"sum,omitempty"`    // of a transcript that is read as a whole
	Since  int64  `json:"since,omitempty"`  // of a database: the newest change that was given, in milliseconds since 1970
}

const edge = 4 << 10 // bytes that are hashed at either end

// fits reports whether a file begins with what was read. One that was cut, replaced or written anew does not.
func (c Cursor) fits(f io.ReaderAt, size int64) (bool, error) {
	if c.Given <= 0 || c.Given > size || c.Offset < 0 || c.Offset > c.Given || c.Lines < 0 {
		return false, nil
	}
	head, tail, err := edges(f, c.Given)
	return err == nil && head == c.Head && tail == c.Tail, err
}

// edges are the hashes of a file's first bytes, and of those before an offset.
func edges(f io.ReaderAt, offset int64) (head, tail string, err error) {
	n := min(offset, edge)
	if head, err = sumAt(f, 0, n); err != nil {
		return "", "", err
	}
	tail, err = sumAt(f, offset-n, n)
	return head, tail, err
}

func sumAt(f io.ReaderAt, from, n int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, from, n)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// Cursors keeps the cursors of one target, a file each. Nothing is synced: a cursor that is lost or damaged is at the beginning.
type Cursors struct {
	Dir    string // made when needed
	Target string // names where the turns are stored, such as a branch; each target has its own cursors
}

const longestCursor = 64 << 10 // bytes

func (c Cursors) path(transcript string) string {
	return filepath.Join(c.Dir, hash(transcript, c.Target)[:32]+".json")
}

// lockPause is the time between two attempts to lock.
const lockPause = 10 * time.Millisecond

// lock waits until no other process collects with the cursors of the folder: of two, the one that read less could store last.
func (c Cursors) lock(ctx context.Context) (release func() error, err error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("note how far transcripts are read: %w", err)
	}
	file := flock.New(filepath.Join(c.Dir, "lock"), flock.SetPermissions(0o600))
	if _, err := file.TryLockContext(ctx, lockPause); err != nil {
		return nil, fmt.Errorf("wait for another process that reads transcripts: %w", err)
	}
	return file.Close, nil
}

// Load returns the cursor of a transcript.
func (c Cursors) Load(transcript string) (Cursor, error) {
	data, err := regular.Read(c.path(transcript), longestCursor)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, regular.ErrTooLong) {
		return Cursor{}, nil
	}
	if err != nil {
		return Cursor{}, fmt.Errorf("read how far %s was read: %w", transcript, err)
	}
	var at Cursor
	if json.Unmarshal(data, &at) != nil {
		return Cursor{}, nil
	}
	return at, nil
}

// Save replaces the cursor of a transcript. A torn one is as good as none.
func (c Cursors) Save(transcript string, at Cursor) error {
	data, err := json.Marshal(at)
	if err == nil {
		err = os.MkdirAll(c.Dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(c.path(transcript), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note how far %s was read: %w", transcript, err)
	}
	return nil
}
