package bolt

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"github.com/bits-and-blooms/bloom/v3"

	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// falseRate is how many of the keys that an overlay does not have are looked for in vain.
const falseRate = 0.01

// encodeFilter is the checksum of a filter and the filter.
func encodeFilter(f *bloom.BloomFilter) ([]byte, error) {
	data, err := f.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data)), data...), nil
}

// decodeFilter is the filter of an overlay; nil, so that every key is looked for, when there is none or it rotted:
// a wrong filter would hide entries.
func decodeFilter(data []byte) *bloom.BloomFilter {
	if len(data) < 4 || binary.BigEndian.Uint32(data) != crc32.ChecksumIEEE(data[4:]) {
		return nil
	}
	if !filterFits(data[4:]) {
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

// filterFits reports whether a filter's header is true to its size, so that reading it takes no more memory than it has
// bytes.
func filterFits(data []byte) bool {
	if len(data) < filterHeader {
		return false
	}
	bits, hashes := layout.FromU64(data[:8]), layout.FromU64(data[8:16])
	words := uint64(len(data)-filterHeader) / 8
	return bits > 0 && hashes > 0 && hashes <= maxHashes && bits == layout.FromU64(data[16:24]) && bits <= 64*words && len(data)%8 == 0
}
