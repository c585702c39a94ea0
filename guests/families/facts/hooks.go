package facts

import (
	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/score"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Hooks are what happens to facts that are stored by other tools. They are asked about facts alone, and after a store about those that have no
// tier yet: what the hook before the store missed, and what other families wrote. A language model decides afterwards, about each fact.
//
//alcove:store collections=memory on_failure=skip types=decision,observation,plan,error,insight,correction,steering_rule,learning,session_summary,note
//alcove:stored collections=memory own types=decision,observation,plan,error,insight,correction,steering_rule,learning,session_summary,note when_lacks=metadata.observationTier when_settings=classify_with_llm
type Hooks struct{}

// Store gives facts of the core their importance, emotion and tier. An importance that auto-tag gave, which runs before, is replaced; any other
// stays.
func (Hooks) Store(c *alcove.Call, cfg Config, entries []alcove.Entry) ([]*alcove.Change, error) {
	changes := make([]*alcove.Change, len(entries))
	for i := range entries {
		e := &entries[i]
		change := &alcove.Change{Metadata: alcove.Metadata{}}
		if _, done := e.Metadata[fact.ObservationTier]; !done {
			for name, v := range classify(c, Config{}, e) { // by its words: nothing waits for a language model
				change.Metadata[name] = alcove.JSON(v)
			}
		}
		if e.Importance == nil || givenByAutoTag(e) {
			importance := read(e).worth(cfg)
			change.Importance = &importance
			change.Metadata[fact.BaseImportance] = alcove.JSON(importance)
		}
		if len(change.Metadata) > 0 {
			changes[i] = change
		}
	}
	return changes, nil
}

// tagged is what auto-tag notes in the metadata of a memory.
//
//alcove:json
type tagged struct{ Importance *float64 }

// givenByAutoTag reports whether the importance of an entry is the one that auto-tag noted.
func givenByAutoTag(e *alcove.Entry) bool {
	var mark tagged
	noted := e.Metadata["auto_tag"]
	return len(noted) > 0 && scan.Decode(noted, &mark) == nil && mark.Importance != nil && *mark.Importance == *e.Importance
}

// read is what counts of an entry.
func read(e *alcove.Entry) draft {
	d := draft{kind: e.Type, content: text(e.Value), entities: fact.Texts(e.Metadata[fact.EntityIDs]), emotion: &words.Emotion{}}
	d.emotion.Name, _ = e.Metadata[fact.EmotionalContext].Text()
	d.emotion.Weight, _ = fact.Number(e.Metadata[fact.EmotionalWeight])
	return d
}

// text is a value as text: what its strings say.
func text(value alcove.Raw) string {
	if text, ok := value.Text(); ok {
		return text
	}
	return words.Text(value, words.Long)
}

// Stored classifies facts that have no tier yet, gives them an importance if they have none, and announces each as enriched. With
// classify_with_llm a language model decides.
func (Hooks) Stored(c *alcove.Call, cfg Config, entries []alcove.Entry) error {
	for i := range entries {
		e := &entries[i]
		if e.Deleted || !score.IsFact(e.Type) || e.State != "" && e.State != "active" {
			continue
		}
		if err := enrich(c, cfg, e); err != nil {
			return err
		}
	}
	return nil
}

func enrich(c *alcove.Call, cfg Config, e *alcove.Entry) error {
	id, changes := alcove.ID{Namespace: e.Namespace, Key: e.Key}, classify(c, cfg, e)
	edit := c.Edit(id)
	if e.Importance == nil {
		importance := read(e).worth(cfg)
		edit.Importance(alcove.Some(importance))
		changes[fact.BaseImportance] = importance
	}
	for name, v := range changes {
		edit.Metadata(name, v)
	}
	if err := edit.Apply(); alcove.CodeOf(err) == alcove.NotFound { // deleted meanwhile
		return nil
	} else if err != nil {
		return err
	}
	return announce(c, "fact_enriched", id, changes)
}

// classify is the emotion and the tier of a fact as metadata. An emotion that somebody gave stays.
func classify(c *alcove.Call, cfg Config, e *alcove.Entry) map[string]any {
	content := text(e.Value)
	cues := words.CuesOf(content)
	tier, shown := cues.Tier(), cues.Emotion()
	emotion := shown
	if cfg.ClassifyWithLLM {
		if said, err := ask(c, content); err != nil {
			c.Log("a fact is classified by its words: %v", err)
		} else {
			tier, emotion = said.into(tier, emotion)
		}
	}
	all := map[string]any{fact.ObservationTier: tier.Observation, fact.ImportanceTier: tier.Importance}
	if had, _ := e.Metadata[fact.EmotionalContext].Text(); emotion.Name != "" && (had == "" || had == shown.Name) {
		all[fact.EmotionalContext], all[fact.EmotionalWeight] = emotion.Name, emotion.Weight
	}
	return all
}
