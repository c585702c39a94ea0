package alcove

import "github.com/alcove-memory/alcove/sdk/go/scan"

// Sweep is embedded in the payload of a job that goes through many memories, some in each run. A run is committed by itself, and
// queues the next.
type Sweep struct {
	After   string `json:"after,omitzero"`   // where the next run begins
	Done    int    `json:"done,omitzero"`    // memories that were looked at, in all runs
	Changed int    `json:"changed,omitzero"` // of them
}

// Swept is the result of a run.
type Swept struct {
	Done    int    `json:"done"`          // memories that were looked at, in all runs
	Changed int    `json:"changed"`       // of them
	Next    string `json:"next,omitzero"` // the job that goes on; empty: all is done
}

// CodeJSON reads or writes the result.
func (s *Swept) CodeJSON(c *scan.Coder) {
	c.Object([]scan.Field{
		{Name: "done", Value: scan.Int(&s.Done)},
		{Name: "changed", Value: scan.Int(&s.Changed)},
		{Name: "next", Value: scan.Text(&s.Next), Omit: s.Next == ""},
	})
}

func (s *Sweep) sweep() *Sweep { return s }

// Sweeper is a pointer to a job whose payload embeds Sweep.
type Sweeper interface {
	Job
	sweep() *Sweep
}

// SweepMemories has handle look at the next memories of a job, tells how far it has come, and queues the job again when there are
// more. List says which memories, and how many a run takes; handle tells how many it changed. A job says what it is doing by a method
// Doing() string, else its name says it.
func SweepMemories(c *Call, job Sweeper, list MemoryListRequest, handle func([]Memory) (changed int, err error)) (Swept, error) {
	s := job.sweep()
	list.After = s.After
	page, err := c.MemoryList(list)
	if err != nil {
		return Swept{}, err
	}
	changed, err := handle(page.Memories)
	if err != nil {
		return Swept{}, err
	}
	s.Done, s.Changed, s.After = s.Done+len(page.Memories), s.Changed+changed, page.Next
	out := Swept{Done: s.Done, Changed: s.Changed}
	if err := c.Progress(s.Done, 0, doing(job)); err != nil || page.Next == "" {
		return out, err
	}
	out.Next, err = c.Enqueue(job, 0)
	return out, err
}

func doing(job Sweeper) string {
	if d, ok := job.(interface{ Doing() string }); ok {
		return d.Doing()
	}
	return job.AlcovePart().Job
}
