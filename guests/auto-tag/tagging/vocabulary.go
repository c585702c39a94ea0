package tagging

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/guests/auto-tag/suggest"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// vocabulary is the collection of the tags of each namespace. Its keys are folded tags, so that all forms of a tag meet
// at one record; overviewKey has what concerns them all.
const (
	vocabulary  = "tag-vocabulary"
	overviewKey = "*" // no tag folds to it
)

// word is a record of the vocabulary.
type word struct {
	Tag    string `json:"tag"`  // how the tag is written here
	Uses   int    `json:"uses"` // memories that have it, when that was learned
	Merged bool   `json:"merged,omitempty"`
}

// overview is the record of the whole vocabulary.
type overview struct {
	Learned   string   `json:"learned"` // RFC 3339
	Documents int      `json:"documents"`
	Common    []string `json:"common"` // folded words that are in so many memories that they tell nothing
}

// vocabularyAsked and vocabularyAnswer are those of record.get: the one call that a store waits for.
type vocabularyAsked struct {
	Collection string   `json:"collection"`
	Namespace  string   `json:"namespace"`
	Keys       []string `json:"keys"`
}

type vocabularyAnswer struct {
	Records []*struct {
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value"`
	} `json:"records"`
}

// fresh is how long a vocabulary is good.
const fresh = 24 * time.Hour

// maxKeys is how many records one call gives.
const maxKeys = 1000

// lookUp gives what a namespace knows of the candidates of some readings, and whether that should be learned anew. A
// host that does not answer leaves it unknown.
func lookUp(c *alcove.Call, namespace string, readings []suggest.Reading) (stats suggest.Statistics, stale bool) {
	keys := []string{overviewKey}
	seen := map[string]bool{}
	for _, r := range readings {
		for _, candidate := range r.Candidates {
			if !seen[candidate.Fold] && len(keys) < maxKeys {
				seen[candidate.Fold] = true
				keys = append(keys, candidate.Fold)
			}
		}
	}
	var answer vocabularyAnswer
	if err := c.Ask(alcove.OpRecordGet, vocabularyAsked{vocabulary, namespace, keys}, &answer); err != nil {
		c.Log("tags of %s are made without its vocabulary: %v", namespace, err)
		return stats, false
	}
	return read(c, answer)
}

func read(c *alcove.Call, answer vocabularyAnswer) (stats suggest.Statistics, stale bool) {
	stats = suggest.Statistics{Known: map[string]suggest.Known{}, Common: map[string]bool{}}
	stale = true
	for _, record := range answer.Records {
		switch {
		case record == nil:
		case record.Key == overviewKey:
			var o overview
			if json.Unmarshal(record.Value, &o) == nil {
				stale = o.old(c)
				for _, common := range o.Common {
					stats.Common[common] = true
				}
			}
		default:
			var w word
			if json.Unmarshal(record.Value, &w) == nil && w.Tag != "" {
				stats.Known[record.Key] = suggest.Known{Tag: w.Tag, Uses: w.Uses}
			}
		}
	}
	return stats, stale
}

func (o overview) old(c *alcove.Call) bool {
	learned, err := time.Parse(time.RFC3339, o.Learned)
	return err != nil || c.Time().Sub(learned) > fresh
}

// wide is how many tags of a vocabulary are read at most.
const wide = 20_000

// all gives the whole vocabulary of a namespace.
func all(c *alcove.Call, namespace string) (map[string]word, error) {
	words := map[string]word{}
	err := c.EachRecord(alcove.Records{Collection: vocabulary, Namespace: namespace, Limit: maxKeys}, func(r *alcove.Record) error {
		var w word
		if r.Key == overviewKey {
			return nil
		}
		if err := json.Unmarshal(r.Value, &w); err != nil {
			return alcove.Errorf(alcove.Internal, "read the tag %s: %v", r.Key, err)
		}
		if words[r.Key] = w; len(words) > wide {
			return alcove.Errorf(alcove.Exhausted, "%s has more than %d tags: merge some", namespace, wide)
		}
		return nil
	})
	return words, err
}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
