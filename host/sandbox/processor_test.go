package sandbox

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
)

func TestAGuestIsNotChargedWhileOthersHaveTheProcessor(t *testing.T) {
	var got processor
	c := &call{module: &Module{sandbox: &Sandbox{processor: func() processor { return got }}}, limits: abi.Limits{CPUMS: 80}}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	c.resume(0)
	for _, step := range []struct {
		now, thread, got int
		ran              int
		over             bool
	}{
		{now: 5, thread: 7, got: 1, ran: 5},       // by the clock: an eighth of the limit is not used
		{now: 12, thread: 7, got: 2, ran: 12},     // from now on by its thread
		{now: 112, thread: 7, got: 32, ran: 42},   // others had 70
		{now: 122, thread: 8, got: 900, ran: 52},  // it changed threads: by the clock
		{now: 1122, thread: 8, got: 920, ran: 72}, // others had 980
		{now: 1131, thread: 8, got: 928, ran: 80, over: true},
	} {
		got = processor{step.thread, ms(step.got)}
		over := c.overran(ms(step.now))
		if c.charged != ms(step.now) { // below the limit by the clock
			c.charge(ms(step.now))
			c.resume(ms(step.now))
		}
		if over != step.over || c.ran != ms(step.ran) {
			t.Errorf("after %d ms: charged %v, over the limit %t, want %d ms and %t", step.now, c.ran, over, step.ran, step.over)
		}
	}
}

// Goroutines that change threads all the time read the time of the thread whose number they read: it never goes back.
func TestTheTimeOfAThreadIsReadWithItsNumber(t *testing.T) {
	var all sync.WaitGroup
	for range 16 * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for range 5000 {
				before := processorNow()
				runtime.Gosched()
				if after := processorNow(); after.thread == before.thread && after.used < before.used {
					t.Errorf("thread %d had %v, and then %v, want no less", after.thread, before.used, after.used)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestWorkCountsAsProcessorTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := processorNow()
	for processorNow().used < began.used+10*time.Millisecond { // hangs when it does not
	}
	if now := processorNow(); now.thread != began.thread || now.thread == 0 {
		t.Errorf("thread %d, then %d, want the same", began.thread, now.thread)
	}
}
