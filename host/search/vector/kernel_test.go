package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func randomFloats(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64() * math.Pow(10, float64(r.IntN(7)-3)))
	}
	return v
}

func TestAllKernelsGiveTheSameNumbersBitForBit(t *testing.T) {
	fast, plain := fastest(), portable()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		rows, blocks := 1+r.IntN(40), 1+r.IntN(9)
		testFloats(t, r, fast, plain, rows, blocks*floatBlock)
		testCodes(t, r, fast, plain, rows, blocks*codeBlock)
		testIntegers(t, r, fast, plain, rows, blocks*partBlock)
		for _, k := range append(others(), fast) {
			testBits(t, r, k, plain, rows*bitGroup, blocks)
		}
	}
}

func testFloats(t *testing.T, r *rand.Rand, fast, plain kernels, n, stride int) {
	t.Helper()
	query, rows := randomFloats(r, stride), randomFloats(r, n*stride)
	a, b := make([]float32, n), make([]float32, n)
	fast.dotFloats(query, rows, a)
	plain.dotFloats(query, rows, b)
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			t.Fatalf("floats: row %d of %d elements: %g and %g", i, stride, a[i], b[i])
		}
	}
}

func testCodes(t *testing.T, r *rand.Rand, fast, plain kernels, n, stride int) {
	t.Helper()
	query, codes := make([]int8, stride), make([]uint8, n*stride)
	for i := range query {
		query[i] = int8(r.IntN(255) - 127)
	}
	for i := range codes {
		codes[i] = uint8(r.IntN(128))
		if r.IntN(20) == 0 {
			codes[i] = 127
		}
	}
	if r.IntN(4) == 0 { // what is largest must not saturate
		for i := range query {
			query[i] = 127
		}
		for i := range codes {
			codes[i] = 127
		}
	}
	a, b := make([]int32, n), make([]int32, n)
	fast.dotCodes(query, codes, a)
	plain.dotCodes(query, codes, b)
	if !slices.Equal(a, b) {
		t.Fatalf("codes of %d elements: %v and %v", stride, a, b)
	}
}

func testIntegers(t *testing.T, r *rand.Rand, fast, plain kernels, n, stride int) {
	t.Helper()
	query, elements, rows := make([]int16, stride), make([]int8, n*stride), make([]*int8, n)
	for i := range query {
		query[i] = int16(r.IntN(1<<16) - 1<<15)
	}
	for i := range elements {
		elements[i] = int8(r.IntN(256) - 128)
	}
	if r.IntN(4) == 0 { // what is largest must not overflow
		for i := range query {
			query[i] = 32767
		}
		for i := range elements {
			elements[i] = -128
		}
	}
	for i := range rows {
		rows[i] = &elements[r.IntN(n)*stride]
	}
	a, b := make([]int32, n), make([]int32, n)
	fast.dotIntegers(query, rows, a)
	plain.dotIntegers(query, rows, b)
	if !slices.Equal(a, b) {
		t.Fatalf("integers of %d elements: %v and %v", stride, a, b)
	}
}

func testBits(t *testing.T, r *rand.Rand, fast, plain kernels, n, words int) {
	t.Helper()
	query, bits := make([]uint64, words), make([]uint64, n*words)
	for i := range query {
		query[i] = r.Uint64()
	}
	for i := range bits {
		bits[i] = r.Uint64()
	}
	a, b, below := make([]uint64, n), make([]uint64, n), uint64(32*words+r.IntN(9)-4)
	under, want := make([]uint8, n/bitGroup), make([]uint8, n/bitGroup)
	fast.differ(query, bits, below, a, under)
	plain.differ(query, bits, below, b, want)
	if !slices.Equal(a, b) || !slices.Equal(under, want) {
		t.Fatalf("bits of %d words: %v and %v, %b and %b below %d", words, a, b, under, want, below)
	}
}

func TestPortableKernelsAreRightOnWhatCanBeWorkedOutByHand(t *testing.T) {
	k := portable()
	query, rows := make([]float32, floatBlock), make([]float32, 2*floatBlock)
	query[0], query[15], rows[0], rows[15], rows[floatBlock+15] = 2, 3, 5, 7, 11
	out := make([]float32, 2)
	if k.dotFloats(query, rows, out); out[0] != 31 || out[1] != 33 {
		t.Errorf("floats: %v", out)
	}
	bits, counts, under := make([]uint64, bitGroup*2), make([]uint64, bitGroup), make([]uint8, 1)
	bits[3], bits[bitGroup+3] = 0b1011, 1<<63
	if k.differ([]uint64{1, 0}, bits, 3, counts, under); counts[3] != 3 || counts[0] != 1 || under[0] != 0b1111_0111 {
		t.Errorf("bits: %v, %b", counts, under)
	}
	integers, sums := make([]int8, partBlock), make([]int32, 1)
	parts := make([]int16, partBlock)
	integers[0], integers[15], parts[0], parts[15] = -128, 5, 32767, -7
	if k.dotIntegers(parts, []*int8{&integers[0]}, sums); sums[0] != -128*32767-35 {
		t.Errorf("integers: %v", sums)
	}
}

func TestAKernelRefusesRowsThatAreNotThere(t *testing.T) {
	for name, k := range map[string]kernels{"fastest": fastest(), "portable": portable()} {
		for what, call := range map[string]func(){
			"too few elements": func() { k.dotFloats(make([]float32, 16), make([]float32, 31), make([]float32, 2)) },
			"half a block":     func() { k.dotCodes(make([]int8, 32), make([]uint8, 32), make([]int32, 1)) },
			"too few rows":     func() { k.dotIntegers(make([]int16, 16), make([]*int8, 1), make([]int32, 2)) },
			"too few marks":    func() { k.differ(make([]uint64, 1), make([]uint64, 16), 0, make([]uint64, 16), make([]uint8, 1)) },
			"nothing":          func() { k.differ(nil, nil, 0, nil, nil) },
		} {
			if !panics(call) {
				t.Errorf("%s, %s: no panic", name, what)
			}
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
