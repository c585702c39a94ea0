package bolt

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"github.com/bits-and-blooms/bloom/v3"

	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// falseRate is the false positive rate of an overlay's filter.
const falseRate = 0.01

// encodeFilter returns a filter's checksum and encoding.
func encodeFilter(f *bloom.BloomFilter) ([]byte, error) {
	data, err := f.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data)), data...), nil
}

// decodeFilter decodes an overlay's filter; nil if it is missing or damaged, as a wrong filter would hide entries.
func decodeFilter(data []byte) *bloom.BloomFilter {
	if len(data) < 4 || binary.BigEndian.Uint32(data) != crc32.ChecksumIEEE(data[4:]) {
		return nil
	}
	if !validFilter(data[4:]) {
		return nil
	}
	f := new(bloom.BloomFilter)
	if _, err := f.ReadFrom(bytes.NewReader(data[4:])); err != nil {
		return nil
	}
	return f
}

const (
	filterHeader = 3 * 8 // bits, hashes, bits again
	maxHashes    = 64
)

// validFilter reports whether a filter's header matches its size, so that decoding allocates no more than that.
func validFilter(data []byte) bool {
	if len(data) < filterHeader {
		return false
	}
	bits, hashes := layout.FromU64(data[:8]), layout.FromU64(data[8:16])
	words := uint64(len(data)-filterHeader) / 8
	return bits > 0 && hashes > 0 && hashes <= maxHashes && bits == layout.FromU64(data[16:24]) && bits <= 64*words && len(data)%8 == 0
}
