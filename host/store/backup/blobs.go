package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/alcove-memory/alcove/host/store"
)

// blobFrame names a blob. Its content follows, unless it is in an earlier part.
type blobFrame struct {
	Name    string `json:"name"`
	Digest  string `json:"digest"`
	Size    int64  `json:"size"`
	Earlier bool   `json:"earlier,omitempty"`
}

const mostBlobs = 1000 // of a space, open at once; further ones are derived again after a restore

// openBlob is a blob that is being backed up; it stays readable after it is dropped.
type openBlob struct {
	store.Blob
	store.BlobReader
}

// openBlobs opens the present blobs. One that is replaced or dropped at this moment is left out: blobs are derived
// data.
func openBlobs(ctx context.Context, from Space) (list []openBlob, err error) {
	before, err := from.Blobs(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, b := range before[:min(len(before), mostBlobs)] {
		r, err := from.GetBlob(ctx, b.Name)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, errors.Join(err, closeBlobs(list))
		}
		list = append(list, openBlob{b, r})
	}
	after, err := from.Blobs(ctx, "")
	if err != nil {
		return nil, errors.Join(err, closeBlobs(list))
	}
	return slices.DeleteFunc(list, func(b openBlob) bool {
		replaced := !slices.Contains(after, b.Blob)
		if replaced {
			_ = b.Close() // read only
		}
		return replaced
	}), nil
}

func closeBlobs(list []openBlob) (err error) {
	for _, b := range list {
		err = errors.Join(err, b.Close())
	}
	return err
}

// blobs writes all blobs, with content unless an earlier part has it.
func (p *partWriter) blobs(list []openBlob, have []string) error {
	for _, b := range list {
		frame := blobFrame{Name: b.Name, Digest: b.Digest, Size: b.Blob.Size, Earlier: slices.Contains(have, b.Digest)}
		if err := p.json(kindBlob, frame); err != nil {
			return err
		}
		if frame.Earlier {
			continue
		}
		have = append(have, b.Digest)
		if err := p.content(b, frame.Size); err != nil {
			return fmt.Errorf("read blob %s: %w", b.Name, err)
		}
	}
	return nil
}

// content writes the content of the blob or file before it.
func (p *partWriter) content(from io.ReaderAt, size int64) error {
	r := io.NewSectionReader(from, 0, size)
	for block := make([]byte, min(blockSize, size)); size > 0; {
		n, err := io.ReadFull(r, block[:min(blockSize, size)])
		if err != nil {
			return err
		}
		if err := p.put(kindContent, block[:n]); err != nil {
			return err
		}
		size -= int64(n)
	}
	return nil
}

// blobParser tracks the blobs of a part.
type blobParser struct {
	list    []store.Blob
	carried []string // digests of the contents in the part
	missing int64    // bytes of the last one still expected
}

// empty reports whether the last blob is in the part and has no content.
func (p *blobParser) empty() bool {
	return len(p.list) > 0 && p.list[len(p.list)-1].Size == 0 && len(p.carried) > 0 && p.carried[len(p.carried)-1] == p.list[len(p.list)-1].Digest
}

func (p *blobParser) next(content []byte) error {
	var frame blobFrame
	if err := json.Unmarshal(content, &frame); err != nil {
		return fmt.Errorf("a blob: %w", err)
	}
	if frame.Size < 0 || len(p.list) == mostBlobs {
		return fmt.Errorf("blob %d of at most %d has %d bytes", len(p.list)+1, mostBlobs, frame.Size)
	}
	p.list = append(p.list, store.Blob{Name: frame.Name, Digest: frame.Digest, Size: frame.Size})
	if !frame.Earlier {
		p.carried = append(p.carried, frame.Digest)
		p.missing = frame.Size
	}
	return nil
}
