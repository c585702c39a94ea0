package search

import (
	"fmt"
	"math/rand"
	"testing"
)

// TestNumbersAreFoundWhateverIsAddedAndRemoved compares a numbering with a map, also where most hashes are equal.
func TestNumbersAreFoundWhateverIsAddedAndRemoved(t *testing.T) {
	for _, hashes := range []uint32{3, 40, 1 << 31} {
		rng := rand.New(rand.NewSource(1))
		var n numbering
		numbers := map[string]uint32{}
		texts := map[uint32]string{}
		hashOf := func(text string) (hash uint32) {
			for _, c := range []byte(text) {
				hash = hash*2654435761 + uint32(c)
			}
			return hash % hashes
		}
		for i := range uint32(4000) {
			text := fmt.Sprint(rng.Intn(600))
			find := func() uint32 {
				return n.find(hashOf(text), func(number uint32) bool { return texts[number] == text })
			}
			want, present := numbers[text]
			if got := find(); present && got != want || !present && got != none {
				t.Fatalf("of %d hashes, %s is %d after %d steps, not %d, %t", hashes, text, got, i, want, present)
			}
			switch {
			case !present:
				numbers[text], texts[i] = i, text
				n.add(hashOf(text), i)
			case rng.Intn(2) == 0:
				delete(numbers, text)
				delete(texts, want)
				n.remove(hashOf(text), want)
			}
			if n.used != len(numbers) {
				t.Fatalf("%d numbers are counted, not %d", n.used, len(numbers))
			}
		}
	}
}
