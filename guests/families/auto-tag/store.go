package autotag

import (
	"github.com/alcove-memory/alcove/guests/families/auto-tag/suggest"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Tagger tags what is about to be stored.
//
//alcove:store collections=memory on_failure=skip
type Tagger struct{ reader }

// Store asks the host once for each namespace, for what the vocabulary has of the words that were found.
func (t Tagger) Store(c *alcove.Call, cfg Config, entries []alcove.Entry) ([]*alcove.Change, error) {
	readings := make([]suggest.Reading, len(entries))
	byNamespace := map[string][]int{}
	for i, e := range entries {
		if e.Collection != "" && e.Collection != "memory" {
			continue
		}
		readings[i] = t.suggest.Read(words.Text(e.Value, words.Short))
		byNamespace[e.Namespace] = append(byNamespace[e.Namespace], i)
	}
	changes := make([]*alcove.Change, len(entries))
	for _, namespace := range sortedKeys(byNamespace) {
		t.storeIn(c, cfg, namespace, byNamespace[namespace], entries, readings, changes)
	}
	return changes, nil
}

func (t Tagger) storeIn(c *alcove.Call, cfg Config, namespace string, which []int, entries []alcove.Entry, readings []suggest.Reading, changes []*alcove.Change) {
	own := make([]suggest.Reading, len(which))
	for i, at := range which {
		own[i] = readings[at]
	}
	known := lookUp(c, namespace, own)
	if !known.fresh && !known.asked {
		askToLearn(c, namespace)
	}
	for _, at := range which {
		e := entries[at]
		d := t.decide(cfg, subject{e.Value, e.Tags, e.Type, e.Importance, e.Metadata}, readings[at], known.Statistics)
		changes[at] = d.change()
	}
}

// askToLearn queues the learning of a vocabulary, and notes that, so that the next stores need not.
func askToLearn(c *alcove.Call, namespace string) {
	_, err := c.Enqueue(Learn{Namespace: namespace}, alcove.Minute)
	if err == nil {
		err = vocabulary.In(namespace).Put(c, askedKey, alcove.JSON(now(c)))
	}
	if err != nil {
		c.Log("the vocabulary of %s is not learned: %v", namespace, err)
	}
}
