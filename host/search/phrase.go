package search

import "github.com/alcove-memory/alcove/host/search/segment"

// eachWithPhrase calls do for each document of a part that has terms following one another, in ascending order.
func (p *part) eachWithPhrase(terms []string, do func(doc uint32)) {
	var found []standing
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
		do(s.doc)
	}
}

// standing is where in a document the words so far began.
type standing struct {
	doc   uint32
	begin []uint32
}

func everywhere(list reader) (found []standing) {
	for docs, _ := list.Next(); len(docs) > 0; docs, _ = list.Next() {
		list.Positions(func(i int, positions []byte) {
			s := standing{doc: docs[i]}
			segment.EachPosition(positions, func(at uint32) { s.begin = append(s.begin, at) })
			found = append(found, s)
		})
	}
	return found
}

// followedBy leaves the places that have a term so many words further.
func followedBy(found []standing, list reader, distance uint32) (left []standing) {
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
				left = append(left, standing{docs[i], begin})
			}
		})
	}
	return left
}

// both are the places, in ascending order, for which positions have one so much further.
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
