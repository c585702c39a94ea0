package quota

import "sync"

// Locks are the locks of namespaces with a quota, held from the look at what was stored to the end of the commit: so a quota is
// exact, whoever else commits. Namespaces without a quota have none.
type Locks struct {
	mu    sync.Mutex
	locks map[string]*sync.Mutex
}

// Lock locks namespaces, which are sorted.
func (q *Locks) Lock(namespaces []string) (unlock func()) {
	var held []*sync.Mutex
	for _, name := range namespaces {
		q.mu.Lock()
		if q.locks == nil {
			q.locks = map[string]*sync.Mutex{}
		}
		l := q.locks[name]
		if l == nil {
			l = &sync.Mutex{}
			q.locks[name] = l
		}
		q.mu.Unlock()
		l.Lock()
		held = append(held, l)
	}
	return sync.OnceFunc(func() {
		for _, l := range held {
			l.Unlock()
		}
	})
}
