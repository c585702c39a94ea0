package search

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
)

// Sizes of a wordCache, in words, and the longest word in it, in bytes.
const (
	fewestWords = 1 << 8
	mostWords   = 1 << 16
	longestWord = 4 * maxTerm
)

// wordCache keeps the analyses of words, each in the slot of its hash, where it replaces another. Reads take no lock.
type wordCache struct {
	seed  maphash.Seed
	salt  [2]uint64
	slots atomic.Pointer[[]wordSlot]

	adding sync.Mutex
	added  int // since the last growth
}

type wordSlot = atomic.Pointer[wordAnalysis]

func newWordCache() wordCache {
	seed := maphash.MakeSeed()
	return wordCache{seed: seed, salt: [2]uint64{maphash.String(seed, "first"), maphash.String(seed, "last")}}
}

// wordAnalysis is the analysis of a word.
type wordAnalysis struct {
	// The word as it is written: its size, its first and last bytes as numbers, which are compared without a look at other memory,
	// or a hash and the word if it is longer than shortWord.
	size        int
	first, last uint64
	long        string

	term string // empty: the word has none. It retains no text
	stop bool
	note atomic.Pointer[Note]

	// The term is an entry of a tail, the last one that got the word; guarded by Index.adding.
	tail, entry uint32
}

// shortWord is the size in bytes up to which two numbers hold a word.
const shortWord = 16

// known returns the analysis of a word as it is written, which workOut makes of a new one.
func (c *wordCache) known(written string, workOut func(string) (term string, stop bool)) *wordAnalysis {
	first, last := c.numbers(written)
	if slots := c.slots.Load(); slots != nil {
		k := c.slotOf(*slots, len(written), first, last).Load()
		if k != nil && k.first == first && k.last == last && k.size == len(written) && (k.size <= shortWord || k.long == written) {
			return k
		}
	}
	term, stop := workOut(written)
	k := &wordAnalysis{term: strings.Clone(term), stop: stop}
	if len(written) > longestWord { // few of these come again
		return k
	}
	k.size, k.first, k.last = len(written), first, last
	if k.size > shortWord {
		k.long = strings.Clone(written)
	}
	c.add(k)
	return k
}

// numbers returns a word's first and last bytes as numbers, or its hash if it is long.
func (c *wordCache) numbers(written string) (first, last uint64) {
	switch n := len(written); {
	case n > shortWord:
		return maphash.String(c.seed, written), 0
	case n >= 8:
		return eight(written), eight(written[n-8:])
	case n >= 4:
		return uint64(four(written)), uint64(four(written[n-4:]))
	case n > 0:
		return uint64(written[0]) | uint64(written[n/2])<<8 | uint64(written[n-1])<<16, 0
	}
	return 0, 0
}

// eight returns the first eight bytes of a text as a number.
func eight(t string) uint64 {
	_ = t[7]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 | uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
}

func four(t string) uint32 {
	_ = t[3]
	return uint32(t[0]) | uint32(t[1])<<8 | uint32(t[2])<<16 | uint32(t[3])<<24
}

// slotOf is the slot of a word; the number of slots is a power of two.
func (c *wordCache) slotOf(slots []wordSlot, size int, first, last uint64) *wordSlot {
	high, low := bits.Mul64(first^c.salt[0], last^c.salt[1]^uint64(size)<<56)
	return &slots[(high^low)&uint64(len(slots)-1)]
}

// add puts a word into its slot.
func (c *wordCache) add(k *wordAnalysis) {
	c.adding.Lock()
	defer c.adding.Unlock()
	c.slotOf(c.grown(), k.size, k.first, k.last).Store(k)
}

// grown returns the slots, four times as many when they are likely to be full. The caller holds adding.
func (c *wordCache) grown() []wordSlot {
	var slots []wordSlot
	if present := c.slots.Load(); present != nil {
		slots = *present
	}
	if c.added++; slots != nil && (c.added <= len(slots) || len(slots) == mostWords) {
		return slots
	}
	more := make([]wordSlot, max(fewestWords, 4*len(slots)))
	for i := range slots {
		if k := slots[i].Load(); k != nil {
			c.slotOf(more, k.size, k.first, k.last).Store(k)
		}
	}
	c.slots.Store(&more)
	c.added = 0
	return more
}

// Word is a word that analysis found.
type Word struct{ *wordAnalysis }

// Term is the index term of the word.
func (w Word) Term() string { return w.term }

// IsStop reports whether the word is a stop word.
func (w Word) IsStop() bool { return w.stop }

// Note returns what was noted of the word the last time it was looked up; nil: nothing.
func (w Word) Note() *Note { return w.note.Load() }

// SetNote notes what is known of the word.
func (w Word) SetNote(n *Note) { w.note.Store(n) }

// Note is what an embedder knows of a word: By tells whose note it is.
type Note struct {
	By     any
	Number int32
}
