// Package amd64 rewrites the native code that wazero compiles for amd64 as streams, which compress to two thirds of what the code
// does: heads of instructions, offsets, immediates and targets each resemble their like. The code comes back to the byte, whatever it is.
package amd64

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
)

// entry is native code as wazero's cache has it.
type entry struct {
	head, tail []byte // before the offsets of functions, and behind the code
	offsets    []int  // of the functions, and the end of the last
	code       []byte
}

var errForm = errors.New("split native code: it has not the form in which wazero stores it")

// entryOf parses native code: magic, the engine's version behind its length, the count of functions, their offsets, the length of
// the code, the code, and what only wazero reads.
func entryOf(data []byte) (*entry, error) {
	const magic = "WAZEVO"
	if len(data) <= len(magic) || !bytes.HasPrefix(data, []byte(magic)) {
		return nil, errForm
	}
	at := len(magic) + 1 + int(data[len(magic)])
	if at+4 > len(data) {
		return nil, errForm
	}
	count := int(binary.LittleEndian.Uint32(data[at:]))
	at += 4
	if count == 0 || count > (len(data)-at-8)/8 {
		return nil, errForm
	}
	begin := at + count*8 + 8
	size := binary.LittleEndian.Uint64(data[begin-8:])
	if size > uint64(len(data)-begin) {
		return nil, errForm
	}
	e := &entry{head: data[:at], code: data[begin : begin+int(size)], tail: data[begin+int(size):]}
	last := uint64(0)
	for i := range count {
		offset := binary.LittleEndian.Uint64(data[at+8*i:])
		if offset < last || offset > size || i == 0 && offset != 0 {
			return nil, errForm
		}
		e.offsets, last = append(e.offsets, int(offset)), offset
	}
	e.offsets = append(e.offsets, int(size))
	return e, nil
}

// Split returns the streams of native code, in the form of a file of wazero's cache.
func Split(data []byte) ([][]byte, error) {
	e, err := entryOf(data)
	if err != nil {
		return nil, err
	}
	s := splitter{entry: e, exits: newExits(), functions: map[int]int{}}
	for i, offset := range e.offsets[:len(e.offsets)-1] {
		s.functions[offset] = i
	}
	s.frame()
	for i := range len(e.offsets) - 1 {
		s.function(e.offsets[i], e.code[e.offsets[i]:e.offsets[i+1]])
	}
	s.tokens()
	return s.to[:], nil
}

// splitter writes the streams of an entry.
type splitter struct {
	*entry
	exits     *exits
	functions map[int]int // numbers by offset
	heads     []string    // of all instructions, in order
	to        streams
}

func (s *splitter) frame() {
	for _, part := range [][]byte{s.head, s.tail} {
		s.to.number(frame, uint64(len(part)))
		s.to.bytes(frame, part...)
	}
	s.to.number(frame, uint64(len(s.offsets)-1))
	for i, offset := range s.offsets[1:] {
		s.to.number(frame, uint64(offset-s.offsets[i]))
	}
}

// instruction is one of a function.
type instruction struct {
	shape
	at      int // its offset in the function
	size    int
	entries int // of the table behind it
}

// function writes a function that is at begin in the code.
func (s *splitter) function(begin int, code []byte) {
	list := s.parse(code)
	numbers := make(map[int]int, len(list))
	for i, in := range list {
		numbers[in.at] = i
	}
	var last recent
	for i, in := range list {
		b := code[in.at : in.at+in.size]
		switch in.kind {
		case exit:
			register, _ := s.exits.at(b)
			s.heads = append(s.heads, string([]byte{opExit, register}))
			s.to.bytes(byteValues, b[s.exits[register].code])
			continue
		case literal:
			s.heads = append(s.heads, string([]byte{opLiteral, b[0]}))
			continue
		}
		s.heads = append(s.heads, string(b[:in.head]))
		s.operands(in.shape, b[in.head:])
		switch in.kind {
		case jump:
			distance := int32(binary.LittleEndian.Uint32(b[in.head:]))
			if target, ok := numbers[in.at+in.size+int(distance)]; ok {
				last.write(&s.to, target, i)
			} else {
				s.to.bytes(jumps, jumpRaw)
				s.to.signed(farJumps, int64(distance))
			}
		case call:
			s.call(begin+in.at+in.size, int32(binary.LittleEndian.Uint32(b[in.head:])))
		case table:
			s.table(code[in.at+in.size:], in, i, numbers)
		}
	}
}

// parse returns the instructions of a function.
func (s *splitter) parse(code []byte) []instruction {
	var list []instruction
	for at := 0; at < len(code); {
		rest := code[at:]
		in := instruction{at: at}
		if register, ok := s.exits.at(rest); ok {
			in.shape, in.size = shape{kind: exit}, len(s.exits[register].bytes)
		} else {
			in.shape = shapeOf(rest)
			in.size = in.shape.size()
			if rest[0] == opExit || rest[0] == opLiteral || in.size > len(rest) || shapeOfHead(rest[:in.head]) != in.shape {
				in.shape, in.size = shape{kind: literal}, 1
			}
		}
		if at += in.size; in.kind == table {
			in.entries = entriesOf(code[at:])
			at += 8 * in.entries
		}
		list = append(list, in)
	}
	return list
}

// entriesOf counts the entries of a table: distances from its start, of eight bytes.
func entriesOf(b []byte) int {
	n := 0
	for len(b) >= 8 {
		v := int64(binary.LittleEndian.Uint64(b))
		if v == 0 || v > maxDistance || v < -maxDistance {
			break
		}
		b, n = b[8:], n+1
	}
	return n
}

const maxDistance = 1 << 24

// operands writes the displacement and the immediate of an instruction, which b begins with.
func (s *splitter) operands(in shape, b []byte) {
	switch {
	case in.disp == 0:
	case in.at == byteOffsets:
		s.to.bytes(in.at, b[0])
	case in.at == otherOffsets:
		s.to.signed(in.at, int64(int32(binary.LittleEndian.Uint32(b))))
	case in.disp == 1:
		s.to.slot(in.at, uint32(b[0]))
	default:
		s.to.slot(in.at, binary.LittleEndian.Uint32(b))
	}
	b = b[in.disp:]
	switch in.imm {
	case 1:
		s.to.bytes(in.value, b[0])
	case 4:
		s.to.signed(in.value, int64(int32(binary.LittleEndian.Uint32(b))))
	case 2, 8:
		s.to.bytes(rawValues, b[:in.imm]...)
	}
}

// callRaw is followed by the displacement: it leads to no function's start.
const callRaw = 0xffff

func (s *splitter) call(from int, distance int32) {
	if number, ok := s.functions[from+int(distance)]; ok && number < callRaw {
		s.to.bytes(calls, byte(number>>8), byte(number))
		return
	}
	s.to.bytes(calls, 0xff, 0xff)
	s.to.signed(calls, int64(distance))
}

// table writes the targets of a table, which b begins with: each as far behind the one before as it is, plus one; 0: eight bytes follow.
func (s *splitter) table(b []byte, in instruction, here int, numbers map[int]int) {
	s.to.number(tables, uint64(in.entries))
	begin, last := in.at+in.size, here
	for range in.entries {
		v := binary.LittleEndian.Uint64(b)
		if target, ok := numbers[begin+int(int64(v))]; ok {
			s.to.number(tables, zigzag(target-last)+1)
			last = target
		} else {
			s.to.number(tables, 0)
			s.to.bytes(tables, b[:8]...)
		}
		b = b[8:]
	}
}

func zigzag(v int) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// Tokens of the most frequent heads have one byte, of others two.
const (
	tokenPair = 192
	maxTokens = tokenPair + (256-tokenPair)<<8 - 1
	tokenRare = maxTokens // the head is a rare one
)

func (s *splitter) tokens() {
	count := map[string]int{}
	for _, head := range s.heads {
		count[head]++
	}
	var list []string
	for head := range count {
		list = append(list, head)
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	list = list[:min(len(list), maxTokens)]
	numbers := map[string]int{}
	s.to.number(headList, uint64(len(list)))
	for i, head := range list {
		numbers[head] = i
		s.to.bytes(headList, byte(len(head)))
		s.to.bytes(headList, []byte(head)...)
	}
	for _, head := range s.heads {
		n, ok := numbers[head]
		if !ok {
			n = tokenRare
			s.to.bytes(rareHeads, byte(len(head)))
			s.to.bytes(rareHeads, []byte(head)...)
		}
		if n < tokenPair {
			s.to.bytes(tokens, byte(n))
			continue
		}
		n -= tokenPair
		s.to.bytes(tokens, tokenPair|byte(n>>8), byte(n))
	}
}
