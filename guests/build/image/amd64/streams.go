package amd64

import (
	"encoding/binary"
	"errors"
)

// stream is a kind of bytes that resemble each other.
type stream uint8

const (
	frame        stream = iota // what is before and behind the code, and the lengths of functions
	headList                   // the heads that tokens stand for
	tokens                     // one for each instruction
	rareHeads                  // that have no token
	stackStores                // offsets from RSP
	stackLoads                 //
	stackOthers                //
	byteOffsets                // offsets from other registers
	otherOffsets               //
	byteValues                 // immediates of one byte, and codes of exits
	movedValues                // of four bytes, moved to a register
	storedValues               // of four bytes, moved to memory
	otherValues                // of four bytes
	rawValues                  // of two or eight bytes
	jumps                      // targets of jumps
	farJumps                   // those that do not fit one byte
	calls                      // the functions called
	tables                     // of targets
	streamCount
)

// streams are written to by Split.
type streams [streamCount][]byte

func (s *streams) bytes(to stream, b ...byte) { s[to] = append(s[to], b...) }

func (s *streams) number(to stream, v uint64) { s[to] = binary.AppendUvarint(s[to], v) }

func (s *streams) signed(to stream, v int64) { s[to] = binary.AppendVarint(s[to], v) }

// Offsets from RSP are multiples of four below 0x300, with few exceptions.
const (
	slotPair = 0xc0 // two bytes: the rest of this one has the high bits
	slotRaw  = 0xff // four bytes follow
)

func (s *streams) slot(to stream, v uint32) {
	switch {
	case v < slotPair*4 && v%4 == 0:
		s.bytes(to, byte(v/4))
	case v < (slotRaw-slotPair)<<8:
		s.bytes(to, slotPair|byte(v>>8), byte(v))
	default:
		s[to] = binary.LittleEndian.AppendUint32(append(s[to], slotRaw), v)
	}
}

var errDamaged = errors.New("the streams do not fit each other")

// reader reads streams. After its first error it returns zeros.
type reader struct {
	rest [streamCount][]byte
	err  error
}

func (r *reader) bytes(from stream, n int) []byte {
	if r.err != nil || n < 0 || n > len(r.rest[from]) {
		r.err = errDamaged
		return make([]byte, min(max(n, 0), 8))
	}
	b := r.rest[from][:n]
	r.rest[from] = r.rest[from][n:]
	return b
}

func (r *reader) byte(from stream) byte {
	if rest := r.rest[from]; len(rest) > 0 {
		r.rest[from] = rest[1:]
		return rest[0]
	}
	r.err = errDamaged
	return 0
}

func (r *reader) number(from stream) uint64 {
	if rest := r.rest[from]; len(rest) > 0 && rest[0] < 0x80 {
		r.rest[from] = rest[1:]
		return uint64(rest[0])
	}
	v, n := binary.Uvarint(r.rest[from])
	if n <= 0 {
		r.err = errDamaged
		return 0
	}
	r.rest[from] = r.rest[from][n:]
	return v
}

func (r *reader) signed(from stream) int64 {
	v := r.number(from)
	return int64(v>>1) ^ -int64(v&1)
}

func (r *reader) slot(from stream) uint32 {
	switch b := r.byte(from); {
	case b < slotPair:
		return uint32(b) * 4
	case b < slotRaw:
		return uint32(b-slotPair)<<8 | uint32(r.byte(from))
	}
	return binary.LittleEndian.Uint32(r.bytes(from, 4))
}
