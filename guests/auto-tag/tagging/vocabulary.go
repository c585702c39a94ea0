package tagging

import (
	"slices"
	"time"

	"github.com/alcove-memory/alcove/guests/auto-tag/suggest"
	alcove "github.com/alcove-memory/alcove/sdk/go"
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
	answer, err := c.AskRaw(alcove.OpRecordGet, question(namespace, keys))
	if err == nil {
		var l looked
		if l, err = read(c, answer); err == nil {
			return l
		}
	}
	c.Log("tags of %s are made without its vocabulary: %v", namespace, err)
	return looked{fresh: true} // nothing is to be done about it
}

// question is the request of record.get, the one call that a store waits for: it is written, and its answer is read,
// without reflection.
func question(namespace string, keys []string) []byte {
	q := scan.AppendString(scan.AppendKey([]byte("{"), "collection"), vocabulary)
	q = scan.AppendString(scan.AppendKey(q, "namespace"), namespace)
	return append(scan.AppendStrings(scan.AppendKey(q, "keys"), keys), '}')
}

// read reads {"records": [{"key", "value"} or null…]}.
func read(c *alcove.Call, answer []byte) (looked, error) {
	l := looked{Statistics: suggest.Statistics{Known: map[string]suggest.Known{}, Common: map[string]bool{}}}
	s := scan.New(answer)
	for key := range s.Fields() {
		if key != "records" {
			s.Skip()
			continue
		}
		for range s.Elements() {
			switch at, value := readRecord(s); at {
			case overviewKey:
				l.fresh = readOverview(c, l.Statistics, value)
			case wishKey:
				l.wished = within(c, scan.New(value).String(), patient)
			default:
				if w := readWord(value); w.Tag != "" {
					l.Known[at] = suggest.Known{Tag: w.Tag, Uses: w.Uses}
				}
			}
		}
	}
	return l, s.End()
}

// readRecord reads one record; a missing one has no key and no value.
func readRecord(s *scan.Scanner) (at string, value []byte) {
	for key := range s.Fields() {
		switch key {
		case "key":
			at = s.String()
		case "value":
			value = s.Raw()
		default:
			s.Skip()
		}
	}
	return at, value
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
	return err == nil && c.Time().Sub(t) <= most
}

// wide is how many tags of a vocabulary are read at most.
const wide = 20_000

// all gives the whole vocabulary of a namespace.
func all(c *alcove.Call, namespace string) (map[string]word, error) {
	words := map[string]word{}
	err := c.EachRecord(alcove.Records{Collection: vocabulary, Namespace: namespace, Limit: maxKeys}, func(r *alcove.Record) error {
		if r.Key == overviewKey || r.Key == wishKey {
			return nil
		}
		if words[r.Key] = readWord(r.Value); len(words) > wide {
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
