package search

import (
	"math/bits"
	"sync"

	"github.com/alcove-memory/alcove/host/search/segment"
)

const (
	// A term of a sealed part has a set from so many documents on, as a share of all; with fewer of them its postings are read as fast.
	setShare = 32
	// leastSets is the number of documents from which on a part has sets.
	leastSets = 1 << 12
	// mostSets bounds the sets of a part: with their ranks they take about 18 bytes for each of its documents.
	mostSets = 128
	// rankEach is how many words of a set share a rank.
	rankEach = 8
)

// postingSet is the documents of a frequent term in a sealed part, made at the first search for it. Counts and tests need not read its
// postings then.
type postingSet struct {
	docs     bitset
	ranks    []uint32 // by rankEach words of docs: how many documents are before them
	postings segment.Postings
	shortest [manyTimes]byte // by frequency: the least length code of the documents with it, or with a greater one
	often    bool            // a document has it manyTimes or more
	groups   []group         // by rankEach words of docs
	used     uint64          // when it was last asked for
}

// manyTimes is the frequency from which on the bound of a weight is that of a term without end.
const manyTimes = 16

// group bounds what the documents of some words of a set score: they have the least length codes by frequency, from 3 on in shortest[2],
// and none has a greater frequency than most. Codes and frequencies beyond their range are the greatest.
type group struct {
	shortest [3]byte
	most     byte // 0: there are no documents
}

func (g *group) add(frequency uint32, length byte) {
	f := min(frequency, 3) - 1
	if frequency = min(frequency, 255); g.most == 0 {
		g.shortest = [3]byte{255, 255, 255}
	}
	g.shortest[f] = min(g.shortest[f], length)
	g.most = max(g.most, byte(frequency))
}

// postingSets are the sets of a part.
type postingSets struct {
	mu    sync.Mutex
	of    map[string]*postingSet
	clock uint64
}

// set returns the set of a clause; nil: it is no frequent term.
func (p *part) set(c *clause, documents int) *postingSet {
	if c.kind != exactly || p.sealed == nil || p.docs() < leastSets || documents < p.docs()/setShare {
		return nil
	}
	if s := p.sets.get(c.label); s != nil {
		return s
	}
	found, ok := p.sealed.Find(c.label)
	if !ok {
		return nil
	}
	s := newPostingSet(found, p.sealed.Lengths())
	p.sets.put(c.label, s)
	return s
}

// get returns the set of a term, or nil.
func (s *postingSets) get(term string) *postingSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.of[term]
	if found != nil {
		s.clock++
		found.used = s.clock
	}
	return found
}

// put keeps the set of a term, in place of the one that was asked for the longest ago if there are too many.
func (s *postingSets) put(term string, set *postingSet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]*postingSet{}
	}
	if len(s.of) >= mostSets {
		oldest, used := "", s.clock+1
		for term, set := range s.of {
			if set.used < used {
				oldest, used = term, set.used
			}
		}
		delete(s.of, oldest)
	}
	s.clock++
	set.used = s.clock
	s.of[term] = set
}

// clear forgets the sets of a segment that is no longer used.
func (s *postingSets) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of = nil
}

// newPostingSet reads postings.
func newPostingSet(postings segment.Postings, lengths []byte) *postingSet {
	s := &postingSet{docs: newBitset(len(lengths)), groups: make([]group, len(lengths)/groupSize+1), postings: postings}
	for i := range s.shortest {
		s.shortest[i] = 255
	}
	list := postings.Cursor()
	for docs, tfs := list.Next(); len(docs) > 0; docs, tfs = list.Next() {
		for i, doc := range docs {
			s.docs[doc/64] |= 1 << (doc % 64)
			s.groups[doc/groupSize].add(tfs[i], lengths[doc])
			f := min(tfs[i], manyTimes-1)
			s.shortest[f] = min(s.shortest[f], lengths[doc])
			s.often = s.often || tfs[i] >= manyTimes
		}
	}
	for f := manyTimes - 2; f >= 0; f-- {
		s.shortest[f] = min(s.shortest[f], s.shortest[f+1])
	}
	before := 0
	for i, word := range s.docs {
		if i%rankEach == 0 {
			s.ranks = append(s.ranks, uint32(before))
		}
		before += bits.OnesCount64(word)
	}
	return s
}

// most is a weight that no document of the set exceeds.
func (s *postingSet) most(n *norm) (most float64) {
	if s.often {
		return n.K1 + 1
	}
	for f, length := range s.shortest {
		most = max(most, n.weight(uint32(f), length))
	}
	return most
}

// rank is how many documents of the set are before those of a word.
func (s *postingSet) rank(word int) int {
	n := int(s.ranks[word/rankEach])
	for i := word &^ (rankEach - 1); i < word; i++ {
		n += bits.OnesCount64(s.docs[i])
	}
	return n
}

// frequency is how often a document has the term; 0: it is not in the set.
func (s *postingSet) frequency(doc uint32) uint32 {
	word := int(doc / 64)
	if s.docs[word]&(1<<(doc%64)) == 0 {
		return 0
	}
	return s.postings.Frequency(s.rank(word) + bits.OnesCount64(s.docs[word]&(1<<(doc%64)-1)))
}

// shared counts the numbers that are in both sets.
func (b bitset) shared(other bitset) (n int) {
	size := min(len(b), len(other))
	b, other = b[:size], other[:size]
	for i, word := range b {
		n += bits.OnesCount64(word & other[i])
	}
	return n
}
