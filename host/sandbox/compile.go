package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/regular"
)

// maxPages is WebAssembly's maximum memory size, in pages of 64 KiB.
const maxPages = 1 << 16

// runtimeConfig returns the configuration of compilers and runtimes, which must match for one to find the other's code.
func runtimeConfig(cache wazero.CompilationCache) wazero.RuntimeConfig {
	return configured(wazero.NewRuntimeConfig()).WithCompilationCache(cache)
}

func configured(c wazero.RuntimeConfig) wazero.RuntimeConfig {
	return c.WithCoreFeatures(api.CoreFeaturesV2).WithMemoryLimitPages(maxPages).WithDebugInfoEnabled(false)
}

// prepare readies a rewritten module for the interpreter.
func (s *Sandbox) prepare(ctx context.Context, digest [sha256.Size]byte, binary []byte) (*code, error) {
	if c := s.share(digest); c != nil {
		return c, nil
	}
	r, err := s.engine()
	if err != nil {
		return nil, err
	}
	prepared, err := r.CompileModule(ctx, binary)
	if err != nil {
		return nil, refuse(abi.ClassCompile, "build it for WebAssembly 2.0 without extensions", "%v", err)
	}
	return s.add(digest, prepared), nil
}

// cachedOnly returns a context that makes wazero fail instead of compiling: with workers, it checks the context before
// each function, but not before the cache lookup.
func cachedOnly() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return experimental.WithCompilationWorkers(ctx, 2)
}

// compileHere compiles a rewritten module in this process.
func (s *Sandbox) compileHere(ctx context.Context, digest [sha256.Size]byte, binary []byte) (*code, error) {
	return s.linkNew(ctx, digest, binary, context.WithoutCancel(ctx))
}

// compileApart compiles a rewritten module in a child process and takes over its output.
func (s *Sandbox) compileApart(ctx context.Context, digest [sha256.Size]byte, binary []byte, functions int, timeout time.Duration) (*code, error) {
	if err := s.work.ready(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.work.dir, "compile-*")
	if err != nil {
		return nil, notWritten(s.work.shown, err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, childInput), binary, 0o600); err != nil {
		return nil, notWritten(s.work.shown, err)
	}
	if err := s.runCompiler(ctx, dir, timeout); err != nil {
		return nil, err
	}
	native, err := s.work.takeOver(filepath.Join(dir, childOutput), functions)
	if err != nil {
		return nil, err
	}
	defer os.Remove(native)
	return s.linkNew(ctx, digest, binary, cachedOnly())
}

// linkNew makes wazero load native code from the workspace, or compile it if from allows that, and writes it to the cache.
func (s *Sandbox) linkNew(ctx context.Context, digest [sha256.Size]byte, binary []byte, from context.Context) (*code, error) {
	r, err := s.engine()
	if err != nil {
		return nil, err
	}
	select {
	case s.loading <- struct{}{}:
		defer func() { <-s.loading }()
	case <-ctx.Done():
		return nil, fmt.Errorf("load the compiled module: %w", ctx.Err())
	}
	if err := s.work.ready(); err != nil {
		return nil, err
	}
	compiled, err := r.CompileModule(from, binary)
	if err != nil {
		return nil, fmt.Errorf("load the compiled module: %w", err)
	}
	if err := s.packNew(digest, binary); err != nil {
		s.log.Warn("a module has to be compiled again next time", "error", err)
	}
	return s.add(digest, compiled), nil
}

// packNew writes the workspace's one file of native code to the cache, then removes all files there. The caller holds loading.
func (s *Sandbox) packNew(digest [sha256.Size]byte, binary []byte) error {
	files, err := os.ReadDir(s.work.native())
	if err != nil {
		return err
	}
	var native []string
	for _, f := range files {
		native = append(native, filepath.Join(s.work.native(), f.Name()))
	}
	if len(native) == 1 {
		err = s.pack(digest, binary, native[0])
	} else {
		err = fmt.Errorf("the engine left %d files, not 1", len(native))
	}
	for _, path := range native {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// compiledIn returns the path of the one compiled module in a compiler's output.
func compiledIn(dir, engine string) (path string, err error) {
	var found []string
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("take over a compiled module: %w", err)
	}
	if len(found) != 1 {
		return "", fmt.Errorf("take over a compiled module: the compiler left %d files, not 1", len(found))
	}
	relative, err := filepath.Rel(dir, found[0])
	if err != nil || filepath.Dir(relative) != engine || !isNativeName(filepath.Base(relative)) {
		return "", fmt.Errorf("take over a compiled module: %q is not a name that the compiler gives", relative)
	}
	return found[0], nil
}

// takeOver checks the one compiled module that a compiler wrote and moves it to where wazero finds it.
func (w *workspace) takeOver(from string, functions int) (native string, err error) {
	found, err := compiledIn(from, w.engine)
	if err != nil {
		return "", err
	}
	data, err := readEntryFile(found)
	if err != nil {
		return "", fmt.Errorf("take over a compiled module: %w", err)
	}
	if err := checkEntry(data, functions); err != nil {
		return "", err
	}
	native = filepath.Join(w.native(), filepath.Base(found))
	if err := os.Rename(found, native); err != nil {
		return "", fmt.Errorf("take over a compiled module: %w", err)
	}
	return native, nil
}

// readEntryFile reads a compiler's output in one read: it has tens of megabytes.
func readEntryFile(path string) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxEntry {
		return nil, fmt.Errorf("it has %d bytes, and may have %d", info.Size(), maxEntry)
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}

// isCompiler is set in the environment of a compiler. A program that does not call RunCompiler for its arguments would start another
// one there, without end.
const isCompiler = "ALCOVE_COMPILING"

var errCompiling = errors.New("this process was started as a compiler of modules: have its program call sandbox.RunCompiler, or name another one")

// runCompiler runs the compiler in its directory and kills it at the timeout.
func (s *Sandbox) runCompiler(ctx context.Context, work string, timeout time.Duration) error {
	if os.Getenv(isCompiler) != "" {
		return errCompiling
	}
	path, err := s.compiler.program()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	args := append(append([]string(nil), s.compiler.Args...), ownDirectory, strconv.FormatInt(s.compiler.Memory, 10))
	cmd := exec.CommandContext(limited, path, args...)
	cmd.Dir = work
	cmd.Env = append(append(bareEnvironment(), isCompiler+"=1"), s.compiler.Env...)
	cmd.WaitDelay = time.Second
	said := &ends{}
	cmd.Stderr = said
	lifeline, err := cmd.StdinPipe() // the child exits when this closes
	if err != nil {
		return notStarted(err)
	}
	defer lifeline.Close()
	err = cmd.Run()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return s.failed(limited, timeout, err, said.String())
}

// bareEnvironment returns the variables that any process needs. It leaves out this process's secrets. Without GORACE, a
// compiler under the race detector sleeps for a second before it exits.
func bareEnvironment() []string {
	var env []string
	for _, name := range []string{"SystemRoot", "TMP", "TEMP", "GORACE"} { // the first three are of Windows
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// ends is a writer that keeps the first and last bytes.
type ends struct {
	first, last []byte
	cut         bool // bytes between them were dropped
}

const longestEnd = 2 << 10 // bytes

func (e *ends) Write(b []byte) (int, error) {
	first := min(len(b), longestEnd-len(e.first))
	e.first = append(e.first, b[:first]...)
	e.last = append(e.last, b[first:]...)
	if over := len(e.last) - longestEnd; over > 0 {
		e.last, e.cut = append(e.last[:0], e.last[over:]...), true
	}
	return len(b), nil
}

func (e *ends) String() string {
	between := ""
	if e.cut {
		between = " … "
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(e.first)+between+string(e.last), "?"))
}
