package workingmemory

import (
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// focuses are where each agent's conversation is.
var focuses = alcove.Records[focus]{Name: "focus"}

// focus is where a conversation is.
type focus struct {
	Content  string        `json:"content,omitzero"` // the last text that has a topic
	Recent   []string      `json:"recent,omitzero"`  // the last texts of the topic, newest last
	Thought  words.Thought `json:"thought,omitzero"` // of the last text
	Mood     mood          // of the last text
	At       alcove.Time   // of the last text; zero: there was none since the session began
	Began    alcove.Time   // when the topic began; zero: with the session
	Finished alcove.Time   // when the topic before that began
	Counts   map[string]int
	Links    int // between thoughts of a finished topic
}

type mood struct{ V, A, D float64 }

func loadFocus(c *alcove.Call) (focus, error) {
	f, _, err := focuses.Get(c, agent(c))
	return f, err
}

func (f focus) save(c *alcove.Call) error { return focuses.Put(c, agent(c), f) }

// The types of boundaries.
const (
	topicShift    = "topic_shift"
	temporalGap   = "temporal_gap"
	contextSwitch = "context_switch"
	emotionalPeak = "emotional_peak"
	capacityLimit = "capacity_limit"
	sessionEnd    = "session_end"
	none          = "none"
)

// sureGap is the confidence that a pause is a boundary.
const sureGap = .9

// boundary is what a text is, as compared with those before.
type boundary struct {
	Type            string `alcove:"enum=topic_shift|temporal_gap|emotional_peak|none"`
	Confidence      float64
	TopicSimilarity float64
	TimeGapS        float64
	EmotionalDelta  float64
}

// decide names the boundary: a pause comes before a change of topic, and that before a change of mood.
func (b *boundary) decide(cfg Config) {
	switch {
	case b.TimeGapS >= cfg.BoundaryGapS:
		b.Type, b.Confidence = temporalGap, sureGap
	case b.TopicSimilarity < cfg.BoundarySimilarity:
		b.Type, b.Confidence = topicShift, 1-b.TopicSimilarity
	case b.EmotionalDelta >= cfg.BoundaryEmotion:
		b.Type, b.Confidence = emotionalPeak, min(b.EmotionalDelta/2, 1)
	default:
		b.Type, b.Confidence = none, 0
	}
}
