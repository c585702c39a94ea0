package workingmemory

import (
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// WmAdd puts a thought in focus.
//
// A thought that is in focus already gains attention_score, up to 1. When the buffer is full, the weakest thought becomes a memory, which
// evicted names. consolidation_due says that the buffer is nearly full or was not consolidated for long: memory_wm_consolidate makes
// room.
//
//alcove:title Put a thought in focus
//alcove:description Put a thought in focus; repeating it strengthens it.
type WmAdd struct {
	Content        string  `alcove:"required,min=1,max=8192,alias=thought|text"`
	AttentionScore float64 `alcove:"min=0,max=1,default=0.5,alias=attention"` // How much the thought matters now.
}

type added struct {
	ItemID           string
	Count            int
	Capacity         int
	Evicted          []alcove.ID // Thoughts that became memories.
	ConsolidationDue bool
}

// Call adds the thought to the buffer.
func (in WmAdd) Call(c *alcove.Call, cfg Config) (out added, err error) {
	b, err := load(c)
	if err != nil {
		return out, err
	}
	it := b.find(in.Content)
	if it == nil {
		evicted := b.weakest(cfg.Capacity - 1)
		b.Evicted += len(evicted)
		if out.Evicted, err = store(c, evicted); err != nil {
			return out, err
		}
		it = b.add(c, in.Content)
	}
	it.strengthen(in.AttentionScore)
	it.Accessed = c.Time()
	out.ItemID, out.Count, out.Capacity, out.ConsolidationDue = it.ID, len(b.Items), cfg.Capacity, b.due(cfg, c.Time())
	return out, b.save(c)
}

// add puts a thought without attention in focus.
func (b *buffer) add(c *alcove.Call, content string) *item {
	b.Added++
	b.Items = append(b.Items, item{ID: c.NewID("wm:"), Content: content, Thought: words.ThoughtOf(content), Added: c.Time()})
	return &b.Items[len(b.Items)-1]
}
