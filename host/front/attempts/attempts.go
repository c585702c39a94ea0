// Package attempts counts failed attempts to prove who one is, by address.
package attempts

import (
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	most          = 20 // failures of an address within a period
	period        = time.Minute
	mostAddresses = 1000
)

// Failures counts the failures of a minute by address. Secrets are too long to be guessed: what it bounds is the work and the noise
// of who tries. Who presents a valid secret is let in all the same, or others on this machine could keep the operator out.
type Failures struct {
	mu    sync.Mutex
	count map[string]int
}

// New returns counts without failures.
func New() *Failures { return &Failures{count: map[string]int{}} }

// Add counts a failure, and reports whether there were too many.
func (f *Failures) Add(r *http.Request) (tooMany bool) {
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.count[from]; !known {
		if len(f.count) >= mostAddresses {
			return true
		}
		time.AfterFunc(period, func() { f.forget(from) })
	}
	f.count[from]++
	return f.count[from] > most
}

func (f *Failures) forget(from string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.count, from)
}
