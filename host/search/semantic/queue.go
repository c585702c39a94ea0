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

// setOut sets how many popped numbers still wait.
func (q *queue) setOut(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.out = n
}

// len returns the number of waiting documents, popped ones included.
func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list) + q.out
}

// all returns the waiting numbers that were not popped.
func (q *queue) all() []uint32 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.list)
}
