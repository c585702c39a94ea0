// Package early runs a module in the interpreter until it is compiled.
package early

import (
	"context"
	"log/slog"
	"sync"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// Sandbox admits modules that are interpreted at first. It is safe for concurrent use.
type Sandbox struct {
	interpreting, compiling *sandbox.Sandbox
	log                     *slog.Logger
	open                    context.Context // until Close
	close                   context.CancelFunc
	compilations            sync.WaitGroup
}

// New creates a sandbox whose modules are compiled in another one, which must outlive it. Config is that of the interpreter.
func New(config sandbox.Config, compiling *sandbox.Sandbox) (*Sandbox, error) {
	config.Interpret = true
	interpreting, err := sandbox.New(config)
	if err != nil {
		return nil, err
	}
	s := &Sandbox{interpreting: interpreting, compiling: compiling, log: config.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.open, s.close = context.WithCancel(context.Background())
	return s, nil
}

// Close ends compilations and closes all modules.
func (s *Sandbox) Close() error {
	s.close()
	s.compilations.Wait()
	return s.interpreting.Close()
}

// Module is a module that is interpreted until it is compiled, or for good if it cannot be. It is safe for concurrent use.
type Module struct {
	limits    abi.Limits
	compiling context.Context // until the compilation ended
	stop      context.CancelFunc

	mu          sync.Mutex
	interpreted *sandbox.Module // nil: compiled
	compiled    *sandbox.Module // nil: not yet, or it cannot be
	closed      bool
}

// Admit validates and meters a module, and begins to compile it. Its errors are those of sandbox.Sandbox.Admit.
func (s *Sandbox) Admit(ctx context.Context, b sandbox.Binary, options sandbox.Options) (*Module, error) {
	interpreted, err := s.interpreting.AdmitBinary(ctx, b, options)
	if err != nil {
		return nil, err
	}
	compiling, ended := context.WithCancel(context.Background())
	open, stop := context.WithCancel(s.open)
	m := &Module{limits: interpreted.Limits(), compiling: compiling, stop: stop, interpreted: interpreted}
	s.compilations.Go(func() {
		defer ended()
		defer stop()
		compiled, err := s.compiling.Compile(open, interpreted)
		if err != nil && open.Err() == nil {
			s.log.Error("a family cannot be compiled, and is interpreted for good: an ordinary server refuses it", "family", interpreted.Family(), "error", err)
		}
		if err == nil {
			m.take(compiled)
		}
	})
	return m, nil
}

// take replaces the interpreted module by the compiled one.
func (m *Module) take(compiled *sandbox.Module) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		compiled.Close()
		return
	}
	m.interpreted.Close()
	m.interpreted, m.compiled = nil, compiled
}

// forms returns the interpreted and the compiled module, one of which is nil.
func (m *Module) forms() (interpreted, compiled *sandbox.Module) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.interpreted, m.compiled
}

// Close ends the compilation and frees the module. Running requests continue; later ones fail with sandbox.ErrClosed.
func (m *Module) Close() error {
	m.stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.compiled != nil {
		return m.compiled.Close()
	}
	return m.interpreted.Close()
}

// Call sends a request to the guest, as sandbox.Module.Call does.
func (m *Module) Call(ctx context.Context, r sandbox.Request) (*sandbox.Result, error) {
	interpreted, compiled := m.forms()
	if compiled != nil {
		return compiled.Call(ctx, r)
	}
	a := &attempt{module: m, request: r}
	return a.run(ctx, interpreted)
}
