package segment

import (
	"encoding/binary"
	"math/bits"
)

// blockSize is the number of postings packed together.
const blockSize = 128

// padding, in bytes, follows packed numbers so that eight bytes can be read at any number's offset.
const padding = 8

// widthOf is the bit width of the greatest number.
func widthOf(list []uint32) int {
	all := uint32(0)
	for _, n := range list {
		all |= n
	}
	return bits.Len32(all)
}

// pack appends numbers of width bits each, least significant bit first.
func pack(out []byte, list []uint32, width int) []byte {
	var buffer uint64
	have := 0
	for _, n := range list {
		buffer |= uint64(n) << have
		have += width
		for have >= 8 {
			out = append(out, byte(buffer))
			buffer >>= 8
			have -= 8
		}
	}
	if have > 0 {
		out = append(out, byte(buffer))
	}
	return out
}

// unpack reads blockSize numbers. They must be followed by padding bytes.
func unpack(list *[blockSize]uint32, packed []byte, width int) {
	if width == 0 {
		*list = [blockSize]uint32{}
		return
	}
	mask := uint64(1)<<width - 1
	bit := 0
	for i := range list {
		list[i] = uint32(binary.LittleEndian.Uint64(packed[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
}

// packedSize is the size of blockSize numbers in bytes.
func packedSize(width int) int { return blockSize / 8 * width }
