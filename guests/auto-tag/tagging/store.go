package tagging

import (
	"time"

	"github.com/alcove-memory/alcove/guests/auto-tag/suggest"
	"github.com/alcove-memory/alcove/guests/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
)

// store tags what is about to be stored. It asks the host once for each namespace, for what the vocabulary has of the
// words that were found.
func (t *tagger) store(c *alcove.Call, entries []alcove.Entry) ([]*alcove.Change, error) {
	cfg, err := config(c)
	if err != nil {
		return nil, err
	}
	readings := make([]suggest.Reading, len(entries))
	places := map[string][]int{}
	for i, e := range entries {
		if e.Collection != "" && e.Collection != "memory" {
			continue
		}
		readings[i] = t.suggest.Read(words.Text(e.Value, words.Short))
		places[e.Namespace] = append(places[e.Namespace], i)
	}
	changes := make([]*alcove.Change, len(entries))
	for _, namespace := range sortedKeys(places) {
		t.storeIn(c, cfg, namespace, places[namespace], entries, readings, changes)
	}
	return changes, nil
}

func (t *tagger) storeIn(c *alcove.Call, cfg Config, namespace string, which []int, entries []alcove.Entry, readings []suggest.Reading, changes []*alcove.Change) {
	own := make([]suggest.Reading, len(which))
	for i, at := range which {
		own[i] = readings[at]
	}
	known := lookUp(c, namespace, own)
	if !known.fresh && !known.wished {
		t.wish(c, namespace)
	}
	for _, at := range which {
		e := entries[at]
		d := t.decide(cfg, subject{e.Value, e.Tags, e.Type, e.Importance, e.Metadata}, readings[at], known.Statistics)
		changes[at] = d.change()
	}
}

// wish queues the learning of a vocabulary, and notes that, so that the next stores need not.
func (t *tagger) wish(c *alcove.Call, namespace string) {
	_, err := reflected.Enqueue(c, jobLearn, learnPayload{Namespace: namespace}, time.Minute)
	if err == nil {
		err = reflected.PutRecords(c, vocabulary, namespace, map[string]any{wishKey: reflected.Time(c).UTC().Format(time.RFC3339)})
	}
	if err != nil {
		c.Log("the vocabulary of %s is not learned: %v", namespace, err)
	}
}
