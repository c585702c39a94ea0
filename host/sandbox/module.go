package sandbox

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/abi"
)

// Module is an admitted module. It is safe for concurrent use.
type Module struct {
	sandbox  *Sandbox
	family   string
	digest   string
	manifest *abi.Manifest // nil: it has none
	source   []byte        // nil: it has none
	limits   abi.Limits
	code     *code
	rate     *rate
	log      *slog.Logger
	slots    chan struct{} // one per instance that may serve at once
	// admission is kept for Compile; nil: the module is compiled.
	admission *admission

	started atomic.Int64 // instances, in total

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // requests and their cleanup
}

// Bounds on concurrent instances of one module; further requests wait.
const (
	maxInstances = 64
	maxMemory    = 1 << 30 // bytes, over all instances
)

// instances returns how many instances of a module with these limits may serve at once.
func instances(l abi.Limits) int64 {
	return min(max(maxMemory/(l.MemoryPages*pageBytes), 2), maxInstances)
}

// Family returns the manifest's family name; without a manifest, "bare-" and a part of the digest.
func (m *Module) Family() string { return m.family }

// Digest returns the SHA-256 of the module's bytes, hexadecimal.
func (m *Module) Digest() string { return m.digest }

// Manifest returns the module's manifest; nil if it has none. The caller must not change it.
func (m *Module) Manifest() *abi.Manifest { return m.manifest }

// Limits returns the default limits of a request.
func (m *Module) Limits() abi.Limits { return m.limits }

// Request is a request to a guest.
type Request struct {
	Kind    abi.Kind
	Payload []byte     // neither changed nor retained
	Host    Host       // nil: every operation is denied
	Limits  abi.Limits // they lower the module's; zero fields: the module's
	// Lines is given each line that the guest prints and that is kept; nil: it is only logged.
	Lines func(stream, line string)
}

// Call sends a request to the guest and waits for its result. An error means that the host failed, or, as an *abi.Error
// with the code denied, that the guest cannot be called from here.
func (m *Module) Call(ctx context.Context, r Request) (*Result, error) {
	nested, err := m.descend(ctx)
	if err != nil {
		return nil, err
	}
	if !m.admitRequest() {
		return nil, ErrClosed
	}
	defer m.running.Done()
	limits := lower(m.limits, r.Limits)
	if int64(len(r.Payload)) > limits.RequestBytes {
		s := &stop{class: abi.ClassRequest, limit: abi.LimitRequestBytes, what: fmt.Sprintf("the request has %d bytes, and the guest may be sent %d", len(r.Payload), limits.RequestBytes)}
		return &Result{Class: s.class, Error: s.explain()}, nil
	}
	return m.call(nested, r, limits)
}

func (m *Module) call(nested context.Context, r Request, limits abi.Limits) (*Result, error) {
	limited, cancel := context.WithTimeout(nested, millis(limits.WallMS))
	defer cancel()
	began := m.sandbox.since()
	i, result, err := m.checkOut(limited, limits)
	if i == nil {
		return result, err
	}
	c := i.prepare(limited, limits)
	c.deadline, c.began = began+millis(limits.WallMS), began
	c.host, c.request, c.log.also = r.Host, r.Payload, r.Lines
	result, healthy := m.serve(i, c, r)
	if m.sandbox.inspect != nil {
		if memory, ok := i.guest.Memory().Read(0, i.guest.Memory().Size()); ok {
			m.sandbox.inspect(m.family, memory)
		}
	}
	if healthy && i.reset() {
		m.checkIn(i)
	} else {
		m.discard(i)
	}
	return result, nil
}

// serve runs a request on an instance, and reports whether the instance can serve again.
func (m *Module) serve(i *instance, c *call, r Request) (result *Result, healthy bool) {
	if c.begin() != nil {
		return c.result(c.stopped), true
	}
	status, err := i.serve(c, r.Kind, len(r.Payload))
	c.end()
	c.log.end()
	if err != nil {
		return c.result(err), false
	}
	result = c.answered(status, r)
	if result.Fuel > deepFuel {
		i.handle = i.guest.ExportedFunction(exportHandle)
	}
	return result, true
}

// deepFuel is the least fuel with which a request can grow the stack to a large size. The stack belongs to the exported
// function object and never shrinks.
const deepFuel = 200_000

// stackKey is the context key of the families that are being called, so that none is called again.
type stackKey struct{}

type familyStack struct {
	family string
	above  *familyStack
	depth  int64
}

// descend pushes the family onto the context's stack of families being called.
func (m *Module) descend(ctx context.Context) (context.Context, error) {
	top, _ := ctx.Value(stackKey{}).(*familyStack)
	depth := int64(1)
	if top != nil {
		depth = top.depth + 1
	}
	if depth > m.limits.Depth {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("%s cannot be called from here: guests call guests at most %d deep", m.family, m.limits.Depth), Details: map[string]any{"limit": abi.LimitDepth}}
	}
	for s := top; s != nil; s = s.above {
		if s.family == m.family {
			return nil, &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("%s cannot be called from here: it is being called already", m.family)}
		}
	}
	return context.WithValue(ctx, stackKey{}, &familyStack{family: m.family, above: top, depth: depth}), nil
}

func (m *Module) admitRequest() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.running.Add(1)
	return true
}

// checkOut takes an idle instance or starts one. If it returns none, the result or the error has the reason.
func (m *Module) checkOut(ctx context.Context, limits abi.Limits) (*instance, *Result, error) {
	select {
	case m.slots <- struct{}{}:
	default:
		select {
		case m.slots <- struct{}{}:
		case <-ctx.Done():
			c := &call{module: m, caller: ctx, limits: limits}
			return nil, c.result(c.stopReason()), nil
		}
	}
	if i := m.sandbox.pool.take(m); i != nil {
		return i, nil, nil
	}
	m.started.Add(1)
	i, result, err := m.start(ctx, limits)
	if i == nil {
		<-m.slots
	}
	return i, result, err
}

// checkIn returns an instance that can serve again to the pool.
func (m *Module) checkIn(i *instance) {
	for _, old := range m.sandbox.pool.put(i) {
		old.close()
	}
	<-m.slots
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed { // meanwhile
		m.closeIdle()
	}
}

// discard frees an instance and its slot.
func (m *Module) discard(i *instance) {
	if i.memory.size < largeMemory {
		i.close()
		<-m.slots
		return
	}
	m.running.Go(func() { // freeing so much takes milliseconds: do not block the caller
		i.close()
		<-m.slots
	})
}

func (m *Module) closeIdle() {
	for i := m.sandbox.pool.take(m); i != nil; i = m.sandbox.pool.take(m) {
		i.close()
	}
}

// largeMemory is the size from which memory is slow to free, in bytes.
const largeMemory = 8 << 20

// Close frees the module. Running requests continue; later ones fail with ErrClosed.
func (m *Module) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	m.closeIdle()
	m.sandbox.closing.Go(func() {
		m.running.Wait()
		m.sandbox.release(m.code)
	})
	m.sandbox.forget(m)
	return nil
}

// lines returns the log of a request.
func (m *Module) lines(limits abi.Limits) *lines {
	return &lines{log: m.log, limits: limits, rate: m.rate}
}

// result returns the result of a request that ended with an error.
func (c *call) result(err error) *Result {
	r := c.used()
	s := c.stopped
	if s == nil {
		s, r.Trace = c.trapped(err)
	}
	r.Class, r.Error = s.class, s.explain()
	if s.class == abi.ClassTrap || s.class == abi.ClassExit {
		c.explainPanic(r.Error)
	}
	return r
}

// explainPanic adds the text of a panic. A guest that cannot unwind writes an error body before it traps; others print the text.
func (c *call) explainPanic(e *abi.Error) {
	if said, err := abi.ParseError(c.output); err == nil {
		e.Message, e.Details["panic"] = e.Message+": "+said.Message, said.Message
		return
	}
	if said := c.log; said != nil && said.panic != "" {
		text := strings.ToValidUTF8(said.panic, "")
		if e.Details["panic"] = text; strings.Contains(text, "panic") { // otherwise it may be any line that was printed
			e.Message += ": " + text
		}
	}
}

// used returns a result with the resources that the request used.
func (c *call) used() *Result {
	r := &Result{Time: c.module.sandbox.since() - c.began, CPU: c.ran, HostCalls: c.calls, Fuel: c.fuel.handed, Interpreted: c.module.sandbox.interpret}
	if i := c.instance; i != nil {
		if i.fuel != nil {
			r.Fuel -= int64(i.fuel.Get())
		}
		if i.memory != nil {
			r.Memory = int64(i.memory.size)
		}
	}
	return r
}

// maxTrace bounds the stack trace kept of a trap, in bytes.
const maxTrace = 2 << 10

// trapped classifies wazero's error.
func (c *call) trapped(err error) (*stop, string) {
	what, trace, _ := strings.Cut(err.Error(), "\n")
	trace = strings.ToValidUTF8(trace[:min(len(trace), maxTrace)], "?")
	what, _ = strings.CutPrefix(what, "wasm error: ")
	switch {
	case strings.Contains(what, "stack overflow"):
		return &stop{class: abi.ClassStack, limit: abi.LimitCallDepth, what: "the guest's calls were nested too deeply"}, trace
	case strings.Contains(what, "(recovered by wazero)"): // not in trace, which has the guest's names
		c.module.sandbox.log.Error("the host failed while a guest ran", "family", c.module.family, "error", err)
		return &stop{class: abi.ClassTrap, what: "the host failed while the guest ran"}, ""
	case c.instance.wasRefused():
		return &stop{class: abi.ClassMemory, limit: abi.LimitMemoryPages, what: fmt.Sprintf("the guest trapped after it was refused more memory than %d pages, or a larger table: %s", c.limits.MemoryPages, what)}, trace
	}
	return &stop{class: abi.ClassTrap, what: "the guest trapped: " + what}, trace
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
