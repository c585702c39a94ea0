package compare

import "math"

// Trees are decision trees whose values are added up: boosted, as package main of guests/build/pairs learns them.
type Trees []Tree

// Tree is a tree whose nodes are in an order in which children follow their parents; the first one is the root.
type Tree []Node

// Node asks whether a sign is less than a limit, and goes on with the node Less, or with the one behind that. In a leaf Less is 0. Value is what
// pairs that come here are worth, in thousandths.
type Node struct {
	Sign  uint8
	Less  uint8
	Limit float32
	Value int16
}

// nodeSize is a node's bytes: the sign, the child, the limit in thousandths, 2 bytes, and the value, 2 bytes.
const nodeSize = 6

// limitUnit is how exact limits are.
const limitUnit = 1000

// WriteTrees writes trees as ReadTrees reads them: the count, 2 bytes; of each tree its nodes' count, a byte, and its nodes.
func WriteTrees(trees Trees) []byte {
	out := []byte{byte(len(trees)), byte(len(trees) >> 8)}
	for _, t := range trees {
		out = append(out, byte(len(t)))
		for _, n := range t {
			limit := int16(math.Round(float64(n.Limit) * limitUnit))
			out = append(out, n.Sign, n.Less, byte(limit), byte(uint16(limit)>>8), byte(n.Value), byte(uint16(n.Value)>>8))
		}
	}
	return out
}

// readTrees reads trees, and returns what follows them. The data is the program's own.
func readTrees(data string) (trees Trees, rest string) {
	if len(data) < 2 {
		return nil, "" // before they were learned for the first time
	}
	trees = make(Trees, int(data[0])|int(data[1])<<8)
	data = data[2:]
	for i := range trees {
		t := make(Tree, data[0])
		data = data[1:]
		for j := range t {
			t[j] = Node{
				Sign: data[0], Less: data[1], Limit: float32(int16(uint16(data[2])|uint16(data[3])<<8)) / limitUnit, Value: int16(uint16(data[4]) | uint16(data[5])<<8),
			}
			data = data[nodeSize:]
		}
		trees[i] = t
	}
	return trees, data
}

// Score is what the trees say of signs, in thousandths: the more, the surer. by, if it is not nil, gets what each sign adds.
func (trees Trees) Score(s *Signs, by *[signs]int) (score int) {
	for _, t := range trees {
		at, value := 0, int(t[0].Value)
		score += value
		for t[at].Less > 0 {
			sign := t[at].Sign
			next := int(t[at].Less)
			if s[sign] >= t[at].Limit {
				next++
			}
			step := int(t[next].Value) - value
			if by != nil {
				by[sign] += step
			}
			score, value, at = score+step, int(t[next].Value), next
		}
	}
	return score
}

// forest is trees in the form in which they are asked fastest.
type forest struct {
	trees Trees
	nodes []branch
	roots []uint16
	most  []int // of each tree: what it and those behind it add at most
}

// branch is a node of a forest: the number of the node below, and of the one behind that; 0: a leaf.
type branch struct {
	limit float32
	less  uint16
	value int16
	sign  uint8
}

func forestOf(trees Trees) *forest {
	f := &forest{trees: trees, most: make([]int, len(trees)+1)}
	for _, t := range trees {
		root := uint16(len(f.nodes))
		f.roots = append(f.roots, root)
		for _, n := range t {
			b := branch{n.Limit, 0, n.Value, n.Sign}
			if n.Less > 0 {
				b.less = root + uint16(n.Less)
			}
			f.nodes = append(f.nodes, b)
		}
	}
	for i := len(trees) - 1; i >= 0; i-- {
		best := math.MinInt16
		for _, n := range trees[i] {
			if n.Less == 0 {
				best = max(best, int(n.Value))
			}
		}
		f.most[i] = f.most[i+1] + best
	}
	return f
}

// score is what the trees say of signs, in thousandths, if that is least or more; else something less.
func (f *forest) score(s *Signs, least int) (score int) {
	for i, root := range f.roots {
		if score+f.most[i] < least {
			return score + f.most[i]
		}
		n := &f.nodes[root]
		for n.less > 0 {
			next := n.less
			if s[n.sign] >= n.limit {
				next++
			}
			n = &f.nodes[next]
		}
		score += int(n.value)
	}
	return score
}

// ReadTrees reads trees that WriteTrees wrote.
func ReadTrees(data string) Trees {
	trees, _ := readTrees(data)
	return trees
}
