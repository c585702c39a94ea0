package memory

import (
	"encoding/binary"
	"slices"
	"strings"
)

const (
	leastText = 8  // bytes of a text that identify it wherever they stand
	leastPart = 32 // bytes that a text begins with which tell of a copy of a part
)

// matcher finds many texts in others, in time that does not depend on how many they are. Each has leastText bytes at least.
type matcher struct {
	texts  []string
	groups map[uint64][]string // by their first eight bytes: sorted, and none begins with another
	filter []uint64            // bits of hashes of these first bytes, which nearly all places of a text miss
}

const filterBits = 18

func hashOf(first uint64) uint64 { return first * 0x9e3779b97f4a7c15 >> (64 - filterBits) }

func newMatcher(texts []string) *matcher {
	texts = slices.Clone(texts)
	slices.Sort(texts)
	m := &matcher{groups: map[uint64][]string{}, filter: make([]uint64, 1<<filterBits/64)}
	for _, text := range texts {
		if n := len(m.texts); n > 0 && strings.HasPrefix(text, m.texts[n-1]) {
			continue // what has it has the shorter one
		}
		m.texts = append(m.texts, text)
		first := binary.LittleEndian.Uint64([]byte(text[:8]))
		m.groups[first] = append(m.groups[first], text)
		m.filter[hashOf(first)/64] |= 1 << (hashOf(first) % 64)
	}
	return m
}

// match is what was found of texts.
type match struct {
	whole bool // one of them
	part  bool // only what one begins with
}

// find looks for the texts. budget is how many bytes it may compare beside reading each once, and is lowered; ok is false when that was
// not enough.
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

// longest is how many bytes of one of the sorted texts a text begins with at most, and whether these are all of it. As none begins with
// another, that one is next to where the text would stand among them.
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
