package sandbox

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// step is an instruction of a request to the guest of machine.
type step struct {
	act  byte
	a, b uint32
}

func (s step) String() string { return fmt.Sprintf("%c(%d,%d)", s.act, s.a, s.b) }

func program(steps ...step) (request []byte) {
	for _, s := range steps {
		request = binary.LittleEndian.AppendUint32(append(request, s.act), s.a)
		request = binary.LittleEndian.AppendUint32(request, s.b)
	}
	return request
}

// machine is a guest that executes the steps of its request and calls the host with the result of each. Its memory has so many
// pages, and grows in _initialize.
func machine(pages wasm.Range, initially int32) []byte {
	const at, end, result = 2, 3, 4
	const op, scratch, braces, request = 16, 32, 48, 1024
	m := &asm.Module{}
	read := m.Import("alcove", "read", asm.I32s(3), asm.I32s(1))
	write := m.Import("alcove", "write", asm.I32s(3), asm.I32s(1))
	call := m.Import("alcove", "call", asm.I32s(4), asm.I32s(1))
	m.Memory(pages.Min)
	m.Memories[0] = pages
	m.Table(4)
	count := m.Global(wasm.I32, asm.I32(0))
	m.Put(op, []byte("step"))
	m.Put(braces, []byte("{}"))
	text := m.Passive([]byte("segment"))
	a, b := asm.Seq(asm.Get(at), asm.Op(wasm.OpI32Load, 0, 1)), asm.Seq(asm.Get(at), asm.Op(wasm.OpI32Load, 0, 5))
	body := asm.Seq(
		asm.Set(end, asm.Add(asm.I32(request), asm.Call(read, asm.I32(0), asm.I32(request), asm.I32(4096)))),
		asm.Set(at, asm.I32(request)))
	act := func(name byte, code asm.Code) asm.Code {
		return asm.If(asm.Two(wasm.OpI32Eq, asm.Load(wasm.OpI32Load8U, asm.Get(at)), asm.I32(int32(name))), code)
	}
	body = asm.Seq(body, asm.Block(asm.Loop(
		asm.BrIf(1, asm.Two(wasm.OpI32GeU, asm.Get(at), asm.Get(end))),
		asm.Set(result, asm.I32(0)),
		act('s', asm.Set(result, asm.Op(wasm.OpMemorySize, 0))),
		act('g', asm.Set(result, asm.Seq(a, asm.Op(wasm.OpMemoryGrow, 0)))),
		act('r', asm.Set(result, asm.Load(wasm.OpI32Load8U, a))),
		act('w', asm.Store(wasm.OpI32Store8, a, b)),
		act('f', asm.Seq(a, asm.I32(0xa5), b, asm.Op(wasm.OpMemoryFill, 0))),
		act('c', asm.Seq(a, b, asm.I32(5000), asm.Op(wasm.OpMemoryCopy, 0, 0))),
		act('i', asm.Seq(a, asm.I32(0), asm.I32(4), asm.Op(wasm.OpMemoryInit, text, 0))),
		act('d', asm.Op(wasm.OpDataDrop, text)),
		act('t', asm.Set(result, asm.Seq(asm.Op(wasm.OpRefNull, uint32(wasm.FuncRef)), a, asm.Op(wasm.OpTableGrow, 0)))),
		act('n', asm.SetGlobal(count, asm.Add(asm.GetGlobal(count), asm.I32(1)))),
		act('n', asm.Set(result, asm.GetGlobal(count))),
		act('u', asm.Unreachable()),
		asm.Store(wasm.OpI32Store, asm.I32(scratch), asm.Get(result)),
		asm.Drop(asm.Call(call, asm.I32(op), asm.I32(4), asm.I32(scratch), asm.I32(4))),
		asm.Set(at, asm.Add(asm.Get(at), asm.I32(9))),
		asm.Br(0))),
		asm.Drop(asm.Call(write, asm.I32(0), asm.I32(braces), asm.I32(2))), asm.I32(0))
	grow := asm.Drop(asm.Seq(asm.I32(initially), asm.Op(wasm.OpMemoryGrow, 0)))
	m.Export(exportInitialize, wasm.KindFunc, m.Func(asm.Func{Body: grow}))
	m.Export(exportHandle, wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Locals: asm.I32s(3), Body: body}))
	return m.Bytes()
}

// results is a host that keeps what it is called with.
type results struct{ list []uint32 }

func (r *results) Call(_ context.Context, _ abi.Op, request []byte) ([]byte, error) {
	r.list = append(r.list, binary.LittleEndian.Uint32(request))
	return []byte("{}"), nil
}

// seen is what can be told of a request.
type seen struct {
	results []uint32
	class   abi.Class
	memory  int64  // bytes
	content uint64 // a hash of the memory at the end
	fuel    int64  // 0: it trapped
}

func run(t testing.TB, m *Module, steps ...step) (s seen) {
	t.Helper()
	host := &results{}
	r, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: program(steps...), Host: host})
	must.Do(t, err)
	s = seen{results: host.list, class: r.Class, memory: r.Memory}
	if r.Class == abi.ClassOK {
		s.fuel = r.Fuel
	}
	return s
}

// everyMemory calls f with a sandbox of each engine with each kind of memory.
func everyMemory(t *testing.T, inspect func(string, []byte), f func(t *testing.T, s *Sandbox)) {
	for _, c := range []struct {
		name            string
		interpret, heap bool
	}{{"compiled", false, false}, {"compiled, on the heap", false, true}, {"interpreted", true, false}, {"interpreted, on the heap", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			config := testConfig(t)
			config.Interpret, config.Inspect = c.interpret, inspect
			s := newSandbox(t, config)
			if s.pages != nil && c.heap {
				must.Do(t, s.pages.close())
				s.pages = nil
			}
			f(t, s)
		})
	}
}

const mostPages = 12 // of the machines

func admitMachine(t testing.TB, s *Sandbox, pages wasm.Range, initially int32) *Module {
	t.Helper()
	m, err := s.Admit(context.Background(), machine(pages, initially), Options{Bare: true, Vetted: true, Limits: abi.Limits{MemoryPages: mostPages}})
	must.Do(t, err)
	return m
}

// randomSteps are steps for a memory of some pages that can have at most so many. They seldom trap and leave the request alone.
func randomSteps(random *rand.Rand, pages, most uint32) (steps []step) {
	for range 1 + random.IntN(12) {
		s := step{act: "sggggrrrrrrwwwwwwffccinnntdu"[random.IntN(28)]}
		s.a = uint32(random.IntN(int(pages)))<<16 + uint32(random.IntN(1<<16))
		if random.IntN(2) == 0 {
			s.a = s.a&^0xffff + 65536 - 8 + uint32(random.IntN(9))
		}
		s.a |= 8192
		switch s.act {
		case 'g':
			s.a = []uint32{0, 1, 1, 2, 3, 5, 40, 1 << 31}[random.IntN(8)]
			if pages+s.a <= most {
				pages += s.a
			}
		case 't':
			s.a = []uint32{0, 3, 1 << 20, 1 << 20}[random.IntN(4)]
		case 'w':
			s.b = 1 + uint32(random.IntN(255))
		case 'f':
			s.b = uint32(random.IntN(20_000))
		case 'c':
			s.b = 8192
		}
		steps = append(steps, s)
	}
	return steps
}

// TestGrownInstancesServeAgainAsNewOnesDo sends random requests to a module whose instances are reset, and to one that starts an instance
// for each. Each day two kinds of memory have their turn.
func TestGrownInstancesServeAgainAsNewOnesDo(t *testing.T) {
	seed := maphash.MakeSeed()
	var content uint64
	inspect := func(_ string, memory []byte) { content = maphash.Bytes(seed, memory) }
	kinds := map[string]struct {
		pages     wasm.Range
		initially int32
	}{
		"without a maximum":     {wasm.Range{Min: 1}, 0},
		"grown in _initialize":  {wasm.Range{Min: 1}, 2},
		"a maximum that is low": {wasm.Range{Min: 2, HasMax: true, Max: 6}, 0},
		"one that is high":      {wasm.Range{Min: 1, HasMax: true, Max: 5000}, 0},
	}
	for _, name := range stress.Pick(t, 2, slices.Sorted(maps.Keys(kinds))) {
		c := kinds[name]
		t.Run(name, func(t *testing.T) {
			everyMemory(t, inspect, func(t *testing.T, s *Sandbox) {
				again, anew := admitMachine(t, s, c.pages, c.initially), admitMachine(t, s, c.pages, c.initially)
				initial := int64(int32(c.pages.Min)+c.initially) * pageBytes
				most := uint32(mostPages)
				if c.pages.HasMax {
					most = min(most, c.pages.Max)
				}
				random := rand.New(rand.NewPCG(1, 2))
				grown := 0
				for round := range 400 {
					steps := randomSteps(random, uint32(initial/pageBytes), most)
					anew.closeIdle()
					want := run(t, anew, steps...)
					want.content = content
					got := run(t, again, steps...)
					got.content = content
					if !slices.Equal(got.results, want.results) || got.class != want.class || got.memory != want.memory || got.content != want.content || got.fuel != want.fuel {
						t.Fatalf("%d: %v: %+v, of a new instance %+v", round, steps, got, want)
					}
					atMost := c.pages.HasMax && got.memory > initial && got.memory == int64(c.pages.Max)*pageBytes
					keeps := got.class == abi.ClassOK && !irreversible(steps, got.results) && !atMost
					if n := again.idleCount(); (n == 1) != keeps {
						t.Fatalf("%d: %v: %d instances wait for the next request", round, steps, n)
					}
					anew.closeIdle()
					if kept := int64(s.pool.bytes); keeps && kept != initial {
						t.Fatalf("%d: %v: %d bytes wait for the next request", round, steps, kept)
					}
					if keeps && got.memory > initial {
						grown++
					}
				}
				if grown < 10 {
					t.Errorf("only %d instances that grew served again", grown)
				}
			})
		})
	}
}

// irreversible reports whether a table grew or a segment was dropped.
func irreversible(steps []step, results []uint32) bool {
	for i, s := range steps {
		if s.act == 'd' || s.act == 't' && results[i] != 1<<32-1 {
			return true
		}
	}
	return false
}

func TestNothingIsLeftInTheMemoryThatAnInstanceGrewBy(t *testing.T) {
	everyMemory(t, nil, func(t *testing.T, s *Sandbox) {
		m := admitMachine(t, s, wasm.Range{Min: 1}, 0)
		const grown = 3 << 16
		for range 3 {
			got := run(t, m, step{'s', 0, 0}, step{'g', 4, 0}, step{'r', grown, 0}, step{'w', grown, 7}, step{'r', grown, 0}, step{'g', 90, 0})
			if want := []uint32{1, 1, 0, 0, 7, 1<<32 - 1}; !slices.Equal(got.results, want) {
				t.Errorf("size, growth, a byte before and after it is written, and a growth too far are %v, want %v", got.results, want)
			}
		}
		if n := m.started.Load(); n != 1 {
			t.Errorf("%d instances were started", n)
		}
		for _, act := range []byte{'r', 'w', 'f', 'i'} {
			run(t, m, step{'g', 4, 0}, step{'g', 90, 0})
			if got := run(t, m, step{act, grown, 4}); got.class != abi.ClassTrap || len(got.results) != 0 {
				t.Errorf("%c beyond the memory: %+v", act, got)
			}
		}
	})
}

// unshrinkable is a memory that cannot give back what it grew by.
type unshrinkable struct{ backing }

func (unshrinkable) shrink(uint64) []byte { return nil }

func TestAnInstanceThatKeepsItsGrownMemoryIsDiscarded(t *testing.T) {
	everyMemory(t, nil, func(t *testing.T, s *Sandbox) {
		m := admitMachine(t, s, wasm.Range{Min: 1}, 0)
		run(t, m)
		s.pool.last.memory.backing = unshrinkable{s.pool.last.memory.backing}
		run(t, m)
		if m.idleCount() != 1 {
			t.Error("an instance that did not grow is discarded")
		}
		run(t, m, step{'g', 1, 0})
		if m.idleCount() != 0 {
			t.Error("the instance waits for the next request")
		}
		if got := run(t, m, step{'s', 0, 0}); got.results[0] != 1 || m.started.Load() != 2 {
			t.Errorf("the next request found %d pages, in instance %d", got.results[0], m.started.Load())
		}
	})
}

func TestInstancesGrowBesideEachOtherAndWhileTheirModuleIsClosed(t *testing.T) {
	everyMemory(t, nil, func(t *testing.T, s *Sandbox) {
		m := admitMachine(t, s, wasm.Range{Min: 1}, 0)
		var all sync.WaitGroup
		for caller := range uint32(4) {
			all.Go(func() {
				at, own := caller<<16+70_000, caller+1
				for range 100 {
					got := run(t, m, step{'g', 5, 0}, step{'r', at, 0}, step{'f', 1 << 16, 5 << 16}, step{'w', at, own}, step{'r', at, 0})
					if want := []uint32{1, 0, 0, 0, own}; !slices.Equal(got.results, want) {
						t.Errorf("caller %d: %v, want %v", caller, got.results, want)
					}
				}
			})
		}
		all.Wait()
		for range 4 {
			all.Go(func() {
				for {
					_, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: program(step{'g', 5, 0}), Host: &results{}})
					if err != nil {
						return // it is closed
					}
				}
			})
		}
		must.Do(t, m.Close())
		all.Wait()
		s.closing.Wait()
		if n := m.idleCount(); n != 0 || s.pool.bytes != 0 {
			t.Errorf("%d instances with %d bytes are left", n, s.pool.bytes)
		}
	})
}

// growing is a memory of wazero, as far as shrink uses it.
type growing struct {
	api.Memory
	linear *linear
}

func (g growing) Grow(delta uint32) (uint32, bool) {
	return 0, g.linear.Reallocate(g.linear.size+uint64(delta)*wasmPage) != nil
}
