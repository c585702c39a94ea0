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

	"github.com/alcove-memory/alcove/host/regular"
)

// maxPages is how many pages of 64 KiB a memory can have at all.
const maxPages = 1 << 16

// runtimeConfig is what the compiler and the runtimes have in common, so that one finds what the other wrote.
func runtimeConfig(cache wazero.CompilationCache) wazero.RuntimeConfig {
	return wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2).
		WithMemoryLimitPages(maxPages).
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

// compileHere compiles a rewritten module in this process.
func (s *Sandbox) compileHere(ctx context.Context, digest [sha256.Size]byte, binary []byte) (*code, error) {
	return s.linkNew(ctx, digest, binary, context.WithoutCancel(ctx))
}

// compileApart compiles a rewritten module in a process of its own, and takes over what that wrote.
func (s *Sandbox) compileApart(ctx context.Context, digest [sha256.Size]byte, binary []byte, functions int) (*code, error) {
	if err := s.work.ready(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.work.dir, "compile-*")
	if err != nil {
		return nil, notWritten(s.work.dir, err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, childInput), binary, 0o600); err != nil {
		return nil, notWritten(s.work.dir, err)
	}
	if err := s.runCompiler(ctx, dir); err != nil {
		return nil, err
	}
	native, err := s.work.takeOver(filepath.Join(dir, childOutput), functions)
	if err != nil {
		return nil, err
	}
	defer os.Remove(native)
	return s.linkNew(ctx, digest, binary, cachedOnly())
}

// linkNew has wazero load native code from the workspace, or compile it if from allows that, and writes it to the cache.
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

// packNew writes the one file of native code in the workspace to the cache, and removes all there are. The caller holds loading.
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

// takeOver checks the one compiled module that a compiler wrote, and moves it to where wazero looks for it.
func (w *workspace) takeOver(from string, functions int) (native string, err error) {
	var found []string
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
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
	relative, err := filepath.Rel(from, found[0])
	if err != nil || filepath.Dir(relative) != w.engine || !isNativeName(filepath.Base(relative)) {
		return "", fmt.Errorf("take over a compiled module: %q is no name that the compiler gives", relative)
	}
	data, err := readEntryFile(found[0])
	if err != nil {
		return "", fmt.Errorf("take over a compiled module: %w", err)
	}
	if err := checkEntry(data, functions); err != nil {
		return "", err
	}
	native = filepath.Join(w.native(), filepath.Base(relative))
	if err := os.Rename(found[0], native); err != nil {
		return "", fmt.Errorf("take over a compiled module: %w", err)
	}
	return native, nil
}

// readEntryFile reads what a compiler wrote, at once: it has tens of megabytes.
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
