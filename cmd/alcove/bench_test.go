package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// BenchmarkStoreThroughTheStdioBridge stores through a process that runs alcove mcp, and commits the same
// value to an engine on the same disk in turn, because disks change their pace within minutes. extra is what
// the store costs beyond the commit, both at the median.
func BenchmarkStoreThroughTheStdioBridge(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "data")
	b.Cleanup(func() { stopOwner(b, dir) })
	c := newClient(b, dir)
	engine, err := bolt.Open(b.Context(), b.TempDir(), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { engine.Close() })
	value := fmt.Sprintf("%0200d", 1)
	var stores, commits, reads []time.Duration
	for i := 0; b.Loop(); i++ {
		key := fmt.Sprint("key/", i)
		stores = append(stores, timed(func() {
			c.call("memory_store", map[string]any{"key": key, "value": value}, nil)
		}))
		commits = append(commits, timed(func() { commit(b, engine, key, value) }))
		reads = append(reads, timed(func() { c.recall(key) }))
	}
	b.ReportMetric(median(stores), "store-p50-µs")
	b.ReportMetric(median(commits), "commit-p50-µs")
	b.ReportMetric(median(stores)-median(commits), "extra-p50-µs")
	b.ReportMetric(median(reads), "recall-p50-µs")
	b.ReportMetric(0, "ns/op")
}

func commit(b *testing.B, engine *bolt.Engine, key, value string) {
	batch := store.Batch{
		Writes:  []store.Write{{Branch: 1, Key: store.Key{Namespace: "default", Collection: "memory", Name: key}, Value: []byte(value)}},
		Request: store.Request{Caller: "bench", ID: key, Digest: sha256.Sum256([]byte(value))},
	}
	if _, err := engine.Commit(b.Context(), batch); err != nil {
		b.Fatal(err)
	}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// median is in microseconds.
func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2]) / float64(time.Microsecond)
}

// BenchmarkTheStdioBridgeInPairs recalls through a process that runs alcove mcp, and on the socket of the same server, in turn. added is
// the median of the differences of the pairs, by the wall clock; CPU is what the bridge's process used for a call.
//
//	go test ./cmd/alcove -run '^$' -bench BridgeInPairs -benchtime 5000x
func BenchmarkTheStdioBridgeInPairs(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "data")
	b.Cleanup(func() { stopOwner(b, dir) })
	idle := newClient(b, dir).ended() // what a bridge uses without a call
	bridged := newClient(b, dir)
	direct := onSocket(b, dir)
	direct.call("memory_store", map[string]any{"key": "k", "value": "words to recall"}, nil)
	for range 200 { // until both are warm
		bridged.recall("k")
		direct.recall("k")
	}
	var with, without, added []time.Duration
	for i := 0; b.Loop(); i++ {
		pair := []*mcpClient{bridged, direct}
		took := map[*mcpClient]time.Duration{}
		if i%2 == 1 {
			slices.Reverse(pair)
		}
		for _, c := range pair {
			took[c] = timed(func() { c.recall("k") })
		}
		with, without, added = append(with, took[bridged]), append(without, took[direct]), append(added, took[bridged]-took[direct])
	}
	used := bridged.ended() - idle
	b.ReportMetric(median(with), "bridged-p50-µs")
	b.ReportMetric(median(without), "direct-p50-µs")
	b.ReportMetric(median(added), "added-p50-µs")
	b.ReportMetric(float64(used)/float64(time.Microsecond)/float64(b.N+200), "bridge-CPU-µs/call")
	b.ReportMetric(0, "ns/op")
}

// ended ends a client's process, and returns how long it has run on processors.
func (c *mcpClient) ended() time.Duration {
	c.t.Helper()
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		c.t.Fatal(err)
	}
	return c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
}

// onSocket begins a session on the socket of a server that runs.
func onSocket(b *testing.B, dir string) *mcpClient {
	b.Helper()
	conn, err := owner.Dial(b.Context(), owner.Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	c := &mcpClient{t: b, in: conn, out: bufio.NewReader(conn)}
	c.ask("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": struct{}{}, "clientInfo": map[string]string{"name": "test", "version": "1"}})
	c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return c
}

// BenchmarkAFactThroughTheStdioBridge stores memories and facts of 25 words by turns through a process that runs alcove mcp: what a tool
// of a family that stores costs beside the core's. ratio is that of the medians.
//
//	go test -tags guests ./cmd/alcove -run '^$' -bench AFactThrough -benchtime 1000x
func BenchmarkAFactThroughTheStdioBridge(b *testing.B) {
	if !guests.Embedded() {
		b.Skip("the program has no families: make guests, and -tags guests")
	}
	dir := filepath.Join(b.TempDir(), "data")
	b.Cleanup(func() { stopOwner(b, dir) })
	c, texts := newClient(b, dir), measure.NewTexts(1)
	var stores, facts []time.Duration
	both := func(i int) (store, fact time.Duration) {
		text := texts.Text(25, 25)
		store = timed(func() { c.call("memory_store", map[string]any{"key": fmt.Sprint("key/", i), "value": text}, nil) })
		return store, timed(func() { c.call("memory_store_fact", map[string]any{"content": text, "factType": "decision"}, nil) })
	}
	both(0) // which loads the family
	for i := 1; b.Loop(); i++ {
		store, fact := both(i)
		stores, facts = append(stores, store), append(facts, fact)
	}
	b.ReportMetric(median(stores), "store-p50-µs")
	b.ReportMetric(median(facts), "fact-p50-µs")
	b.ReportMetric(median(facts)/median(stores), "ratio")
	b.ReportMetric(0, "ns/op")
}
