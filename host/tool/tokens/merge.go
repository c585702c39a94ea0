package tokens

import "container/heap"

// pair is two adjacent parts of a piece that form a token together.
type pair struct {
	rank        uint32
	left, right int // starts of the two parts
	end         int // end of the right one
}

// pairs is a heap by rank, lowest first, and leftmost first among equals.
type pairs []pair

func (p pairs) Len() int { return len(p) }
func (p pairs) Less(i, j int) bool {
	return p[i].rank < p[j].rank || p[i].rank == p[j].rank && p[i].left < p[j].left
}
func (p pairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *pairs) Push(x any)   { *p = append(*p, x.(pair)) }
func (p *pairs) Pop() any {
	old := *p
	last := old[len(old)-1]
	*p = old[:len(old)-1]
	return last
}

// merge splits a piece into tokens: it starts with bytes and repeatedly joins the adjacent pair of the lowest rank.
// It takes n·log n steps for n bytes.
func (t *Tokenizer) merge(piece string) []string {
	// ends[i] is the end of the part that starts at i, 0: none does; before[i] is the start of the previous part.
	ends, before := make([]int, len(piece)+1), make([]int, len(piece)+1)
	queue := &pairs{}
	consider := func(left int) {
		right := ends[left]
		if right >= len(piece) {
			return
		}
		if rank, ok := t.rank(piece[left:ends[right]]); ok {
			heap.Push(queue, pair{rank, left, right, ends[right]})
		}
	}
	for i := range len(piece) {
		ends[i], before[i+1] = i+1, i
	}
	for i := range len(piece) - 1 {
		consider(i)
	}
	for queue.Len() > 0 {
		p := heap.Pop(queue).(pair)
		if ends[p.left] != p.right || ends[p.right] != p.end {
			continue // one of the two was merged with another part meanwhile
		}
		ends[p.left], ends[p.right] = p.end, 0
		before[p.end] = p.left
		consider(p.left)
		if p.left > 0 {
			consider(before[p.left])
		}
	}
	var list []string
	for i := 0; i < len(piece); i = ends[i] {
		list = append(list, piece[i:ends[i]])
	}
	return list
}
