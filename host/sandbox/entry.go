package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
)

// maxEntry is the size of the largest compiled module, in bytes.
const maxEntry = 512 << 20

// checkEntry checks a compiled module from the compiler process before this process maps it: wazero itself only
// compares a checksum. functions is the number that the module defines.
func checkEntry(data []byte, functions int) error {
	in := entryReader{rest: data}
	if magic := in.take(6, "its first bytes"); in.err == nil && !bytes.Equal(magic, []byte("WAZEVO")) {
		return fmt.Errorf("check the compiled module: it begins with %q, not WAZEVO: the compiler does not fit this program", magic)
	}
	in.take(int(in.byte("the length of its version")), "its version") // wazero compares it and drops other versions
	count := int(in.uint32("its count of functions"))
	if in.err == nil && count != functions {
		return fmt.Errorf("check the compiled module: it has %d functions, not %d", count, functions)
	}
	offsets := in.offsets(count)
	code := in.take(in.length(), "its code")
	sum := in.uint32("its checksum")
	if source := in.byte("its source map"); source != 0 && in.err == nil {
		return fmt.Errorf("check the compiled module: it has a source map, which was not asked for")
	}
	if clauses := in.uint32("its catch clauses"); clauses != 0 && in.err == nil {
		return fmt.Errorf("check the compiled module: it catches exceptions, which are not allowed")
	}
	switch {
	case in.err != nil:
		return fmt.Errorf("check the compiled module: %w", in.err)
	case len(in.rest) > 0:
		return fmt.Errorf("check the compiled module: %d bytes too many", len(in.rest))
	case len(code) > 0 && crc32.Checksum(code, crc32.MakeTable(crc32.Castagnoli)) != sum:
		return fmt.Errorf("check the compiled module: the checksum is wrong")
	}
	return checkOffsets(offsets, len(code))
}

// checkOffsets checks that function offsets ascend and lie within the code.
func checkOffsets(offsets []uint64, code int) error {
	if !slices.IsSorted(offsets) {
		return fmt.Errorf("check the compiled module: its functions are not in order")
	}
	if n := len(offsets); n > 0 && offsets[n-1] >= uint64(code) {
		return fmt.Errorf("check the compiled module: a function begins at %d of %d bytes of code", offsets[n-1], code)
	}
	return nil
}

// entryReader reads a compiled module. After its first error it returns zeros.
type entryReader struct {
	rest []byte
	err  error
}

func (r *entryReader) take(n int, what string) []byte {
	if r.err == nil && (n < 0 || n > len(r.rest)) {
		r.err = fmt.Errorf("it ends before %s: %d of %d bytes are left", what, len(r.rest), n)
	}
	if r.err != nil {
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *entryReader) byte(what string) byte {
	if b := r.take(1, what); b != nil {
		return b[0]
	}
	return 0
}

func (r *entryReader) uint32(what string) uint32 {
	if b := r.take(4, what); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// length reads the length of the code, capped at maxEntry+1 to fit an int.
func (r *entryReader) length() int {
	b := r.take(8, "the length of its code")
	if b == nil {
		return 0
	}
	return int(min(binary.LittleEndian.Uint64(b), maxEntry+1))
}

func (r *entryReader) offsets(count int) []uint64 {
	b := r.take(count*8, "its functions")
	if b == nil {
		return nil
	}
	offsets := make([]uint64, count)
	for i := range offsets {
		offsets[i] = binary.LittleEndian.Uint64(b[i*8:])
	}
	return offsets
}
