package amd64

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// Join returns a reader of the native code that has these streams.
func Join(parts [][]byte) (io.Reader, error) {
	if len(parts) != int(streamCount) {
		return nil, fmt.Errorf("join native code: it has %d streams, not %d", len(parts), streamCount)
	}
	j := &joiner{exits: newExits()}
	copy(j.in.rest[:], parts)
	j.frame()
	j.heads()
	if j.in.err != nil {
		return nil, fmt.Errorf("join native code: %w", j.in.err)
	}
	return j, nil
}

// joiner writes native code a function at a time.
type joiner struct {
	in      reader
	exits   *exits
	list    []head // by token
	offsets []int  // of the functions, and the end of the last
	next    int    // function
	tail    []byte

	out   []byte // not read yet
	code  []byte // of the function
	first []int  // offset of each instruction of the function
	fix   []fix
	last  recent
}

// head is a head with its shape.
type head struct {
	bytes []byte
	shape
}

// fix is a target that is written when the offsets of all instructions are known.
type fix struct {
	at     int // where it is written
	from   int // what it is the distance from
	size   int // its bytes: 4 or 8
	target int // number of an instruction
}

func (j *joiner) Read(p []byte) (int, error) {
	for len(j.out) == 0 {
		switch {
		case j.in.err != nil:
			return 0, fmt.Errorf("join native code: %w", j.in.err)
		case j.next < len(j.offsets)-1:
			j.function(j.offsets[j.next], j.offsets[j.next+1]-j.offsets[j.next])
			j.next++
		case j.tail != nil:
			j.out, j.tail = j.tail, nil
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, j.out)
	j.out = j.out[n:]
	return n, nil
}

// frame reads what is before and behind the code.
func (j *joiner) frame() {
	before := j.in.bytes(frame, int(j.in.number(frame)))
	j.tail = j.in.bytes(frame, int(j.in.number(frame)))
	count := j.in.number(frame)
	if count > uint64(len(j.in.rest[frame])) {
		j.in.err = errDamaged
		return
	}
	j.out, j.offsets = slices.Clone(before), make([]int, 1, count+1)
	for range count {
		end := j.offsets[len(j.offsets)-1]
		j.out = binary.LittleEndian.AppendUint64(j.out, uint64(end))
		size := j.in.number(frame)
		if size > maxFunction {
			j.in.err = errDamaged
			return
		}
		j.offsets = append(j.offsets, end+int(size))
	}
	j.out = binary.LittleEndian.AppendUint64(j.out, uint64(j.offsets[count]))
}

// maxFunction limits the bytes of a function.
const maxFunction = 1 << 30

func (j *joiner) heads() {
	count := j.in.number(headList)
	if count > maxTokens {
		j.in.err = errDamaged
		return
	}
	for range count {
		j.list = append(j.list, j.head(headList))
	}
}

func (j *joiner) head(from stream) head {
	b := j.in.bytes(from, int(j.in.byte(from)))
	h := head{b, shapeOfHead(b)}
	if h.shape.head != len(b) {
		j.in.err = errDamaged
	}
	return h
}

// function writes a function of so many bytes.
func (j *joiner) function(begin, size int) {
	j.code, j.first, j.fix, j.last.n = j.code[:0], j.first[:0], j.fix[:0], 0
	for len(j.code) < size && j.in.err == nil {
		j.first = append(j.first, len(j.code))
		j.instruction(begin, size)
	}
	for _, f := range j.fix {
		if j.in.err != nil || f.target < 0 || f.target >= len(j.first) {
			j.in.err = errDamaged
			break
		}
		distance := uint64(j.first[f.target] - f.from)
		if f.size == 4 {
			binary.LittleEndian.PutUint32(j.code[f.at:], uint32(distance))
		} else {
			binary.LittleEndian.PutUint64(j.code[f.at:], distance)
		}
	}
	if j.in.err != nil || len(j.code) != size {
		j.in.err = errDamaged
		return
	}
	j.out = j.code
}

// instruction writes one instruction of a function of so many bytes.
func (j *joiner) instruction(begin, size int) {
	h := j.token()
	if j.in.err != nil {
		return
	}
	switch h.kind {
	case exit:
		j.code = j.exits[h.bytes[1]&15].appendTo(j.code, j.in.byte(byteValues))
		return
	case literal:
		j.code = append(j.code, h.bytes[1])
		return
	}
	j.code = append(j.code, h.bytes...)
	j.operands(&h.shape)
	switch h.kind {
	case jump:
		j.jump()
	case call:
		j.call(begin)
	case table:
		j.table(size)
	}
}

func (j *joiner) token() *head {
	n := int(j.in.byte(tokens))
	if n >= tokenPair {
		n = tokenPair + (n-tokenPair)<<8 + int(j.in.byte(tokens))
	}
	switch {
	case n < len(j.list):
		return &j.list[n]
	case n != tokenRare:
		j.in.err = errDamaged
		return &head{}
	}
	h := j.head(rareHeads)
	return &h
}

func (j *joiner) operands(s *shape) {
	switch {
	case s.disp == 0:
	case s.at == byteOffsets:
		j.code = append(j.code, j.in.byte(s.at))
	case s.at == otherOffsets:
		j.code = binary.LittleEndian.AppendUint32(j.code, uint32(j.in.signed(s.at)))
	case s.disp == 1:
		j.code = append(j.code, byte(j.in.slot(s.at)))
	default:
		j.code = binary.LittleEndian.AppendUint32(j.code, j.in.slot(s.at))
	}
	switch s.imm {
	case 1:
		j.code = append(j.code, j.in.byte(s.value))
	case 4:
		j.code = binary.LittleEndian.AppendUint32(j.code, uint32(j.in.signed(s.value)))
	case 2, 8:
		j.code = append(j.code, j.in.bytes(rawValues, s.imm)...)
	}
}

func (j *joiner) jump() {
	at := len(j.code)
	code, distance := j.in.byte(jumps), uint32(0)
	if code == jumpRaw {
		distance = uint32(j.in.signed(farJumps))
	} else {
		target := j.last.read(&j.in, code, len(j.first)-1)
		j.fix = append(j.fix, fix{at: at, from: at + 4, size: 4, target: target})
	}
	j.code = binary.LittleEndian.AppendUint32(j.code, distance)
}

func (j *joiner) call(begin int) {
	number := int(j.in.byte(calls))<<8 | int(j.in.byte(calls))
	distance := 0
	switch {
	case number == callRaw:
		distance = int(j.in.signed(calls))
	case number < len(j.offsets)-1:
		distance = j.offsets[number] - (begin + len(j.code) + 4)
	default:
		j.in.err = errDamaged
	}
	j.code = binary.LittleEndian.AppendUint32(j.code, uint32(distance))
}

// table writes a table of targets, in a function of so many bytes.
func (j *joiner) table(size int) {
	entries := j.in.number(tables)
	begin, last := len(j.code), len(j.first)-1
	if entries > uint64(max(size-begin, 0)/8) {
		j.in.err = errDamaged
		return
	}
	for range entries {
		v := j.in.number(tables)
		if v == 0 {
			j.code = append(j.code, j.in.bytes(tables, 8)...)
			continue
		}
		v--
		last += int(int64(v>>1) ^ -int64(v&1))
		j.fix = append(j.fix, fix{at: len(j.code), from: begin, size: 8, target: last})
		j.code = binary.LittleEndian.AppendUint64(j.code, 0)
	}
}
