package workingmemory

import (
	"cmp"
	"slices"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// ProcessBoundary acts on a boundary.
//
// topic_shift stores the thoughts of the finished topic and links each with the next; they stay in focus. temporal_gap and capacity_limit
// consolidate. context_switch stores the buffer as one memory and empties it. emotional_peak strengthens the thought that it is about.
// session_end stores every thought and empties the buffer. none does nothing.
//
//alcove:title Act on a boundary
//alcove:description Act on a boundary: link, consolidate, store or strengthen what is in focus.
type ProcessBoundary struct {
	BoundaryType string `alcove:"required,enum=topic_shift|temporal_gap|context_switch|emotional_peak|capacity_limit|session_end|none,alias=type"`
}

type processed struct {
	Actions   []string
	MemoryIDs []alcove.ID
	Links     []link
}

type link struct {
	From alcove.ID
	To   alcove.ID
}

// peak is what the attention of a thought gains at an emotional peak.
const peak = .3

// Call acts on the boundary.
func (in ProcessBoundary) Call(c *alcove.Call, cfg Config) (out processed, err error) {
	b, err := load(c)
	if err != nil {
		return out, err
	}
	f, err := loadFocus(c)
	if err != nil {
		return out, err
	}
	switch in.BoundaryType {
	case topicShift:
		err = b.finish(c, &f, &out)
	case temporalGap, capacityLimit:
		out.MemoryIDs, err = b.consolidate(c, cfg)
		out.did("consolidated", len(out.MemoryIDs))
	case contextSwitch:
		err = b.pack(c, &out)
	case emotionalPeak:
		b.strengthen(f.Content, &out)
	case sessionEnd:
		out.MemoryIDs, err = b.empty(c)
		out.did("stored", len(out.MemoryIDs))
		f = focus{Counts: f.Counts, Links: f.Links}
	}
	if err != nil || in.BoundaryType == none {
		return out, err
	}
	if in.BoundaryType == contextSwitch || in.BoundaryType == capacityLimit || in.BoundaryType == sessionEnd {
		f.count(in.BoundaryType) // the others were counted when they were detected
	}
	if in.BoundaryType != emotionalPeak && in.BoundaryType != temporalGap {
		if err := f.save(c); err != nil {
			return out, err
		}
	}
	return out, b.save(c)
}

// did notes an action that had an effect.
func (p *processed) did(action string, count int) {
	if count > 0 {
		p.Actions = append(p.Actions, action)
	}
}

// finish stores the thoughts of the finished topic and links each with the next.
func (b *buffer) finish(c *alcove.Call, f *focus, out *processed) error {
	topic := b.topic(f)
	if len(topic) < 2 {
		return nil
	}
	var fresh []item
	for _, it := range topic {
		if !it.Stored {
			fresh = append(fresh, *it)
			it.Stored = true
		}
	}
	var err error
	if out.MemoryIDs, err = store(c, fresh); err != nil {
		return err
	}
	for i, it := range topic[1:] {
		if err := out.link(c, c.ID(topic[i].ID), c.ID(it.ID)); err != nil {
			return err
		}
	}
	f.Links += len(out.Links)
	out.did("stored", len(out.MemoryIDs))
	out.did("linked", len(out.Links))
	return nil
}

// link links a memory with another. One that was deleted meanwhile is linked no more.
func (p *processed) link(c *alcove.Call, from, to alcove.ID) error {
	added, err := c.LinkAdd(alcove.LinkAddRequest{Key: from.Key, To: []string{to.Key}})
	if alcove.CodeOf(err) == alcove.NotFound {
		return nil
	}
	if added.Added > 0 {
		p.Links = append(p.Links, link{from, to})
	}
	return err
}

// topic are the thoughts that were added while the finished topic lasted, in this order: all before the topic of now began.
func (b *buffer) topic(f *focus) (topic []*item) {
	for i := range b.Items {
		it := &b.Items[i]
		if it.Added >= f.Finished && (f.Began == 0 || it.Added < f.Began) {
			topic = append(topic, it)
		}
	}
	slices.SortStableFunc(topic, func(x, y *item) int { return cmp.Compare(x.Added, y.Added) })
	return topic
}

// pack stores all thoughts as one memory, the strongest first, and empties the buffer.
func (b *buffer) pack(c *alcove.Call, out *processed) error {
	if len(b.Items) == 0 {
		return nil
	}
	items := b.weakest(0)
	var lines, keys []string
	for i := range items {
		lines, keys = append(lines, items[i].Content), append(keys, items[i].ID)
	}
	note := map[string]any{"boundary": contextSwitch, "items": keys}
	id, err := c.Store(strings.Join(lines, "\n")).Key(c.NewID("wm:")).Importance(items[0].Attention).Metadata(noted, note).Put()
	if err != nil {
		return err
	}
	b.LastConsolidation = c.Time()
	b.Consolidated += len(items)
	out.MemoryIDs = []alcove.ID{id}
	out.did("packed", len(items))
	return emit(c, "wm_consolidated", change{MemoryIDs: out.MemoryIDs})
}

// strengthen gives the thought that a text is about more attention: the one with this text, or else the last that was added.
func (b *buffer) strengthen(content string, out *processed) {
	it := b.find(content)
	for i := range b.Items {
		if it == nil || b.Items[i].Added > it.Added && it.Content != content {
			it = &b.Items[i]
		}
	}
	if it == nil {
		return
	}
	it.strengthen(peak)
	out.did("strengthened", 1)
}
