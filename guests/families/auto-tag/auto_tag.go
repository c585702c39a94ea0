package autotag

import (
	"slices"

	"github.com/alcove-memory/alcove/guests/families/auto-tag/suggest"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// AutoTag tags one memory.
//
// Tags, type and importance that somebody gave are kept; those that auto-tag gave before may change. With apply false nothing is stored
// and the result says what would be.
//
//alcove:tool idempotent
//alcove:title Tag a memory
//alcove:description Label a note: tag one memory from its content: tags, type, importance. Keeps what was given.
type AutoTag struct {
	reader
	ID        string `alcove:"required"` // The key of the memory.
	Namespace string // Where the memory is; the call's namespace by default.
	Apply     bool   `alcove:"default=true"` // False: only say what would change.
}

// AutoTagged is what a memory is tagged with.
type AutoTagged struct {
	Key        string
	Tags       []string // All tags of the memory.
	Added      []string
	Removed    []string // Tags that auto-tag had given before.
	Type       string
	Importance float64 `alcove:"min=0,max=1"`
	Source     string  `alcove:"enum=text|llm"` // What the tags were made with.
	Applied    bool
}

// Call tags the memory.
func (in AutoTag) Call(c *alcove.Call, cfg Config) (AutoTagged, error) {
	if in.ID == "" {
		return AutoTagged{}, alcove.Errorf(alcove.InvalidArgument, "give the memory's key as id")
	}
	found, err := c.GetMemories(in.Namespace, []string{in.ID})
	if err != nil {
		return AutoTagged{}, err
	}
	if len(found) == 0 || found[0] == nil {
		return AutoTagged{}, alcove.Errorf(alcove.NotFound, "there is no memory %q in %s", in.ID, or(in.Namespace, c.Namespace))
	}
	return in.tag(c, cfg, found[0])
}

func (in AutoTag) tag(c *alcove.Call, cfg Config, m *alcove.Memory) (AutoTagged, error) {
	text := words.Text(m.Value, words.Long)
	reading, source := in.read(c, cfg, text)
	stats, err := in.statistics(c, m.Namespace, text, reading)
	if err != nil {
		return AutoTagged{}, err
	}
	s := of(m)
	d := in.decide(cfg, s, reading, stats)
	out := AutoTagged{Key: m.Key, Tags: m.Tags, Added: d.add, Removed: d.remove, Type: or(d.kind, m.Type), Source: source}
	if d.tags != nil {
		out.Tags = d.tags
	}
	if m.Importance != nil {
		out.Importance = *m.Importance
	}
	if d.importance != nil {
		out.Importance = *d.importance
	}
	if !in.Apply || !d.changes(s) {
		return out, nil
	}
	out.Applied = true
	_, err = c.PatchMemories([]alcove.MemoryPatch{d.patch(m)})
	return out, err
}

func of(m *alcove.Memory) subject {
	return subject{m.Value, m.Tags, m.Type, m.Importance, m.Metadata}
}

// statistics are what the namespace knows of the candidates, and how rare each is among its memories.
func (r reader) statistics(c *alcove.Call, namespace, text string, found suggest.Reading) (suggest.Statistics, error) {
	known := lookUp(c, namespace, []suggest.Reading{found})
	if known.never {
		learned, err := r.glance(c, namespace)
		if err != nil {
			return suggest.Statistics{}, err
		}
		known = learned
	}
	stats := known.Statistics
	if len(found.Voting) > 0 {
		stats.Topics.Vector = known.vectors(c, []string{text})[0]
	}
	if len(found.Candidates) == 0 {
		return stats, nil
	}
	tags := make([]string, len(found.Candidates))
	for i, candidate := range found.Candidates {
		tags[i] = candidate.Tag
	}
	analyzed, err := c.TextAnalyze(alcove.TextAnalyzeRequest{Texts: tags})
	if err != nil || len(analyzed.Terms) != len(tags) {
		return stats, err
	}
	terms := slices.Concat(analyzed.Terms...)
	counts, err := c.TextCount(alcove.TextCountRequest{Terms: terms, Namespaces: []string{namespace}})
	if err != nil || len(counts.Counts) != len(terms) {
		return stats, err
	}
	stats.Rarity = rarities(found.Candidates, analyzed.Terms, counts)
	return stats, nil
}

// rarities are how rare candidates are: that of the commonest term of each.
func rarities(candidates []suggest.Candidate, terms [][]string, counts alcove.TextCountResponse) map[string]float64 {
	rarity := map[string]float64{}
	at := 0
	for i, candidate := range candidates {
		most := 0
		for range terms[i] {
			most = max(most, counts.Counts[at])
			at++
		}
		if len(terms[i]) > 0 && counts.Documents > 10 { // fewer say nothing
			rarity[candidate.Fold] = 1 - float64(most)/float64(counts.Documents)
		}
	}
	return rarity
}
