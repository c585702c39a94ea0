package hostile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/hostile"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// asCompiler makes the test binary serve as the compiler.
const asCompiler = "ALCOVE_TEST_COMPILER"

func TestMain(m *testing.M) {
	if os.Getenv(asCompiler) != "" {
		os.Exit(sandbox.RunCompiler(os.Args[2:], os.Stdin, os.Stderr))
	}
	os.Exit(m.Run())
}

// refusedWithin bounds the compilation of modules that must be refused. All others compile in a fraction of it.
const refusedWithin = 3 * time.Second

// newSandbox returns a sandbox with a time limit for compilation.
func newSandbox(t testing.TB, compileWithin time.Duration) *sandbox.Sandbox {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := sandbox.New(sandbox.Config{
		Cache: sandbox.Cache{Dir: filepath.Join(t.TempDir(), "cache")},
		Compiler: sandbox.Compiler{
			Path: path, Args: []string{"-test.run=none"}, Env: []string{asCompiler + "=1"}, Timeout: compileWithin,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// answering is a host that answers every operation.
type answering struct{}

func (answering) Call(context.Context, abi.Op, []byte) ([]byte, error) { return []byte(`{}`), nil }

// try admits a module, calls it, and returns the classes of the outcomes.
func try(t testing.TB, s *sandbox.Sandbox, c hostile.Case) (classes []abi.Class, last *sandbox.Result) {
	t.Helper()
	ctx := context.Background()
	m, err := s.Admit(ctx, c.Module, sandbox.Options{Bare: !c.Packed, Limits: c.Limits})
	var refusal *sandbox.Refusal
	if errors.As(err, &refusal) {
		return []abi.Class{refusal.Class}, nil
	}
	if err != nil {
		t.Fatalf("the host failed: %v", err)
	}
	defer m.Close()
	for range max(1, c.Requests) {
		kind, payload := c.Kind, c.Payload
		if kind == 0 {
			kind = abi.KindTool
		}
		if payload == "" {
			payload = "{}"
		}
		r, err := m.Call(ctx, sandbox.Request{Kind: kind, Payload: []byte(payload), Host: answering{}})
		if err != nil {
			t.Fatalf("the host failed: %v", err)
		}
		classes, last = append(classes, r.Class), r
	}
	return classes, last
}

// today is the third of the corpus that runs today.
func today(t testing.TB) []hostile.Case {
	all := hostile.Corpus()
	return stress.Pick(t, (len(all)+2)/3, all)
}

func TestHostileModulesEndInTheirClassAndAffectNoOtherCaller(t *testing.T) {
	s, strict := newSandbox(t, await.Limit), newSandbox(t, refusedWithin)
	b := newBystander(t, s)
	b.beside(t, func() { tryAll(t, s, strict) })
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.Logf("the process took at most %d MB for all of it", memory.Sys>>20)
	if memory.Sys > worstMemory {
		t.Errorf("the process took %d bytes of memory, at most %d are allowed", memory.Sys, worstMemory)
	}
}

// TestHostileModulesEndInTheirClassWhenTheyAreInterpreted leaves out modules that are costly to compile: authors interpret their own.
func TestHostileModulesEndInTheirClassWhenTheyAreInterpreted(t *testing.T) {
	s, err := sandbox.New(sandbox.Config{Interpret: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, c := range today(t) {
		if c.Class == abi.ClassCompile {
			t.Logf("%s: not admitted, as the interpreter refuses none of these", c.Name)
			continue
		}
		tryOne(t, c, s, nil)
	}
}

// worstMemory bounds the memory of this process, in bytes.
const worstMemory = 800 << 20

// TestConcurrentHostileCallersAffectNoOtherCaller has one family flood the host with requests that never end.
func TestConcurrentHostileCallersAffectNoOtherCaller(t *testing.T) {
	callers, rounds := 8, 2
	if stress.All() {
		rounds = 6
	}
	s := newSandbox(t, await.Limit)
	b := newBystander(t, s)
	f := newFlood(t, s)
	b.beside(t, func() { f.run(t, callers, rounds) })
}

// flood has modules that never end, with the class in which each is stopped.
type flood struct {
	modules []*sandbox.Module
	classes []abi.Class
}

func newFlood(t testing.TB, s *sandbox.Sandbox) (f flood) {
	t.Helper()
	endless := slices.DeleteFunc(hostile.Corpus(), func(c hostile.Case) bool {
		return c.Class.Outcome() != abi.OutcomeStoppedByLimit || c.Class == abi.ClassRequest // which depends on the payload
	})
	for _, c := range stress.Pick(t, 16, endless) {
		m, err := s.Admit(context.Background(), c.Module, sandbox.Options{Bare: true, Limits: c.Limits})
		if err != nil {
			t.Fatal(err)
		}
		f.modules, f.classes = append(f.modules, m), append(f.classes, c.Class)
	}
	return f
}

func (f flood) run(t testing.TB, callers, rounds int) {
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for i := range rounds {
				n := (caller*rounds + i) % len(f.modules)
				r, err := f.modules[n].Call(context.Background(), sandbox.Request{Kind: abi.KindTool, Payload: []byte("{}"), Host: answering{}})
				if err != nil || r.Class != f.classes[n] && !timed(r.Class) {
					t.Errorf("a call ended as %+v, %v, want %s", r, err, f.classes[n])
				}
			}
		})
	}
	group.Wait()
}

// patient gives a case ten times the time, for busy machines on which it exceeds the time limit before its own limit.
func patient(c hostile.Case) hostile.Case {
	most := abi.MaxLimits()
	c.Limits.CPUMS, c.Limits.WallMS = min(10*c.Limits.CPUMS, most.CPUMS), min(10*c.Limits.WallMS, most.WallMS)
	return c
}

// timed reports whether a class is that of a time limit.
func timed(c abi.Class) bool {
	return c == abi.ClassCompile || c == abi.ClassCPU || c == abi.ClassWall
}

// tryAll runs the corpus, several modules at a time, as each waits for its own compiler process. Modules that must not compile run
// in a sandbox with a short time limit.
func tryAll(t *testing.T, s, strict *sandbox.Sandbox) {
	t.Helper()
	t.Run("corpus", func(t *testing.T) { // ends when all of them have
		for _, c := range today(t) {
			tryOne(t, c, s, strict)
		}
	})
}

func tryOne(t *testing.T, c hostile.Case, s, strict *sandbox.Sandbox) {
	t.Helper()
	t.Run(c.Name, func(t *testing.T) {
		t.Parallel()
		if c.Class == abi.ClassCompile {
			s = strict
		}
		classes, last := try(t, s, c)
		for range 3 {
			if !slices.ContainsFunc(classes, func(class abi.Class) bool { return class != c.Class && timed(class) }) {
				break
			}
			c = patient(c)
			classes, last = try(t, s, c)
		}
		for _, class := range classes {
			if class != c.Class {
				t.Fatalf("it ended as %v, want %s: %+v", classes, c.Class, last)
			}
		}
		want := c.Output
		if want == "" {
			want = "{}"
		}
		if c.Class == abi.ClassOK && string(last.Output) != want {
			t.Errorf("it answered %q, want %q", last.Output, want)
		}
	})
}
