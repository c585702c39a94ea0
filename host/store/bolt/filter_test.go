package bolt

import (
	"fmt"
	"testing"

	"github.com/bits-and-blooms/bloom/v3"
)

func filterOf(keys int) *bloom.BloomFilter {
	f := bloom.NewWithEstimates(uint(keys), falseRate)
	for i := range keys {
		f.Add(fmt.Appendf(nil, "key-%d", i))
	}
	return f
}

func TestAFilterHidesNothingAfterItWasReadBack(t *testing.T) {
	data, err := encodeFilter(filterOf(1000))
	if err != nil {
		t.Fatal(err)
	}
	back := decodeFilter(data)
	if back == nil {
		t.Fatal("the filter was not read back")
	}
	vain := 0
	for i := range 1000 {
		if !back.Test(fmt.Appendf(nil, "key-%d", i)) {
			t.Fatalf("key-%d is hidden", i)
		}
		if back.Test(fmt.Appendf(nil, "other-%d", i)) {
			vain++
		}
	}
	if vain > 50 {
		t.Errorf("%d of 1000 absent keys are looked for in vain, want about 10", vain)
	}
}

func FuzzARottenFilterIsNotUsed(f *testing.F) {
	data, err := encodeFilter(filterOf(3))
	if err != nil {
		f.Fatal(err)
	}
	for i := range data {
		f.Add(i, byte(1))
	}
	f.Fuzz(func(t *testing.T, at int, flip byte) {
		if at < 0 || at >= len(data) || flip == 0 {
			return
		}
		rotten := append([]byte(nil), data...)
		rotten[at] ^= flip
		if decodeFilter(rotten) != nil {
			t.Errorf("byte %d xor %#x was not noticed", at, flip)
		}
		if decodeFilter(rotten[:at]) != nil {
			t.Errorf("the first %d bytes were taken for a filter", at)
		}
	})
}
