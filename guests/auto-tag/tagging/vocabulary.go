package tagging

import (
	"slices"
	"time"

	"github.com/alcove-memory/alcove/guests/auto-tag/suggest"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// vocabulary is the collection of the tags of each namespace. Its keys are folded tags, so that all forms of a tag meet
// at one record; overviewKey has what concerns them all.
const (
	vocabulary  = "tag-vocabulary"
	overviewKey = "*" // no tag folds to it, nor to the next
	wishKey     = "+" // when somebody last asked for the vocabulary to be learned
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

// How long a vocabulary is good, and how long whoever asked for a new one waits before asking again.
const (
	fresh   = 24 * time.Hour
	patient = time.Hour
)

// maxKeys is how many records one call gives.
const maxKeys = 1000

// looked is what a namespace knows of some readings.
type looked struct {
	suggest.Statistics
	fresh  bool // it was learned not long ago
	wished bool // somebody asked not long ago that it be learned
}

// lookUp gives what a namespace knows of the candidates of some readings. A host that does not answer leaves it unknown.
func lookUp(c *alcove.Call, namespace string, readings []suggest.Reading) looked {
	keys := []string{overviewKey, wishKey}
	seen := map[string]bool{}
	for _, r := range readings {
		for _, candidate := range r.Candidates {
			if !seen[candidate.Fold] && len(keys) < maxKeys {
				seen[candidate.Fold] = true
				keys = append(keys, candidate.Fold)
			}
		}
	}
	found, err := c.RecordGet(alcove.RecordGetRequest{Collection: vocabulary, Namespace: namespace, Keys: keys})
	if err != nil {
		c.Log("tags of %s are made without its vocabulary: %v", namespace, err)
		return looked{fresh: true} // nothing is to be done about it
	}
	return read(c, found.Records)
}

// read reads what records of a vocabulary say; those that are not there are nil.
func read(c *alcove.Call, records []*alcove.Record) looked {
	l := looked{Statistics: suggest.Statistics{Known: map[string]suggest.Known{}, Common: map[string]bool{}}}
	for _, r := range records {
		switch {
		case r == nil:
		case r.Key == overviewKey:
			l.fresh = readOverview(c, l.Statistics, r.Value)
		case r.Key == wishKey:
			l.wished = within(c, scan.New(r.Value).String(), patient)
		default:
			if w := readWord(r.Value); w.Tag != "" {
				l.Known[r.Key] = suggest.Known{Tag: w.Tag, Uses: w.Uses}
			}
		}
	}
	return l
}

// readWord reads a word; what is none has no tag.
func readWord(value []byte) (w word) {
	s := scan.New(value)
	for key := range s.Fields() {
		switch key {
		case "tag":
			w.Tag = s.String()
		case "uses":
			w.Uses = int(s.Int())
		case "merged":
			w.Merged = s.Bool()
		default:
			s.Skip()
		}
	}
	return w
}

// readOverview takes over what an overview says, and tells whether it is fresh.
func readOverview(c *alcove.Call, stats suggest.Statistics, value []byte) (isFresh bool) {
	s := scan.New(value)
	for key := range s.Fields() {
		switch key {
		case "learned":
			isFresh = within(c, s.String(), fresh)
		case "common":
			for range s.Elements() {
				stats.Common[s.String()] = true
			}
		default:
			s.Skip()
		}
	}
	return isFresh
}

// within says whether an instant is no longer ago than some time.
func within(c *alcove.Call, instant string, most time.Duration) bool {
	t, err := time.Parse(time.RFC3339, instant)
	return err == nil && reflected.Time(c).Sub(t) <= most
}

// wide is how many tags of a vocabulary are read at most.
const wide = 20_000

// all gives the whole vocabulary of a namespace.
func all(c *alcove.Call, namespace string) (map[string]word, error) {
	words := map[string]word{}
	for r, err := range c.Records(alcove.RecordListRequest{Collection: vocabulary, Namespace: namespace, Limit: maxKeys}) {
		if err != nil {
			return nil, err
		}
		if r.Key == overviewKey || r.Key == wishKey {
			continue
		}
		if words[r.Key] = readWord(r.Value); len(words) > wide {
			return nil, alcove.Errorf(alcove.Exhausted, "%s has more than %d tags: merge some", namespace, wide)
		}
	}
	return words, nil
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
