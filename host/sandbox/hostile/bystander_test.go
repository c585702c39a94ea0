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

func newBystander(t *testing.T, s *sandbox.Sandbox) *bystander {
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

// What hostile modules may do to others, on processors that other tests use as well.
const (
	worstPause = 50 * time.Millisecond
	worstP99   = 25 * time.Millisecond
)

// checkHarm does something with hostile modules, and looks at what that does to a bystander and to the garbage
// collector. A busy machine is given a second chance.
func checkHarm(t *testing.T, b *bystander, do func()) {
	t.Helper()
	for chance := range 2 {
		waits, c := startPauses(), startCollector()
		b.start()
		do()
		l, collected, paused := b.end(), c.end(), waits.longest()
		t.Logf("a bystander beside: %v; collections took at most %v and waited at most %v", l, collected, paused)
		if len(b.wrong) > 0 {
			t.Fatalf("%d calls of the bystander went wrong", len(b.wrong))
		}
		if l.p99 <= worstP99 && paused <= worstPause {
			return
		}
		if chance == 1 {
			t.Errorf("another caller's p99 was %v, at most %v are allowed; the garbage collector waited up to %v, at most %v are allowed", l.p99, worstP99, paused, worstPause)
		}
	}
}

// collector has garbage collected all the time, and times how long that takes.
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
		tick := time.NewTicker(25 * time.Millisecond)
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
