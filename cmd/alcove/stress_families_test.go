package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	guests "github.com/alcove-memory/alcove/host/testing/hostile"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// TestClientsBesideNoisyFamiliesGetTheirAnswers has families spin, sleep, take memory, call the host, search, flood logs and
// records, multiply jobs, and fail in hooks, beside a client whose every answer is checked. How long its calls took is told,
// and judges nothing. ALCOVE_STRESS=45s makes it long.
func TestClientsBesideNoisyFamiliesGetTheirAnswers(t *testing.T) {
	t.Parallel()
	load := stress.FromEnvironment(t)
	var ask func() vitals
	s := startServer(t, dataDir(t), func(c *exec.Cmd) { ask = withVitals(t, c) })
	s.victimOf("bystander")().mustBeWell(t, "nothing")
	files, before, base := s.files(), ask(), s.peak()
	load.Lasting /= time.Duration(len(guests.Burdens()))
	for _, b := range guests.Burdens() {
		s.install(b)
		end := s.victimOf("bystander")
		s.burden(b, load)
		end().mustBeWell(t, b.Name)
		s.mustRun("family", "grant", b.Name, "--disable")
	}
	// Garbage may be as much as what lives. Without bounds, all callers of the hungry family would have their memory at once.
	limit := base + 2*int64(runtime.NumCPU()+6)*guests.BurdenPages<<16 + 256<<20
	if most := s.peak(); most > limit {
		t.Errorf("%d MB were resident: at most %d", most>>20, limit>>20)
	} else {
		t.Logf("%d MB were resident at first, %d MB at most", base>>20, most>>20)
	}
	s.victimOf("bystander")().mustBeWell(t, "families that are disabled")
	mustLevel(t, "descriptors", files, 4+len(guests.Burdens()), s.files) // code that is loaded has one, until it was idle for a while
	mustLevel(t, "goroutines", before.Goroutines, 10, func() int { return ask().Goroutines })
	s.mustRun("verify")
	s.stop()
	s.mustNotHavePanicked()
}

// peak is the most memory that the server had, in bytes; 0 where that cannot be told.
func (s *testServer) peak() int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes := int64(0)
	fmt.Sscan(after, &kilobytes)
	return kilobytes << 10
}

// install installs a family, with all that it asks for and its hooks.
func (s *testServer) install(b guests.Burden) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), b.Name+".wasm")
	if err := os.WriteFile(file, b.Module, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.mustRun("family", "install", file)
	grant := []string{"family", "grant", b.Name, "--all"}
	for _, hook := range b.Hooks {
		grant = append(grant, "--hook", string(hook))
	}
	s.mustRun(grant...)
}

// burden calls a family's tool from many clients at once; one with hooks alone is called by what the victim does.
func (s *testServer) burden(b guests.Burden, load stress.Load) {
	s.t.Helper()
	var calling sync.WaitGroup
	callers := 8 * runtime.NumCPU()
	if b.Name == "hungry" {
		callers *= 4
	}
	for n := range callers {
		session, err := s.connect("socket")
		if err != nil {
			s.t.Fatal(err)
		}
		calling.Go(func() {
			defer session.Close()
			for range load.Rounds(1) {
				tool, arguments := b.Tool, map[string]any{}
				if tool == "" {
					tool, arguments = "memory_store", map[string]any{"key": fmt.Sprint("noise", n), "value": "noise", "namespace": "noise"}
				}
				// Most calls end at a limit, which is their own caller's error; a hook that fails is nobody's.
				if _, err := session.Call(context.Background(), tool, arguments); err != nil && (b.Tool == "" || code(err) == "" || code(err) == "internal") {
					s.t.Errorf("call of %s: %v (%s), want no error but its own caller's", b.Name, err, code(err))
				}
			}
		})
	}
	calling.Wait()
}

// TestFamiliesThatAreGoneLeaveNothingRunning removes families while they are called.
func TestFamiliesThatAreGoneLeaveNothingRunning(t *testing.T) {
	s := startServer(t, dataDir(t), nil)
	for _, b := range guests.Burdens()[:2] {
		s.install(b)
		session, err := s.connect("socket")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := session.Call(context.Background(), b.Tool, map[string]any{})
			ended <- err
		}()
		s.mustRun("family", "remove", b.Name)
		if err := <-ended; err == nil {
			t.Errorf("%s answered", b.Name)
		}
		if _, err := session.Call(context.Background(), b.Tool, map[string]any{}); err == nil || !strings.Contains(err.Error(), b.Tool) {
			t.Errorf("%s is still there: %v", b.Name, err)
		}
		session.Close()
	}
	s.mustNotHavePanicked()
}

// TestAReadOnlySessionCannotWriteInAnyWay tries every tool that writes, and families', by its name and as an operation.
func TestAReadOnlySessionCannotWriteInAnyWay(t *testing.T) {
	s := startServer(t, dataDir(t), nil)
	s.mustRun("store", "k", "1")
	s.mustRun("branch", "fork", "f")
	s.mustRun("store", "k", "2", "--branch", "f")
	for _, b := range guests.Burdens() {
		if b.Name == "records" || b.Name == "jobs" {
			s.install(b)
		}
	}
	before := s.mustRun("export")
	c := newClient(t, s.dir, "--read-only")
	tries := 0
	for tool, list := range map[string][]string{
		"memory_store":       {`{"key":"x","value":1}`, `{"value":1}`, `{"items":[{"value":1}]}`, `{"key":"k","value":3,"if_version":2}`, `{"key":"x","value":1,"branch":"f","namespace":"n"}`},
		"memory_forget":      {`{"key":"k"}`, `{"key":["k"],"archive":true}`},
		"memory_log":         {`{"event":"e","data":1}`},
		"memory_branch":      {`{"action":"create","name":"x"}`, `{"action":"fork","name":"x"}`, `{"action":"merge","source":"f","strategy":"source"}`, `{"action":"delete","name":"f","force":true}`},
		"records_do":         {`{}`},
		"jobs_do":            {`{}`},
		"memory_operation":   {`{"method":"memory_operation","params":{"method":"memory_store","params":{"key":"x","value":1}}}`},
		"memory_load_family": {`{"family":"records","unload":true}`, `{"family":"jobs"}`},
	} {
		for _, arguments := range list {
			for _, call := range []string{rpc(0, tool, arguments), rpc(0, "memory_operation", fmt.Sprintf(`{"method":%q,"params":%s}`, tool, arguments))} {
				tries++
				c.next++
				fmt.Fprint(c.in, strings.Replace(call, `"id":0`, fmt.Sprintf(`"id":%d`, c.next), 1))
				var answer struct{ IsError bool }
				result, err := c.answer()
				if err == nil && tool != "memory_load_family" {
					if err := json.Unmarshal(result, &answer); err != nil || !answer.IsError {
						t.Errorf("%s %s was answered with %s", tool, arguments, result)
					}
				}
			}
		}
	}
	if after := s.mustRun("export"); after != before || tries < 20 {
		t.Errorf("after %d tries the memory differs at %s", tries, firstDifference(before, after))
	}
}
