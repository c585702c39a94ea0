package memory

import "github.com/alcove-memory/alcove/host/search"

// supersededDepth is how many of the best hits are ordered so that those that are superseded follow their successors.
func (s *Space) supersededDepth(q Search) int {
	if q.collection() != memories || !s.index.Supersedes() {
		return 0
	}
	return mostPlaced
}

// demote moves each hit that is superseded right behind its successor, where that is a hit, too. Scores stay as they are, and so does the
// order of all others.
func demote(hits []search.Hit) {
	places := map[Ref]int{}
	for i, h := range hits {
		places[Ref{Namespace: h.Namespace, Key: h.Key}] = i
	}
	behind, waits := map[int][]int{}, make([]bool, len(hits))
	for i, h := range hits {
		if at, found := places[Ref{Namespace: h.Namespace, Key: h.SupersededBy}]; h.SupersededBy != "" && found && at > i {
			behind[at], waits[i] = append(behind[at], i), true
		}
	}
	if len(behind) == 0 {
		return
	}
	order := make([]search.Hit, 0, len(hits))
	var take func(i int)
	take = func(i int) {
		order = append(order, hits[i])
		for _, old := range behind[i] {
			take(old)
		}
	}
	for i := range hits {
		if !waits[i] {
			take(i)
		}
	}
	copy(hits, order)
}
