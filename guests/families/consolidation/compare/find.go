package compare

import (
	"cmp"
	"math"
	"math/bits"
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
	looseFrom   = .2 // the same among few facts
	fewFacts    = 500
	maxPosting  = 250
	maxPartners = 60 // candidates of one fact that are compared
)

// Candidates finds all pairs of facts that share enough to be related, and does not judge them.
//
// It is exact down to a similarity of joinFrom, of looseFrom among few facts, except where a word is in more than maxPosting facts: facts are looked up
// by their rarest words, of which two that are similar share one.
func (r *Reader) Candidates(facts []*Fact) []Pair {
	weights := r.weights(facts)
	j := joiner{least: joinFrom, weights: weights, outlines: make([]outline, len(facts)), postings: make([][]posting, len(weights)), shared: make([]float32, len(facts)), seen: make([]int32, len(facts))}
	if len(facts) <= fewFacts {
		j.least = looseFrom
	}
	var pairs []Pair
	for i, f := range facts {
		if f == nil || len(f.ids) == 0 {
			continue
		}
		partners := 0
		for _, other := range j.candidates(i, f) {
			if !j.mayOverlap(&j.outlines[i], &j.outlines[other]) {
				continue
			}
			if o, ok := j.overlap(f, facts[other], j.outlines[i].total, j.outlines[other].total); ok {
				pairs = append(pairs, Pair{int(other), i, Verdict{Relation: Related, Similarity: o.similarity()}})
				if partners++; partners == maxPartners {
					break
				}
			}
		}
	}
	r.joined = weights
	return pairs
}

// Among are those of some pairs that share enough to be related. It does not judge them. A pair of which a fact is nil is none.
func (r *Reader) Among(facts []*Fact, pairs []Pair) []Pair {
	r.joined = r.weights(facts)
	var found []Pair
	for _, p := range pairs {
		if facts[p.A] == nil || facts[p.B] == nil {
			continue
		}
		if p.Similarity = overlapOf(facts[p.A], facts[p.B], r.joined).similarity(); p.Similarity >= joinFrom {
			found = append(found, p)
		}
	}
	return found
}

// joiner finds facts that may share enough with one that is added.
type joiner struct {
	least    float32 // similarity of those that are found
	weights  []float32
	outlines []outline   // by fact
	postings [][]posting // by word
	shared   []float32   // of each fact: the weight of the words that it shares with the one that is added
	seen     []int32     // the last fact that this one was looked at for, from 1 on
	found    []int32
	heaviest []uint32
}

// outline is what is known of a fact at a glance: the weight of its words, a bit of each of them, and what the lightest ones weigh.
type outline struct {
	total  float32
	bits   uint64
	lights [9]float32
}

// mayOverlap says whether two facts may have enough in common: of each no more words are missing in the other than it can spare.
func (j *joiner) mayOverlap(a, b *outline) bool {
	least := j.least/(1+j.least)*(a.total+b.total) - 1e-3
	missing := min(bits.OnesCount64(a.bits&^b.bits), len(a.lights)-1)
	if a.total-a.lights[missing] < least {
		return false
	}
	missing = min(bits.OnesCount64(b.bits&^a.bits), len(b.lights)-1)
	return b.total-b.lights[missing] >= least
}

// posting is a fact with a word, and the weight of its words that are lighter.
type posting struct {
	fact int32
	rest float32
}

// candidates are the facts so far that may be similar, and adds one. They are valid until the next call.
func (j *joiner) candidates(i int, f *Fact) []int32 {
	prefix, total := j.prefix(f)
	j.outlines[i], j.found = j.outline(f, total), j.found[:0]
	rest := total
	for _, id := range prefix {
		w := j.weights[id]
		rest -= w
		for _, p := range j.postings[id] {
			if j.seen[p.fact] != int32(i)+1 {
				j.seen[p.fact], j.shared[p.fact] = int32(i)+1, 0
				j.found = append(j.found, p.fact)
			}
			j.shared[p.fact] += w
			if both := j.shared[p.fact] + min(rest, p.rest); both*(1+j.least) < j.least*(total+j.outlines[p.fact].total)-1e-3 {
				j.shared[p.fact] = -1e9 // what is left is too little, whatever it is
			}
		}
		if len(j.postings[id]) < maxPosting {
			j.postings[id] = append(j.postings[id], posting{int32(i), rest})
		}
	}
	kept := j.found[:0]
	for _, other := range j.found {
		if j.shared[other] > 0 {
			kept = append(kept, other)
		}
	}
	return kept
}

// overlap is what two facts have in common; false where that is too little.
func (j *joiner) overlap(a, b *Fact, totalA, totalB float32) (o overlap, ok bool) {
	least := j.least / (1 + j.least) * (totalA + totalB)
	spareA, spareB := totalA-least, totalB-least // what only one of them may have
	for x, y := 0, 0; x < len(a.ids) && y < len(b.ids); {
		switch p, q := a.ids[x], b.ids[y]; {
		case p == q:
			o.both += j.weights[p]
			x, y = x+1, y+1
		case p < q:
			if spareA -= j.weights[p]; spareA < -1e-3 {
				return o, false
			}
			x++
		default:
			if spareB -= j.weights[q]; spareB < -1e-3 {
				return o, false
			}
			y++
		}
	}
	o.all = totalA + totalB - o.both
	return o, o.similarity() >= float64(j.least)
}

// Reconsider judges a pair by its words and by what the reader has learnt of them.
func (r *Reader) Reconsider(facts []*Fact, p *Pair) {
	a, b := facts[p.A], facts[p.B]
	p.Verdict = r.judge(a, b, overlapOf(a, b, r.joined), r.joined)
}

// Bounds of pairs that are near by what their texts mean as a whole.
const (
	wholeFrom     = .6
	wholePartners = 3
)

// NearPairs are pairs beside others that mean nearly the same as a whole, if there are few facts. Only their texts have to be learnt.
func (r *Reader) NearPairs(facts []*Fact, others []Pair) (pairs []Pair) {
	if len(facts) > fewFacts {
		return nil
	}
	known := map[[2]int]bool{}
	for _, p := range others {
		known[[2]int{p.A, p.B}] = true
	}
	for i, f := range facts {
		var near []Pair
		for j := range i {
			if n := r.texts(f, facts[j]); n >= wholeFrom && !known[[2]int{j, i}] {
				near = append(near, Pair{j, i, Verdict{Relation: Related, Similarity: n}})
			}
		}
		slices.SortStableFunc(near, func(a, b Pair) int { return cmp.Compare(b.Similarity, a.Similarity) })
		pairs = append(pairs, near[:min(len(near), wholePartners)]...)
	}
	for i := range pairs {
		p := &pairs[i]
		p.Similarity = overlapOf(facts[p.A], facts[p.B], r.joined).similarity()
	}
	return pairs
}

// Few says whether so many facts are few enough for NearPairs.
func Few(facts int) bool { return facts <= fewFacts }

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

// prefix are the heaviest words of a fact: so many that what is left is too little for a pair that shares none of them; and the weight of
// all words. They are valid until the next call.
func (j *joiner) prefix(f *Fact) (ids []uint32, total float32) {
	j.heaviest = append(j.heaviest[:0], f.ids...)
	slices.SortFunc(j.heaviest, func(a, b uint32) int { return cmp.Or(cmp.Compare(j.weights[b], j.weights[a]), cmp.Compare(a, b)) })
	for _, id := range j.heaviest {
		total += j.weights[id]
	}
	rest := total
	for i, id := range j.heaviest {
		if rest < j.least*total {
			return j.heaviest[:i], total
		}
		rest -= j.weights[id]
	}
	return j.heaviest, total
}

// outline makes the outline of the fact whose prefix was made last.
func (j *joiner) outline(f *Fact, total float32) outline {
	o := outline{total: total}
	for _, id := range f.ids {
		o.bits |= 1 << (id * 0x9e3779b1 >> 26)
	}
	n := len(j.heaviest)
	for i := 1; i < len(o.lights); i++ {
		o.lights[i] = o.lights[i-1]
		if i <= n {
			o.lights[i] += j.weights[j.heaviest[n-i]]
		}
	}
	return o
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
func (c *Comparer) Compare(a, b string) Verdict { return c.CompareBy(nil, a, b) }

// CompareBy is Compare with what words and both texts mean.
func (c *Comparer) CompareBy(means Vectors, a, b string) Verdict {
	r, first, second, weights := c.alone(means, a, b)
	o := overlapOf(first, second, weights)
	v := r.judge(first, second, o, weights)
	if v.Similarity < joinFrom && v.Relation == Related {
		v.Relation = Different
	}
	return v
}

// alone reads two texts by themselves, with equal weights for all words.
func (c *Comparer) alone(means Vectors, a, b string) (r *Reader, first, second *Fact, weights []float32) {
	r = c.NewReader()
	r.Learn(means)
	first, second = r.Read(a), r.Read(b)
	weights = make([]float32, len(r.stems))
	for i := range weights {
		weights[i] = 1
	}
	return r, first, second, weights
}
