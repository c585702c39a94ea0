package autotag

import (
	"slices"

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
	if !known.asked && (!known.fresh || known.stale && teaches(entries, which)) {
		askToLearn(c, namespace, known.fresh)
	}
	var vectors [][]float32
	if known.model == builtin {
		vectors = known.vectors(c, texts(entries, which))
	}
	for i, at := range which {
		e, stats := entries[at], known.Statistics
		if vectors != nil {
			stats.Topics.Vector = vectors[i]
		}
		d := t.decide(cfg, subject{e.Value, e.Tags, e.Type, e.Importance, e.Metadata}, readings[at], stats)
		changes[at] = d.change()
	}
}

// teaches says whether somebody gave a tag to one of the entries.
func teaches(entries []alcove.Entry, which []int) bool {
	return slices.ContainsFunc(which, func(at int) bool { return len(given(entries[at].Tags, entries[at].Metadata)) > 0 })
}

func texts(entries []alcove.Entry, which []int) []string {
	list := make([]string, len(which))
	for i, at := range which {
		list[i] = words.Text(entries[at].Value, words.Short)
	}
	return list
}

// askToLearn queues the learning of a vocabulary, and notes that, so that the next stores need not.
func askToLearn(c *alcove.Call, namespace string, force bool) {
	_, err := c.Enqueue(Learn{Namespace: namespace, Force: force}, soon)
	if err == nil {
		err = vocabulary.In(namespace).Put(c, askedKey, alcove.JSON(now(c)))
	}
	if err != nil {
		c.Log("the vocabulary of %s is not learned: %v", namespace, err)
	}
}
