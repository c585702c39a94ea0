package sandbox

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
)

// What the environment makes of the test binary.
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
	os.Exit(m.Run())
}

// misbehave is what a compiler does with a module that was made to ruin it.
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

// testConfig is a configuration whose compiler is the test binary.
func testConfig(t testing.TB) Config {
	t.Helper()
	path, err := os.Executable()
	must(t, err)
	return Config{
		Dir:      filepath.Join(t.TempDir(), "cache"),
		Compiler: Compiler{Path: path, Args: []string{"-test.run=none"}, Env: []string{asCompiler + "=1", "GORACE=atexit_sleep_ms=0"}},
	}
}

func newSandbox(t testing.TB, config Config) *Sandbox {
	t.Helper()
	s, err := New(config)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func admit(t testing.TB, s *Sandbox, name string, options Options) *Module {
	t.Helper()
	m, err := s.Admit(context.Background(), testdata(t, name), options)
	must(t, err)
	return m
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	return data
}

// acts is the guest of acts.wat, without a manifest.
func acts(t testing.TB, config Config, limits abi.Limits) *Module {
	t.Helper()
	return admit(t, newSandbox(t, config), "acts.wasm", Options{Bare: true, Limits: limits})
}

// ask sends a request, which the host must not fail.
func ask(t testing.TB, m *Module, request string) *Result {
	t.Helper()
	r, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: []byte(request), Host: echo{}})
	must(t, err)
	return r
}

// echo is a host whose only operation answers with its request.
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

func TestEachRequestFindsTheGuestAsItStarted(t *testing.T) {
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

func TestInstancesThatCannotBeResetAreThrownAway(t *testing.T) {
	for name, request := range map[string]string{"grown": "g", "a segment dropped": "d", "trapped": "t", "exited": "x", "stopped": "o", "nested too deeply": "r"} {
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

func TestEveryEndHasItsClass(t *testing.T) {
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
		m := patient // only what ends by time has little of it
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

func TestGuestIsStoppedWhenItsCallerGivesUp(t *testing.T) {
	m := acts(t, testConfig(t), abi.Limits{WallMS: 60000, CPUMS: 60000})
	for _, request := range []string{"l", "w"} {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, cancel)
		r, err := m.Call(ctx, Request{Kind: abi.KindTool, Payload: []byte(request)})
		must(t, err)
		if r.Class != abi.ClassCancelled {
			t.Errorf("%s: %s, %v", request, r.Class, r.Error)
		}
	}
}

func TestWithoutAHostEveryOperationIsDenied(t *testing.T) {
	m := acts(t, testConfig(t), abi.Limits{})
	r, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: []byte("e")})
	must(t, err)
	if r.Class != abi.ClassError || r.Error.Code != abi.CodeDenied {
		t.Errorf("%s: %v", r.Class, r.Error)
	}
}

func TestCallsThatNestTooDeeplyAreStopped(t *testing.T) {
	m := acts(t, testConfig(t), abi.Limits{WallMS: 300_000, CPUMS: 60_000})
	if r := ask(t, m, "r"); r.Class != abi.ClassStack {
		t.Errorf("%s: %v", r.Class, r.Error)
	}
}
