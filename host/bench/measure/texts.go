package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Texts makes texts whose words are as unevenly frequent as those of a language: the word of rank r comes up in
// proportion to 1/(r+2.7)^1.1 (Mandelbrot 1953).
type Texts struct {
	random *rand.Rand
	words  []string
	sums   []float64 // of frequencies up to each word
}

const vocabulary = 100_000

// NewTexts makes the same texts for the same seed.
func NewTexts(seed uint64) *Texts {
	c := &Texts{random: rand.New(rand.NewPCG(seed, 17))}
	seen, sum := map[string]bool{}, 0.0
	for len(c.words) < vocabulary {
		word := c.word()
		if seen[word] {
			continue
		}
		seen[word] = true
		sum += math.Pow(float64(len(c.words))+2.7, -1.1)
		c.words, c.sums = append(c.words, word), append(c.sums, sum)
	}
	return c
}

// word is a word that was never heard: two to four syllables.
func (c *Texts) word() string {
	const consonants, vowels = "bdfghklmnprstvwz", "aeiou"
	var b strings.Builder
	for range 2 + c.random.IntN(3) {
		b.WriteByte(consonants[c.random.IntN(len(consonants))])
		b.WriteByte(vowels[c.random.IntN(len(vowels))])
	}
	if c.random.IntN(2) == 0 {
		b.WriteByte(consonants[c.random.IntN(len(consonants))])
	}
	return b.String()
}

// Text is from least to most words.
func (c *Texts) Text(least, most int) string {
	words := make([]string, least+c.random.IntN(most-least+1))
	for i := range words {
		at, _ := slices.BinarySearch(c.sums, c.random.Float64()*c.sums[len(c.sums)-1])
		words[i] = c.words[min(at, len(c.words)-1)]
	}
	return strings.Join(words, " ")
}
