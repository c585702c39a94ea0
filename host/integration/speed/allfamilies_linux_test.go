//go:build guests

package speed_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// The cost of the first-party families, one module with eighteen manifests. To repeat the measurement:
//
//	make guests && go test -count=1 -v -tags guests -run TestAllFamilies ./host/integration/speed

// familiesDir makes the test binary the process that is measured, with its cache in this directory.
const familiesDir = "ALCOVE_TEST_ALL_FAMILIES"

// measured is what the process found.
type measured struct {
	Open, First time.Duration   // to open without a family; to load the first one
	FirstCPU    time.Duration   // of that, with the compiler
	Others      []time.Duration // to load each other one
	OthersCPU   time.Duration   // of all of that
	Start       []time.Duration // of the first call of each, which starts an instance
	Idle        int64           // bytes of memory before the first was loaded, and
	One         int64           // after it was,
	Loaded      int64           // after all were,
	Called      int64           // and after each was called
}

func TestAllFamiliesCostLittleMoreThanOne(t *testing.T) {
	if dir := os.Getenv(familiesDir); dir != "" {
		measureFamilies(t, dir)
		return
	}
	if testing.Short() || !stress.Turn(t, 4) {
		t.Skip("it compiles a large module: it runs on one day of four, without -short")
	}
	dir := t.TempDir()
	// A test binary does not know the version of its compiler, so that the first run compiles what a program unpacks.
	for _, run := range []string{"compiled", "from the cache"} {
		m := runFamilies(t, dir)
		idle, mb := float64(m.Idle), func(n int64) float64 { return float64(n-m.Idle) / 1e6 }
		others := len(m.Others)
		slices.Sort(m.Others)
		slices.Sort(m.Start)
		t.Logf("%s: open %v, the first family %v (%v of CPU), each other %v (the slowest %v, %v of CPU), the first call %v (%v); %.0f MB idle, and in addition %.0f MB with one, %.0f MB with all, %.0f MB after a call of each",
			run, m.Open.Round(time.Millisecond), m.First.Round(time.Millisecond), m.FirstCPU.Round(time.Millisecond), m.Others[others/2].Round(time.Microsecond), m.Others[others-1].Round(time.Microsecond), (m.OthersCPU / time.Duration(others)).Round(time.Microsecond),
			m.Start[others/2].Round(time.Microsecond), m.Start[others].Round(time.Microsecond), idle/1e6, mb(m.One), mb(m.Loaded), mb(m.Called))
		if run == "compiled" {
			continue
		}
		if per := float64(m.Loaded-m.One) / float64(others); per > 8e6 { // a copy of the code for each would be 8 MB or more
			t.Errorf("%s: each family after the first takes %.1f MB", run, per/1e6)
		}
		if mb(m.Called) > 200 { // 146 were measured; 96 of it is the code that all share
			t.Errorf("%s: after a call of each they take %.0f MB", run, mb(m.Called))
		}
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		t.Logf("load %s", bytes.TrimSpace(load))
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// runFamilies measures in a process that has nothing else.
func runFamilies(t *testing.T, dir string) (m measured) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "-test.run=TestAllFamilies", "-test.count=1")
	c.Env = append(os.Environ(), familiesDir+"="+dir)
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("run all families: %v\n%s", err, said)
	}
	if err := json.Unmarshal(readFile(t, filepath.Join(dir, "measured.json")), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func measureFamilies(t *testing.T, dir string) {
	var m measured
	began := time.Now()
	_, f := server.Parts(t, t.TempDir(), sandbox.Cache{Dir: filepath.Join(dir, "cache")})
	m.Open, m.Idle = time.Since(began), residentSet(t)
	names := []string{}
	for _, d := range f.All() {
		names = append(names, d.Manifest.Name)
	}
	if len(names) < 10 {
		t.Fatalf("there are %q, want the built-in families", names)
	}
	cpu := usedCPU(t)
	for i, name := range names {
		began := time.Now()
		if err := f.Load(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		if i == 0 {
			m.First, m.FirstCPU, m.One = took, usedCPU(t)-cpu, residentSet(t)
			cpu += m.FirstCPU
			continue
		}
		m.Others = append(m.Others, took)
	}
	m.Loaded, m.OthersCPU = residentSet(t), usedCPU(t)-cpu
	for _, d := range f.All() {
		began := time.Now()
		_, err := server.CallTool(t.Context(), f, d.Manifest.Tools[0].Name, string(arguments(d.Manifest.Tools[0].InputSchema)))
		if refused := new(memory.Error); err != nil && (!errors.As(err, &refused) || refused.Code == memory.Internal) {
			t.Fatalf("call of %s: %v", d.Manifest.Name, err)
		}
		m.Start = append(m.Start, time.Since(began))
	}
	m.Called = residentSet(t)
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "measured.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// arguments has a text for each parameter that a tool requires.
func arguments(schema json.RawMessage) json.RawMessage {
	var s struct{ Required []string }
	_ = json.Unmarshal(schema, &s) // the manifest was checked
	given := map[string]any{}
	for _, name := range s.Required {
		given[name] = "x"
	}
	data, _ := json.Marshal(given) // strings
	return data
}

// residentSet is how many bytes of memory this process has.
func residentSet(t *testing.T) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(data), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// usedCPU is how long this process and those that it started and that ended have run.
func usedCPU(t *testing.T) (sum time.Duration) {
	t.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}
