package searchindex

import "sync"

// progress tracks the version up to which the index is complete, which a saved index records.
type progress struct {
	mu      sync.Mutex
	newest  uint64         // known version
	pending map[int]uint64 // by pending commit: the newest version when it began
	last    int
	ended   chan struct{} // closed when the next commit ends; nil without waiters
}

// begin registers a commit. Its version will be greater than the present newest.
func (a *progress) begin() (token int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending == nil {
		a.pending = map[int]uint64{}
	}
	a.last++
	a.pending[a.last] = a.newest
	return a.last
}

// end unregisters a commit that is indexed, or was refused; version is 0 then.
func (a *progress) end(token int, version uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.pending, token)
	a.newest = max(a.newest, version)
	if a.ended != nil {
		close(a.ended)
		a.ended = nil
	}
}

// nextEnd returns a channel that is closed when the next commit ends.
func (a *progress) nextEnd() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended == nil {
		a.ended = make(chan struct{})
	}
	return a.ended
}

// since returns the newest version when a commit began.
func (a *progress) since(token int) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pending[token]
}

// upToHead returns a version up to which the index is complete. The newest version is given, which may be a commit without anything to
// index; 0: it is not known.
func (a *progress) upToHead(head uint64) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := max(a.newest, head)
	for _, before := range a.pending {
		all = min(all, before)
	}
	return all
}
