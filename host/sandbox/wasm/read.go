package wasm

import "unicode/utf8"

// reader reads the bytes of a module from at to end. Offsets are relative to the module.
type reader struct {
	b   []byte
	at  int
	end int
}

func (r *reader) left() int { return r.end - r.at }

func (r *reader) byte(what string) (byte, error) {
	if r.at >= r.end {
		return 0, fault(Malformed, r.at, "unexpected end, expected %s", what)
	}
	b := r.b[r.at]
	r.at++
	return b, nil
}

func (r *reader) bytes(n uint32, what string) ([]byte, error) {
	if uint64(n) > uint64(r.left()) {
		return nil, fault(Malformed, r.at, "%s has %d bytes, but only %d are left", what, n, r.left())
	}
	b := r.b[r.at : r.at+int(n) : r.at+int(n)]
	r.at += int(n)
	return b, nil
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32(what string) (uint32, error) {
	v, next, ok := uleb32(r.b[:r.end], r.at)
	if !ok {
		return 0, fault(Malformed, r.at, "%s is not a number of 32 bits", what)
	}
	r.at = next
	return v, nil
}

// count reads the number of elements that follow, of at least size bytes each.
func (r *reader) count(limit, what string, allowed, size int) (int, error) {
	at := r.at
	n, err := r.u32("the number of " + what)
	if err != nil {
		return 0, err
	}
	if uint64(n) > uint64(allowed) {
		return 0, tooLarge(at, limit, "the number of "+what, uint64(n), allowed)
	}
	if uint64(n)*uint64(size) > uint64(r.left()) {
		return 0, fault(Malformed, at, "%d %s cannot be in the %d bytes that are left", n, what, r.left())
	}
	return int(n), nil
}

func (r *reader) name(what string, allowed int) (string, error) {
	at := r.at
	n, err := r.u32("the length of " + what)
	if err != nil {
		return "", err
	}
	if uint64(n) > uint64(allowed) {
		return "", tooLarge(at, "Name", "the length of "+what, uint64(n), allowed)
	}
	b, err := r.bytes(n, what)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(b) {
		return "", fault(Malformed, at, "%s is not UTF-8", what)
	}
	return string(b), nil
}

// uleb32 decodes an unsigned number as specified: at most 5 bytes, no bits beyond the 32nd.
func uleb32(b []byte, at int) (v uint32, next int, ok bool) {
	if at < len(b) && b[at] < 0x80 {
		return uint32(b[at]), at + 1, true
	}
	for i, shift := at, 0; i < len(b) && shift < 35; i, shift = i+1, shift+7 {
		c := b[i]
		if shift == 28 && c > 0x0f {
			return 0, at, false
		}
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v, i + 1, true
		}
	}
	return 0, at, false
}

// sleb decodes a signed number of the given bits. The unused bits of its last byte must repeat the sign.
func sleb(b []byte, at, bits int) (v int64, next int, ok bool) {
	for i, shift := at, 0; i < len(b) && shift < bits; i, shift = i+1, shift+7 {
		c := b[i]
		v |= int64(c&0x7f) << shift
		if c >= 0x80 {
			continue
		}
		if used := bits - shift; used < 7 { // the last byte that fits
			rest := int8(c<<1) >> 1 >> (used - 1)
			if rest != 0 && rest != -1 {
				return 0, at, false
			}
		}
		if shift+7 < 64 && c&0x40 != 0 {
			v |= -1 << (shift + 7)
		}
		return v, i + 1, true
	}
	return 0, at, false
}
