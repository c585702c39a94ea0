package sandbox

import "sync"

// pool holds idle instances. It is bounded, as each holds memory, and evicts the least recently used first.
type pool struct {
	mu    sync.Mutex
	first *instance // least recently used
	last  *instance
	bytes uint64 // of memory of all instances
	count map[*Module]int
}

// Bounds of the pool.
const (
	maxWarm      = 8         // instances, over all modules; the memory of others is returned to the system until they are called
	maxIdle      = 4         // instances of one module
	maxIdleBytes = 512 << 20 // of memory, over all modules
)

// take removes and returns the most recently used instance of a module, or nil if there is none.
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
	i.cold = false
	return i
}

// put adds an instance and returns those it evicts, which the caller must close.
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
	p.releaseMemory()
	return gone
}

// releaseMemory returns memory of the instance that is no longer among the most recently used ones. It takes some 50 µs.
func (p *pool) releaseMemory() {
	i := p.last
	for n := 0; i != nil && n < maxWarm; n++ {
		i = i.before
	}
	if i != nil && !i.cold {
		i.cold = true
		i.memory.releaseMemory()
	}
}

// removeFirst removes the least recently used instance of a module.
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
