package tagging

import (
	"github.com/alcove-memory/alcove/guests/auto-tag/suggest"
	"github.com/alcove-memory/alcove/guests/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
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
	stats, stale := lookUp(c, namespace, own)
	if stale {
		t.wish(c, namespace)
	}
	for _, at := range which {
		e := entries[at]
		d := t.decide(cfg, subject{e.Value, e.Tags, e.Type, e.Importance, e.Metadata}, readings[at], stats)
		changes[at] = d.change()
	}
}

// wish queues the learning of a vocabulary. While it is wanted, one store in sixteen does so, told apart by what is
// different of each request: there is no other memory of having done it.
func (t *tagger) wish(c *alcove.Call, namespace string) {
	sum := uint32(2166136261)
	for _, text := range []string{c.Now, c.RequestID} {
		for i := range len(text) {
			sum = (sum ^ uint32(text[i])) * 16777619
		}
	}
	if sum>>8%16 != 0 {
		return
	}
	if _, err := c.Enqueue(jobLearn, learnPayload{Namespace: namespace}, 60); err != nil {
		c.Log("the vocabulary of %s is not learned: %v", namespace, err)
	}
}
