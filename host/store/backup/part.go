package backup

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// A part begins with a format line, followed by frames: a header, runs of pieces, blobs, files, and the end. A frame begins with
// its kind, its number from 0, the length of its content, and a CRC-32C over these and the content, in big-endian order.
const (
	partMagic  = "alcove part 1\n"
	partStart  = "alcove part "   // of any format
	earlyStart = "alcove backup " // of builds before version 1, as long as partMagic

	frameHeader = 1 + 4 + 4 + 4
	frameJSON   = 1 << 20  // bytes of a header or an end, at most
	frameRun    = 64 << 20 // bytes of a run, at most

	kindHeader  = 'h'
	kindRun     = 'r'
	kindBlob    = 'b'
	kindFile    = 'f' // beside the store
	kindContent = 'c' // of the blob or file before it
	kindEnd     = 'e'
)

// Base is the state that an increment continues from; the zero Base is that of a full part.
type Base struct {
	Version uint64        `json:"version"`
	Time    time.Time     `json:"time,omitzero"` // of the version
	History store.History `json:"history,omitempty"`
	Blobs   []string      `json:"blobs,omitempty"` // digests in the backup
	Files   []string      `json:"files,omitempty"` // likewise
	// State is the digest of what a part carries even without newer versions, such as branches, purges and blobs.
	State string `json:"state,omitempty"`
}

// Header describes a part.
type Header struct {
	Format int  `json:"format"`
	Since  Base `json:"since"` // without its history, which is that of Until, and without blobs and files
	Until  Base `json:"until"`
}

// end is the last frame.
type end struct {
	Frames uint32 `json:"frames"` // before it
	Pieces int    `json:"pieces"`
	SHA256 string `json:"sha256"` // over the headers of all previous frames, which contain the checksums of their contents
}

// Space is the source of a backup.
type Space interface {
	HoldVersions(context.Context) (release func(), err error)
	Head(context.Context) (store.Point, error)
	PointOf(ctx context.Context, version uint64) (store.Point, error)
	History(context.Context) (store.History, error)
	DumpRuns(ctx context.Context, since, at uint64, begin func() ([]byte, error), end func(run []byte, pieces int) error) error
	Blobs(ctx context.Context, prefix string) ([]store.Blob, error)
	GetBlob(ctx context.Context, name string) (store.BlobReader, error)
	// YieldToCommits waits briefly until no commit is being written.
	YieldToCommits(context.Context)
}

// ErrOther means that the backup and the store have different histories.
var ErrOther = errors.New("the backup holds another history than this store's: make a full backup")

// Write writes a part: the space, or its changes since a base, and the settings files unless settings is nil.
// After an error the output is not a valid part: its end is missing.
func Write(ctx context.Context, w io.Writer, from Space, since Base, settings Settings) error {
	p := &partWriter{w: w, yield: func() { from.YieldToCommits(ctx) }, sum: sha256.New()}
	err := p.write(ctx, from, since, settings)
	if errors.Is(err, store.ErrDamaged) {
		return fmt.Errorf("back up: %w: keep the backups that there are, and run: alcove verify", err)
	}
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	return nil
}

type partWriter struct {
	w     io.Writer
	yield func() // waits until no commit is being written
	sum   hash.Hash
	end   end
	frame []byte // reused
}

func (p *partWriter) write(ctx context.Context, from Space, since Base, settings Settings) (err error) {
	release, err := from.HoldVersions(ctx)
	if err != nil {
		return err
	}
	defer release()
	blobs, err := openBlobs(ctx, from) // before the newest version is chosen: they must not include newer ones
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeBlobs(blobs)) }()
	head, err := from.Head(ctx)
	if err != nil {
		return err
	}
	history, err := from.History(ctx)
	if err != nil {
		return err
	}
	if err := checkBase(ctx, from, history, since); err != nil {
		return err
	}
	state, err := stateOf(ctx, from, head.Version, blobs)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(p.w, partMagic); err != nil {
		return err
	}
	h := Header{Format: format, Since: Base{Version: since.Version, Time: since.Time}, Until: Base{Version: head.Version, Time: head.Time, History: history, State: state}}
	if err := p.json(kindHeader, h); err != nil {
		return err
	}
	err = from.DumpRuns(ctx, since.Version, head.Version, p.begin, func(frame []byte, pieces int) error {
		p.end.Pieces += pieces
		return p.send(kindRun, frame)
	})
	if err == nil {
		err = p.blobs(blobs, since.Blobs)
	}
	if err == nil {
		err = p.files(settings, since.Files)
	}
	if err != nil {
		return err
	}
	p.end.SHA256 = hex.EncodeToString(p.sum.Sum(nil))
	return p.json(kindEnd, p.end)
}

// stateOf returns Base.State. It is taken before the runs are: a purge meanwhile makes the next part another.
func stateOf(ctx context.Context, from Space, head uint64, blobs []openBlob) (string, error) {
	sum := sha256.New()
	for _, b := range blobs {
		fmt.Fprintf(sum, "%q %s %d\n", b.Name, b.Digest, b.Blob.Size)
	}
	err := from.DumpRuns(ctx, head, head, func() ([]byte, error) { return nil, nil }, func(run []byte, _ int) error {
		sum.Write(run)
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// checkBase checks that the space contains the whole base.
func checkBase(ctx context.Context, from Space, history store.History, since Base) error {
	if since.Version == 0 {
		return nil
	}
	if !history.Continues(since.History, since.Version) {
		return ErrOther
	}
	at, err := from.PointOf(ctx, since.Version)
	if errors.Is(err, store.ErrNotFound) || err == nil && !at.Time.Equal(since.Time) {
		return fmt.Errorf("version %d is not the one that the backup ends with: %w", since.Version, ErrOther)
	}
	return err
}

func (p *partWriter) json(kind byte, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return p.put(kind, data)
}

// put writes a frame.
func (p *partWriter) put(kind byte, content []byte) error {
	frame, err := p.begin()
	if err != nil {
		return err
	}
	return p.send(kind, append(frame, content...))
}

// begin returns an empty frame with room for its header, until send.
func (p *partWriter) begin() ([]byte, error) {
	return append(p.frame[:0], make([]byte, frameHeader)...), nil
}

// send writes a complete frame.
func (p *partWriter) send(kind byte, frame []byte) error {
	h, content := frame[:frameHeader], frame[frameHeader:]
	h[0] = kind
	binary.BigEndian.PutUint32(h[1:], p.end.Frames)
	binary.BigEndian.PutUint32(h[5:], uint32(len(content)))
	binary.BigEndian.PutUint32(h[9:], crc32.Update(crc32.Checksum(h[:9], castagnoli()), castagnoli(), content))
	p.sum.Write(h)
	p.end.Frames++
	p.frame = frame
	p.yield()
	_, err := p.w.Write(frame)
	return err
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
