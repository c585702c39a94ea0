package facts

import (
	"cmp"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/score"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// draft is a fact that is about to be stored.
type draft struct {
	value      any    // what is stored
	content    string // its text
	argument   string // what the text was given as; empty: content
	kind       string
	tags       []string
	importance *float64       // nil: by the formula
	emotion    *words.Emotion // nil: the one that the words of the content show
	entities   []string
	supersedes alcove.ID
	metadata   map[string]any
}

// written is what became of a draft.
type written struct {
	id         alcove.ID
	importance float64
	version    uint64 // of a fact that stays as it was
	created    bool
}

// store stages a draft and announces it. A fact with the same content in the same namespace is the same fact.
func (d draft) store(c *alcove.Call, cfg Config) (out written, err error) {
	if strings.TrimSpace(d.content) == "" {
		return out, blank(cmp.Or(d.argument, "content"))
	}
	if len(d.content) > cfg.MaxFactBytes {
		e := alcove.Errorf(alcove.Exhausted, "the content has %d bytes: at most max_fact_bytes, %d, are allowed; store several facts, one idea each", len(d.content), cfg.MaxFactBytes)
		e.Details = map[string]any{"limit": "max_fact_bytes", "value": cfg.MaxFactBytes}
		return out, e
	}
	if !d.supersedes.IsZero() {
		if _, err := c.Memory(d.supersedes); err != nil {
			return out, err
		}
	}
	shown := words.CuesOf(d.content)
	if d.emotion == nil {
		d.emotion = new(shown.Emotion())
	}
	out.importance = d.worth(cfg)
	m := c.StoreValue(d.value).Type(d.kind).Tags(d.tags...).Importance(out.importance).Supersedes(d.supersedes)
	for name, v := range d.described(out.importance, shown.Tier()) {
		m.Metadata(name, v)
	}
	if err := out.put(c, m, map[string]any{"factType": d.kind, "importance": out.importance}); err != nil || out.version != 0 || cfg.ClassifyWithLLM {
		return out, err
	}
	return out, announce(c, "fact_enriched", out.id, map[string]any{fact.ObservationTier: shown.Tier().Observation})
}

// blank is the error for an argument without a visible character.
func blank(argument string) error {
	return alcove.Errorf(alcove.InvalidArgument, "%s is blank: give what is to be remembered, in words", argument)
}

// put stages a memory and announces it, unless there is the same already.
func (w *written) put(c *alcove.Call, m *alcove.Draft, changes map[string]any) error {
	item, err := m.IfVersion(0).Item()
	if err != nil {
		return err
	}
	stored, err := c.PutMemories([]alcove.MemoryItem{item})
	w.created = err == nil
	if alcove.CodeOf(err) == alcove.Conflict { // there is a memory of the same content
		item.IfVersion = nil
		stored, err = c.PutMemories([]alcove.MemoryItem{item})
	}
	if err != nil {
		return err
	}
	w.id = alcove.ID(stored[0])
	if w.created {
		return announce(c, "fact_created", w.id, changes)
	}
	m0, err := c.Find(w.id)
	if err != nil || m0 == nil {
		return err
	}
	if w.version = m0.Version; w.version != 0 { // it stays as it was
		return nil
	}
	return announce(c, "fact_updated", w.id, changes)
}

// worth is the importance that is given, or that of the formula. The draft has an emotion.
func (d draft) worth(cfg Config) float64 {
	if d.importance != nil {
		return *d.importance
	}
	return score.Fact{
		Weight: cfg.Importance.Of(d.kind), Emotion: d.emotion.Weight, Entities: len(d.entities), Characters: score.Characters(d.content),
	}.Importance()
}

// described are the metadata of the fact: those of the draft, and what the family finds out.
func (d draft) described(importance float64, tier words.Tier) map[string]any {
	all := map[string]any{fact.BaseImportance: importance}
	if d.emotion.Name != "" {
		all[fact.EmotionalContext] = d.emotion.Name
	}
	if d.emotion.Weight > 0 {
		all[fact.EmotionalWeight] = d.emotion.Weight
	}
	all[fact.ObservationTier], all[fact.ImportanceTier] = tier.Observation, tier.Importance
	if len(d.entities) > 0 {
		all[fact.EntityIDs] = d.entities
	}
	for name, v := range d.metadata {
		all[name] = v
	}
	return all
}

// unweighted is the weight of an emotion that is named without one.
const unweighted = .5

// emotionOf is the emotion that is given; nil: none is.
func emotionOf(name string, weight alcove.Optional[float64]) *words.Emotion {
	if name == "" && weight.IsZero() {
		return nil
	}
	return &words.Emotion{Name: name, Weight: weight.Or(unweighted)}
}

// announce emits an event about a fact.
func announce(c *alcove.Call, kind string, id alcove.ID, changes map[string]any) error {
	if id.Namespace == "" {
		id.Namespace = c.Namespace
	}
	return c.FeedEmit(alcove.FeedEmitRequest{Kind: kind, Namespace: id.Namespace, Payload: alcove.JSON(map[string]any{
		"factId": id.String(), "agentId": c.Caller, "scopeId": id.Namespace, "changes": changes,
	})})
}
