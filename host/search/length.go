package search

import "math/bits"

// Document lengths are coded in a byte: exactly below exactLengths, and above it in eight steps per power of two, so that
// the error is at most a sixteenth.
const exactLengths = 32

// lengthCode encodes a length.
func lengthCode(length int) byte {
	if length < exactLengths {
		return byte(max(0, length))
	}
	power := bits.Len(uint(length)) - 1
	code := exactLengths + (power-5)*8 + (length>>(power-3))&7
	return byte(min(code, 255))
}

// lengthOf decodes a length to the middle of its step.
func lengthOf(code byte) int {
	if code < exactLengths {
		return int(code)
	}
	power := (int(code)-exactLengths)/8 + 5
	step := 1 << (power - 3)
	return (8+(int(code)-exactLengths)%8)*step + step/2
}
