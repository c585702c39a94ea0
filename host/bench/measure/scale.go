package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Scale says how large a memory to measure.
type Scale struct {
	N        int // memories
	Queries  int // 0: 200
	Seed     uint64
	Now      func() time.Time
	Stored   func() error          // called when all memories are stored; may be nil
	Progress func(done, total int) // of memories; may be nil
}

// Size is what was measured of a memory of N synthetic texts.
type Size struct {
	N         int     `json:"n"`
	Build     float64 `json:"build_ms"`   // storing all memories, each call durable and searchable when answered
	PerSecond float64 `json:"per_second"` // memories stored
	TextBytes int64   `json:"text_bytes"`
	Bytes     int64   `json:"bytes"`      // of the data directory
	RSS       int64   `json:"rss_bytes"`  // of the process, after the searches
	Latency   Latency `json:"latency_ms"` // of a memory_search for 10 hits
	Reopened  float64 `json:"reopen_ms"`  // from closed files to the first answer
}

// Run stores the texts and searches them.
func (s Scale) Run(ctx context.Context, call Caller) (Size, error) {
	size, corpus := Size{N: s.N}, NewTexts(s.Seed)
	start := s.Now()
	for done := 0; done < s.N; {
		if err := ctx.Err(); err != nil {
			return size, err
		}
		n := min(largestBatch, s.N-done)
		items := make([]map[string]any, n)
		for i := range items {
			text := corpus.Text(20, 80)
			items[i] = map[string]any{"key": fmt.Sprintf("m/%09d", done+i), "value": text}
			size.TextBytes += int64(len(text))
		}
		if _, err := call("memory_store", map[string]any{"items": items}); err != nil {
			return size, fmt.Errorf("store memories %d to %d: %w", done, done+n-1, err)
		}
		if done += n; s.Progress != nil {
			s.Progress(done, s.N)
		}
	}
	if s.Stored != nil {
		if err := s.Stored(); err != nil {
			return size, err
		}
	}
	took := s.Now().Sub(start)
	size.Build, size.PerSecond = milliseconds(took), math.Round(float64(s.N)/took.Seconds())
	var err error
	size.Latency, err = s.search(ctx, call, corpus)
	return size, err
}

// search asks questions of two to five words.
func (s Scale) search(ctx context.Context, call Caller, c *Texts) (Latency, error) {
	n := s.Queries
	if n == 0 {
		n = 200
	}
	var times []time.Duration
	for range n {
		if err := ctx.Err(); err != nil {
			return Latency{}, err
		}
		took, err := s.First(call, c.Text(2, 5))
		if err != nil {
			return Latency{}, err
		}
		times = append(times, took)
	}
	return latencyOf(times), nil
}

// First asks one question and tells how long the answer took.
func (s Scale) First(call Caller, question string) (time.Duration, error) {
	start := s.Now()
	raw, err := call("memory_search", map[string]any{"query": question, "k": 10})
	took := s.Now().Sub(start)
	if err == nil && !json.Valid(raw) {
		err = fmt.Errorf("the answer is not JSON: %.100s", raw)
	}
	return took, err
}

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
