package semantic

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

func compass(t *testing.T, weight float64, gate func(string) float64) *world {
	t.Helper()
	w := newWorld(t, newCupboard(), Options{Gate: gate})
	w.set(Settings{Name: "mine", Identity: "1", Dimensions: 2, Weight: weight})
	w.keeper.Start(w)
	for i, v := range [][]float32{{1, 0}, {0, 1}, {1, 1}, nil} {
		w.add(ref(string(rune('a'+i)), 1), search.Doc{Vector: v})
	}
	w.awaitVectors()
	return w
}

func fused(w *world, mode search.Mode, lexical ...float64) []float64 {
	list := make([]search.Candidate, len(lexical))
	for i, x := range lexical {
		list[i] = search.Candidate{Number: uint32(i), Collection: "memory", Lexical: x, Semantic: math.NaN()}
	}
	w.keeper.Fuse(search.Query{Vector: []float32{1, 0}, Mode: mode}, list)
	var scores []float64
	for _, c := range list {
		scores = append(scores, c.Score)
	}
	return scores
}

func about(a, b float64) bool { return math.Abs(a-b) < .01 || math.IsInf(a, -1) && math.IsInf(b, -1) }

func TestScoresAreTheWeightedMeanOfWordsAndMeaning(t *testing.T) {
	w := compass(t, .25, nil)
	got := fused(w, search.Hybrid, 0, 8, 4, 2)
	want := []float64{.25, .75, .75*.5 + .25*math.Sqrt(.5), .25} // of the last, words stand for its meaning
	for i := range want {
		if !about(got[i], want[i]) {
			t.Errorf("%v, want %v", got, want)
			break
		}
	}
}

func TestWhatIsFartherThanTheThresholdIsNotFoundByMeaning(t *testing.T) {
	w := newWorld(t, newCupboard(), Options{})
	w.set(Settings{Name: "mine", Identity: "1", Dimensions: 2, Threshold: .5})
	w.keeper.Start(w)
	for i, v := range [][]float32{{1, 0}, {0, 1}, {1, 1}} {
		w.add(ref(string(rune('a'+i)), 1), search.Doc{Vector: v})
	}
	w.awaitVectors()
	found, err := w.keeper.Nearest(t.Context(), search.Query{Vector: []float32{1, 0}}, everything(3), 3)
	if err != nil || len(found) != 2 || found[0].Number != 0 || found[1].Number != 2 {
		t.Errorf("Nearest = %v, %v, want 0, then 2", found, err)
	}
}

func TestMeaningAloneIsTheNearness(t *testing.T) {
	got := fused(compass(t, .5, nil), search.Dense, 0, 8, 4, 2)
	for i, want := range []float64{1, 0, math.Sqrt(.5), math.Inf(-1)} {
		if !about(got[i], want) {
			t.Errorf("fused scores = %v, want %v at %d", got, want, i)
		}
	}
}

func TestAGateWeighsMeaningInACollection(t *testing.T) {
	got := fused(compass(t, .5, func(string) float64 { return .5 }), search.Hybrid, 0, 8)
	if !about(got[0], .25) || !about(got[1], .75) {
		t.Errorf("fused scores = %v, want [.25 .75]", got)
	}
}

func TestWithoutAnEmbedderWordsDecide(t *testing.T) {
	w := newWorld(t, newCupboard(), Options{})
	if got := fused(w, search.Hybrid, 3, 5); got[0] != 3 || got[1] != 5 {
		t.Errorf("fused scores = %v, want [3 5]", got)
	}
}

func TestANegativeWeightSwitchesMeaningOff(t *testing.T) {
	if got := fused(compass(t, -1, nil), search.Hybrid, 2, 4); got[0] != .5 || got[1] != 1 {
		t.Errorf("fused scores = %v, want [.5 1]", got)
	}
}

// alike reports whether a vector is another as a file keeps it.
func alike(got, want []float32) bool {
	return slices.EqualFunc(got, want, func(a, b float32) bool { return math.Abs(float64(a-b)) <= 1./largestInt/2 })
}

func TestVectorsOfAFileAreNearTheirOwn(t *testing.T) {
	v := [][]float32{{.6, -.8, 0}, {0, 0, 0}, {1e-7, 0, -1e-9}}
	var rows []row
	for i := range v {
		rows = append(rows, row{key: digest{byte(i)}, raw: encodeVector(v[i])})
	}
	floats := encodeRows(3, rows)[:blobHeader+len(rows)*blobEntry]
	copy(floats, floatMagic)
	for _, x := range v {
		for _, part := range x {
			floats = binary.LittleEndian.AppendUint32(floats, math.Float32bits(part))
		}
	}
	binary.LittleEndian.PutUint32(floats[16:], crc32.Checksum(floats[blobHeader:], crc32.MakeTable(crc32.Castagnoli)))
	for _, data := range [][]byte{encodeRows(3, rows), floats} {
		f := &file{dimensions: 3, mapped: store.NewMapping("memory", data, nil)}
		if err := f.open(nil); err != nil {
			t.Fatal(err)
		}
		for i, want := range v {
			got := make([]float32, 3)
			if err := f.ReadVector(uint32(i), got); err != nil || !alike(got, want) {
				t.Errorf("%s: vector %d is %v, %v, want %v", data[:8], i, got, err, want)
			}
		}
	}
}

func TestAVectorThatIsNotFiniteStaysSo(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		got := decoded(encodeVector([]float32{1, float32(x)}))
		if !slices.ContainsFunc(got, func(y float32) bool { return math.IsNaN(float64(y)) || math.IsInf(float64(y), 0) }) {
			t.Errorf("1, %g is rounded to %v, want what is not finite", x, got)
		}
	}
}

func FuzzFile(f *testing.F) {
	good := encodeRows(2, []row{{key: digest{1}, text: digest{2}, raw: encodeVector([]float32{1, 2})}, {key: digest{3}, raw: encodeVector([]float32{3, 4})}})
	f.Add(good)
	f.Add(good[:30])
	f.Add(encodeRows(2, nil))
	f.Add(append([]byte(floatMagic), encodeRows(2, nil)[len(floatMagic):]...))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := &file{dimensions: 2, mapped: store.NewMapping("memory", data, nil)}
		if x.validate() != nil {
			return
		}
		for i := range x.rows {
			if err := x.ReadVector(uint32(i), make([]float32, 2)); err != nil {
				t.Error(err)
			}
		}
	})
}
