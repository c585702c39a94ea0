package semantic

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// The format of a blob of vectors; numbers are little-endian:
//
//	"alcovec2"  u32 dimensions  u32 rows  u32 check of all that follows  u32 0
//	rows × { key [16]byte  text [16]byte }
//	rows × { float32 scale  int8 × dimensions }
//
// The check is CRC-32C. key is the digest of a document version's identity, text that of the embedded text. A component is its integer times
// the scale, which is the 127th part of the largest: a cosine changes by less than a thousandth. "alcovec1", which is read and no longer
// written, has float32 × dimensions in place of each.
const (
	blobPrefix = "vectors/"
	blobMagic  = "alcovec2"
	floatMagic = "alcovec1"
	blobHeader = 24
	blobEntry  = 32
	mostRows   = 1 << 24 // rows of a blob
	largestInt = 127
)

// sizeOf is the size of a blob, in bytes.
func sizeOf(dimensions, rows int) int { return blobHeader + rows*(blobEntry+4+dimensions) }

// digest is the first 16 bytes of a SHA-256.
type digest [16]byte

func digestOf(parts ...string) digest {
	all := make([]byte, 0, 256)
	for _, p := range parts {
		all = append(binary.LittleEndian.AppendUint64(all, uint64(len(p))), p...)
	}
	sum := sha256.Sum256(all)
	return digest(sum[:16])
}

// keyOf is the digest of a document version's identity.
func keyOf(r search.Ref) digest {
	var at [16]byte
	binary.LittleEndian.PutUint64(at[:], uint64(r.Branch))
	binary.LittleEndian.PutUint64(at[8:], r.Version)
	return digestOf(string(at[:]), r.Namespace, r.Collection, r.Key)
}

// row is a vector to be stored.
type row struct {
	number uint32
	key    digest
	text   digest
	raw    []byte   // the vector, as a file has it
	from   location // where the vector was when the row was made
}

// IsVectors reports whether a blob's name is that of vectors. They are keyed by digests of texts, so they stay valid
// whatever entries the space has.
func IsVectors(blob string) bool { return strings.HasPrefix(blob, blobPrefix) }

// encodeRows encodes a blob.
func encodeRows(dimensions int, rows []row) []byte {
	out := make([]byte, blobHeader, sizeOf(dimensions, len(rows)))
	copy(out, blobMagic)
	binary.LittleEndian.PutUint32(out[8:], uint32(dimensions))
	binary.LittleEndian.PutUint32(out[12:], uint32(len(rows)))
	for _, r := range rows {
		out = append(append(out, r.key[:]...), r.text[:]...)
	}
	for _, r := range rows {
		out = append(out, r.raw...)
	}
	binary.LittleEndian.PutUint32(out[16:], crc32.Checksum(out[blobHeader:], crc32.MakeTable(crc32.Castagnoli)))
	return out
}

func appendVector(out []byte, v []float32) []byte {
	var largest float64
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	scale := float32(largest / largestInt)
	out = binary.LittleEndian.AppendUint32(out, math.Float32bits(scale))
	for _, x := range v {
		part := 0.0
		if scale > 0 {
			part = math.Round(float64(x) / float64(scale))
		}
		out = append(out, byte(int8(max(-largestInt, min(part, largestInt)))))
	}
	return out
}

// rounded is a vector as a file keeps it. One that is not finite stays so.
func rounded(v []float32) []float32 {
	f, into := file{dimensions: len(v)}, make([]float32, len(v))
	f.decodeVector(encodeVector(v), into)
	return into
}

func encodeVector(v []float32) []byte { return appendVector(make([]byte, 0, 4+len(v)), v) }

// decodeVector is the vector of a row.
func (f *file) decodeVector(raw []byte, into []float32) {
	if f.floats {
		for i := range into {
			into[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		return
	}
	scale := math.Float32frombits(binary.LittleEndian.Uint32(raw))
	for i := range into {
		into[i] = float32(int8(raw[4+i])) * scale
	}
}

// file is an open blob of vectors.
type file struct {
	name       string
	reader     store.BlobReader
	dimensions int
	floats     bool // its vectors are float32
	keys       []digest
	texts      []digest // nil: none was noted
	numbers    []uint32 // by row; none: unclaimed. Guarded by the lane.
	claimed    int
	buffers    sync.Pool
}

const none = ^uint32(0)

// openFile opens a blob and validates all of it.
func openFile(ctx context.Context, blobs Blobs, name string, dimensions int) (*file, error) {
	r, err := blobs.GetBlob(ctx, name)
	if err != nil {
		return nil, err
	}
	f := &file{name: name, reader: r, dimensions: dimensions}
	if err := f.read(io.NewSectionReader(r, 0, r.Size()), r.Size()); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is damaged: %w", name, err), r.Close())
	}
	return f, nil
}

func (f *file) read(from io.Reader, size int64) error {
	in := bufio.NewReaderSize(from, 256<<10)
	var header [blobHeader]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return err
	}
	dimensions, rows := int64(binary.LittleEndian.Uint32(header[8:])), int64(binary.LittleEndian.Uint32(header[12:]))
	switch f.floats = string(header[:8]) == floatMagic; {
	case !f.floats && string(header[:8]) != blobMagic:
		return errors.New("its magic number is not that of vectors")
	case binary.LittleEndian.Uint32(header[20:]) != 0:
		return errors.New("its header is not that of vectors")
	case dimensions != int64(f.dimensions):
		return fmt.Errorf("its vectors have %d dimensions, not %d", dimensions, f.dimensions)
	case rows > mostRows || size != blobHeader+rows*(blobEntry+int64(f.stride())):
		return fmt.Errorf("its size of %d bytes is not that of %d vectors", size, rows)
	}
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	checked := io.TeeReader(in, sum)
	var entry [blobEntry]byte
	f.keys = make([]digest, 0, rows)
	for range rows {
		if _, err := io.ReadFull(checked, entry[:]); err != nil {
			return err
		}
		f.addEntry(digest(entry[:16]), digest(entry[16:]))
	}
	f.numbers = slices.Repeat([]uint32{none}, len(f.keys))
	if _, err := io.Copy(io.Discard, checked); err != nil {
		return err
	}
	if sum.Sum32() != binary.LittleEndian.Uint32(header[16:]) {
		return errors.New("its checksum does not match")
	}
	return nil
}

// addEntry adds a row's digests.
func (f *file) addEntry(key, text digest) {
	if text != (digest{}) && f.texts == nil {
		f.texts = make([]digest, len(f.keys), cap(f.keys))
	}
	if f.keys = append(f.keys, key); f.texts != nil {
		f.texts = append(f.texts, text)
	}
}

// textOf returns the digest of a row's text; the zero digest: it was not noted.
func (f *file) textOf(row uint32) digest {
	if f.texts == nil {
		return digest{}
	}
	return f.texts[row]
}

// buffer returns a pooled buffer for a vector's bytes.
func (f *file) buffer() *[]byte {
	if b, ok := f.buffers.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, f.stride())
	return &b
}

// stride is the size of a vector, in bytes.
func (f *file) stride() int {
	if f.floats {
		return 4 * f.dimensions
	}
	return 4 + f.dimensions
}

// ReadVector implements vector.Reader.
func (f *file) ReadVector(at uint32, into []float32) error {
	buffer := f.buffer()
	defer f.buffers.Put(buffer)
	if err := f.readRaw(at, *buffer); err != nil {
		return err
	}
	f.decodeVector(*buffer, into)
	return nil
}

// window is some consecutive vectors of a file, for those who read many.
type window struct {
	file  *file
	first uint32
	data  []byte
}

// windowRows is how many vectors are read at once.
const windowRows = 512

// read reads a vector, and with it those behind it.
func (w *window) read(f *file, at uint32, into []float32) error {
	stride := uint32(f.stride())
	if w.file != f || at < w.first || (at-w.first+1)*stride > uint32(len(w.data)) {
		w.file, w.first = f, at/windowRows*windowRows
		w.data = slices.Grow(w.data[:0], int(stride)*windowRows)[:stride*min(windowRows, uint32(len(f.keys))-w.first)]
		if err := f.readRaw(w.first, w.data); err != nil {
			w.file = nil
			return err
		}
	}
	f.decodeVector(w.data[(at-w.first)*stride:][:stride], into)
	return nil
}

// readRaw reads the bytes of vectors from one on.
func (f *file) readRaw(at uint32, raw []byte) error {
	offset := blobHeader + int64(len(f.keys))*blobEntry + int64(at)*int64(f.stride())
	if _, err := f.reader.ReadAt(raw, offset); err != nil {
		return fmt.Errorf("read vector %d of %s: %w", at, f.name, err)
	}
	return nil
}

// rawVector returns the vector of a row as files are written.
func (f *file) rawVector(at uint32) ([]byte, error) {
	if f.floats {
		v := make([]float32, f.dimensions)
		err := f.ReadVector(at, v)
		return encodeVector(v), err
	}
	raw := make([]byte, f.stride())
	return raw, f.readRaw(at, raw)
}

// write stores rows as a blob and opens it.
func write(ctx context.Context, blobs Blobs, name string, dimensions int, rows []row) (*file, error) {
	if _, err := blobs.PutBlob(ctx, name, bytes.NewReader(encodeRows(dimensions, rows))); err != nil {
		return nil, err
	}
	r, err := blobs.GetBlob(ctx, name)
	if err != nil {
		return nil, err
	}
	f := &file{name: name, reader: r, dimensions: dimensions, keys: make([]digest, 0, len(rows))}
	for _, row := range rows {
		f.addEntry(row.key, row.text)
	}
	f.numbers = slices.Repeat([]uint32{none}, len(f.keys))
	return f, nil
}
