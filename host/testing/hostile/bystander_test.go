package hostile_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// bystander calls a small guest of another family while the test runs.
type bystander struct {
	module *sandbox.Module
	stop   chan struct{}
	done   sync.WaitGroup
	took   []time.Duration
	wrong  []string
}

// every is the bystander's pause between calls.
const every = 2 * time.Millisecond

func newBystander(t testing.TB, s *sandbox.Sandbox) *bystander {
	t.Helper()
	guest, err := os.ReadFile("../../sandbox/testdata/guests/c.wasm")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := sandbox.Pack(guest, []byte(`{"abi":1,"name":"bystander","version":"1.0.0","description":"Does its work"}`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Admit(context.Background(), packed, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &bystander{module: m}
}

func (b *bystander) start() {
	b.stop, b.took, b.wrong = make(chan struct{}), nil, nil
	b.done.Add(1)
	go func() {
		defer b.done.Done()
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-b.stop:
				return
			case <-tick.C:
				b.call()
			}
		}
	}()
}

func (b *bystander) call() {
	began := time.Now()
	request := sandbox.Request{Kind: abi.KindTool, Payload: []byte(`{"arguments":{"text":"tea"}}`), Host: answering{}}
	r, err := b.module.Call(context.Background(), request)
	b.took = append(b.took, time.Since(began))
	if err != nil || r.Class != abi.ClassOK || string(r.Output) != `{"text":"TEA","config":{}}` {
		b.wrong = append(b.wrong, "a call went wrong")
	}
}

// latencies are the durations of calls.
type latencies struct {
	calls           int
	p50, p99, worst time.Duration
}

func (l latencies) String() string {
	return fmt.Sprintf("%d calls, p50 %v, p99 %v, at most %v", l.calls, l.p50, l.p99, l.worst)
}

func (b *bystander) end() latencies {
	close(b.stop)
	b.done.Wait()
	slices.Sort(b.took)
	n := len(b.took)
	return latencies{n, b.took[n/2], b.took[n*99/100], b.took[n-1]}
}

// harm is the effect on the bystander and the garbage collector.
type harm struct {
	latencies
	collected, paused time.Duration // at most
}

// beside runs work while the bystander must get correct answers. The benchmarks measure their latency.
func (b *bystander) beside(t testing.TB, do func()) harm {
	t.Helper()
	waits, c := startPauses(), startCollector()
	b.start()
	do()
	h := harm{b.end(), c.end(), waits.longest()}
	t.Logf("a bystander beside: %v; collections took at most %v and waited at most %v", h.latencies, h.collected, h.paused)
	if len(b.wrong) > 0 {
		t.Fatalf("%d calls of the bystander went wrong", len(b.wrong))
	}
	return h
}

// BenchmarkABystanderOfAFlood measures the latency of another caller while a family floods the host with requests that never end,
// the latency without the flood, and the delay of the garbage collector.
func BenchmarkABystanderOfAFlood(b *testing.B) {
	const callers, rounds = 8, 6
	s := newSandbox(b, await.Limit)
	other, f := newBystander(b, s), newFlood(b, s)
	for b.Loop() {
		alone := other.beside(b, func() { time.Sleep(time.Second) })
		beside := other.beside(b, func() { f.run(b, callers, rounds) })
		b.ReportMetric(float64(alone.p99.Microseconds()), "alone-p99-µs")
		b.ReportMetric(float64(beside.p99.Microseconds()), "beside-p99-µs")
		b.ReportMetric(float64(beside.p99)/float64(alone.p99), "p99-beside/alone")
		b.ReportMetric(float64(beside.paused.Microseconds()), "gc-waited-µs")
	}
	b.ReportMetric(0, "ns/op")
}

// collector runs the garbage collector continuously and times it.
type collector struct {
	stop chan struct{}
	done sync.WaitGroup
	took []time.Duration
}

func startCollector() *collector {
	c := &collector{stop: make(chan struct{})}
	c.done.Add(1)
	go func() {
		defer c.done.Done()
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-c.stop:
				return
			case <-tick.C:
				began := time.Now()
				runtime.GC()
				c.took = append(c.took, time.Since(began))
			}
		}
	}()
	return c
}

func (c *collector) end() (worst time.Duration) {
	close(c.stop)
	c.done.Wait()
	return slices.Max(c.took)
}

// pauses returns the longest time that the garbage collector waited for goroutines to stop.
type pauses struct{ before *metrics.Float64Histogram }

const stopping = "/sched/pauses/stopping/gc:seconds"

func startPauses() pauses { return pauses{histogram()} }

func histogram() *metrics.Float64Histogram {
	samples := []metrics.Sample{{Name: stopping}}
	metrics.Read(samples)
	return samples[0].Value.Float64Histogram()
}

// longest returns the upper bound of the highest bucket that grew.
func (p pauses) longest() time.Duration {
	after := histogram()
	for i := len(after.Counts) - 1; i >= 0; i-- {
		if after.Counts[i] > p.before.Counts[i] {
			return time.Duration(after.Buckets[i+1] * float64(time.Second))
		}
	}
	return 0
}
