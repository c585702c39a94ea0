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
	"github.com/alcove-memory/alcove/host/sandbox/hostile"
)

// asCompiler makes the test binary be the compiler.
const asCompiler = "ALCOVE_TEST_COMPILER"

func TestMain(m *testing.M) {
	if os.Getenv(asCompiler) != "" {
		os.Exit(sandbox.RunCompiler(os.Args[2:], os.Stdin, os.Stderr))
	}
	os.Exit(m.Run())
}

// compileWithin is how long a module may be compiled here: all that should be compiled is, in a fraction of it.
const compileWithin = 3 * time.Second

func newSandbox(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := sandbox.New(sandbox.Config{
		Dir: filepath.Join(t.TempDir(), "cache"),
		Compiler: sandbox.Compiler{
			Path: path, Args: []string{"-test.run=none"}, Env: []string{asCompiler + "=1", "GORACE=atexit_sleep_ms=0"}, Timeout: compileWithin,
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

// answering is a host that answers everything.
type answering struct{}

func (answering) Call(context.Context, abi.Op, []byte) ([]byte, error) { return []byte(`{}`), nil }

// try admits a module and calls it, and gives the classes that it ended in.
func try(t *testing.T, s *sandbox.Sandbox, c hostile.Case) (classes []abi.Class, last *sandbox.Result) {
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

func TestEveryHostileModuleEndsInItsClassAndHarmsNobodyElse(t *testing.T) {
	s := newSandbox(t)
	b := newBystander(t, s)
	b.start()
	time.Sleep(500 * time.Millisecond) // how it is without the corpus
	alone := b.end()
	t.Logf("a bystander alone: %v", alone)
	checkHarm(t, b, func() { tryAll(t, s) })
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.Logf("the process took at most %d MB for all of it", memory.Sys>>20)
	if memory.Sys > worstMemory {
		t.Errorf("the process took %d bytes of memory, at most %d are allowed", memory.Sys, worstMemory)
	}
}

// worstMemory is what this process may take for the corpus, itself included, in bytes.
const worstMemory = 800 << 20

// TestManyHostileCallersAtOnceHarmNobodyElse has one family flood the host with requests that never end.
func TestManyHostileCallersAtOnceHarmNobodyElse(t *testing.T) {
	const callers, rounds = 8, 6
	s := newSandbox(t)
	b := newBystander(t, s)
	var endless []*sandbox.Module
	var classes []abi.Class
	for _, c := range hostile.Corpus() {
		if c.Class.Outcome() != abi.OutcomeStoppedByLimit || len(endless) == 40 {
			continue
		}
		m, err := s.Admit(context.Background(), c.Module, sandbox.Options{Bare: true, Limits: c.Limits})
		if err != nil {
			t.Fatal(err)
		}
		endless, classes = append(endless, m), append(classes, c.Class)
	}
	checkHarm(t, b, func() {
		var group sync.WaitGroup
		for caller := range callers {
			group.Go(func() {
				for i := range rounds {
					n := (caller*rounds + i) % len(endless)
					r, err := endless[n].Call(context.Background(), sandbox.Request{Kind: abi.KindTool, Payload: []byte("{}"), Host: answering{}})
					if err != nil || r.Class != classes[n] && r.Class != abi.ClassWall {
						t.Errorf("a call ended as %+v, %v, want %s", r, err, classes[n])
					}
				}
			})
		}
		group.Wait()
	})
}

// timeouts is how often a module is tried again that reached a limit of time before its own: the machine may be busy.
const timeouts = 3

// timed reports whether a class is of a limit of time.
func timed(c abi.Class) bool {
	return c == abi.ClassCompile || c == abi.ClassCPU || c == abi.ClassWall
}

func tryAll(t *testing.T, s *sandbox.Sandbox) {
	t.Helper()
	for _, c := range hostile.Corpus() {
		t.Run(c.Name, func(t *testing.T) {
			began := time.Now()
			classes, last := try(t, s, c)
			for range timeouts {
				if !slices.ContainsFunc(classes, func(class abi.Class) bool { return class != c.Class && timed(class) }) {
					break
				}
				classes, last = try(t, s, c)
			}
			if d := time.Since(began); d > 400*time.Millisecond {
				t.Logf("it took %v", d)
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
}
