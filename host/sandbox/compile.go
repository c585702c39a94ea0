package sandbox

import (
	"context"
	"errors"
	"fmt"
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
)

// runtimeConfig is what the compiler and the runtimes have in common, so that one finds what the other wrote.
func runtimeConfig(cache wazero.CompilationCache, pages uint32) wazero.RuntimeConfig {
	return wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2).
		WithMemoryLimitPages(pages).
		WithDebugInfoEnabled(false).
		WithCompilationCache(cache)
}

// cachedOnly makes wazero fail where it would compile: with workers it asks the context before each function, and
// not before it looks into its cache.
func cachedOnly() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return experimental.WithCompilationWorkers(ctx, 2)
}

// compileApart compiles a rewritten module in a process of its own, and takes over what that wrote.
func (s *Sandbox) compileApart(ctx context.Context, binary []byte, functions int) error {
	work, err := os.MkdirTemp(filepath.Join(s.cache.dir, dirWork), "compile-*")
	if err != nil {
		return fmt.Errorf("compile a module: %w", err)
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, childInput), binary, 0o600); err != nil {
		return fmt.Errorf("compile a module: %w", err)
	}
	if err := s.runCompiler(ctx, work); err != nil {
		return err
	}
	return s.cache.takeOver(filepath.Join(work, childOutput), functions)
}

// runCompiler runs the compiler in its directory, and kills it when it takes too long.
func (s *Sandbox) runCompiler(ctx context.Context, work string) error {
	path, err := s.compiler.program()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, s.compiler.Timeout)
	defer cancel()
	args := append(append([]string(nil), s.compiler.Args...), work, strconv.FormatInt(s.compiler.Memory, 10))
	cmd := exec.CommandContext(limited, path, args...)
	cmd.Dir = work
	cmd.Env = append(bareEnvironment(), s.compiler.Env...)
	cmd.WaitDelay = time.Second
	said := &head{limit: 4 << 10}
	cmd.Stderr = said
	lifeline, err := cmd.StdinPipe() // the child ends when this does
	if err != nil {
		return fmt.Errorf("start the compiler: %w", err)
	}
	defer lifeline.Close()
	err = cmd.Run()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return s.compilerFailed(err, limited.Err() != nil, said.String())
}

// compilerFailed says why, as a refusal where the module is at fault.
func (s *Sandbox) compilerFailed(err error, late bool, said string) error {
	var exit *exec.ExitError
	switch {
	case late:
		return refuse(abi.ClassCompile, "make its functions smaller", "compiling it took longer than %v (%s)", s.compiler.Timeout, abi.LimitCompileMS)
	case !errors.As(err, &exit):
		return fmt.Errorf("start the compiler: %w", err)
	case exit.ExitCode() == exitFailed:
		return fmt.Errorf("run the compiler: %s", said)
	case exit.ExitCode() == exitRefused:
		return refuse(abi.ClassCompile, "build it for WebAssembly 2.0 without extensions", "%s", said)
	default: // the kernel may have stopped it in many ways
		return refuse(abi.ClassCompile, "make its functions smaller", "compiling it took more than %d bytes of memory (%s), or ended the compiler: %v", s.compiler.Memory, abi.LimitCompileBytes, exit)
	}
}

// bareEnvironment is what a process needs to run at all; secrets of this one are not in it.
func bareEnvironment() []string {
	var env []string
	for _, name := range []string{"SystemRoot", "TMP", "TEMP"} { // Windows
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// head keeps the first bytes of what is written to it.
type head struct {
	kept  []byte
	limit int
}

func (h *head) Write(b []byte) (int, error) {
	if room := h.limit - len(h.kept); room > 0 {
		h.kept = append(h.kept, b[:min(room, len(b))]...)
	}
	return len(b), nil
}

func (h *head) String() string { return strings.TrimSpace(strings.ToValidUTF8(string(h.kept), "?")) }
