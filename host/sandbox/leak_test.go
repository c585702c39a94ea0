package sandbox

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// longLeak makes the leak tests run 100,000 requests of each kind.
const longLeak = "ALCOVE_LEAK"

func leakRounds() int {
	if n, err := strconv.Atoi(os.Getenv(longLeak)); err == nil && n > 0 {
		return n
	}
	if testing.Short() {
		return 600
	}
	return 3000
}

// usage is the resource usage of a process.
type usage struct {
	heap, resident uint64 // bytes
	files, threads int
	mappings       int
	goroutines     int
}

// held returns the resource usage of the idle process.
func held() usage {
	debug.FreeOSMemory()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{heap: m.HeapAlloc, goroutines: runtime.NumGoroutine()}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.files = len(files)
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		u.mappings = strings.Count(string(maps), "\n")
	}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		u.resident = field(string(status), "VmRSS:") << 10
		u.threads = int(field(string(status), "Threads:"))
	}
	return u
}

func field(status, name string) uint64 {
	_, rest, _ := strings.Cut(status, name)
	parts := strings.Fields(rest)
	if len(parts) == 0 {
		return 0
	}
	n, _ := strconv.ParseUint(parts[0], 10, 64)
	return n
}

// TestNothingLeaks sends many requests of each kind from concurrent callers: some keep their instance,
// others have it discarded.
func TestNothingLeaks(t *testing.T) {
	rounds := leakRounds()
	for name, request := range map[string]string{"answers": "e", "traps": "t", "exits": "x", "grows": "g", "gives up": "w"} {
		t.Run(name, func(t *testing.T) {
			m := acts(t, testConfig(t), abi.Limits{})
			rounds := rounds
			if name == "gives up" {
				rounds /= 10
			}
			flood(t, m, request, rounds/10)
			serveAtOnce(t, m)
			before := held()
			began := time.Now()
			flood(t, m, request, rounds)
			took := time.Since(began)
			await.That(t, "no goroutines are left", func() bool { return runtime.NumGoroutine() <= before.goroutines })
			after := held()
			t.Logf("%d requests in %v: before %+v, after %+v", rounds, took, before, after)
			if after.goroutines > before.goroutines || after.files > before.files || after.mappings > before.mappings+16 {
				t.Error("goroutines, files or mappings are left")
			}
			const slack = 4 << 20
			// The race detector's own memory grows by more when a thread begins.
			if after.heap > before.heap+slack || !underRace && after.resident > before.resident+2*slack {
				t.Error("memory is left")
			}
		})
	}
}

// callers is how many send requests at once.
const callers = 4

// serveAtOnce makes all instances that a flood needs: on a busy machine one after the other may serve all callers for a while.
func serveAtOnce(t *testing.T, m *Module) {
	t.Helper()
	var all, asking sync.WaitGroup
	n := min(callers, cap(m.slots))
	asking.Add(n)
	for range n {
		all.Go(func() {
			arrive := sync.OnceFunc(asking.Done)
			defer arrive() // for the others, if the guest was stopped before it asked
			together := running(func() { arrive(); asking.Wait() })
			if r, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: []byte("e"), Host: together}); err != nil || r.HostCalls != 1 {
				t.Errorf("Call = %+v, %v, want one call of the host", r, err)
			}
		})
	}
	all.Wait()
}

// flood sends requests from all callers.
func flood(t *testing.T, m *Module, request string, n int) {
	t.Helper()
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range n / callers {
				ctx, cancel := context.WithCancel(context.Background())
				if request == "w" {
					time.AfterFunc(100*time.Microsecond, cancel)
				}
				if _, err := m.Call(ctx, Request{Kind: abi.KindTool, Payload: []byte(request), Host: echo{}}); err != nil {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	all.Wait()
}

func TestClosedModulesLeaveNothing(t *testing.T) {
	s := newSandbox(t, testConfig(t))
	module := testdata(t, "acts.wasm")
	use := func(n int) {
		for range n {
			m, err := s.Admit(context.Background(), module, Options{Bare: true})
			must.Do(t, err)
			ask(t, m, "e")
			must.Do(t, m.Close())
		}
	}
	use(20)
	before := held()
	use(leakRounds() / 10)
	after := held()
	t.Logf("before %+v, after %+v", before, after)
	if after.goroutines > before.goroutines || after.files > before.files || after.mappings > before.mappings+16 || after.heap > before.heap+4<<20 {
		t.Error("closed modules leave something")
	}
}
