package catalogue

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/hooks"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// Family is one version of a family. It is immutable, except for its loaded module.
type Family struct {
	*grants.Version
	Declared *config.Family // settings of the manifest
	Origin   modules.Origin
	body     string // as in Module
	native   *sandbox.Native
	fault    string // why it cannot be used; empty: usable
	Clashes  bool   // the fault is a name clash
	listing  sync.Once
	listed   []*Tool // of the manifest

	Loading   chan struct{} // has room for one load at a time
	again     chan struct{} // has room for one overtaken call at a time
	mu        sync.Mutex
	module    Guest // nil: not loaded
	admitted  Guest // that the next load takes; nil: it admits one
	used      time.Time
	running   int
	coming    atomic.Bool   // being loaded in the background
	Breaker   hooks.Breaker // of its hooks
	symbols   sync.Once
	functions map[uint32]string // names, by index; read once a trap has a trace
	retired   bool              // replaced by another version: it ends with its last call
	refused   error             // why a newer version of its file was rejected
}

// Usable returns why the family cannot be used; nil if it can.
func (x *Family) Usable() error {
	if x.fault != "" {
		return &memory.Error{Code: memory.Unavailable, Message: "family " + x.Name + " cannot be used: " + x.fault}
	}
	return nil
}

func (x *Family) giveAdmitted(m Guest) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.module != nil || x.admitted != nil || x.retired {
		return false
	}
	x.admitted = m
	return true
}

func (x *Family) takeAdmitted() Guest {
	x.mu.Lock()
	defer x.mu.Unlock()
	m := x.admitted
	x.admitted = nil
	return m
}

func (x *Family) isRetired() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.retired
}

// retire unloads the module after its last running call.
func (x *Family) retire() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.retired = true
	if x.admitted != nil {
		_ = x.admitted.Close()
		x.admitted = nil
	}
	if x.running == 0 && x.module != nil {
		_ = x.module.Close()
		x.module = nil
	}
}

// Unload closes its module, whatever runs.
func (x *Family) Unload() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var failed []error
	for _, m := range []*Guest{&x.module, &x.admitted} {
		if *m != nil {
			failed = append(failed, (*m).Close())
			*m = nil
		}
	}
	return errors.Join(failed...)
}

// NewFamily returns a version of a family that is not loaded.
func NewFamily(v *grants.Version, o modules.Origin) *Family {
	return &Family{Version: v, Declared: config.Declared(v.Manifest), Origin: o, Loading: make(chan struct{}, 1), again: make(chan struct{}, 1)}
}

// NameTrace puts the names of functions into a trace, where the module has a name section.
func (x *Family) NameTrace(trace string) string {
	if trace == "" {
		return ""
	}
	x.symbols.Do(func() {
		if module, err := x.Origin.Read(); err == nil {
			x.functions = sandbox.FunctionNames(module.Bytes())
		}
	})
	return sandbox.NameTrace(trace, x.functions)
}

// IsLoaded reports whether its module is loaded.
func (x *Family) IsLoaded() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.module != nil
}

// Alone waits until no other overtaken call of the family is made again, and keeps others from it until done is called; ok is false if ctx
// ended.
func (x *Family) Alone(ctx context.Context) (done func(), ok bool) {
	select {
	case x.again <- struct{}{}:
		return func() { <-x.again }, true
	case <-ctx.Done():
		return nil, false
	}
}

// Calls returns how many calls keep the module loaded.
func (x *Family) Calls() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.running
}

// Guest serves the requests to a family. It is a module in the sandbox, unless Options.Admit replaces it.
type Guest interface {
	Call(ctx context.Context, r sandbox.Request) (*sandbox.Result, error)
	Close() error
}

// Admit makes a guest from a module and its digest.
type Admit func(ctx context.Context, module []byte, digest string) (Guest, error)
