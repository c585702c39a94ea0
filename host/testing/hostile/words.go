package hostile

import (
	"encoding/binary"
	"strconv"
)

func decimal(n int32) string { return strconv.Itoa(int(n)) }

// words are 32-bit numbers in memory.
func words(list ...uint32) []byte {
	var out []byte
	for _, w := range list {
		out = binary.LittleEndian.AppendUint32(out, w)
	}
	return out
}

// repeatedWords are n buffers of the given size at address 1024.
func repeatedWords(n int, size uint32) []byte {
	var out []byte
	for range n {
		out = append(out, words(1024, size)...)
	}
	return out
}

// subscription is a subscription of poll_oneoff: to a clock, or to a file if kind is not 0.
func subscription(kind byte, clock uint32, nanoseconds uint64, flags uint16) []byte {
	s := make([]byte, 48)
	s[8] = kind
	binary.LittleEndian.PutUint32(s[16:], clock)
	binary.LittleEndian.PutUint64(s[24:], nanoseconds)
	binary.LittleEndian.PutUint16(s[40:], flags)
	return s
}
