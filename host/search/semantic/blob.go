package semantic

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

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
// the scale, about the 127th part of the largest, with which a vector for cosines has the length 1. "alcovec1", which is read and no longer
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

// setUnitLength scales an encoded vector, whose integers are rounded, so that its length is 1 again.
func setUnitLength(raw []byte) {
	sum := 0
	for _, b := range raw[4:] {
		sum += int(int8(b)) * int(int8(b))
	}
	if sum > 0 {
		binary.LittleEndian.PutUint32(raw, math.Float32bits(float32(1/math.Sqrt(float64(sum)))))
	}
}

// decoded is the vector of a row, as it is read from a file.
func decoded(raw []byte) []float32 {
	f, into := file{dimensions: len(raw) - 4}, make([]float32, len(raw)-4)
	f.decodeVector(raw, into)
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

// file is a mapped blob of vectors.
type file struct {
	name       string
	mapped     *store.Mapping
	dimensions int
	rows       int
	floats     bool // its vectors are float32

	number  uint32                // of the lane's files, from 1
	sums    []byte                // of the blocks after the header, a CRC-32C of 4 bytes each
	checked []atomic.Uint64       // blocks whose sum was found right, a bit each
	whole   atomic.Bool           // all were
	found   *atomic.Pointer[file] // where a damaged one is noted
}

// blockSize is that of the blocks that are checked when they are first read, in bytes.
const blockSize = 16 << 10

func sumOf(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// sumsOf are the sums of the blocks of what follows a header.
func sumsOf(data []byte) (sums []byte) {
	for block := range slices.Chunk(data, blockSize) {
		sums = binary.LittleEndian.AppendUint32(sums, sumOf(block))
	}
	return sums
}

// check checks the blocks with some bytes after the header, unless they were checked before.
func (f *file) check(first, size int) error {
	if f.whole.Load() {
		return nil
	}
	data := f.mapped.Bytes()[blobHeader:]
	for b := first / blockSize; b <= (first+size-1)/blockSize; b++ {
		if f.checked[b/64].Load()>>(b%64)&1 == 1 {
			continue
		}
		if sumOf(data[b*blockSize:min((b+1)*blockSize, len(data))]) != binary.LittleEndian.Uint32(f.sums[4*b:]) {
			f.found.Store(f)
			return fmt.Errorf("%s is damaged: the checksum of its block %d does not match", f.name, b)
		}
		f.checked[b/64].Or(1 << (b % 64))
	}
	return nil
}

// examine validates a file of which only the header was read.
func (f *file) examine() (err error) {
	if f.whole.Load() {
		return nil
	}
	if fault := store.Guard(func() { err = f.validate() }); fault != nil {
		return fault
	}
	return err
}

const none = ^uint32(0)

// openFile maps a blob and validates all of it, or the header if the sums of its blocks are known.
func openFile(ctx context.Context, blobs Blobs, name string, dimensions int, sums []byte) (*file, error) {
	f, err := mapFile(ctx, blobs, name, dimensions)
	if err != nil {
		return nil, err
	}
	if fault := store.Guard(func() { err = f.open(sums) }); fault != nil {
		err = fault
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s is damaged: %w", name, err), f.mapped.Close())
	}
	return f, nil
}

func mapFile(ctx context.Context, blobs Blobs, name string, dimensions int) (*file, error) {
	r, err := blobs.GetBlob(ctx, name)
	if err != nil {
		return nil, err
	}
	mapped, err := store.Map(r, store.ReadOnly)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	return &file{name: name, mapped: mapped, dimensions: dimensions}, nil
}

// open reads the header, and all else unless the sums of blocks are known.
func (f *file) open(sums []byte) error {
	if err := f.readHeader(); err != nil {
		return err
	}
	blocks := (len(f.mapped.Bytes()) - blobHeader + blockSize - 1) / blockSize
	if len(sums) != 4*blocks {
		return f.validate()
	}
	f.sums, f.checked = sums, make([]atomic.Uint64, (blocks+63)/64)
	return nil
}

func (f *file) readHeader() error {
	data := f.mapped.Bytes()
	if len(data) < blobHeader {
		return fmt.Errorf("its size of %d bytes is less than that of a header", len(data))
	}
	dimensions, rows := int64(binary.LittleEndian.Uint32(data[8:])), int64(binary.LittleEndian.Uint32(data[12:]))
	switch f.floats = string(data[:8]) == floatMagic; {
	case !f.floats && string(data[:8]) != blobMagic:
		return errors.New("its magic number is not that of vectors")
	case binary.LittleEndian.Uint32(data[20:]) != 0:
		return errors.New("its header is not that of vectors")
	case dimensions != int64(f.dimensions):
		return fmt.Errorf("its vectors have %d dimensions, not %d", dimensions, f.dimensions)
	case rows > mostRows || int64(len(data)) != blobHeader+rows*(blobEntry+int64(f.stride())):
		return fmt.Errorf("its size of %d bytes is not that of %d vectors", len(data), rows)
	}
	f.rows = int(rows)
	return nil
}

// validate reads all that follows the header.
func (f *file) validate() error {
	data := f.mapped.Bytes()
	if sumOf(data[blobHeader:]) != binary.LittleEndian.Uint32(data[16:]) {
		return errors.New("its checksum does not match")
	}
	if f.sums == nil {
		f.sums = sumsOf(data[blobHeader:])
	}
	f.whole.Store(true)
	return nil
}

// digests returns those of a row's document and text; the zero digest: the text was not noted.
func (f *file) digests(row uint32) (key, text digest, err error) {
	fault := store.Guard(func() {
		if err = f.check(int(row)*blobEntry, blobEntry); err != nil {
			return
		}
		entry := f.mapped.Bytes()[blobHeader+int(row)*blobEntry:][:blobEntry]
		key, text = digest(entry[:16]), digest(entry[16:])
	})
	if err = errors.Join(err, fault); err != nil {
		err = fmt.Errorf("read the digests of vector %d of %s: %w", row, f.name, err)
	}
	return key, text, err
}

// sum is the check of the file's content that its header has. Its header was validated, or written here.
func (f *file) sum() (sum uint32) {
	_ = store.Guard(func() { sum = binary.LittleEndian.Uint32(f.mapped.Bytes()[16:]) }) // else another one
	return sum
}

// stride is the size of a vector, in bytes.
func (f *file) stride() int {
	if f.floats {
		return 4 * f.dimensions
	}
	return 4 + f.dimensions
}

// ReadVector implements vector.Reader.
func (f *file) ReadVector(at uint32, into []float32) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer store.RecoverFault(&err)
	raw, err := f.raw(at)
	if err == nil {
		f.decodeVector(raw, into)
	}
	return err
}

// Integers implements vector.IntegerReader.
func (f *file) Integers(at uint32) (scale *[4]byte, integers *int8) {
	if f.floats {
		return nil, nil
	}
	var raw []byte
	if f.whole.Load() {
		raw = f.bytes(at)
	} else if store.Guard(func() { raw, _ = f.raw(at) }) != nil || raw == nil {
		return nil, nil // to read it tells why
	}
	return (*[4]byte)(raw), (*int8)(unsafe.Pointer(&raw[4]))
}

// raw returns the bytes of a vector in the mapping, which are checked.
func (f *file) raw(at uint32) ([]byte, error) {
	if err := f.check(f.rows*blobEntry+int(at)*f.stride(), f.stride()); err != nil {
		return nil, err
	}
	return f.bytes(at), nil
}

func (f *file) bytes(at uint32) []byte {
	first := blobHeader + f.rows*blobEntry + int(at)*f.stride()
	return f.mapped.Bytes()[first:][:f.stride()]
}

// rawVector returns the vector of a row as files are written.
func (f *file) rawVector(at uint32) ([]byte, error) {
	if f.floats {
		v := make([]float32, f.dimensions)
		err := f.ReadVector(at, v)
		return encodeVector(v), err
	}
	var raw []byte
	var err error
	fault := store.Guard(func() {
		raw, err = f.raw(at)
		raw = bytes.Clone(raw)
	})
	return raw, errors.Join(err, fault)
}

// write stores rows as a blob and maps it.
func write(ctx context.Context, blobs Blobs, name string, dimensions int, rows []row) (*file, error) {
	data := encodeRows(dimensions, rows)
	if _, err := blobs.PutBlob(ctx, name, bytes.NewReader(data)); err != nil {
		return nil, err
	}
	f, err := mapFile(ctx, blobs, name, dimensions)
	if err != nil {
		return nil, err
	}
	f.rows, f.sums = len(rows), sumsOf(data[blobHeader:])
	f.whole.Store(true)
	return f, nil
}
