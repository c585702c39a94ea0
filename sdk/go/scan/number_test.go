package scan

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestNumbersAreWrittenAsStrconvWritesThem(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, .5, .1, .2, .3, .1 + .2, .8, 1e-4, 9.9e-5, 1.00001, 999999, 999999.999999, 999999.9999999, 1e6, 123456.789012, 1e-6, 5e-324, math.MaxFloat64}
	for range 10_000 {
		numbers = append(numbers, r.Float64(), float64(r.IntN(1e9))/1e6, float64(r.IntN(1e12))/1e6, math.Float64frombits(r.Uint64()))
	}
	for _, v := range numbers {
		if want := strconv.FormatFloat(v, 'g', -1, 64); !math.IsNaN(v) && string(AppendNumber(nil, v)) != want {
			t.Errorf("%s, want %s", AppendNumber(nil, v), want)
		}
	}
}

func TestCharactersAreCountedEightAtATimeAsOneByOne(t *testing.T) {
	slow := func(data []byte) int {
		for i, c := range data {
			if c < ' ' || c > '~' || c == '"' || c == '\\' {
				return i
			}
		}
		return len(data)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 20_000 {
		data := make([]byte, r.IntN(40))
		for i := range data {
			data[i] = byte(' ' + r.IntN('~'-' '+1))
		}
		if len(data) > 0 {
			data[r.IntN(len(data))] = byte(n)
		}
		if ordinary(data) != slow(data) {
			t.Fatalf("%q: %d, want %d", data, ordinary(data), slow(data))
		}
	}
}

func TestARawValueIsOneValue(t *testing.T) {
	for text, valid := range map[string]bool{
		`"a"`: true, `""`: true, `"a\""`: true, `"é"`: true, `"`: false, `"a`: false, `"a"b"`: false, `"a","b"`: false, "\"a\n\"": false, `"a" `: true,
	} {
		w := &Writer{}
		w.Raw([]byte(text))
		if got, err := w.Bytes(); (err == nil) != valid || string(got) != text {
			t.Errorf("Raw(%s) writes %s (%v), want it valid: %t", text, got, err, valid)
		}
	}
}
