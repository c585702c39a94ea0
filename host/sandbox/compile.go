package sandbox

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
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
		return notWritten(s.cache.dir, err)
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, childInput), binary, 0o600); err != nil {
		return notWritten(s.cache.dir, err)
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
	said := &ends{}
	cmd.Stderr = said
	lifeline, err := cmd.StdinPipe() // the child ends when this does
	if err != nil {
		return notStarted(err)
	}
	defer lifeline.Close()
	err = cmd.Run()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return s.failed(limited, err, said.String())
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

// ends keeps the first and the last bytes of what is written to it.
type ends struct {
	first, last []byte
	cut         bool // between them
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
