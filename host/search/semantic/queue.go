package semantic

import (
	"slices"
	"sync"
)

// queue is a set of waiting documents, by number. The newest is served first: it is the most likely to be searched for.
type queue struct {
	mu   sync.Mutex
	list []uint32
	in   []uint64 // a bit for each number in the list
	out  int      // popped, and neither done nor back

	below uint32 // of the numbers below, those without a vector wait
}

func (q *queue) push(numbers ...uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, n := range numbers {
		if missing := int(n/64) + 1 - len(q.in); missing > 0 {
			q.in = append(q.in, make([]uint64, missing)...)
		}
		if q.in[n/64]>>(n%64)&1 == 0 {
			q.in[n/64] |= 1 << (n % 64)
			q.list = append(q.list, n)
		}
	}
}

// pop removes up to most numbers. They count as waiting until setOut.
func (q *queue) pop(most int) []uint32 {
	q.mu.Lock()
	defer q.mu.Unlock()
	from := max(0, len(q.list)-most)
	taken := slices.Clone(q.list[from:])
	slices.Reverse(taken)
	for _, n := range taken {
		q.in[n/64] &^= 1 << (n % 64)
	}
	if q.list = q.list[:from]; from == 0 {
		q.list, q.in = nil, nil
	}
	q.out = len(taken)
	return taken
}

// setBelow has the numbers below a bound wait that have no vector.
func (q *queue) setBelow(bound uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.below = bound
}

// popBelow removes up to most numbers of those that wait without being listed, the greatest first: without finds them.
func (q *queue) popBelow(most int, without func(bound uint32, most int) ([]uint32, uint32)) (taken []uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken, q.below = without(q.below, most)
	q.out = len(taken)
	return taken
}

// setOut sets how many popped numbers still wait.
func (q *queue) setOut(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.out = n
}

// len returns the number of listed documents, popped ones included, and how many numbers wait at most besides.
func (q *queue) len() (listed, unlisted int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list) + q.out, int(q.below)
}

func (q *queue) isEmpty() bool {
	listed, unlisted := q.len()
	return listed+unlisted == 0
}

// all returns the listed numbers that were not popped, and the bound of the others.
func (q *queue) all() (listed []uint32, below uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.list), q.below
}
