package segment

import (
	"encoding/binary"
	"math/bits"
)

// blockSize is how many postings are packed together.
const blockSize = 128

// padding follows packed numbers, so that eight bytes can be read from wherever one begins.
const padding = 8

// widthOf is how many bits the greatest of some numbers takes.
func widthOf(list []uint32) int {
	all := uint32(0)
	for _, n := range list {
		all |= n
	}
	return bits.Len32(all)
}

// pack appends numbers of so many bits each, least significant bit first.
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

// unpack reads blockSize numbers. packed must go on for padding bytes after them.
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

// packedSize is how many bytes blockSize numbers take.
func packedSize(width int) int { return blockSize / 8 * width }
