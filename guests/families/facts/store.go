package facts

import (
	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// StoreFact stores one idea as a typed fact. Without an importance it gets that of its type, raised by emotion and entities, and lowered
// for a text of less than 20 or more than 2,000 characters. The same content in the same namespace is the same fact. An emotion is read
// from the words unless it is given.
//
//alcove:description Store one idea as a typed fact.
//alcove:tool idempotent
//alcove:title Store a fact
//alcove:camel
type StoreFact struct {
	Content          string `alcove:"required,alias=value|text"`
	FactType         string `alcove:"default=observation,alias=type,enum=decision|observation|plan|error|insight|correction|steering_rule|learning|session_summary|note"`
	Tags             []string
	EntityIDs        []string                 `alcove:"name=entityIds"` // The entities that it is about.
	EmotionalContext string                   // The emotion, in a word.
	EmotionalWeight  alcove.Optional[float64] `alcove:"advanced"` // How strong the emotion is, 0 to 1.
	Importance       alcove.Optional[float64] // How much it matters, 0 to 1; by its type if left out.
	Confidence       alcove.Optional[float64] `alcove:"advanced"` // 0 to 1; 1 if left out.
	Summary          string
	Pinned           bool
	ConversationID   string    `alcove:"advanced"`
	Supersedes       alcove.ID // The fact that this one replaces.
}

// Stored is a stored fact.
//
//alcove:camel
type Stored struct {
	FactID     alcove.ID
	Version    uint64 `alcove:"committed"`
	Importance float64
	Created    bool // False: there was a fact of the same content.
}

// Call stores the fact.
func (in StoreFact) Call(c *alcove.Call, cfg Config) (Stored, error) {
	if err := first(share("confidence", in.Confidence.Or(1)), share("emotionalWeight", in.EmotionalWeight.Or(0)), share("importance", in.Importance.Or(0))); err != nil {
		return Stored{}, err
	}
	d := draft{
		value: in.Content, content: in.Content, kind: in.FactType, tags: in.Tags, emotion: emotionOf(in.EmotionalContext, in.EmotionalWeight),
		entities: in.EntityIDs, supersedes: in.Supersedes, metadata: map[string]any{},
	}
	if v, given := in.Importance.Get(); given {
		d.importance = &v
	}
	if v := in.Confidence.Or(1); v != 1 {
		d.metadata[fact.Confidence] = v
	}
	if in.Summary != "" {
		d.metadata[fact.Summary] = in.Summary
	}
	if in.Pinned {
		d.metadata[fact.Pinned] = true
	}
	if in.ConversationID != "" {
		d.metadata[fact.ConversationID] = in.ConversationID
	}
	w, err := d.store(c, cfg)
	return Stored{w.id, w.version, score.Rounded(w.importance), w.created}, err
}

// share is an error for a number that is not between 0 and 1.
func share(name string, v float64) error {
	if v >= 0 && v <= 1 {
		return nil
	}
	return alcove.Errorf(alcove.InvalidArgument, "%s is %g: give a number from 0 to 1", name, v)
}

// first is the first of some errors.
func first(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}
