package sandbox

import (
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// Environment variables that change the test binary's role.
const (
	asCompiler    = "ALCOVE_TEST_COMPILER"
	compilerHangs = "ALCOVE_TEST_COMPILER_HANGS"
	compilerGrows = "ALCOVE_TEST_COMPILER_GROWS"
	compilerEnds  = "ALCOVE_TEST_COMPILER_ENDS" // with this exit code,
	compilerSays  = "ALCOVE_TEST_COMPILER_SAYS" // after it said this
	compilerLacks = "ALCOVE_TEST_COMPILER_LACKS"
)

func TestMain(m *testing.M) {
	if os.Getenv(asCompiler) != "" {
		misbehave()
		lack(os.Getenv(compilerLacks))
		os.Exit(RunCompiler(os.Args[2:], os.Stdin, os.Stderr))
	}
	if os.Getenv(asAdmitter) != "" {
		os.Exit(admitter())
	}
	os.Exit(m.Run())
}

// misbehave makes the compiler fail as the module asks.
func misbehave() {
	var kept [][]byte
	for os.Getenv(compilerGrows) != "" {
		if kept == nil {
			go RunCompiler(os.Args[2:], os.Stdin, os.Stderr)
		}
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = byte(i)
		}
		kept = append(kept, b)
	}
	if code, err := strconv.Atoi(os.Getenv(compilerEnds)); err == nil {
		io.WriteString(os.Stderr, os.Getenv(compilerSays))
		os.Exit(code)
	}
	if os.Getenv(compilerHangs) != "" {
		go io.Copy(io.Discard, os.Stdin)
		time.Sleep(time.Hour)
	}
}

// testConfig returns a configuration whose compiler is the test binary.
func testConfig(t testing.TB) Config {
	t.Helper()
	path, err := os.Executable()
	must.Do(t, err)
	return Config{
		Cache: Cache{Dir: filepath.Join(t.TempDir(), "cache")},
		// A busy machine takes minutes to compile a guest in Go.
		Compiler: Compiler{Path: path, Args: []string{"-test.run=none"}, Env: []string{asCompiler + "=1"}, Timeout: await.Limit},
	}
}

func newSandbox(t testing.TB, config Config) *Sandbox {
	t.Helper()
	s, err := New(config)
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, s.Close()) })
	return s
}

func admit(t testing.TB, s *Sandbox, name string, options Options) *Module {
	t.Helper()
	m, err := s.Admit(context.Background(), testdata(t, name), options)
	must.Do(t, err)
	return m
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	must.Do(t, err)
	return data
}

// acts is the guest of acts.wat, without a manifest.
func acts(t testing.TB, config Config, limits abi.Limits) *Module {
	t.Helper()
	return admit(t, newSandbox(t, config), "acts.wasm", Options{Bare: true, Limits: limits})
}

// ask sends a request and fails the test on an error of the host.
func ask(t testing.TB, m *Module, request string) *Result {
	t.Helper()
	r, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: []byte(request), Host: echo{}})
	must.Do(t, err)
	return r
}

// echo is a host whose only operation returns its request.
type echo struct{}

func (echo) Call(_ context.Context, op abi.Op, request []byte) ([]byte, error) {
	if op != "echo.it" {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: "only echo.it is granted"}
	}
	return append([]byte(`["`), append(request, `"]`...)...), nil
}

func TestGuestAsksItsHostAndAnswers(t *testing.T) {
	m := acts(t, testConfig(t), abi.Limits{})
	r := ask(t, m, "e, hello")
	if r.Class != abi.ClassOK || string(r.Output) != `["e, hello"]` || r.HostCalls != 1 {
		t.Fatalf("%s: %s (%v), %d host calls", r.Class, r.Output, r.Error, r.HostCalls)
	}
	if r.Fuel <= 0 || r.Time <= 0 || r.CPU <= 0 || r.CPU > r.Time || r.Memory != 3*pageBytes {
		t.Errorf("fuel %d, time %v, cpu %v, memory %d", r.Fuel, r.Time, r.CPU, r.Memory)
	}
}

func TestEachRequestStartsFromTheSnapshot(t *testing.T) {
	m := acts(t, testConfig(t), abi.Limits{})
	for range 5 {
		if r := ask(t, m, "c"); string(r.Output) != "1121" {
			t.Fatalf("a counter, a byte of memory, a vector and a table say %q (%v)", r.Output, r.Error)
		}
	}
	if m.started.Load() != 1 {
		t.Errorf("%d instances were started for requests one after the other", m.started.Load())
	}
}

func TestInstancesThatCannotBeResetAreDiscarded(t *testing.T) {
	for name, request := range map[string]string{"a segment dropped": "d", "trapped": "t", "exited": "x", "stopped": "o", "nested too deeply": "r"} {
		t.Run(name, func(t *testing.T) {
			m := acts(t, testConfig(t), abi.Limits{WallMS: 300_000, CPUMS: 60_000})
			ask(t, m, request)
			if n := m.idleCount(); n != 0 {
				t.Errorf("%d instances wait for the next request", n)
			}
			if r := ask(t, m, "c"); string(r.Output) != "1121" {
				t.Errorf("the next request found %q", r.Output)
			}
		})
	}
}

func (m *Module) idleCount() int {
	m.sandbox.pool.mu.Lock()
	defer m.sandbox.pool.mu.Unlock()
	return m.sandbox.pool.count[m]
}

func TestEveryOutcomeHasItsClass(t *testing.T) {
	most := abi.MaxLimits()
	limits := abi.Limits{WallMS: most.WallMS, CPUMS: most.CPUMS, HostCalls: 50, MemoryPages: 20, OutputBytes: 100_000}
	config := testConfig(t)
	patient := acts(t, config, limits)
	limits.CPUMS = 200
	spinning := acts(t, config, limits)
	limits.WallMS, limits.CPUMS = 600, most.CPUMS
	waiting := acts(t, config, limits)
	for request, want := range map[string]abi.Class{
		"e": abi.ClassOK, "l": abi.ClassCPU, "t": abi.ClassTrap, "x": abi.ClassExit, "m": abi.ClassMemory, "o": abi.ClassOutput,
		"h": abi.ClassHostCalls, "p": abi.ClassCPU, "w": abi.ClassWall, "n": abi.ClassCPU, "f": abi.ClassError, "s": abi.ClassAnswer,
		"j": abi.ClassAnswer,
	} {
		m := patient // only cases of the time limit have a short one
		switch want {
		case abi.ClassCPU:
			m = spinning
		case abi.ClassWall:
			m = waiting
		}
		r := ask(t, m, request)
		if r.Class != want || (r.Error == nil) != (want == abi.ClassOK) {
			t.Errorf("%s: %s (%v), want %s", request, r.Class, r.Error, want)
		}
		t.Logf("%s: %-10s %8d fuel %10v %10v %v", request, r.Class, r.Fuel, r.Time, r.CPU, r.Error)
	}
}

// running is a host that signals when the guest runs.
type running func()

func (r running) Call(context.Context, abi.Op, []byte) ([]byte, error) {
	r()
	return []byte("[]"), nil
}

// endless is a guest that calls its host and then loops for ever, or on request sleeps for an hour.
func endless() []byte {
	m := &asm.Module{}
	read := m.Import("alcove", "read", asm.I32s(3), asm.I32s(1))
	call := m.Import("alcove", "call", asm.I32s(4), asm.I32s(1))
	poll := m.Import("wasi_snapshot_preview1", "poll_oneoff", asm.I32s(4), asm.I32s(1))
	m.Memory(1)
	const op, subscription, event, request = 16, 500, 600, 1024
	m.Put(op, []byte("echo.it"))
	m.Put(subscription+16, []byte{1}) // the monotonic clock
	m.Put(subscription+24, binary.LittleEndian.AppendUint64(nil, uint64(time.Hour)))
	waits := asm.Two(wasm.OpI32Eq, asm.Load(wasm.OpI32Load8U, asm.I32(request)), asm.I32('w'))
	m.Export("alcove_handle", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Body: asm.Seq(
		asm.Drop(asm.Call(read, asm.I32(0), asm.I32(request), asm.I32(1))),
		asm.Drop(asm.Call(call, asm.I32(op), asm.I32(7), asm.I32(request), asm.I32(1))),
		asm.If(waits, asm.Drop(asm.Call(poll, asm.I32(subscription), asm.I32(event), asm.I32(1), asm.I32(0)))),
		asm.Loop(asm.Br(0)),
		asm.I32(0),
	)}))
	return m.Bytes()
}

func TestAGuestIsStoppedWhenItsCallerCancels(t *testing.T) {
	limits := abi.Limits{WallMS: 60000, CPUMS: 60000}
	m, err := newSandbox(t, testConfig(t)).Admit(t.Context(), endless(), Options{Bare: true, Limits: limits})
	must.Do(t, err)
	for _, request := range []string{"l", "w"} {
		ctx, cancel := context.WithCancel(context.Background())
		// The guest loops or sleeps by then, or on a slow machine is stopped before.
		soon := running(func() { time.AfterFunc(20*time.Millisecond, cancel) })
		r, err := m.Call(ctx, Request{Kind: abi.KindTool, Payload: []byte(request), Host: soon})
		must.Do(t, err)
		if r.Class != abi.ClassCancelled {
			t.Errorf("cancelled in %s: class %s, %v, want %s", request, r.Class, r.Error, abi.ClassCancelled)
		}
		if r.HostCalls != 1 {
			t.Errorf("%s: %d host calls", request, r.HostCalls)
		}
	}
}

func TestWithoutAHostEveryOperationIsDenied(t *testing.T) {
	m := acts(t, testConfig(t), abi.Limits{})
	r, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: []byte("e")})
	must.Do(t, err)
	if r.Class != abi.ClassError || r.Error.Code != abi.CodeDenied {
		t.Errorf("class %s, %v, want the error %s", r.Class, r.Error, abi.CodeDenied)
	}
}

func TestCallsThatNestTooDeeplyAreStopped(t *testing.T) {
	m := acts(t, testConfig(t), abi.Limits{WallMS: 300_000, CPUMS: 60_000})
	if r := ask(t, m, "r"); r.Class != abi.ClassStack {
		t.Errorf("class %s, %v, want %s", r.Class, r.Error, abi.ClassStack)
	}
}
