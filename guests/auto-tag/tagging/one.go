package tagging

import (
	"slices"

	"github.com/alcove-memory/alcove/guests/auto-tag/suggest"
	"github.com/alcove-memory/alcove/guests/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

type oneIn struct {
	ID        string `json:"id"`
	Key       string `json:"key"` // another name of id
	Namespace string `json:"namespace"`
	Apply     *bool  `json:"apply"` // default true
}

type oneOut struct {
	Key        string   `json:"key"`
	Tags       []string `json:"tags"`
	Added      []string `json:"added"`
	Removed    []string `json:"removed"`
	Type       string   `json:"type"`
	Importance float64  `json:"importance"`
	Source     string   `json:"source"` // text or llm
	Applied    bool     `json:"applied"`
}

// tagOne tags one memory.
func (t *tagger) tagOne(c *alcove.Call, in oneIn) (oneOut, error) {
	cfg, err := config(c)
	if err != nil {
		return oneOut{}, err
	}
	key := or(in.ID, in.Key)
	if key == "" {
		return oneOut{}, alcove.Errorf(alcove.InvalidArgument, "give the memory's key as id")
	}
	found, err := c.MemoryGet(alcove.MemoryGetRequest{Keys: []string{key}, Namespace: in.Namespace})
	if err != nil {
		return oneOut{}, err
	}
	if len(found.Memories) == 0 || found.Memories[0] == nil {
		return oneOut{}, alcove.Errorf(alcove.NotFound, "there is no memory %q in %s", key, or(in.Namespace, c.Namespace))
	}
	return t.tag(c, cfg, found.Memories[0], in.Apply == nil || *in.Apply)
}

func (t *tagger) tag(c *alcove.Call, cfg Config, m *alcove.Memory, apply bool) (oneOut, error) {
	text := words.Text(m.Value, words.Long)
	reading, source := t.read(c, cfg, text)
	stats, err := t.statistics(c, m.Namespace, reading)
	if err != nil {
		return oneOut{}, err
	}
	s := of(m)
	d := t.decide(cfg, s, reading, stats)
	out := oneOut{Key: m.Key, Tags: m.Tags, Added: orNone(d.add), Removed: orNone(d.remove), Type: or(d.kind, m.Type), Source: source}
	if d.tags != nil {
		out.Tags = d.tags
	}
	out.Tags = orNone(out.Tags)
	if m.Importance != nil {
		out.Importance = *m.Importance
	}
	if d.importance != nil {
		out.Importance = *d.importance
	}
	if !apply || !d.changes(s) {
		return out, nil
	}
	out.Applied = true
	_, err = c.MemoryPatch(alcove.MemoryPatchRequest{Patches: []alcove.MemoryPatch{d.patch(m)}})
	return out, err
}

func of(m *alcove.Memory) subject {
	return subject{m.Value, m.Tags, m.Type, m.Importance, m.Metadata}
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// statistics are what the namespace knows of the candidates, and how rare each is among its memories.
func (t *tagger) statistics(c *alcove.Call, namespace string, r suggest.Reading) (suggest.Statistics, error) {
	stats := lookUp(c, namespace, []suggest.Reading{r}).Statistics
	if len(r.Candidates) == 0 {
		return stats, nil
	}
	tags := make([]string, len(r.Candidates))
	for i, candidate := range r.Candidates {
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
	stats.Rarity = rarities(r.Candidates, analyzed.Terms, counts)
	return stats, nil
}

// rarities are how rare candidates are: that of the rarest term of each.
func rarities(candidates []suggest.Candidate, terms [][]string, counts alcove.TextCountResponse) map[string]float64 {
	rarity := map[string]float64{}
	at := 0
	for i, candidate := range candidates {
		least := counts.Documents
		for range terms[i] {
			least = min(least, counts.Counts[at])
			at++
		}
		if len(terms[i]) > 0 && counts.Documents > 10 { // fewer say nothing
			rarity[candidate.Fold] = 1 - float64(least)/float64(counts.Documents)
		}
	}
	return rarity
}

type suggestIn struct {
	Text      string `json:"text"`
	Namespace string `json:"namespace"`
	K         int    `json:"k"` // default: max_tags
}

type suggestOut struct {
	Tags       []suggest.Candidate `json:"tags"`
	Type       string              `json:"type"`
	Importance float64             `json:"importance"`
	Names      []string            `json:"names"`
	Dates      []string            `json:"dates"`
	Numbers    []string            `json:"numbers"`
	Source     string              `json:"source"`
}

// suggestTags says what a text would be tagged with.
func (t *tagger) suggestTags(c *alcove.Call, in suggestIn) (suggestOut, error) {
	cfg, err := config(c)
	if err != nil {
		return suggestOut{}, err
	}
	if in.Text == "" {
		return suggestOut{}, alcove.Errorf(alcove.InvalidArgument, "give a text")
	}
	if in.K <= 0 {
		in.K = max(cfg.MaxTags, 1)
	}
	r, source := t.read(c, cfg, in.Text)
	stats, err := t.statistics(c, or(in.Namespace, c.Namespace), r)
	if err != nil {
		return suggestOut{}, err
	}
	out := suggestOut{Tags: stats.Choose(r.Candidates, nil, in.K), Type: or(r.Type, cfg.DefaultType), Importance: r.Importance, Names: orNone(r.Names), Dates: orNone(r.Dates), Numbers: orNone(r.Numbers), Source: source}
	if out.Tags == nil {
		out.Tags = []suggest.Candidate{}
	}
	return out, nil
}
