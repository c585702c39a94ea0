package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/alcove-memory/alcove/guests/families/consolidation/compare"
)

// options say how to learn.
type options struct {
	trees, depth, leaf int
	rate, sample       float64
	decay              float64 // added to the weight of a leaf: leaves of few pairs say little
}

// example is a pair to learn from, and whether it is one that should be found.
type example struct {
	signs  compare.Signs
	found  bool
	weight float64
	group  int // of pairs that share texts
	a, b   string
	kind   string
}

// learner boosts trees: each corrects what those before it say. The same examples give the same trees.
type learner struct {
	options
	list   []example
	score  []float64
	slope  []float64
	curve  []float64
	sorted [][]int32 // of each sign, the examples by its value
	random *rand.Rand
}

func learn(list []example, o options) compare.Trees {
	l := &learner{options: o, list: list, random: rand.New(rand.NewPCG(1, 2))}
	l.score, l.slope, l.curve = make([]float64, len(list)), make([]float64, len(list)), make([]float64, len(list))
	l.sorted = make([][]int32, len(compare.Signs{}))
	for sign := range l.sorted {
		order := make([]int32, len(list))
		for i := range order {
			order[i] = int32(i)
		}
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(list[a].signs[sign], list[b].signs[sign]) })
		l.sorted[sign] = order
	}
	var trees compare.Trees
	for range o.trees {
		tree := l.tree()
		for i := range list {
			l.score[i] += float64(compare.Trees{tree}.Score(&list[i].signs, nil)) / 1000
		}
		trees = append(trees, tree)
	}
	return trees
}

// tree learns a tree from a sample of the examples.
func (l *learner) tree() compare.Tree {
	in := make([]bool, len(l.list))
	for i, e := range l.list {
		p, want := 1/(1+math.Exp(-l.score[i])), 0.0
		if e.found {
			want = 1
		}
		l.slope[i], l.curve[i] = e.weight*(want-p), e.weight*p*(1-p)
		in[i] = l.random.Float64() < l.sample
	}
	tree := compare.Tree{{}}
	l.grow(&tree, 0, in, l.depth)
	return tree
}

// grow makes a node of the examples that come to it, and its children.
func (l *learner) grow(tree *compare.Tree, at int, in []bool, depth int) {
	slope, curve, n := 0.0, 0.0, 0
	for i := range in {
		if in[i] {
			slope, curve, n = slope+l.slope[i], curve+l.curve[i], n+1
		}
	}
	(*tree)[at].Value = int16(math.Round(1000 * l.rate * slope / (curve + l.decay)))
	if depth == 0 || n < 2*l.leaf {
		return
	}
	sign, limit, gain := l.split(in, slope, curve, n)
	if gain < 1e-3 {
		return
	}
	less := len(*tree)
	(*tree)[at].Sign, (*tree)[at].Less, (*tree)[at].Limit = uint8(sign), uint8(less), limit
	*tree = append(*tree, compare.Node{}, compare.Node{})
	sides := [2][]bool{make([]bool, len(in)), make([]bool, len(in))}
	for i := range in {
		if in[i] {
			side := 0
			if l.list[i].signs[sign] >= limit {
				side = 1
			}
			sides[side][i] = true
		}
	}
	l.grow(tree, less, sides[0], depth-1)
	l.grow(tree, less+1, sides[1], depth-1)
}

// split finds the sign and the limit that part examples best.
func (l *learner) split(in []bool, slope, curve float64, n int) (sign int, limit float32, gain float64) {
	whole := slope * slope / (curve + l.decay)
	for s, order := range l.sorted {
		left, leftCurve, count, last := 0.0, 0.0, 0, float32(math.Inf(-1))
		for _, i := range order {
			if !in[i] {
				continue
			}
			value := l.list[i].signs[s]
			if value > last && count >= l.leaf && n-count >= l.leaf {
				middle := rounded((value + last) / 2)
				g := left*left/(leftCurve+l.decay) + (slope-left)*(slope-left)/(curve-leftCurve+l.decay) - whole
				if g > gain+1e-9 && middle > last && middle <= value {
					sign, limit, gain = s, middle, g
				}
			}
			left, leftCurve, count, last = left+l.slope[i], leftCurve+l.curve[i], count+1, value
		}
	}
	return sign, limit, gain
}

// rounded is a limit as it is written.
func rounded(v float32) float32 { return float32(math.Round(float64(v)*1000)) / 1000 }
