package search

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
)

// Bounds of a join.
const (
	mostPosted   = 500 // documents that a term finds
	mostPartners = 64  // of one document
)

// slack compensates for the rounding of weights.
const slack = 1e-3

// joiner finds documents that share enough terms. It looks a document up by its heaviest terms only: the rest weighs too little for a pair.
type joiner struct {
	least     float32
	documents [][]occurrence
	weights   []float32    // by term
	totals    []float32    // by document: what its terms weigh
	outlines  []outline    // by document
	postings  [][]heaviest // by term
	closest   []closest    // by document
	shared    []float32    // by document: what it shares with the one that is added, as far as is known
	seen      []uint32     // by document: the last one that it was looked at for, from 1
	found     []uint32
	terms     []uint32 // of the one that is added, the heaviest first
}

// heaviest is a document with a term among its heaviest, and the weight of its lighter terms.
type heaviest struct {
	document uint32
	rest     float32
}

// joiner returns a joiner of the texts for a least similarity.
func (g *texts) joiner(least float32) *joiner {
	n := len(g.terms)
	j := &joiner{least: least, documents: g.terms, weights: make([]float32, g.count), totals: make([]float32, n), outlines: make([]outline, n), postings: make([][]heaviest, g.count),
		closest: make([]closest, n), shared: make([]float32, n), seen: make([]uint32, n)}
	counts := make([]int, g.count)
	for _, terms := range g.terms {
		for _, o := range terms {
			counts[o.term]++
		}
	}
	for term, count := range counts {
		j.weights[term] = float32(1 + math.Log(float64(1+n)/float64(max(1, count)))/2)
	}
	return j
}

// documentsPerCheck is the number of documents between checks of the context.
const documentsPerCheck = 128

// join returns the pairs that a PairQuery with this Missing asks for.
func (j *joiner) join(ctx context.Context, missing int) ([]Pair, error) {
	var pairs []shares
	for n := range j.documents {
		if n%documentsPerCheck == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		pairs = append(pairs, j.partners(uint32(n), missing)...)
	}
	list := make([]Pair, 0, len(pairs))
	for _, p := range pairs {
		if p.lacks <= missing || j.isClearBest(p.Pair) {
			list = append(list, p.Pair)
		}
	}
	return list, nil
}

// closest is the similarities of a document to the most similar other one, and to the next.
type closest struct{ first, second float32 }

func (n *closest) add(similarity float32) {
	n.second = max(n.second, min(n.first, similarity))
	n.first = max(n.first, similarity)
}

// rival is the greatest similarity of a third document to one of a pair, as a share of the pair's similarity.
const rival = .8

// isClearBest reports whether of all documents so far no third one is nearly as similar to one of a pair.
func (j *joiner) isClearBest(p Pair) bool {
	a, b := j.closest[p.A], j.closest[p.B]
	return p.Similarity >= max(a.first, b.first) && max(a.second, b.second) <= rival*p.Similarity
}

// shares is a pair, and how many terms of one document the other lacks, the smaller of the two numbers.
type shares struct {
	Pair
	lacks int
}

// partners returns the earlier documents that form a pair with the next one.
func (j *joiner) partners(n uint32, missing int) (list []shares) {
	for _, other := range j.candidates(n) {
		if !j.maySuffice(other, n) || !j.maySuffice(n, other) {
			continue
		}
		if p, ok := j.compare(other, n); ok {
			j.closest[n].add(p.Similarity)
			j.closest[other].add(p.Similarity)
			list = append(list, p)
		}
	}
	list = slices.DeleteFunc(list, func(p shares) bool { return p.lacks > missing && !j.isClearBest(p.Pair) })
	if len(list) > mostPartners {
		slices.SortFunc(list, func(a, b shares) int {
			return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.A, b.A))
		})
		list = list[:mostPartners]
	}
	return list
}

// candidates adds a document, and returns the earlier documents that may be similar, valid until the next call.
func (j *joiner) candidates(n uint32) []uint32 {
	rest := j.weigh(n)
	total := rest
	j.found = j.found[:0]
	for _, term := range j.terms {
		if rest < j.least*total-slack {
			break
		}
		w := j.weights[term]
		rest -= w
		for _, p := range j.postings[term] {
			if j.seen[p.document] != n+1 {
				j.seen[p.document], j.shared[p.document] = n+1, 0
				j.found = append(j.found, p.document)
			}
			j.shared[p.document] += w
			if most := j.shared[p.document] + min(rest, p.rest); most*(1+j.least) < j.least*(total+j.totals[p.document])-slack {
				j.shared[p.document] = float32(math.Inf(-1))
			}
		}
		if len(j.postings[term]) < mostPosted {
			j.postings[term] = append(j.postings[term], heaviest{n, rest})
		}
	}
	return slices.DeleteFunc(j.found, func(other uint32) bool { return j.shared[other] < 0 })
}

// weigh orders the terms of a document by their weight, and returns what all of them weigh.
func (j *joiner) weigh(n uint32) (total float32) {
	j.terms = j.terms[:0]
	for _, o := range j.documents[n] {
		j.terms = append(j.terms, o.term)
		total += j.weights[o.term]
	}
	slices.SortFunc(j.terms, func(a, b uint32) int { return cmp.Or(cmp.Compare(j.weights[b], j.weights[a]), cmp.Compare(a, b)) })
	j.totals[n], j.outlines[n] = total, j.outline()
	return total
}

// outline is a summary of a document: a bit for each of its terms, and the total weight of its lightest ones.
type outline struct {
	bits   uint64
	lights [9]float32 // by their number
}

// outline makes the outline of the document that was weighed last.
func (j *joiner) outline() (o outline) {
	for i, term := range j.terms {
		o.bits |= 1 << (term * 0x9e3779b1 >> 26)
		if light := len(j.terms) - i; light < len(o.lights) {
			o.lights[light] = j.weights[term]
		}
	}
	for i := 1; i < len(o.lights); i++ {
		o.lights[i] += o.lights[i-1]
	}
	return o
}

// maySuffice reports whether a document may share enough with another, by their outlines: it lacks at least one of the other's terms for
// each bit, and these weigh no less than the lightest.
func (j *joiner) maySuffice(a, b uint32) bool {
	x, y := &j.outlines[a], &j.outlines[b]
	missing := min(bits.OnesCount64(x.bits&^y.bits), len(x.lights)-1)
	return j.totals[a]-x.lights[missing] >= j.least/(1+j.least)*(j.totals[a]+j.totals[b])-slack
}

// compare compares two documents, the earlier first; ok is false if they are not similar enough.
func (j *joiner) compare(a, b uint32) (p shares, ok bool) {
	x, y := j.documents[a], j.documents[b]
	least := j.least / (1 + j.least) * (j.totals[a] + j.totals[b])
	spareX, spareY := j.totals[a]-least, j.totals[b]-least // what only one of them may have
	both, common := float32(0), 0
	for i, k := 0, 0; i < len(x) && k < len(y); {
		switch s, t := x[i].term, y[k].term; {
		case s == t:
			both, common = both+j.weights[s], common+1
			i, k = i+1, k+1
		case s < t:
			if spareX -= j.weights[s]; spareX < -slack {
				return p, false
			}
			i++
		default:
			if spareY -= j.weights[t]; spareY < -slack {
				return p, false
			}
			k++
		}
	}
	similarity := both / (j.totals[a] + j.totals[b] - both)
	return shares{Pair{a, b, similarity}, min(len(x), len(y)) - common}, similarity >= j.least
}
