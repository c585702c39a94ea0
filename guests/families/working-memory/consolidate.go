package workingmemory

import alcove "github.com/alcove-memory/alcove/sdk/go"

// WmConsolidate moves the weakest thoughts to long-term memory.
//
// The strongest stay in focus: wm_keep_ratio of wm_capacity, four of seven by default. The importance of each new memory is the attention
// that the thought had.
//
//alcove:title Consolidate working memory
//alcove:description Move the weakest thoughts to long-term memory.
type WmConsolidate struct{}

type consolidated struct {
	Consolidated int
	Kept         int
	MemoryIDs    []alcove.ID
}

// Call consolidates the buffer.
func (in WmConsolidate) Call(c *alcove.Call, cfg Config) (out consolidated, err error) {
	b, err := load(c)
	if err != nil {
		return out, err
	}
	if out.MemoryIDs, err = b.consolidate(c, cfg); err != nil {
		return out, err
	}
	out.Consolidated, out.Kept = len(out.MemoryIDs), len(b.Items)
	return out, b.save(c)
}
