package sandbox

import "sync"

// pool keeps instances that wait for the next request of their module. It has limits, for each holds memory: those
// that waited longest go first.
type pool struct {
	mu    sync.Mutex
	first *instance // that waited longest
	last  *instance
	bytes uint64 // of memory that all of them have
	count map[*Module]int
}

// What may wait.
const (
	maxIdle      = 4         // instances of one module
	maxIdleBytes = 512 << 20 // of memory, all modules together
)

// take gives the instance of a module that came last; nil when there is none.
func (p *pool) take(m *Module) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count[m] == 0 {
		return nil
	}
	i := p.last
	for i.module != m {
		i = i.before
	}
	p.remove(i)
	return i
}

// put adds an instance, and gives those that have to go for it, which are the caller's now.
func (p *pool) put(i *instance) (gone []*instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i.before, i.after = p.last, nil
	if p.last != nil {
		p.last.after = i
	} else {
		p.first = i
	}
	p.last = i
	p.bytes += i.memory.size
	p.count[i.module]++
	if p.count[i.module] > maxIdle {
		gone = append(gone, p.removeFirst(i.module))
	}
	for p.bytes > maxIdleBytes && p.first != i {
		gone = append(gone, p.removeFirst(p.first.module))
	}
	return gone
}

// removeFirst removes the instance of a module that waited longest.
func (p *pool) removeFirst(m *Module) *instance {
	i := p.first
	for i.module != m {
		i = i.after
	}
	p.remove(i)
	return i
}

func (p *pool) remove(i *instance) {
	if i.before != nil {
		i.before.after = i.after
	} else {
		p.first = i.after
	}
	if i.after != nil {
		i.after.before = i.before
	} else {
		p.last = i.before
	}
	i.before, i.after = nil, nil
	p.bytes -= i.memory.size
	if p.count[i.module]--; p.count[i.module] == 0 {
		delete(p.count, i.module)
	}
}
