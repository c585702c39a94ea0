package memory

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/alcove-memory/alcove/host/store"
)

// inFlight are the requests that are being carried out, by identity.
type inFlight struct {
	mu    sync.Mutex
	ended map[[sha256.Size]byte]chan struct{}
}

// acquire waits until no other attempt of a request is being carried out. The caller calls release, whose effects the next attempt then sees.
func (f *inFlight) acquire(ctx context.Context, req store.Request) (release func(), err error) {
	if req == (store.Request{}) {
		return func() {}, nil
	}
	id := req.Identity()
	for {
		f.mu.Lock()
		other := f.ended[id]
		if other == nil {
			break
		}
		f.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return func() {}, ctx.Err()
		}
	}
	defer f.mu.Unlock()
	if f.ended == nil {
		f.ended = map[[sha256.Size]byte]chan struct{}{}
	}
	ended := make(chan struct{})
	f.ended[id] = ended
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.ended, id)
		close(ended)
	}, nil
}
