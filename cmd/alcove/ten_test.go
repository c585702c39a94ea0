package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/await"
)

// storesVariable is how many memories each process stores; unset: few, and the server is killed once. The long form is:
//
//	ALCOVE_STORES=2000 go test -count=1 -timeout 24h -v -run TenProcesses ./cmd/alcove
const storesVariable = "ALCOVE_STORES"

// storers are processes that store memories in one data directory.
type storers struct {
	t     *testing.T
	dir   string
	acks  atomic.Int64
	mu    sync.Mutex
	acked map[string]uint64 // version by key
}

// acknowledge notes a store that was acknowledged.
func (s *storers) acknowledge(key string, version uint64) {
	s.mu.Lock()
	s.acked[key] = version
	s.mu.Unlock()
	s.acks.Add(1)
}

// bridge stores through one process that runs alcove mcp.
func (s *storers) bridge(c *mcpClient, name string, stores int) error {
	for i := range stores {
		key := fmt.Sprintf("%s/%d", name, i)
		c.begin("tools/call", toolCall("memory_store", map[string]any{"key": key, "value": key}))
		raw, err := c.answer()
		var answer struct {
			StructuredContent struct{ Version uint64 }
			IsError           bool
		}
		if err == nil {
			err = json.Unmarshal(raw, &answer)
		}
		if err != nil || answer.IsError {
			return fmt.Errorf("store %s: %w: %s", key, err, raw)
		}
		s.acknowledge(key, answer.StructuredContent.Version)
	}
	return nil
}

var storedAs = regexp.MustCompile(`^stored \S+ as v(\d+) at`)

// commands stores by running alcove store for each memory.
func (s *storers) commands(name string, stores int) error {
	for i := range stores {
		key := fmt.Sprintf("%s/%d", name, i)
		out, err := program(s.t, s.dir, "store", key, strconv.Quote(key)).Output()
		said := storedAs.FindSubmatch(out)
		if err != nil || said == nil {
			return fmt.Errorf("store %s: %w: %s", key, err, out)
		}
		version, err := strconv.ParseUint(string(said[1]), 10, 64)
		if err != nil {
			return err
		}
		s.acknowledge(key, version)
	}
	return nil
}

// TestTenProcessesStoreEachMemoryOnceThoughTheOwnerIsKilled has five processes that run alcove mcp, and five loops of commands.
func TestTenProcessesStoreEachMemoryOnceThoughTheOwnerIsKilled(t *testing.T) {
	t.Parallel()
	bridged, commanded, kills := 60, 4, 1 // a command takes a process of its own
	if text := os.Getenv(storesVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("read %s: %v", storesVariable, err)
		}
		bridged, commanded, kills = n, n, 3
	}
	s := &storers{t: t, dir: dataDir(t), acked: map[string]uint64{}}
	began := time.Now()
	var all sync.WaitGroup
	failed := make(chan error, 10)
	for i := range 5 {
		c := newClient(t, s.dir)
		all.Go(func() { failed <- s.bridge(c, fmt.Sprint("mcp", i), bridged) })
		all.Go(func() { failed <- s.commands(fmt.Sprint("cli", i), commanded) })
	}
	total := int64(5 * (bridged + commanded))
	for kill := range int64(kills) {
		await.That(t, "stores are acknowledged", func() bool { return s.acks.Load() >= total*(kill+1)/int64(kills+1) || len(failed) > 0 })
		killOwner(t, s.dir)
	}
	all.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			t.Error(err)
		}
	}
	if int64(len(s.acked)) != total {
		t.Errorf("%d of %d stores were acknowledged", len(s.acked), total)
	}
	s.check(newClient(t, s.dir))
	t.Logf("%d stores by ten processes, %d kills, each found once, in %v", len(s.acked), kills, time.Since(began).Round(time.Second))
}

// check compares the history of each key with what was acknowledged.
func (s *storers) check(c *mcpClient) {
	s.t.Helper()
	keys := make([]string, 0, len(s.acked))
	for key := range s.acked {
		keys = append(keys, key)
	}
	for len(keys) > 0 {
		some := keys[:min(100, len(keys))]
		keys = keys[len(some):]
		batch := make([]map[string]any, len(some))
		for i, key := range some {
			batch[i] = map[string]any{"method": "history", "params": map[string]any{"key": key}}
		}
		var answer struct {
			Result []struct {
				Result struct {
					Versions []struct {
						Version uint64
						Value   string
					}
				}
			}
		}
		c.call("memory_operation", map[string]any{"batch": batch}, &answer)
		for i, key := range some {
			versions := answer.Result[i].Result.Versions
			if len(versions) != 1 || versions[0].Version != s.acked[key] || versions[0].Value != key {
				s.t.Errorf("%s, acknowledged as v%d, has the versions %v", key, s.acked[key], versions)
			}
		}
	}
}
