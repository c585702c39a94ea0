package vector

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// integers keeps vectors as integers. Its method Integers is not that of an IntegerReader.
type integers struct {
	raw  []byte // of each a scale and the integers
	size int
}

func (s *integers) row(at uint32) []byte { return s.raw[int(at)*(4+s.size):][:4+s.size] }

func (s *integers) ReadVector(at uint32, into []float32) error {
	raw := s.row(at)
	scale := math.Float32frombits(binary.LittleEndian.Uint32(raw))
	for i := range into {
		into[i] = float32(int8(raw[4+i])) * scale
	}
	return nil
}

func (s *integers) add(r *rand.Rand, scale float32, element func() int8) {
	s.raw = binary.LittleEndian.AppendUint32(s.raw, math.Float32bits(scale))
	for range s.size {
		s.raw = append(s.raw, byte(element()))
	}
}

// bounding is the same as an IntegerReader.
type bounding struct{ integers }

func (s *bounding) Integers(at uint32) (*[4]byte, *int8) {
	raw := s.row(at)
	return (*[4]byte)(raw), (*int8)(unsafe.Pointer(&raw[4]))
}

func TestVectorsThatAreKeptAsIntegersAreFoundByBoundsAsWithout(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, metric := range []Metric{Cosine, Dot} {
		for _, dimensions := range []int{16, 128, 384, 100} {
			kept := &bounding{integers{size: dimensions}}
			plain, bounded := made(t, Options{Dimensions: dimensions, Metric: metric}, nil), made(t, Options{Dimensions: dimensions, Metric: metric}, nil)
			v := make([]float32, dimensions)
			for i := range uint32(2000) {
				scale, wide := float32(math.Exp(r.NormFloat64()-4)), 1+r.IntN(120)
				if i%7 == 6 { // equal to one before
					kept.raw = append(kept.raw, kept.row(i-uint32(1+r.IntN(6)))...)
				} else {
					kept.add(r, scale, func() int8 { return int8(max(-128, min(127, r.NormFloat64()*float64(wide)))) })
				}
				if kept.ReadVector(i, v); plain.Check(v) != nil {
					continue
				}
				for set, from := range map[*Set]Reader{plain: &kept.integers, bounded: kept} {
					if err := set.PutKept(i, v, from, i); err != nil {
						t.Fatal(err)
					}
				}
			}
			for range 50 {
				q := Query{Vector: gaussian(r, dimensions, nil), K: 1 + r.IntN(60), Scan: Bits}
				if a, b := nearest(t, plain, q), nearest(t, bounded, q); !slices.Equal(a, b) {
					t.Fatalf("%d dimensions: %v without bounds, %v with them", dimensions, a, b)
				}
			}
		}
	}
}

func TestAScoreIsWithinItsBounds(t *testing.T) {
	r, k := rand.New(rand.NewPCG(23, 24)), fastest()
	wide, scores := 0.0, 0.0
	for range 20_000 {
		n := partBlock * (1 + r.IntN(64))
		query := randomFloats(r, n)
		if r.IntN(2) == 0 {
			query = gaussian(r, n, nil)
		}
		kept, v := &bounding{integers{size: n}}, make([]float32, n)
		kept.add(r, float32(math.Exp(4*r.NormFloat64())), func() int8 { return int8(r.IntN(256) - 128) })
		kept.ReadVector(0, v)
		var dot [1]int32
		var score [1]float32
		scale, first := kept.Integers(0)
		q := partQuery(query)
		k.dotIntegers(q.parts, []*int8{first}, dot[:])
		k.dotFloats(query, v, score[:])
		low, high := q.bounds(dot[0], math.Float32frombits(binary.LittleEndian.Uint32(scale[:])))
		if score[0] < low || score[0] > high {
			t.Fatalf("%d dimensions: the score %g is not between %g and %g", n, score[0], low, high)
		}
		wide, scores = wide+float64(high-low)/norm(query)/norm(v), scores+1
	}
	if wide /= scores; wide > .01 {
		t.Errorf("bounds are %g apart on average, of a cosine", wide)
	}
}

func TestBoundsLeaveFewRowsToRead(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	kept := &bounding{integers{size: 128}}
	s, v := made(t, Options{Dimensions: 128}, nil), make([]float32, 128)
	var rows []uint32
	for i := range uint32(1000) {
		kept.add(r, 1./512, func() int8 { return int8(max(-127, min(127, r.NormFloat64()*45))) })
		kept.ReadVector(i, v)
		if err := s.PutKept(i, v, kept, i); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, s.row(i))
	}
	ready, err := s.Ready(gaussian(r, 128, nil))
	if err != nil {
		t.Fatal(err)
	}
	q := &search{set: s, query: ready}
	if left := q.shortlist(rows, 40); len(left) < 40 || len(left) > 45 {
		t.Errorf("%d of 1,000 rows are left for the best 40", len(left))
	}
}

// BenchmarkExact finds the best 40 of 800 and 3,333 rows that lie anywhere in 132 MB of integers.
func BenchmarkExact(b *testing.B) {
	const size, n = 128, 1_000_000
	r := rand.New(rand.NewPCG(27, 28))
	kept := &bounding{integers{size: size, raw: make([]byte, n*(4+size))}}
	s, v := made(b, Options{Dimensions: size}, nil), make([]float32, size)
	for i := range n {
		raw := kept.row(uint32(i))
		binary.LittleEndian.PutUint32(raw, math.Float32bits(1./512))
		for j := 4; j < len(raw); j += 4 {
			binary.LittleEndian.PutUint32(raw[j:], r.Uint32()&0x3f3f3f3f)
		}
		kept.ReadVector(uint32(i), v)
		if err := s.PutKept(uint32(i), v, kept, uint32(i)); err != nil {
			b.Fatal(err)
		}
	}
	for name, from := range map[string]Reader{"plain": &kept.integers, "bounded": kept} {
		for i := range n {
			s.Moved(uint32(i), from, uint32(i))
		}
		for _, rows := range []int{800, 3333} {
			b.Run(name+"/"+map[int]string{800: "800", 3333: "3333"}[rows], func(b *testing.B) {
				for b.Loop() {
					list := make([]uint32, rows)
					for i := range list {
						list[i] = uint32(i*(n/rows) + r.IntN(n/rows))
					}
					ready, err := s.Ready(gaussian(r, size, nil))
					if err != nil {
						b.Fatal(err)
					}
					q := &search{set: s, query: ready}
					if _, err := q.exact(list, 40); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
