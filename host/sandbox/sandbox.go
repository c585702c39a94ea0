// Package sandbox admits, compiles and runs untrusted modules.
//
// A module is decoded, validated and metered before wazero sees it, compiled in a process that can be killed, and run
// within limits of fuel, time, memory and output. An instance serves one request at a time and is reset to its initial
// state before the next one. Guests reach the host through one interface, passed with each request.
package sandbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
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

// Config configures a sandbox. Zero fields mean the default in the comment.
type Config struct {
	Cache    Cache            // of compiled modules, for all processes of this user
	Scratch  []string         // candidate work directories without a cache; the first that others cannot change is used; default: the system's for temporary files
	Log      *slog.Logger     // guests' output and host errors; default: discards
	Now      func() time.Time // the clock that guests see; default: the system's
	Rand     io.Reader        // the randomness that guests see; it may be read concurrently; default: crypto/rand
	Running  int              // guests that run at once; default: one processor fewer than there are, at least 1
	Compiler Compiler         // compiles unvetted modules
	// Interpret runs modules in wazero's interpreter, with the same metering and limits. They are admitted in a tenth of the time and run
	// some 25 times as long. Nothing is compiled or cached, and admission happens in this process: for modules that their author tries.
	Interpret bool
	// Inspect is given the memory of a guest after each request, before it is reset; it must neither change nor keep it. Nil: nobody looks.
	Inspect func(family string, memory []byte)
}

// Cache configures the cache of compiled modules. A cache that is unwritable, or writable by others, is not used; this is
// logged.
type Cache struct {
	Dir   string // created with mode 0700; default: nothing is kept
	Key   string // key file that authenticates entries, outside Dir, created with mode 0600; default: Dir with .key appended
	Bytes int64  // limit of all entries; the least recently used are evicted; default: 512 MiB
}

// Compiler starts the process that runs RunCompiler.
type Compiler struct {
	Path    string        // default: this program
	Args    []string      // default: compile-module; the directory and the bytes of memory follow
	Env     []string      // in addition to what every process needs
	Timeout time.Duration // default: compile_ms of the ABI
	Memory  int64         // bytes; default: compile_bytes of the ABI
}

// Sandbox runs guests. It is safe for concurrent use.
type Sandbox struct {
	inspect   func(family string, memory []byte) // nil: nobody looks
	interpret bool
	log       *slog.Logger
	now       func() time.Time
	rand      io.Reader
	compiler  Compiler
	cache     *cache
	work      *workspace
	compiled  wazero.CompilationCache // finds native code in work
	epoch     time.Time               // zero of the monotonic clock
	processor func() processor        // of the calling thread
	slots     *slots
	pool      *pool
	pages     *pages // nil: memories are on the Go heap
	// compiling is a semaphore: one compiler at a time.
	compiling chan struct{}
	// loading is a semaphore: wazero loads one module from work at a time.
	loading chan struct{}

	mu      sync.Mutex
	closing sync.WaitGroup // modules whose requests still run
	runtime wazero.Runtime // nil before the first module; constant afterwards
	codes   map[[sha256.Size]byte]*code
	modules map[*Module]struct{}
	closed  bool
}

// ErrClosed means that the sandbox or the module is closed.
var ErrClosed = errors.New("the sandbox is closed")

// New creates a sandbox.
func New(config Config) (*Sandbox, error) {
	s := &Sandbox{
		inspect: config.Inspect, interpret: config.Interpret, log: config.Log, now: config.Now, rand: config.Rand, compiler: config.Compiler.withDefaults(),
		epoch: time.Now(), processor: processorNow, codes: map[[sha256.Size]byte]*code{}, modules: map[*Module]struct{}{}, compiling: make(chan struct{}, 1), loading: make(chan struct{}, 1),
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
	if err := s.openWork(config); err != nil {
		return nil, fmt.Errorf("open a sandbox: %w", err)
	}
	s.pages = newPages()
	return s, nil
}

// openWork opens the cache, or goes without, and creates the work directory of this process.
func (s *Sandbox) openWork(config Config) (err error) {
	s.cache = &cache{}
	if dir := config.Cache.Dir; dir != "" && !s.interpret {
		c, err := openCache(dir, cmp.Or(config.Cache.Key, dir+".key"), config.Cache.Bytes)
		if err != nil {
			s.log.Warn("going on without a cache of compiled modules: each start compiles them again", "cache", dir, "error", err)
		} else {
			s.cache = c
		}
	}
	if s.work, err = s.openWorkspace(config); err != nil {
		return errors.Join(err, s.cache.held.close())
	}
	s.compiled, err = wazero.NewCompilationCacheWithDir(filepath.Join(s.work.dir, dirEngine))
	if err == nil {
		err = s.work.named()
	}
	if err != nil {
		return errors.Join(err, s.work.close(), s.cache.held.close())
	}
	return nil
}

// openWorkspace creates the workspace in the cache or, without one, in a scratch directory.
func (s *Sandbox) openWorkspace(config Config) (*workspace, error) {
	switch {
	case s.cache.dir != "":
		w, err := newWorkspace(s.cache.path(dirWork, ""))
		if err == nil {
			w.shown = filepath.Join(config.Cache.Dir, dirWork)
		}
		return w, err
	case len(config.Scratch) > 0:
		return openWorkspace(config.Scratch)
	}
	return openWorkspace([]string{os.TempDir()})
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

// program returns the path of the compiler. On Linux it is this process's executable, even if its file was replaced.
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

// since returns the time on the sandbox's monotonic clock.
func (s *Sandbox) since() time.Duration { return time.Since(s.epoch) }

// forget removes a closed module.
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
	if s.runtime != nil {
		failed = append(failed, s.runtime.Close(context.Background()))
	}
	failed = append(failed, s.compiled.Close(context.Background()), s.work.close(), s.cache.held.close())
	if s.pages != nil {
		failed = append(failed, s.pages.close())
	}
	return errors.Join(failed...)
}
