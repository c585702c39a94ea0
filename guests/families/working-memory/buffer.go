package workingmemory

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// buffers are the thoughts in focus, by agent.
var buffers = alcove.Records[buffer]{Name: "wm"}

// buffer is what an agent has in focus.
type buffer struct {
	Items             []item
	LastConsolidation alcove.Time
	Added             int // in all
	Evicted           int
	Consolidated      int

	agent string `json:"-"`
}

// item is a thought in focus.
type item struct {
	ID        string // the key that the thought has as a memory
	Content   string
	Attention float64
	Thought   words.Thought
	Added     alcove.Time
	Accessed  alcove.Time
	Stored    bool `json:"stored,omitzero"` // it is a memory already
}

// nobody is the agent of callers without a name.
const nobody = "-"

// agent returns the key of the caller's records.
func agent(c *alcove.Call) string { return cmp.Or(c.Caller, nobody) }

// load returns the caller's buffer.
func load(c *alcove.Call) (*buffer, error) {
	b, ok, err := buffers.Get(c, agent(c))
	if !ok {
		b = buffer{LastConsolidation: c.Time()}
	}
	b.agent = agent(c)
	return &b, err
}

func (b *buffer) save(c *alcove.Call) error { return buffers.Put(c, b.agent, *b) }

// find returns the thought with some content, whatever its case and punctuation; nil for none.
func (b *buffer) find(content string) *item {
	same := plain(content)
	for i := range b.Items {
		if plain(b.Items[i].Content) == same {
			return &b.Items[i]
		}
	}
	return nil
}

// plain is a text without what makes no other thought: case, spaces, and punctuation at its end.
func plain(text string) string {
	return strings.TrimRight(strings.ToLower(strings.Join(strings.Fields(text), " ")), " .,;:!?…")
}

// strongest sorts thoughts by attention; of equal ones, the last accessed comes first.
func (b *buffer) strongest() {
	slices.SortStableFunc(b.Items, func(x, y item) int {
		return cmp.Or(cmp.Compare(y.Attention, x.Attention), cmp.Compare(y.Accessed, x.Accessed))
	})
}

// weakest cuts off the weakest thoughts, so that some remain.
func (b *buffer) weakest(remain int) []item {
	if len(b.Items) <= remain {
		return nil
	}
	b.strongest()
	cut := slices.Clone(b.Items[remain:])
	b.Items = b.Items[:remain]
	return cut
}

// due reports whether a consolidation is due: by the share of the capacity that is taken, or by the time since the last one.
func (b *buffer) due(cfg Config, now alcove.Time) bool {
	return float64(len(b.Items)) >= cfg.DueRatio*float64(cfg.Capacity) || b.idle(now) >= cfg.IntervalS
}

// idle returns the seconds since the last consolidation.
func (b *buffer) idle(now alcove.Time) float64 {
	if b.LastConsolidation == 0 {
		return 0
	}
	return max(now.Sub(b.LastConsolidation).Seconds(), 0)
}

// average returns the mean attention of the thoughts in focus; 0 without any.
func (b *buffer) average() float64 {
	if len(b.Items) == 0 {
		return 0
	}
	sum := 0.0
	for i := range b.Items {
		sum += b.Items[i].Attention
	}
	return sum / float64(len(b.Items))
}

// decay takes a share of the attention of each thought.
func (b *buffer) decay(rate float64) {
	for i := range b.Items {
		b.Items[i].Attention *= 1 - rate
	}
}

// strengthen adds to the attention of a thought, which is at most 1.
func (it *item) strengthen(by float64) { it.Attention = min(it.Attention+by, 1) }

// load is the share of the capacity that is taken.
func (b *buffer) load(cfg Config) float64 { return float64(len(b.Items)) / float64(cfg.Capacity) }

// kept is how many thoughts stay after a consolidation. What is added to the product keeps .6 of 5 at 3.
func kept(cfg Config) int {
	return max(int(math.Floor(cfg.KeepRatio*float64(cfg.Capacity)+1e-9)), 1)
}

// consolidate moves the weakest thoughts to long-term memory, and announces it.
func (b *buffer) consolidate(c *alcove.Call, cfg Config) ([]alcove.ID, error) {
	moved := b.weakest(kept(cfg))
	b.LastConsolidation = c.Time()
	b.Consolidated += len(moved)
	return b.move(c, moved)
}

// empty moves all thoughts to long-term memory, the strongest first, and announces it.
func (b *buffer) empty(c *alcove.Call) ([]alcove.ID, error) {
	moved := b.weakest(0)
	b.LastConsolidation = c.Time()
	b.Consolidated += len(moved)
	return b.move(c, moved)
}

func (b *buffer) move(c *alcove.Call, moved []item) ([]alcove.ID, error) {
	ids, err := store(c, moved)
	if err != nil || len(ids) == 0 {
		return ids, err
	}
	return ids, emit(c, "wm_consolidated", change{Kept: len(b.Items), MemoryIDs: ids})
}
