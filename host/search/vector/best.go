package vector

import "math"

// candidate is a row with its approximate score.
type candidate struct {
	score  float32
	number uint32
	row    uint32
}

// better orders candidates by score, then by ascending number.
func (a candidate) better(b candidate) bool {
	return a.score > b.score || a.score == b.score && a.number < b.number
}

// best keeps the best k candidates in a heap with the worst at the root.
type best struct {
	list []candidate
	most int
}

func newBest(most int) *best { return &best{make([]candidate, 0, min(most, 4096)), most} }

// worst is the score below which candidates are rejected.
func (b *best) worst() float32 {
	if len(b.list) < b.most {
		return float32(math.Inf(-1))
	}
	return b.list[0].score
}

func (b *best) offer(c candidate) {
	if len(b.list) < b.most {
		b.list = append(b.list, c)
		b.up(len(b.list) - 1)
		return
	}
	if !c.better(b.list[0]) {
		return
	}
	b.list[0] = c
	b.down()
}

func (b *best) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !b.list[parent].better(b.list[i]) {
			return
		}
		b.list[i], b.list[parent] = b.list[parent], b.list[i]
		i = parent
	}
}

func (b *best) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(b.list) {
			return
		}
		if child+1 < len(b.list) && b.list[child].better(b.list[child+1]) {
			child++
		}
		if !b.list[i].better(b.list[child]) {
			return
		}
		b.list[i], b.list[child] = b.list[child], b.list[i]
		i = child
	}
}

func (b *best) rows() []uint32 {
	rows := make([]uint32, len(b.list))
	for i, c := range b.list {
		rows[i] = c.row
	}
	return rows
}
