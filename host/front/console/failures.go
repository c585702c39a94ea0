package console

import (
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	mostFailures  = 20 // failed logins from an address
	failuresCount = time.Minute
	mostAddresses = 1000
)

// failures counts the failed logins of a minute by address. Secrets are too long to be guessed: what it bounds is the work and the noise
// of who tries. Who presents a valid secret is let in all the same, or others on this machine could keep the operator out.
type failures struct {
	mu    sync.Mutex
	count map[string]int
}

func newFailures() *failures { return &failures{count: map[string]int{}} }

// add counts a failed login, and reports whether there were too many.
func (f *failures) add(r *http.Request) (tooMany bool) {
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.count[from]; !known {
		if len(f.count) >= mostAddresses {
			return true
		}
		time.AfterFunc(failuresCount, func() { f.forget(from) })
	}
	f.count[from]++
	return f.count[from] > mostFailures
}

func (f *failures) forget(from string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.count, from)
}
