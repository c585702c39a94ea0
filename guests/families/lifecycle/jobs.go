package lifecycle

import alcove "github.com/alcove-memory/alcove/sdk/go"

// Decay archives what is forgotten, where auto_forget is set. A run looks at a thousand memories, and the next goes on behind them.
//
//alcove:job decay every=1d each=namespace
//alcove:description Archives memories that are forgotten
type Decay struct {
	alcove.Sweep
}

// sweepSize is how many memories a run looks at.
const sweepSize = 1000

// Run looks at the next memories.
func (j Decay) Run(c *alcove.Call, cfg Config) (alcove.Swept, error) {
	if !cfg.AutoForget {
		return alcove.Swept{}, nil
	}
	judge, err := newJudge(c, cfg, "")
	if err != nil {
		return alcove.Swept{}, err
	}
	if judge.waiting, err = waiting(c); err != nil {
		return alcove.Swept{}, err
	}
	list := alcove.MemoryListRequest{Limit: sweepSize, Counters: true, Created: true}
	swept, err := alcove.SweepMemories(c, &j, list, func(memories []alcove.Memory) (int, error) { return judge.archive(c, memories) })
	if err == nil && swept.Next == "" && swept.Changed > 0 {
		err = emit(c, "lifecycle_run", alcove.ID{}, changes{Job: "decay", Count: swept.Changed})
	}
	return swept, err
}

// archive archives those of some memories that are forgotten, and tells how many.
func (j *judge) archive(c *alcove.Call, memories []alcove.Memory) (int, error) {
	var patches []alcove.MemoryPatch
	for i := range memories {
		m := &memories[i]
		if m.State != active || j.waiting[m.Key] || !j.forgotten(j.of(m)) {
			continue
		}
		p, err := leave(c, m, archived, mark{Reason: "forgotten"})
		if err != nil {
			return 0, err
		}
		patches = append(patches, p)
	}
	return len(patches), archiveAll(c, patches, "forgotten")
}

// Collect archives what has expired.
//
//alcove:job gc every=1h each=namespace
//alcove:description Archives memories that have expired
type Collect struct{}

// Run collects what has expired.
func (Collect) Run(c *alcove.Call, cfg Config) (collected, error) {
	known, err := waiting(c)
	if err != nil {
		return collected{}, err
	}
	out, err := GC{waiting: known}.Call(c, cfg)
	if err == nil && out.Archived > 0 {
		err = emit(c, "lifecycle_run", alcove.ID{}, changes{Job: "gc", Count: out.Archived})
	}
	return out, err
}
