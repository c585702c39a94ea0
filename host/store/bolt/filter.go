package bolt

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"github.com/bits-and-blooms/bloom/v3"
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
	f := new(bloom.BloomFilter)
	if _, err := f.ReadFrom(bytes.NewReader(data[4:])); err != nil {
		return nil
	}
	return f
}
