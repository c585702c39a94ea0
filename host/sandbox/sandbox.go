// Package sandbox admits, compiles and runs untrusted modules.
//
// A module is decoded, validated and metered before wazero sees it, compiled in a process that can be killed, and run
// within limits of fuel, time, memory and output. An instance serves one request at a time and is reset to its initial
// state before the next one. Guests reach the host through one interface, passed with each request.
package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/alcove-memory/alcove/abi"
)

// Host executes a guest's operations. An *abi.Error is passed to the guest; any other error is logged, and the guest gets
// an internal error without its text.
type Host interface {
	Call(ctx context.Context, op abi.Op, request []byte) ([]byte, error)
}

// Config configures a sandbox. Dir is required; zero fields mean the default in the comment.
type Config struct {
	Dir      string           // the cache of compiled modules; created with mode 0700
	Log      *slog.Logger     // guests' output and host errors; default: discards
	Now      func() time.Time // the clock that guests see; default: the system's
	Rand     io.Reader        // the randomness that guests see; it may be read concurrently; default: crypto/rand
	Running  int              // guests that run at once; default: one processor fewer than there are, at least 1
	Compiler Compiler         // compiles unvetted modules
}

// Compiler starts the process that runs RunCompiler.
type Compiler struct {
	Path    string        // default: this program
	Args    []string      // default: compile-module; the directory and the bytes of memory follow
	Env     []string      // besides what every process needs
	Timeout time.Duration // default: compile_ms of the ABI
	Memory  int64         // bytes; default: compile_bytes of the ABI
}

// Sandbox runs guests. It is safe for concurrent use.
type Sandbox struct {
	log      *slog.Logger
	now      func() time.Time
	rand     io.Reader
	compiler Compiler
	cache    *cache
	epoch    time.Time // what the monotonic clock counts from
	slots    *slots
	pool     *pool
	pages    *pages // nil: memories are on the Go heap
	// compiling has room for one compiler at a time.
	compiling chan struct{}

	mu      sync.Mutex
	closing sync.WaitGroup            // modules whose requests still run
	classes map[uint32]wazero.Runtime // by pages of memory
	modules map[*Module]struct{}
	closed  bool
}

// ErrClosed means that the sandbox or the module is closed.
var ErrClosed = errors.New("the sandbox is closed")

// New creates a sandbox.
func New(config Config) (*Sandbox, error) {
	s := &Sandbox{
		log: config.Log, now: config.Now, rand: config.Rand, compiler: config.Compiler.withDefaults(),
		epoch: time.Now(), classes: map[uint32]wazero.Runtime{}, modules: map[*Module]struct{}{}, compiling: make(chan struct{}, 1),
		pool: &pool{count: map[*Module]int{}},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.rand == nil {
		s.rand = rand.Reader
	}
	running := config.Running
	if running <= 0 {
		running = max(1, runtime.GOMAXPROCS(0)-1)
	}
	s.slots = newSlots(running)
	cache, err := openCache(config.Dir)
	if err != nil {
		return nil, err
	}
	s.cache = cache
	s.pages = newPages()
	return s, nil
}

func (c Compiler) withDefaults() Compiler {
	limits := abi.DefaultModuleLimits()
	if c.Timeout <= 0 {
		c.Timeout = time.Duration(limits.CompileMS) * time.Millisecond
	}
	if c.Memory <= 0 {
		c.Memory = limits.CompileBytes
	}
	if len(c.Args) == 0 {
		c.Args = []string{"compile-module"}
	}
	return c
}

// program is the file of the compiler. On Linux it is what this process runs, whatever became of its file.
func (c Compiler) program() (string, error) {
	if c.Path != "" {
		return c.Path, nil
	}
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program, to compile a module with it: %w", err)
	}
	return path, nil
}

// since is the monotonic clock of the sandbox.
func (s *Sandbox) since() time.Duration { return time.Since(s.epoch) }

// forget is called when a module is closed.
func (s *Sandbox) forget(m *Module) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.modules, m)
}

// Close closes all modules and waits for running requests.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	s.closed = true
	modules := make([]*Module, 0, len(s.modules))
	for m := range s.modules {
		modules = append(modules, m)
	}
	s.mu.Unlock()
	for _, m := range modules {
		m.Close()
	}
	s.closing.Wait()
	var failed []error
	for _, r := range s.classes {
		failed = append(failed, r.Close(context.Background()))
	}
	failed = append(failed, s.cache.close())
	if s.pages != nil {
		failed = append(failed, s.pages.close())
	}
	return errors.Join(failed...)
}
