package traces

import (
	"encoding/binary"
	"slices"
	"strings"
)

const (
	leastText = 8  // bytes of a text that identify it anywhere in a record
	leastPart = 32 // leading bytes of a text that suggest a partial copy
)

// matcher finds many texts in another, in time independent of their number. Each has at least leastText bytes.
type matcher struct {
	texts  []string
	groups map[uint64][]string // by their first eight bytes: sorted, none a prefix of another
	filter []uint64            // bits of the hashes of these first bytes, which rule out nearly every position of a text
}

const filterBits = 18

func hashOf(first uint64) uint64 { return first * 0x9e3779b97f4a7c15 >> (64 - filterBits) }

func newMatcher(texts []string) *matcher {
	texts = slices.Clone(texts)
	slices.Sort(texts)
	m := &matcher{groups: map[uint64][]string{}, filter: make([]uint64, 1<<filterBits/64)}
	for _, text := range texts {
		if n := len(m.texts); n > 0 && strings.HasPrefix(text, m.texts[n-1]) {
			continue // a record with this text has the shorter one too
		}
		m.texts = append(m.texts, text)
		first := binary.LittleEndian.Uint64([]byte(text[:8]))
		m.groups[first] = append(m.groups[first], text)
		m.filter[hashOf(first)/64] |= 1 << (hashOf(first) % 64)
	}
	return m
}

// match is what a record has of the texts.
type match struct {
	whole bool // one of them in full
	part  bool // only the beginning of one
}

// find looks for the texts. budget is how many bytes it may compare in addition to reading each once; find lowers it. ok is false when
// the budget ran out.
func (m *matcher) find(in []byte, budget *int) (found match, ok bool) {
	if len(m.groups) == 0 {
		return found, true
	}
	for at := 0; at+8 <= len(in); at++ {
		first := binary.LittleEndian.Uint64(in[at:])
		if h := hashOf(first); m.filter[h/64]>>(h%64)&1 == 0 {
			continue
		}
		group := m.groups[first]
		if group == nil {
			continue
		}
		common, whole := longest(group, in[at:], budget)
		if whole {
			return match{whole: true}, true
		}
		found.part = found.part || common >= leastPart
		if *budget < 0 {
			return found, false
		}
	}
	return found, true
}

// longest returns the length of the longest prefix that in shares with one of the sorted texts, and whether it is that whole text. As no
// text is a prefix of another, that one is next to the position of in among them.
func longest(group []string, in []byte, budget *int) (common int, whole bool) {
	at, _ := slices.BinarySearchFunc(group, in, func(text string, in []byte) int {
		n := commonPrefix(text, in, budget)
		switch {
		case n == len(text) && n == len(in):
			return 0
		case n == len(text):
			return -1
		case n == len(in):
			return 1
		}
		return int(text[n]) - int(in[n])
	})
	for _, i := range []int{at - 1, at} {
		if i < 0 || i >= len(group) {
			continue
		}
		n := commonPrefix(group[i], in, budget)
		if n == len(group[i]) {
			return n, true
		}
		common = max(common, n)
	}
	return common, false
}

func commonPrefix(text string, in []byte, budget *int) int {
	n := 0
	for n < len(text) && n < len(in) && text[n] == in[n] {
		n++
	}
	*budget -= n
	return n
}
