package vector

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// clustered makes vectors that lie in groups, as those of texts do.
func clustered(r *rand.Rand, n, dimensions int) [][]float32 {
	centres := make([][]float32, max(n/50, 1))
	for i := range centres {
		centres[i] = gaussian(r, dimensions, nil)
	}
	list := make([][]float32, n)
	for i := range list {
		list[i] = gaussian(r, dimensions, centres[r.IntN(len(centres))])
	}
	return list
}

func gaussian(r *rand.Rand, dimensions int, around []float32) []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(r.NormFloat64())
		if around != nil {
			v[i] = v[i]*.8 + around[i]
		}
	}
	return v
}

func made(t testing.TB, o Options, vectors [][]float32) *Set {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range vectors {
		if err := s.Put(uint32(i), v); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// plainLoop is what nearest must agree with.
func plainLoop(metric Metric, vectors [][]float32, query []float32, k int, allowed func(uint32) bool) []Near {
	var list []Near
	for i, v := range vectors {
		if v == nil || allowed != nil && !allowed(uint32(i)) {
			continue
		}
		dot := 0.0
		for j := range v {
			dot += float64(v[j]) * float64(query[j])
		}
		if metric == Cosine {
			dot /= norm(v) * norm(query)
		}
		list = append(list, Near{uint32(i), dot})
	}
	slices.SortFunc(list, func(a, b Near) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Number, b.Number)) })
	return list[:min(k, len(list))]
}

func nearest(t testing.TB, s *Set, q Query) []Near {
	t.Helper()
	list, err := s.Nearest(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func numbers(list []Near) []uint32 {
	var n []uint32
	for _, near := range list {
		n = append(n, near.Number)
	}
	return n
}

// part is how many of the wanted were found.
func part(got, want []Near) float64 {
	found := 0
	for _, n := range numbers(want) {
		if slices.Contains(numbers(got), n) {
			found++
		}
	}
	return float64(found) / float64(len(want))
}

// those is a set of numbers, a bit each.
type those []uint64

func (a *those) add(n uint32) {
	for int(n/64) >= len(*a) {
		*a = append(*a, 0)
	}
	(*a)[n/64] |= 1 << (n % 64)
}

func (a those) Has(n uint32) bool { return int(n/64) < len(a) && a[n/64]>>(n%64)&1 == 1 }

func TestEveryScanFindsWhatThePlainLoopFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	n := 3000
	if testing.Short() {
		n = chunkRows + 100
	}
	for _, metric := range []Metric{Cosine, Dot} {
		for _, dimensions := range []int{3, 64, 100, 384} {
			vectors := clustered(r, n, dimensions)
			s := made(t, Options{Dimensions: dimensions, Metric: metric}, vectors)
			for _, scan := range []Scan{Auto, Floats, Codes, Bits} {
				sum := 0.0
				for range 10 {
					query := gaussian(r, dimensions, vectors[r.IntN(len(vectors))])
					sum += part(nearest(t, s, Query{Vector: query, K: 10, Scan: scan}), plainLoop(metric, vectors, query, 10, nil))
				}
				least := .99
				if scan == Bits && dimensions < 64 {
					least = .3 // few bits tell little
				}
				if sum/10 < least {
					t.Errorf("metric %d, %d dimensions, scan %d: recall@10 %.3f", metric, dimensions, scan, sum/10)
				}
			}
		}
	}
}

func TestRankingsAreTheSameWithAndWithoutVectorInstructions(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, metric := range []Metric{Cosine, Dot} {
		vectors := clustered(r, 2500, 96)
		fast, plain := made(t, Options{Dimensions: 96, Metric: metric}, vectors), made(t, Options{Dimensions: 96, Metric: metric, Portable: true}, vectors)
		for i := range 40 {
			q := Query{Vector: gaussian(r, 96, vectors[i]), K: 1 + r.IntN(60), Scan: Scan(i % 4)}
			if a, b := nearest(t, fast, q), nearest(t, plain, q); !slices.Equal(a, b) {
				t.Fatalf("scan %d: %v and %v", q.Scan, a, b)
			}
		}
	}
}

func TestOnlyWhatIsAllowedIsFoundAndAllOfIt(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	vectors := clustered(r, 4000, 64)
	s := made(t, Options{Dimensions: 64}, vectors)
	for _, share := range []int{1, 3, 10, 100, 1000} {
		var allowed those
		for i := range vectors {
			if r.IntN(share) == 0 {
				allowed.add(uint32(i))
			}
		}
		for _, scan := range []Scan{Auto, Floats, Codes, Bits} {
			query := gaussian(r, 64, vectors[0])
			got := nearest(t, s, Query{Vector: query, K: 10, Among: allowed, Scan: scan})
			want := plainLoop(Cosine, vectors, query, 10, allowed.Has)
			if len(got) != len(want) || slices.ContainsFunc(numbers(got), func(n uint32) bool { return !allowed.Has(n) }) || part(got, want) < .9 {
				t.Errorf("one in %d, scan %d: %v, want %v", share, scan, numbers(got), numbers(want))
			}
		}
	}
}

// TestNumbersMayComeInAnyOrder puts numbers that are shuffled, apart, and behind free rows that they are put in.
func TestNumbersMayComeInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	vectors := make([][]float32, 9000)
	s := made(t, Options{Dimensions: 64, Codes: 500}, nil)
	for _, i := range r.Perm(len(vectors))[:3000] {
		vectors[i] = gaussian(r, 64, nil)
	}
	for round := range 4 {
		for _, i := range r.Perm(len(vectors)) {
			switch {
			case vectors[i] == nil:
			case r.IntN(5) == round:
				s.Remove(uint32(i))
				vectors[i] = nil
			case round == 0 || r.IntN(3) == 0:
				if err := s.Put(uint32(i), vectors[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
		var allowed those
		for i := range vectors {
			if r.IntN(2+round) > 0 {
				allowed.add(uint32(i))
			}
		}
		for _, among := range []those{nil, allowed, allowed[:len(allowed)/2]} {
			query, has := gaussian(r, 64, nil), among.Has
			if among == nil {
				has = nil
			}
			got := nearest(t, s, Query{Vector: query, K: 20, Among: among, Scan: Floats})
			if want := plainLoop(Cosine, vectors, query, 20, has); !slices.Equal(numbers(got), numbers(want)) {
				t.Errorf("round %d: got %v, want %v", round, numbers(got), numbers(want))
			}
			if got := nearest(t, s, Query{Vector: query, K: 20, Among: among, Scan: Bits}); part(got, plainLoop(Cosine, vectors, query, 20, has)) < .9 {
				t.Errorf("round %d, by bits: got %v", round, numbers(got))
			}
		}
	}
}

func TestOfEqualsTheLowerNumberComesFirst(t *testing.T) {
	vectors := make([][]float32, 200)
	for i := range vectors {
		vectors[i] = []float32{1, 2, 3}
	}
	s := made(t, Options{Dimensions: 3}, vectors)
	for _, scan := range []Scan{Auto, Floats, Codes, Bits} {
		if got := numbers(nearest(t, s, Query{Vector: []float32{3, 2, 1}, K: 3, Scan: scan})); !slices.Equal(got, []uint32{0, 1, 2}) {
			t.Errorf("scan %d: %v", scan, got)
		}
	}
}

func TestWhatIsRemovedOrReplacedIsNotFoundAnyMore(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	vectors := clustered(r, 2200, 64)
	s := made(t, Options{Dimensions: 64}, vectors)
	for i := range vectors {
		switch r.IntN(3) {
		case 0:
			s.Remove(uint32(i))
			vectors[i] = nil
		case 1:
			vectors[i] = gaussian(r, 64, nil)
			if err := s.Put(uint32(i), vectors[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Remove(7_000_000)
	left := 0
	for _, v := range vectors {
		if v != nil {
			left++
		}
	}
	query := gaussian(r, 64, nil)
	got, want := nearest(t, s, Query{Vector: query, K: 50, Scan: Codes}), plainLoop(Cosine, vectors, query, 50, nil)
	if s.Len() != left || part(got, want) < .98 {
		t.Errorf("%d of %d left; %v, want %v", s.Len(), left, numbers(got), numbers(want))
	}
}

// shelf keeps vectors somewhere else.
type shelf struct {
	vectors [][]float32
	broken  error
}

func (s *shelf) ReadVector(at uint32, into []float32) error {
	copy(into, s.vectors[at])
	return s.broken
}

func TestVectorsThatAreKeptElsewhereAreFoundTheSameWay(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	vectors := clustered(r, 2500, 70)
	inMemory, kept := made(t, Options{Dimensions: 70}, vectors), made(t, Options{Dimensions: 70}, nil)
	elsewhere := &shelf{}
	for i, v := range vectors {
		ready, err := kept.Ready(v)
		if err != nil {
			t.Fatal(err)
		}
		elsewhere.vectors = append(elsewhere.vectors, ready)
		if i%2 == 0 {
			err = kept.PutKept(uint32(i), ready, elsewhere, uint32(i))
		} else {
			err = kept.Put(uint32(i), v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	agree := func() {
		t.Helper()
		for i := range 12 {
			q := Query{Vector: gaussian(r, 70, vectors[i]), K: 10, Scan: Scan(i % 4)}
			if a, b := nearest(t, inMemory, q), nearest(t, kept, q); !slices.Equal(a, b) {
				t.Fatalf("scan %d: %v and %v", q.Scan, a, b)
			}
		}
	}
	agree()
	for i := range vectors {
		kept.Moved(uint32(i), elsewhere, uint32(i))
	}
	agree()
	for i, c := range kept.chunks {
		if c.floats != nil && i < len(vectors)/chunkRows {
			t.Errorf("chunk %d still has its vectors in memory, %d of them", i, c.inMemory)
		}
	}
	elsewhere.broken = errors.New("gone")
	if _, err := kept.Nearest(t.Context(), Query{Vector: vectors[0], K: 3}); !errors.Is(err, elsewhere.broken) {
		t.Errorf("what cannot be read is %v", err)
	}
}

func TestAVectorThatCannotBeKeptIsRefusedAndSaysWhy(t *testing.T) {
	s := made(t, Options{Dimensions: 3}, nil)
	for _, v := range [][]float32{nil, {1, 2}, {1, 2, 3, 4}, {0, 0, 0}, {float32(math.NaN()), 1, 1}, {float32(math.Inf(1)), 1, 1}, {3e38, 3e38, 3e38}} {
		if err := s.Put(1, v); err == nil {
			t.Errorf("%v is kept", v)
		}
		if _, err := s.Nearest(t.Context(), Query{Vector: v, K: 1}); err == nil {
			t.Errorf("%v is searched for", v)
		}
	}
	for _, dimensions := range []int{-1, 0, MaxDimensions + 1} {
		if _, err := New(Options{Dimensions: dimensions}); err == nil {
			t.Errorf("a set of %d dimensions is made", dimensions)
		}
	}
	if s.Len() != 0 {
		t.Errorf("%d vectors", s.Len())
	}
}

func TestAScoreIsTheOneThatNearestGives(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	vectors := clustered(r, 100, 48)
	s := made(t, Options{Dimensions: 48}, vectors)
	for _, n := range nearest(t, s, Query{Vector: vectors[3], K: 100}) {
		if score, ok, err := s.Score(vectors[3], n.Number); score != n.Score || !ok || err != nil {
			t.Errorf("%d: %g and %g, %v", n.Number, score, n.Score, err)
		}
	}
	if _, ok, _ := s.Score(vectors[3], 1000); ok {
		t.Error("a number without a vector has a score")
	}
}

func TestASearchThatIsGivenUpEnds(t *testing.T) {
	s := made(t, Options{Dimensions: 8}, clustered(rand.New(rand.NewPCG(1, 1)), 3000, 8))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Nearest(ctx, Query{Vector: make8(1), K: 5, Scan: Codes}); !errors.Is(err, context.Canceled) {
		t.Errorf("Nearest of a cancelled context: %v, want %v", err, context.Canceled)
	}
}

func make8(x float32) []float32 { return []float32{x, 1, 1, 1, 1, 1, 1, 1} }

func TestSearchesGoOnWhileVectorsComeAndGo(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	vectors := clustered(r, 2000, 32)
	s := made(t, Options{Dimensions: 32}, vectors)
	var both sync.WaitGroup
	for w := range 4 {
		both.Go(func() {
			for i := range 500 {
				n := uint32(2000 + w*500 + i)
				if err := s.Put(n, vectors[i]); err != nil {
					t.Error(err)
				}
				if i%2 == 0 {
					s.Remove(n)
				}
			}
		})
		both.Go(func() {
			for i := range 60 {
				list, err := s.Nearest(context.Background(), Query{Vector: vectors[i], K: 5, Scan: Scan(i % 4)})
				if err != nil || len(list) != 5 {
					t.Errorf("Nearest = %v, %v, want 5", list, err)
				}
			}
		})
	}
	both.Wait()
	if s.Len() != 3000 {
		t.Errorf("%d vectors", s.Len())
	}
}

// number reads vectors of one element, its own value.
type number struct{ value float32 }

func (n *number) ReadVector(_ uint32, into []float32) error {
	into[0] = n.value
	return nil
}

func TestAReaderIsForgottenWithItsLastVector(t *testing.T) {
	s := made(t, Options{Dimensions: 1}, nil)
	from := make([]*number, 5)
	for i := range from {
		from[i] = &number{float32(i + 1)}
		if err := s.PutKept(uint32(i), []float32{1}, from[i], 0); err != nil {
			t.Fatal(err)
		}
	}
	s.Moved(0, from[4], 0)
	s.Remove(1)
	if err := s.Put(2, []float32{1}); err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, r := range s.readers.list {
		if r != nil {
			left++
		}
	}
	if left != 2 {
		t.Errorf("%d readers are kept, want the two that are read from", left)
	}
	if err := s.PutKept(7, []float32{1}, &number{9}, 0); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[uint32]float32{0: 5, 2: 1, 3: 4, 4: 5, 7: 9} {
		if v, err := s.Vector(n); err != nil || v[0] != want {
			t.Errorf("vector %d is %v, %v, want %g", n, v, err, want)
		}
	}
	if len(s.readers.list) != 5 {
		t.Errorf("there is room for %d readers, want a number to be used again", len(s.readers.list))
	}
}
