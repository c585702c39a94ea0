package sandbox

import (
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
)

func TestAGuestIsNotChargedWhileOtherProgramsHaveTheProcessor(t *testing.T) {
	var got time.Duration // by this process
	c := &call{module: &Module{sandbox: &Sandbox{consumed: func() time.Duration { return got }}}, limits: abi.Limits{CPUMS: 100}}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for _, step := range []struct {
		now, got int
		over     bool
	}{
		{now: 99, got: 99},
		{now: 150, got: 60},  // of which others had 90
		{now: 189, got: 80},  // 99 of its own by the clock
		{now: 1000, got: 99}, // others had the processor
		{now: 1001, got: 100, over: true},
	} {
		got = ms(step.got)
		if over := c.overran(ms(step.now)); over != step.over {
			t.Errorf("after %d ms, of which this process had %d: over the limit %t", step.now, step.got, over)
		}
	}
}

func TestWorkCountsAsProcessorTime(t *testing.T) {
	began := processorTime()
	for processorTime() < began+10*time.Millisecond { // hangs when it does not
	}
}
