package amd64

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"testing"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// stored is native code in the form of wazero's cache.
func stored(functions ...[]byte) []byte {
	b := append([]byte("WAZEVO"), 3)
	b = binary.LittleEndian.AppendUint32(append(b, "1.2"...), uint32(len(functions)))
	var code []byte
	for _, f := range functions {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(code)))
		code = append(code, f...)
	}
	return append(append(binary.LittleEndian.AppendUint64(b, uint64(len(code))), code...), "behind"...)
}

// joined is what the streams of data give.
func joined(t testing.TB, data []byte) (streams [][]byte, back []byte) {
	t.Helper()
	streams, err := Split(data)
	must(t, err)
	r, err := Join(streams)
	must(t, err)
	back, err = io.ReadAll(r)
	must(t, err)
	return streams, back
}

var (
	prologue = []byte{0x55, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec, 0x90, 0x01, 0, 0, 0x4c, 0x89, 0xac, 0x24, 0xec, 0, 0, 0, 0x8b, 0x5c, 0x24, 0x1c, 0x48, 0x8b, 0x84, 0x24, 0, 0x40, 0, 0}
	values   = []byte{0xbe, 0x19, 1, 0, 0, 0x49, 0xc7, 0xc3, 0x2d, 0, 0, 0, 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 0x66, 0x81, 0xf9, 1, 2, 0xf6, 0xc1, 1, 0xf7, 0xd8, 0x48, 0x0f, 0xb6, 0x84, 0, 0xd1, 0, 0, 0, 0x66, 0x0f, 0x3a, 0x0f, 0xc1, 4}
	// A jump of three tables' entries: to the instruction behind the table, to the jump, and to no instruction.
	tabled = []byte{0x90, 0xff, 0xe0, 24, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 4, 0, 0, 0, 0, 0, 0, 0, 0xc3}
	// Forward, to the same again, back, to no instruction, out of the function.
	jumping = []byte{0x0f, 0x83, 7, 0, 0, 0, 0x90, 0xe9, 1, 0, 0, 0, 0x90, 0xc3, 0xe9, 0xf9, 0xff, 0xff, 0xff, 0xe9, 0xf0, 0xff, 0xff, 0xff, 0xe9, 1, 0, 0xff, 0}
	calling = []byte{0xe8, 0xfb, 0xff, 0xff, 0xff, 0xe8, 0x10, 0x27, 0, 0, 0xc3}
	cutOff  = []byte{opExit, opLiteral, opExit, 9, 0x27, 0x48, 0xe8, 1, 2}
)

func TestNativeCodeComesBack(t *testing.T) {
	var leaving []byte
	for r, f := range newExits() {
		leaving = f.appendTo(leaving, byte(r+3))
	}
	for name, f := range map[string][][]byte{
		"a prologue": {prologue}, "values": {values}, "a table": {tabled}, "jumps": {jumping}, "calls": {{0xc3}, calling, {}, {0xc3}},
		"exits": {leaving, leaving[:len(leaving)-1]}, "what is no instruction": {cutOff}, "all": {prologue, values, tabled, jumping, calling, leaving, cutOff},
	} {
		data := stored(f...)
		if _, back := joined(t, data); !bytes.Equal(back, data) {
			t.Errorf("%s: % x, not % x", name, back, data)
		}
	}
}

func TestExitsAreWhatTheCompilerWrites(t *testing.T) {
	compiled := []byte{
		0x49, 0x89, 0x67, 0x38, 0x49, 0x89, 0xaf, 0x80, 0x04, 0, 0, 0xbd, 4, 0, 0, 0, 0x41, 0x89, 0x2f, 0x48, 0x8d, 0x2d, 0xf9, 0xff, 0xff, 0xff,
		0x49, 0x89, 0x6f, 0x30, 0x49, 0x8b, 0x6f, 0x10, 0x49, 0x8b, 0x67, 0x18, 0xc3,
	}
	if register, ok := newExits().at(compiled); !ok || register != 15 {
		t.Errorf("register %d %t", register, ok)
	}
	streams, _ := joined(t, stored(compiled))
	if len(streams[tokens]) != 1 || !bytes.Equal(streams[byteValues], []byte{4}) {
		t.Errorf("% x % x", streams[tokens], streams[byteValues])
	}
}

// Random instructions, more kinds of them than there are tokens.
func TestRandomBytesComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var functions [][]byte
	for range 50 {
		f := make([]byte, r.IntN(20_000))
		for i := range f {
			f[i] = byte(r.Uint32())
		}
		functions = append(functions, f)
	}
	data := stored(functions...)
	streams, back := joined(t, data)
	if !bytes.Equal(back, data) {
		t.Error("other bytes came back")
	}
	if len(streams[rareHeads]) == 0 {
		t.Error("there were tokens for all")
	}
}

func TestWhatIsNoNativeCodeIsNotSplit(t *testing.T) {
	good := stored(prologue, calling)
	for n := range len(good) - len("behind") {
		if _, err := Split(good[:n]); err == nil {
			t.Errorf("the first %d bytes were split", n)
		}
	}
	if _, err := Split(stored()); err == nil {
		t.Error("code without functions was split")
	}
}

func TestDamagedStreamsAreAnError(t *testing.T) {
	good, _ := joined(t, stored(prologue, values, tabled, jumping, calling))
	for i, stream := range good {
		if len(stream) == 0 {
			continue
		}
		bad := bytes.Clone(stream[:len(stream)-1])
		parts := append([][]byte{}, good...)
		parts[i] = bad
		r, err := Join(parts)
		if err == nil {
			_, err = io.ReadAll(r)
		}
		if err == nil {
			t.Errorf("stream %d was a byte short", i)
		}
	}
	if _, err := Join(good[1:]); err == nil {
		t.Error("a stream was missing")
	}
}

func FuzzSplit(f *testing.F) {
	f.Add(jumping, cutOff)
	f.Add(tabled, values)
	f.Fuzz(func(t *testing.T, a, b []byte) {
		data := stored(a, b)
		if _, back := joined(t, data); !bytes.Equal(back, data) {
			t.Errorf("% x, not % x", back, data)
		}
	})
}

// Whatever the streams are, they are read to their end or to an error.
func FuzzJoin(f *testing.F) {
	good, _ := joined(f, stored(prologue, tabled, jumping, calling))
	for i, stream := range good {
		f.Add(byte(i), stream)
	}
	f.Fuzz(func(t *testing.T, which byte, stream []byte) {
		parts := append([][]byte{}, good...)
		parts[int(which)%len(parts)] = stream
		r, err := Join(parts)
		if err != nil {
			return
		}
		if n, err := io.Copy(io.Discard, io.LimitReader(r, 1<<20)); err == nil && n == 0 {
			t.Error("neither code nor an error")
		}
	})
}
