package search

import (
	"hash/maphash"
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
	slots atomic.Pointer[[]wordSlot]

	adding sync.Mutex
	added  int // since the last growth
}

type wordSlot = atomic.Pointer[known]

// known is the analysis of a word.
type known struct {
	term string // empty: the word has none
	stop bool

	// The term is an entry of a tail, the last one that got the word; guarded by Index.mu.
	tail, entry uint32

	written string
	hash    uint64 // of written
}

// known returns the analysis of a word as it is written, which workOut makes of a new one.
func (c *wordCache) known(written string, workOut func(string) known) *known {
	hash := maphash.String(c.seed, written)
	if slots := c.slots.Load(); slots != nil {
		if k := slotOf(*slots, hash).Load(); k != nil && k.written == written {
			return k
		}
	}
	k := workOut(written)
	if len(written) <= longestWord { // few longer ones come again
		k.written, k.hash = strings.Clone(written), hash
		c.add(&k)
	}
	return &k
}

// slotOf is the slot of a hash; the number of slots is a power of two.
func slotOf(slots []wordSlot, hash uint64) *wordSlot { return &slots[hash&uint64(len(slots)-1)] }

// add puts a word into its slot.
func (c *wordCache) add(k *known) {
	if k.term = strings.Clone(k.term); strings.HasPrefix(k.written, k.term) {
		k.term = k.written[:len(k.term)]
	}
	c.adding.Lock()
	defer c.adding.Unlock()
	slotOf(c.grown(), k.hash).Store(k)
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
			slotOf(more, k.hash).Store(k)
		}
	}
	c.slots.Store(&more)
	c.added = 0
	return more
}
