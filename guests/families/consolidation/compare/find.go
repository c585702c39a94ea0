package compare

import (
	"cmp"
	"math"
	"slices"
)

// Pair are two facts by their numbers, the smaller first, and how they stand to each other.
type Pair struct {
	A, B int
	Verdict
}

// Bounds of a search for pairs.
const (
	joinFrom    = .4 // similarity of facts that are compared closely
	maxPosting  = 250
	maxPartners = 60 // candidates of one fact that are compared
)

// Pairs compares all facts that share enough, and gives the pairs that are at least related.
//
// It is exact down to a similarity of joinFrom, except where a word is in more than maxPosting facts: facts are looked up
// by their rarest words, of which two that are similar share one.
func (r *Reader) Pairs(facts []*Fact) []Pair {
	weights := r.weights(facts)
	postings := map[uint32][]int32{}
	var pairs []Pair
	seen := make([]int32, len(facts)) // the last fact that this one was a candidate of, from 1 on
	for i, f := range facts {
		if f == nil || len(f.ids) == 0 {
			continue
		}
		partners := 0
		for _, id := range prefix(f, weights) {
			for _, j := range postings[id] {
				if seen[j] == int32(i)+1 || partners >= maxPartners {
					continue
				}
				seen[j] = int32(i) + 1
				if o := overlapOf(f, facts[j], weights); o.similarity() >= joinFrom {
					partners++
					if v := r.judge(facts[j], f, o, weights); v.Relation != Different {
						pairs = append(pairs, Pair{int(j), i, v})
					}
				}
			}
			if len(postings[id]) < maxPosting {
				postings[id] = append(postings[id], int32(i))
			}
		}
	}
	return pairs
}

// weights are how much each word counts: the rarer the more.
func (r *Reader) weights(facts []*Fact) []float32 {
	counts := make([]int, len(r.stems))
	for _, f := range facts {
		if f == nil {
			continue
		}
		for _, id := range f.ids {
			counts[id]++
		}
	}
	weights := make([]float32, len(counts))
	for id, n := range counts {
		if n > 0 {
			weights[id] = float32(1 + math.Log(float64(1+len(facts))/float64(n))/2)
		}
	}
	return weights
}

// prefix are the heaviest words of a fact: so many that what is left is too little for a pair that shares none of them.
func prefix(f *Fact, weights []float32) []uint32 {
	ids := slices.Clone(f.ids)
	slices.SortFunc(ids, func(a, b uint32) int { return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b)) })
	var total float32
	for _, id := range ids {
		total += weights[id]
	}
	rest := total
	for i, id := range ids {
		if rest < joinFrom*total {
			return ids[:i]
		}
		rest -= weights[id]
	}
	return ids
}

// overlap is how much two facts have in common: the weight of the words that both have, and of all.
type overlap struct{ both, all float32 }

// similarity is the weighted Jaccard similarity.
func (o overlap) similarity() float64 {
	if o.all == 0 {
		return 0
	}
	return float64(o.both / o.all)
}

// slip makes one of two words that differ by a slip of a key.
func (o *overlap) slip(a, b float32) {
	o.both += min(a, b)
	o.all -= max(a, b)
}

func overlapOf(a, b *Fact, weights []float32) (o overlap) {
	i, j := 0, 0
	for i < len(a.ids) && j < len(b.ids) {
		x, y := a.ids[i], b.ids[j]
		switch {
		case x == y:
			o.both += weights[x]
			o.all += weights[x]
			i++
			j++
		case x < y:
			o.all += weights[x]
			i++
		default:
			o.all += weights[y]
			j++
		}
	}
	for ; i < len(a.ids); i++ {
		o.all += weights[a.ids[i]]
	}
	for ; j < len(b.ids); j++ {
		o.all += weights[b.ids[j]]
	}
	return o
}

func sortedOnce(ids []uint32) []uint32 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Groups joins pairs that meet a condition to groups, each sorted, in the order of their first members. A group has at
// most most members; what would make it larger is left out.
func Groups(n int, pairs []Pair, most int, joins func(Pair) bool) [][]int {
	parent, size := make([]int, n), make([]int, n)
	for i := range parent {
		parent[i], size[i] = i, 1
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, p := range pairs {
		if a, b := root(p.A), root(p.B); a != b && joins(p) && size[a]+size[b] <= most {
			parent[max(a, b)] = min(a, b)
			size[min(a, b)] += size[max(a, b)]
		}
	}
	members := map[int][]int{}
	for i := range n {
		members[root(i)] = append(members[root(i)], i)
	}
	var groups [][]int
	for i := range n {
		if g := members[i]; len(g) > 1 {
			groups = append(groups, g)
		}
	}
	return groups
}

// Shared are the words that most facts of a group have.
func (r *Reader) Shared(facts []*Fact, group []int, most int) []string {
	counts := map[uint32]int{}
	for _, i := range group {
		for _, id := range facts[i].ids {
			counts[id]++
		}
	}
	var ids []uint32
	for id, n := range counts {
		if 2*n > len(group) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(len(r.stems[b]), len(r.stems[a])), cmp.Compare(r.stems[a], r.stems[b]))
	})
	shared := []string{}
	for _, id := range ids[:min(len(ids), most)] {
		shared = append(shared, r.first[id])
	}
	return shared
}

// Compare compares two texts by themselves: all their words count alike.
func (c *Comparer) Compare(a, b string) Verdict {
	r := c.NewReader()
	first, second := r.Read(a), r.Read(b)
	weights := make([]float32, len(r.stems))
	for i := range weights {
		weights[i] = 1
	}
	o := overlapOf(first, second, weights)
	if o.similarity() < joinFrom {
		return Verdict{Similarity: o.similarity()}
	}
	return r.judge(first, second, o, weights)
}
