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
	"github.com/alcove-memory/alcove/host/await"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// bystander is a caller of a small guest of another family, beside whatever else goes on.
type bystander struct {
	module *sandbox.Module
	stop   chan struct{}
	done   sync.WaitGroup
	took   []time.Duration
	wrong  []string
}

// every is how long the bystander waits between calls.
const every = 2 * time.Millisecond

func newBystander(t testing.TB, s *sandbox.Sandbox) *bystander {
	t.Helper()
	guest, err := os.ReadFile("../testdata/guests/c.wasm")
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

// latencies are how long calls took.
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

// harm is what happens to the bystander and to the garbage collector meanwhile.
type harm struct {
	latencies
	collected, paused time.Duration // at most
}

// beside does something, beside which the bystander must get the right answers. The benchmarks tell how soon it does.
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

// BenchmarkABystanderOfAFlood tells how long another caller waits while a family floods the host with requests that never end,
// beside how long it waits alone, and how long the garbage collector is held up.
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

// collector has garbage collected again and again, and times how long that takes.
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

// pauses is how long the garbage collector has waited for goroutines to stop, by the longest wait.
type pauses struct{ before *metrics.Float64Histogram }

const stopping = "/sched/pauses/stopping/gc:seconds"

func startPauses() pauses { return pauses{histogram()} }

func histogram() *metrics.Float64Histogram {
	samples := []metrics.Sample{{Name: stopping}}
	metrics.Read(samples)
	return samples[0].Value.Float64Histogram()
}

// longest is the upper end of the highest bucket that was added to.
func (p pauses) longest() time.Duration {
	after := histogram()
	for i := len(after.Counts) - 1; i >= 0; i-- {
		if after.Counts[i] > p.before.Counts[i] {
			return time.Duration(after.Buckets[i+1] * float64(time.Second))
		}
	}
	return 0
}
