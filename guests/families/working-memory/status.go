package workingmemory

import alcove "github.com/alcove-memory/alcove/sdk/go"

// WmStatus lists what is in focus.
//
// The strongest thoughts come first. It changes nothing: looking at a thought does not strengthen it.
//
//alcove:title List what is in focus
//alcove:description What is in focus, strongest first.
//alcove:tool read-only
type WmStatus struct{}

type status struct {
	Items               []focused
	Count               int
	Capacity            int
	AverageAttention    float64
	SinceConsolidationS float64
	ConsolidationDue    bool
}

type focused struct {
	ItemID    string
	Content   string
	Attention float64
	Thought   string
	Added     alcove.Time
	Accessed  alcove.Time
}

// Call reads the buffer.
func (in WmStatus) Call(c *alcove.Call, cfg Config) (out status, err error) {
	b, err := load(c)
	if err != nil {
		return out, err
	}
	b.strongest()
	for _, it := range b.Items {
		out.Items = append(out.Items, focused{it.ID, it.Content, it.Attention, string(it.Thought), it.Added, it.Accessed})
	}
	out.Count, out.Capacity, out.AverageAttention = len(b.Items), cfg.Capacity, b.average()
	out.SinceConsolidationS, out.ConsolidationDue = b.idle(c.Time()), b.due(cfg, c.Time())
	return out, nil
}
