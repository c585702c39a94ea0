package search

import (
	"math/rand"
	"testing"
)

func TestRangesOfBitsets(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 2000 {
		from := uint32(random.Intn(200))
		to := from + uint32(random.Intn(63))
		b := newBitset(300)
		b.addRange(from, to)
		for n := range uint32(300) {
			if b.has(n) != (n >= from && n <= to) {
				t.Fatalf("the range from %d to %d and %d", from, to, n)
			}
		}
		if !b.hasRange(from, to) || from > 0 && b.hasRange(from-1, to-1) || b.hasRange(from+1, to+1) {
			t.Fatalf("the range from %d to %d is not the one in the set", from, to)
		}
	}
}
