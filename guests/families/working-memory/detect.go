package workingmemory

import (
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// DetectBoundary tells whether the topic, mood or pace of the conversation just changed.
//
// It compares the text with the one before: a pause is a temporal_gap, few shared words are a topic_shift, another mood is an
// emotional_peak, in this order. A text of short words alone, such as an ok, has no topic and shifts none. memory_process_boundary acts on
// what was found.
//
//alcove:title Detect a boundary
//alcove:description Did the topic, mood or pace just change?
type DetectBoundary struct {
	Content string `alcove:"required,min=1,max=65536,alias=text"`
}

// Call compares the text with the one before.
func (in DetectBoundary) Call(c *alcove.Call, cfg Config) (boundary, error) {
	f, err := loadFocus(c)
	if err != nil {
		return boundary{}, err
	}
	b := f.compare(c, cfg, in.Content)
	f.follow(c.Time(), in.Content, b.Type)
	if b.Type != none {
		if err := emit(c, "boundary_detected", change{Type: b.Type}); err != nil {
			return boundary{}, err
		}
	}
	return b, f.save(c)
}

// compare tells what a text is after the one before.
func (f *focus) compare(c *alcove.Call, cfg Config, content string) boundary {
	if f.At == 0 {
		return boundary{Type: none, TopicSimilarity: 1}
	}
	b := boundary{TimeGapS: max(c.Time().Sub(f.At).Seconds(), 0)}
	b.TopicSimilarity, _ = words.Similarity(f.Content, content)
	b.EmotionalDelta = words.MoodOf(content).Distance(words.Mood{Valence: f.Mood.V, Arousal: f.Mood.A, Dominance: f.Mood.D})
	b.decide(cfg)
	return b
}

// follow has a text be the last one.
func (f *focus) follow(now alcove.Time, content, found string) {
	m := words.MoodOf(content)
	f.At, f.Thought, f.Mood = now, words.ThoughtOf(content), mood{m.Valence, m.Arousal, m.Dominance}
	if words.HasTopic(content) {
		f.Content = words.Cut(content, words.Long)
	}
	if found == topicShift {
		f.Finished, f.Began = f.Began, now
	}
	if found != none {
		f.count(found)
	}
}

func (f *focus) count(found string) {
	if f.Counts == nil {
		f.Counts = map[string]int{}
	}
	f.Counts[found]++
}
