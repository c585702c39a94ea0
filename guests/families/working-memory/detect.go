package workingmemory

import (
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// DetectBoundary tells whether the topic, mood or pace of the conversation just changed.
//
// It compares the text with the last ones: a pause is a temporal_gap; a text that means something else, has none of their words, takes up
// nothing of them, or says that it is about something else, is a topic_shift, if two of these agree; another mood is an emotional_peak, in
// this order. A text of short words alone, such as an ok, has no topic and shifts none. memory_process_boundary acts on what was found.
//
//alcove:title Detect a boundary
//alcove:description Did the topic, mood or pace just change?
type DetectBoundary struct {
	Content string `alcove:"required,min=1,max=65536,alias=text"`
}

// Call compares the text with those before.
func (in DetectBoundary) Call(c *alcove.Call, cfg Config) (boundary, error) {
	f, err := loadFocus(c)
	if err != nil {
		return boundary{}, err
	}
	b, err := f.compare(c, cfg, in.Content)
	if err != nil {
		return boundary{}, err
	}
	f.follow(c.Time(), in.Content, b.Type)
	if b.Type != none {
		if err := emit(c, "boundary_detected", change{Type: b.Type}); err != nil {
			return boundary{}, err
		}
	}
	return b, f.save(c)
}

// compare tells what a text is after those before.
func (f *focus) compare(c *alcove.Call, cfg Config, content string) (b boundary, err error) {
	b.TopicSimilarity = 1
	if f.At == 0 {
		b.Type = none
		return b, nil
	}
	b.TimeGapS = max(c.Time().Sub(f.At).Seconds(), 0)
	if before := f.recall(); len(before) > 0 && words.HasTopic(content) {
		found := cuesOf(before, content)
		if found.near, err = nearness(c, before, words.Cut(content, mostRemembered)); err != nil {
			return b, err
		}
		b.TopicSimilarity = found.similarity()
	}
	b.EmotionalDelta = words.MoodOf(content).Distance(words.Mood{Valence: f.Mood.V, Arousal: f.Mood.A, Dominance: f.Mood.D})
	b.decide(cfg)
	return b, nil
}

// follow has a text be the last one.
func (f *focus) follow(now alcove.Time, content, found string) {
	m := words.MoodOf(content)
	f.At, f.Thought, f.Mood = now, words.ThoughtOf(content), mood{m.Valence, m.Arousal, m.Dominance}
	if found == topicShift {
		f.Finished, f.Began = f.Began, now
	}
	if found == topicShift || found == temporalGap {
		f.Recent = nil
	}
	if words.HasTopic(content) {
		f.Content = words.Cut(content, words.Long)
		f.remember(words.Cut(content, mostRemembered))
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
