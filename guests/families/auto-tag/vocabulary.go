package autotag

import (
	"iter"
	"slices"

	"github.com/alcove-memory/alcove/guests/families/auto-tag/suggest"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// vocabulary is the tags of each namespace. Its keys are folded tags, so that all forms of a tag meet at one record, a word; below two
// keys that no tag folds to there are others.
var vocabulary = alcove.Records[alcove.Raw]{Name: "tag-vocabulary", Per: "branch"}

const (
	overviewKey = "*" // an overview
	askedKey    = "+" // when somebody last asked for the vocabulary to be learned
)

// word is a record of the vocabulary.
//
//alcove:json
type word struct {
	Tag    string // how the tag is written here
	Uses   int    // memories that have it, when that was learned
	Given  int    `json:",omitempty"` // of these, to how many somebody gave it
	Merged bool   `json:",omitempty"`
}

// overview is the record of the whole vocabulary.
//
//alcove:json
type overview struct {
	Learned   alcove.Time
	Documents int
	Common    []string // folded words that are in so many memories that they tell nothing
}

// How long a vocabulary is good, and how long one that was asked for is waited for before it is asked for again.
const (
	fresh   = 24 * alcove.Hour
	patient = alcove.Hour
	soon    = 15 * alcove.Second
)

// maxKeys is how many records are looked up at most.
const maxKeys = 1000

// looked is what a namespace knows of some readings.
type looked struct {
	suggest.Statistics
	fresh bool   // it was learned not long ago
	asked bool   // somebody asked not long ago that it be learned
	stale bool   // tags that are given now are not learned soon without being asked for
	never bool   // it was never learned
	model string // of the vectors of its topics
}

// lookUp gives what a namespace knows of the candidates of some readings. A host that does not answer leaves it unknown.
func lookUp(c *alcove.Call, namespace string, readings []suggest.Reading) looked {
	keys := []string{overviewKey, askedKey, topicsKey}
	seen := map[string]bool{}
	add := func(key string) {
		if !seen[key] && len(keys) < maxKeys {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	for _, r := range readings {
		for _, candidate := range r.Candidates {
			add(candidate.Fold)
			for _, fold := range candidate.Also {
				add(fold)
			}
		}
		for _, fold := range r.Voting {
			add(wordPrefix + fold)
		}
	}
	records, err := vocabulary.In(namespace).GetAll(c, keys)
	if err != nil {
		c.Log("tags of %s are made without its vocabulary: %v", namespace, err)
		return looked{fresh: true} // nothing is to be done about it
	}
	return known(c, records)
}

// known is what records of a vocabulary say; those that are not there are nil.
func known(c *alcove.Call, records []*alcove.Item[alcove.Raw]) looked {
	l := looked{Statistics: suggest.Statistics{Known: map[string]suggest.Known{}, Common: map[string]bool{}}}
	l.Topics.Votes = map[string]suggest.Votes{}
	var o overview
	var asked alcove.Time
	for _, r := range records {
		switch {
		case r == nil:
		case r.Key == overviewKey:
			o = decoded[overview](r.Value)
			for _, w := range o.Common {
				l.Common[w] = true
			}
		case r.Key == askedKey:
			asked = decoded[alcove.Time](r.Value)
		case r.Key == topicsKey:
			t := decoded[topics](r.Value)
			l.model = t.Model
			t.into(&l.Topics)
		case r.Key[0] == wordPrefix[0]:
			l.Topics.Votes[r.Key[len(wordPrefix):]] = decoded[votes](r.Value).known()
		default:
			if w := decoded[word](r.Value); w.Tag != "" {
				l.Known[r.Key] = suggest.Known{Tag: w.Tag, Uses: w.Uses, Given: w.Given}
			}
		}
	}
	l.fresh, l.never = within(c, o.Learned, fresh), o.Learned == 0
	l.asked = within(c, asked, patient) && asked > o.Learned
	l.stale = !within(c, o.Learned, o.patience())
	return l
}

// patience is how long tags that were given wait to be learned: longer in a namespace that takes longer to read.
func (o overview) patience() alcove.Duration {
	return soon + alcove.Duration(o.Documents)*alcove.Second/5
}

// decoded is a record as a value of a type, as far as it has the form.
func decoded[T any, P interface {
	*T
	scan.Decoder
}](value alcove.Raw) (v T) {
	P(&v).DecodeJSON(scan.New(value))
	return v
}

// now is the time of the call, to the second.
func now(c *alcove.Call) alcove.Time { return c.Time().Truncate(alcove.Second) }

// within says whether an instant is no longer ago than some time.
func within(c *alcove.Call, instant alcove.Time, most alcove.Duration) bool {
	return instant != 0 && c.Time().Sub(instant) <= most
}

// wide is how many tags of a vocabulary are read at most.
const wide = 20_000

// all gives the whole vocabulary of a namespace: its tags, and the words of its texts.
func all(c *alcove.Call, namespace string) (tags map[string]word, texts map[string]string, err error) {
	tags, texts = map[string]word{}, map[string]string{}
	for r, err := range vocabulary.In(namespace).All(c, "") {
		switch {
		case err != nil:
			return nil, nil, err
		case r.Key == overviewKey || r.Key == askedKey || r.Key == topicsKey:
		case r.Key[0] == wordPrefix[0]:
			texts[r.Key] = string(r.Value)
		default:
			tags[r.Key] = decoded[word](r.Value)
		}
		if len(tags) > wide {
			return nil, nil, alcove.Errorf(alcove.Exhausted, "%s has more than %d tags: merge some", namespace, wide)
		}
	}
	return tags, texts, nil
}

// records are words as the vocabulary keeps them, in the order of their keys.
func records(words map[string]word) iter.Seq2[string, alcove.Raw] {
	return func(yield func(string, alcove.Raw) bool) {
		for _, fold := range sortedKeys(words) {
			if !yield(fold, alcove.JSON(words[fold])) {
				return
			}
		}
	}
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
