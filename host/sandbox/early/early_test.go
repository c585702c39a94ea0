package early

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// asCompiler makes the test binary the compiler, which waits until the file that the variable names is there.
const asCompiler = "ALCOVE_TEST_COMPILER"

func TestMain(m *testing.M) {
	gate := os.Getenv(asCompiler)
	if gate == "" {
		os.Exit(m.Run())
	}
	for _, err := os.Stat(gate); err != nil; _, err = os.Stat(gate) {
		time.Sleep(time.Millisecond)
	}
	os.Exit(sandbox.RunCompiler(os.Args[2:], os.Stdin, os.Stderr))
}

// bench is a sandbox whose compiler waits until open is called.
type bench struct {
	*Sandbox
	dir  string
	open func()
}

// journal keeps what is logged.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func newBench(t *testing.T) *bench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	b := &bench{dir: dir, open: func() {
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Error(err)
		}
	}}
	compiling, err := sandbox.New(sandbox.Config{
		Cache:    sandbox.Cache{Dir: filepath.Join(dir, "cache")},
		Compiler: sandbox.Compiler{Path: self, Args: []string{"-test.run=none"}, Env: []string{asCompiler + "=" + gate}, Timeout: await.Limit},
	})
	if err != nil {
		t.Fatal(err)
	}
	if b.Sandbox, err = New(sandbox.Config{Scratch: []string{dir}}, compiling); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), compiling.Close()); err != nil {
			t.Error(err)
		}
		left, err := filepath.Glob(filepath.Join(dir, "cache", "work", "*"))
		if scratch, _ := filepath.Glob(filepath.Join(dir, "alcove*")); err != nil || len(left)+len(scratch) > 0 {
			t.Errorf("left are %v, %v, %v", left, scratch, err)
		}
	})
	return b
}

func (b *bench) admit(t *testing.T, module []byte, limits abi.Limits) *Module {
	t.Helper()
	m, err := b.Admit(t.Context(), sandbox.Hash(module), sandbox.Options{Bare: true, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// compiled opens the gate and waits until the module is compiled.
func (b *bench) compiled(t *testing.T, m *Module) {
	t.Helper()
	b.open()
	await.That(t, "the module is compiled", func() bool {
		_, compiled := m.forms()
		return compiled != nil
	})
}

// behaviour is what the guest does before it answers {}: the length of its request.
type behaviour int

const (
	nothing behaviour = iota + 1
	loop              // endlessly
	ask               // the host, twice, with a loop between
	nest              // 5,000 calls
	askThenLoop
	printThenAsk
)

func (b behaviour) request() sandbox.Request {
	return sandbox.Request{Kind: abi.KindTool, Payload: make([]byte, b)}
}

func guest() []byte {
	var g asm.Module
	write := g.Import(abi.Module, "write", asm.I32s(3), asm.I32s(1))
	call := g.Import(abi.Module, "call", asm.I32s(4), asm.I32s(1))
	g.Memory(1)
	g.Put(0, []byte("{}"))
	wrote := func(channel int32) asm.Code {
		return asm.Drop(asm.Call(write, asm.I32(channel), asm.I32(0), asm.I32(2)))
	}
	asked := asm.Drop(asm.Call(call, asm.I32(0), asm.I32(2), asm.I32(0), asm.I32(2)))
	forever := asm.Loop(asm.Br(0))
	counted := asm.Seq(asm.Set(2, asm.I32(1_000_000)), asm.Loop(asm.Set(2, asm.Add(asm.Get(2), asm.I32(-1))), asm.BrIf(0, asm.Get(2))))
	nested := g.Next()
	g.Func(asm.Func{Params: asm.I32s(1), Results: asm.I32s(1), Body: asm.Seq(
		asm.If(asm.Get(0), asm.Drop(asm.Call(nested, asm.Add(asm.Get(0), asm.I32(-1))))), asm.Get(0))})
	var acts asm.Code
	for w, act := range map[behaviour]asm.Code{
		loop: forever, ask: asm.Seq(asked, counted, asked), nest: asm.Drop(asm.Call(nested, asm.I32(5000))), askThenLoop: asm.Seq(asked, forever),
		printThenAsk: asm.Seq(wrote(abi.WriteLog), asked),
	} {
		acts = asm.Seq(acts, asm.If(asm.Two(wasm.OpI32Eq, asm.Get(1), asm.I32(int32(w))), act))
	}
	g.Export("alcove_handle", wasm.KindFunc, g.Func(asm.Func{
		Params: asm.I32s(2), Results: asm.I32s(1), Locals: asm.I32s(1), Body: asm.Seq(acts, wrote(abi.WriteResult), asm.I32(0)),
	}))
	return g.Bytes()
}

// operations is a host that counts its calls, and waits in each for what it is sent, if it is not nil.
type operations struct {
	mu    sync.Mutex
	calls int
	wait  chan struct{}
}

func (o *operations) Call(context.Context, abi.Op, []byte) ([]byte, error) {
	o.mu.Lock()
	o.calls++
	o.mu.Unlock()
	if o.wait != nil {
		<-o.wait
	}
	return []byte("{}"), nil
}

func (o *operations) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.calls
}

func call(t *testing.T, m *Module, r sandbox.Request) *sandbox.Result {
	t.Helper()
	result, err := m.Call(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func begin(t *testing.T, m *Module, r sandbox.Request) <-chan *sandbox.Result {
	ended := make(chan *sandbox.Result, 1)
	go func() {
		result, err := m.Call(t.Context(), r)
		if err != nil {
			t.Error(err)
		}
		ended <- result
	}()
	return ended
}

func expect(t *testing.T, r *sandbox.Result, class abi.Class, interpreted bool) {
	t.Helper()
	if r == nil || r.Class != class || r.Interpreted != interpreted || class == abi.ClassOK && string(r.Output) != "{}" {
		t.Errorf("it ended as %+v, want %s and interpreted %v", r, class, interpreted)
	}
}

func TestAModuleAnswersBeforeAndAfterItIsCompiled(t *testing.T) {
	b := newBench(t)
	m := b.admit(t, guest(), abi.Limits{})
	first := call(t, m, nothing.request())
	expect(t, first, abi.ClassOK, true)
	b.compiled(t, m)
	second := call(t, m, nothing.request())
	expect(t, second, abi.ClassOK, false)
	if first.Fuel != second.Fuel {
		t.Errorf("it took %d units of fuel, and compiled %d", first.Fuel, second.Fuel)
	}
}

func TestNoRequestIsLostWhileAModuleIsReplacedByItsCompiledForm(t *testing.T) {
	b := newBench(t)
	m := b.admit(t, guest(), abi.Limits{CPUMS: abi.MaxLimits().CPUMS, WallMS: abi.MaxLimits().WallMS})
	var group sync.WaitGroup
	var host operations
	asked := make([]int, 8)
	enough := make(chan struct{})
	for i := range asked {
		group.Go(func() {
			for done := false; !done; {
				r := nothing.request()
				if i%2 == 0 {
					r, asked[i] = ask.request(), asked[i]+2
					r.Host = &host
				}
				result, err := m.Call(t.Context(), r)
				if err != nil || result.Class != abi.ClassOK {
					t.Errorf("a call ended as %+v, %v", result, err)
					return
				}
				select {
				case <-enough:
					done = !result.Interpreted
				default:
				}
			}
		})
	}
	await.That(t, "the host is called", func() bool { return host.count() > 0 })
	b.compiled(t, m)
	close(enough)
	group.Wait()
	want := 0
	for _, n := range asked {
		want += n
	}
	if got := host.count(); got != want {
		t.Errorf("the host was called %d times, want %d", got, want)
	}
}

func TestARequestThatNobodyHasNoticedMovesToTheCompiledCode(t *testing.T) {
	b := newBench(t)
	m := b.admit(t, guest(), abi.Limits{Fuel: 2_000_000_000, CPUMS: abi.MaxLimits().CPUMS, WallMS: abi.MaxLimits().WallMS})
	r := loop.request() // the interpreter takes far longer for its fuel than the compiler for the module
	r.Host = &operations{}
	ended := begin(t, m, r)
	expect(t, call(t, m, nothing.request()), abi.ClassOK, true)
	b.open()
	expect(t, await.Value(t, "the end of the loop", ended), abi.ClassFuel, false)
}

func TestARequestThatTheHostHasNoticedEndsWhereItBegan(t *testing.T) {
	b := newBench(t)
	m := b.admit(t, guest(), abi.Limits{CPUMS: abi.MaxLimits().CPUMS, WallMS: abi.MaxLimits().WallMS}) // it loops a million times
	for _, w := range []behaviour{ask, printThenAsk} {
		host, lines := &operations{wait: make(chan struct{})}, 0
		r := w.request()
		r.Host, r.Lines = host, func(string, string) { lines++ }
		ended := begin(t, m, r)
		await.That(t, "the host is called", func() bool { return host.count() > 0 })
		if w == ask {
			close(host.wait)
			expect(t, await.Value(t, "the answer", ended), abi.ClassOK, true)
			continue
		}
		b.compiled(t, m)
		close(host.wait)
		expect(t, await.Value(t, "the answer", ended), abi.ClassOK, true)
		if host.count() != 1 || lines != 1 {
			t.Errorf("the host was called %d times, and %d lines were printed", host.count(), lines)
		}
	}
}

func TestARequestIsRepeatedIfOnlyTheInterpreterCannotServeIt(t *testing.T) {
	b := newBench(t)
	m := b.admit(t, guest(), abi.Limits{})
	ended := begin(t, m, nest.request())
	expect(t, call(t, m, nothing.request()), abi.ClassOK, true)
	b.open()
	expect(t, await.Value(t, "the answer", ended), abi.ClassOK, false)
}

func TestLimitsHoldInBothForms(t *testing.T) {
	b := newBench(t)
	m := b.admit(t, guest(), abi.Limits{Fuel: 3_000_000, CPUMS: abi.MaxLimits().CPUMS, WallMS: abi.MaxLimits().WallMS})
	hurried := b.admit(t, guest(), abi.Limits{CPUMS: 20, WallMS: abi.MaxLimits().WallMS, Fuel: abi.MaxLimits().Fuel})
	late := b.admit(t, guest(), abi.Limits{WallMS: 20})
	var fuel []int64
	patient := b.admit(t, guest(), abi.MaxLimits())
	for _, interpreted := range []bool{true, false} {
		expect(t, cancelled(t, patient), abi.ClassCancelled, interpreted)
		r := askThenLoop.request()
		r.Host = &operations{}
		ended := call(t, m, r)
		expect(t, ended, abi.ClassFuel, interpreted)
		fuel = append(fuel, ended.Fuel)
		r.Host = &operations{}
		ended = call(t, hurried, r)
		if expect(t, ended, abi.ClassCPU, interpreted); strings.Contains(ended.Error.Message, "it was being compiled") != interpreted {
			t.Errorf("interpreted %v: %s", interpreted, ended.Error.Message)
		}
		r.Host = &operations{}
		expect(t, call(t, late, r), abi.ClassWall, interpreted)
		for _, each := range []*Module{m, hurried, late, patient} {
			b.compiled(t, each)
		}
	}
	if fuel[0] != fuel[1] {
		t.Errorf("it took %d units of fuel, and compiled %d", fuel[0], fuel[1])
	}
}

// cancelled gives up an endless request once it has called the host.
func cancelled(t *testing.T, m *Module) *sandbox.Result {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := askThenLoop.request()
	host := &operations{wait: make(chan struct{})}
	r.Host = host
	go func() {
		host.wait <- struct{}{}
		cancel()
	}()
	result, err := m.Call(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestAModuleThatCannotBeCompiledIsInterpretedForGood(t *testing.T) {
	dir, log := t.TempDir(), &journal{}
	compiling, err := sandbox.New(sandbox.Config{Scratch: []string{dir}, Compiler: sandbox.Compiler{Path: filepath.Join(dir, "no compiler")}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(sandbox.Config{Log: slog.New(slog.NewTextHandler(log, nil)), Scratch: []string{dir}}, compiling)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Admit(t.Context(), sandbox.Hash(guest()), sandbox.Options{Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	<-m.compiling.Done()
	if !strings.Contains(log.String(), "cannot be compiled") {
		t.Errorf("logged is %q", log)
	}
	expect(t, call(t, m, nothing.request()), abi.ClassOK, true)
	expect(t, call(t, m, nest.request()), abi.ClassStack, true)
	if err := errors.Join(m.Close(), s.Close(), compiling.Close()); err != nil {
		t.Error(err)
	}
}

func TestAModuleThatIsClosedIsNotCompiledAnyMore(t *testing.T) {
	b := newBench(t)
	m := b.admit(t, guest(), abi.Limits{CPUMS: abi.MaxLimits().CPUMS, WallMS: abi.MaxLimits().WallMS})
	host := &operations{wait: make(chan struct{})}
	r := ask.request()
	r.Host = host
	ended := begin(t, m, r)
	await.That(t, "the host is called", func() bool { return host.count() > 0 })
	await.That(t, "the compiler has begun", func() bool {
		dirs, err := filepath.Glob(filepath.Join(b.dir, "cache", "work", "*", "compile-*"))
		return err == nil && len(dirs) > 0
	})
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	<-m.compiling.Done()
	if _, err := m.Call(t.Context(), nothing.request()); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("after it: %v", err)
	}
	close(host.wait)
	expect(t, await.Value(t, "the end of the request", ended), abi.ClassOK, true)
}
