//go:build guests

package speed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// measuring is how long the load of TestPrimitives lasts, such as 60s; without it, the short form has few memories.
const measuring = "ALCOVE_PRIMITIVES"

// primitive is a call that agents make all the time.
type primitive struct {
	name   string
	target time.Duration // of the 99th percentile
	body   func(n int) string
}

// primitives are the calls of the load, on facts with the texts of f.
func (f *followed) primitives() []primitive {
	words := func(n, most int) string {
		list := strings.Fields(f.texts(n))
		return strings.Join(list[:min(len(list), most)], " ")
	}
	call := func(method string, params map[string]any) string {
		params["namespace"] = "old"
		body, err := json.Marshal(map[string]any{"method": method, "params": params})
		if err != nil {
			f.t.Fatal(err)
		}
		return string(body)
	}
	old := func(n int) string { return fmt.Sprintf("old#old-%d", n*7919%f.memories) }
	const write, read = 50 * time.Millisecond, 100 * time.Millisecond
	return []primitive{
		{"store", write, func(n int) string {
			return call("memory_store", map[string]any{"key": fmt.Sprint("new-", n), "value": f.texts(n)})
		}},
		{"store a fact", write, func(n int) string {
			return call("memory_store_fact", map[string]any{"content": fmt.Sprint(n, ": ", f.texts(n)), "factType": "decision"})
		}},
		{"bump access", write, func(n int) string {
			return call("memory_bump_access", map[string]any{"factIds": []string{old(n), old(n + 1), old(n + 2)}})
		}},
		{"recall", read, func(n int) string { return call("memory_recall", map[string]any{"key": old(n)}) }},
		{"search", read, func(n int) string { return call("memory_search", map[string]any{"query": words(n, 3)}) }},
		{"search facts by text", read, func(n int) string {
			return call("memory_text_search", map[string]any{"query": words(n, 3), "filters": map[string]any{"minImportance": .4}})
		}},
		{"search facts by topic", read, func(n int) string { return call("memory_search_facts", map[string]any{"topic": words(n, 3)}) }},
		{"query facts", read, func(n int) string {
			return call("memory_query_facts", map[string]any{"factType": "decision", "minImportance": .5, "limit": 20})
		}},
	}
}

// TestPrimitives checks that every primitive is answered while 16 clients make 200 calls a second, and prints how long each takes beside its
// target. make primitives runs it with 100,000 facts on a server process of its own.
func TestPrimitives(t *testing.T) {
	load, clients, perSecond := followLoad{memories: 300, lasting: 700 * time.Millisecond}, 4, 40
	long := os.Getenv(measuring) != ""
	if long {
		lasting, err := time.ParseDuration(os.Getenv(measuring))
		if err != nil {
			t.Fatalf("read %s: %v", measuring, err)
		}
		load, clients, perSecond = followLoad{memories: 100_000, lasting: lasting}, 16, 200
	}
	f := &followed{followLoad: load, t: t, dir: t.TempDir(), texts: synthetic()}
	f.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	stop := f.client.CloseIdleConnections
	if long {
		t.Setenv(server.Carried, "1")
		stop = f.startProcess()
		f.fill()
		stop()
		stop = f.startProcess()
	} else {
		s := server.Start(t, host.Options{Dir: f.dir, Families: server.Families(), Cache: server.Cache()})
		f.url, f.token = s.URL(), s.Token()
		f.fill()
	}
	defer stop()
	list := f.primitives()
	for n, p := range list { // loads the families
		f.operate(p.body(n))
	}
	took := f.drive(list, clients, perSecond)
	for _, p := range list {
		p50, p99 := percentile(took[p.name], 50), percentile(took[p.name], 99)
		t.Logf("%-24s p50 %8.2f ms  p99 %8.2f ms  target %4d ms  of %d", p.name, ms(p50), ms(p99), p.target.Milliseconds(), len(took[p.name]))
	}
	if len(slices.Collect(maps.Keys(took))) != len(list) {
		t.Errorf("only %v were called", took)
	}
}

// drive makes so many calls a second from some clients, each waiting for its answers, and returns how long the calls of each primitive took.
func (f *followed) drive(list []primitive, clients, perSecond int) map[string][]time.Duration {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), f.lasting)
	defer cancel()
	var mu sync.Mutex
	took := map[string][]time.Duration{}
	var working sync.WaitGroup
	working.Go(func() { f.yardstick(ctx) })
	for client := range clients {
		working.Go(func() {
			pause := time.Duration(clients) * time.Second / time.Duration(perSecond)
			next := time.NewTimer(pause * time.Duration(client) / time.Duration(clients))
			defer next.Stop()
			for n := client; ; n += clients {
				select {
				case <-ctx.Done():
					return
				case <-next.C:
				}
				begun := time.Now()
				next.Reset(pause)
				p := list[(n/clients+client)%len(list)]
				if _, err := f.tryOperate(p.body(n)); err != nil {
					f.t.Errorf("call %s: %v", p.name, err)
					return
				}
				mu.Lock()
				took[p.name] = append(took[p.name], time.Since(begun))
				mu.Unlock()
			}
		})
	}
	working.Wait()
	f.t.Logf("%d facts, %d clients, %d calls a second for %s; 4 KiB written and synced: p50 %.2f ms, p99 %.2f ms",
		f.memories, clients, perSecond, f.lasting, ms(percentile(f.yardArm, 50)), ms(percentile(f.yardArm, 99)))
	return took
}
