package search

import "math/bits"

// Lengths of documents are kept in a byte: exactly below exactLengths, and above that by the power of two and eight steps
// in each, so that a length is at most a sixteenth wrong however long the document is.
const exactLengths = 32

// lengthCode is the byte that stands for a length.
func lengthCode(length int) byte {
	if length < exactLengths {
		return byte(max(0, length))
	}
	power := bits.Len(uint(length)) - 1
	code := exactLengths + (power-5)*8 + (length>>(power-3))&7
	return byte(min(code, 255))
}

// lengthOf is the length that a byte stands for: the middle of those that have it.
func lengthOf(code byte) int {
	if code < exactLengths {
		return int(code)
	}
	power := (int(code)-exactLengths)/8 + 5
	step := 1 << (power - 3)
	return (8+(int(code)-exactLengths)%8)*step + step/2
}
