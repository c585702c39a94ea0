package search

import "github.com/alcove-memory/alcove/host/search/segment"

// eachWithPhrase calls do, in ascending order, for each document of a part that contains the terms as a phrase, with the
// number of times.
func (p *part) eachWithPhrase(terms []string, do func(doc uint32, times int)) {
	var found []partialMatch
	for i, term := range terms {
		list, _ := p.find(term)
		if list == nil {
			return
		}
		if i == 0 {
			found = everywhere(list)
		} else {
			found = followedBy(found, list, uint32(i))
		}
		if len(found) == 0 {
			return
		}
	}
	for _, s := range found {
		do(s.doc, len(s.begin))
	}
}

// partialMatch is the positions in a document where the terms matched so far begin.
type partialMatch struct {
	doc   uint32
	begin []uint32
}

func everywhere(list reader) (found []partialMatch) {
	for docs, _ := list.Next(); len(docs) > 0; docs, _ = list.Next() {
		list.Positions(func(i int, positions []byte) {
			s := partialMatch{doc: docs[i]}
			segment.EachPosition(positions, func(at uint32) { s.begin = append(s.begin, at) })
			found = append(found, s)
		})
	}
	return found
}

// followedBy keeps the matches that have the list's term at a distance, in words, from their beginning.
func followedBy(found []partialMatch, list reader, distance uint32) (left []partialMatch) {
	next := 0
	for docs, _ := list.Next(); len(docs) > 0 && next < len(found); docs, _ = list.Next() {
		list.Positions(func(i int, positions []byte) {
			for next < len(found) && found[next].doc < docs[i] {
				next++
			}
			if next == len(found) || found[next].doc != docs[i] {
				return
			}
			if begin := both(found[next].begin, positions, distance); len(begin) > 0 {
				left = append(left, partialMatch{docs[i], begin})
			}
		})
	}
	return left
}

// both returns, in ascending order, the beginnings for which positions contains begin + distance.
func both(begin []uint32, positions []byte, distance uint32) (left []uint32) {
	i := 0
	segment.EachPosition(positions, func(at uint32) {
		for i < len(begin) && begin[i]+distance < at {
			i++
		}
		if i < len(begin) && begin[i]+distance == at {
			left = append(left, begin[i])
		}
	})
	return left
}
