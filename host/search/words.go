package search

import (
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
	slots atomic.Pointer[[]wordSlot]

	adding sync.Mutex
	added  int // since the last growth
}

type wordSlot = atomic.Pointer[cachedWord]

// cachedWord is a word as it was written.
type cachedWord struct {
	written string
	hash    uint64
	known
}

// slotOf is the slot of a hash; the number of slots is a power of two.
func slotOf(slots []wordSlot, hash uint64) *wordSlot { return &slots[hash&uint64(len(slots)-1)] }

// find returns the analysis of a word with its hash, or nil.
func (c *wordCache) find(written string, hash uint64) *known {
	slots := c.slots.Load()
	if slots == nil {
		return nil
	}
	w := slotOf(*slots, hash).Load()
	if w == nil || w.written != written {
		return nil
	}
	return &w.known
}

// add keeps the analysis of a word with its hash. Long words are not kept: few of them come again.
func (c *wordCache) add(written string, hash uint64, k known) {
	if len(written) > longestWord {
		return
	}
	w := &cachedWord{written: strings.Clone(written), hash: hash, known: k} // clones do not retain a long text
	if w.term = strings.Clone(k.term); strings.HasPrefix(w.written, k.term) {
		w.term = w.written[:len(k.term)]
	}
	c.adding.Lock()
	defer c.adding.Unlock()
	slotOf(c.grown(), hash).Store(w)
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
		if w := slots[i].Load(); w != nil {
			slotOf(more, w.hash).Store(w)
		}
	}
	c.slots.Store(&more)
	c.added = 0
	return more
}
