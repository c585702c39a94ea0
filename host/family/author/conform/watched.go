package conform

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// mostKept are kept of the requests of a kind.
const mostKept = 8

// recorder keeps requests and failures of a family's guests. There may be several: an installation compiles one, and closes it.
type recorder struct {
	mu       sync.Mutex
	open     []catalogue.Guest // the last was opened or called last: a rank hook may be asked before anything called the family
	requests map[abi.Kind][][]byte
	failed   []*sandbox.Result // since taken was called
}

// recordedGuest is a guest whose requests and failures are kept.
type recordedGuest struct {
	catalogue.Guest
	by *recorder
}

// watch has the recorder keep what becomes of a guest's requests.
func (w *recorder) watch(g catalogue.Guest) catalogue.Guest {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, g)
	return recordedGuest{g, w}
}

// Close implements family.Guest.
func (w recordedGuest) Close() error {
	w.by.mu.Lock()
	w.by.open = without(w.by.open, w.Guest)
	w.by.mu.Unlock()
	return w.Guest.Close()
}

func without(list []catalogue.Guest, g catalogue.Guest) []catalogue.Guest {
	return slices.DeleteFunc(list, func(one catalogue.Guest) bool { return one == g })
}

// Call implements family.Guest.
func (w recordedGuest) Call(ctx context.Context, r sandbox.Request) (*sandbox.Result, error) {
	result, err := w.Guest.Call(ctx, r)
	w.by.ended(w.Guest, r, result, err)
	return result, err
}

func (w *recorder) ended(g catalogue.Guest, r sandbox.Request, result *sandbox.Result, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Contains(w.open, g) { // else it was closed meanwhile
		w.open = append(without(w.open, g), g)
	}
	w.add(r.Kind, r.Payload)
	if err == nil && result.Class != abi.ClassOK {
		w.failed = append(w.failed, result)
	}
}

// keep keeps a request that the test itself makes.
func (w *recorder) keep(kind abi.Kind, payload []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(kind, payload)
}

func (w *recorder) add(kind abi.Kind, payload []byte) {
	if w.requests == nil {
		w.requests = map[abi.Kind][][]byte{}
	}
	if kept := w.requests[kind]; len(kept) < mostKept {
		w.requests[kind] = append(kept, bytes.Clone(payload))
	}
}

// ask sends a request that is not kept.
func (w *recorder) ask(ctx context.Context, r sandbox.Request) (*sandbox.Result, error) {
	w.mu.Lock()
	open := slices.Clone(w.open)
	w.mu.Unlock()
	if len(open) == 0 {
		return nil, sandbox.ErrClosed
	}
	return open[len(open)-1].Call(ctx, r)
}

// kinds are those of the requests that came.
func (w *recorder) kinds() []abi.Kind {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.requests))
}

func (w *recorder) kept(kind abi.Kind) [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.requests[kind])
}

// taken are the failures since it was called last.
func (w *recorder) taken() []*sandbox.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	failed := w.failed
	w.failed = nil
	return failed
}

// fault says what is wrong with the outcome of a request; empty: the guest may end so.
func fault(r *sandbox.Result) string {
	switch {
	case r.Class == abi.ClassOK, r.Class == abi.ClassError && r.Error.Code != abi.CodeInternal, r.Class == abi.ClassCancelled:
		return ""
	case r.Class == abi.ClassRequest: // the host refused to send so much
		return ""
	}
	return string(r.Class) + ": " + r.Error.Error()
}
