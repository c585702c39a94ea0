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
		if have += width; have >= 32 {
			out = binary.LittleEndian.AppendUint32(out, uint32(buffer))
			buffer >>= 32
			have -= 32
		}
	}
	for ; have > 0; have -= 8 {
		out = append(out, byte(buffer))
		buffer >>= 8
	}
	return out
}

// unpack reads blockSize numbers. They must be followed by padding bytes. Eight bytes have several numbers of most widths, so they are read once
// for these.
func unpack(list *[blockSize]uint32, packed []byte, width int) {
	if width == 0 {
		*list = [blockSize]uint32{}
		return
	}
	const whole = 64 - 7 // the bits that are sure to be read after those of the numbers before
	mask, together, bit := uint64(1)<<width-1, whole/width, 0
	for i := 0; i < blockSize; {
		word := binary.LittleEndian.Uint64(packed[bit>>3:]) >> (bit & 7)
		for range min(together, blockSize-i) {
			list[i%blockSize] = uint32(word & mask)
			word >>= width
			i++
		}
		bit += together * width
	}
}

// packed reads one of the numbers that unpack reads.
func packed(list []byte, width, i int) uint32 {
	bit := i * width
	return uint32(binary.LittleEndian.Uint64(list[bit>>3:]) >> (bit & 7) & (1<<width - 1))
}

// packedSize is the size of blockSize numbers in bytes.
func packedSize(width int) int { return blockSize / 8 * width }
