package sessions

import (
	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// PackContext fills a budget of tokens with facts about a topic.
//
// The tokens are those of the facts' contents, counted by cl100k_base. planning has a tenth more than the budget; incident a fifth less, and
// no background facts; handoff takes summaries of sessions and decisions. Facts with less than compact_ratio of the budget are shown in full.
// Beyond that, summaries stand for facts with an importance below 0.5, and from offload_ratio of the budget on, facts with an importance
// below 0.4 are dropped. The best fact is always shown, with budget_overflow if it alone exceeds the budget.
//
//alcove:camel
//alcove:title Pack a context
//alcove:description Fill a token budget with the facts that matter.
//alcove:tool read-only
type PackContext struct {
	Topic       string `alcove:"required,min=1,alias=query"`
	Profile     string `alcove:"default=default,enum=default|planning|incident|handoff"`
	TokenBudget int    `alcove:"min=0,max=32000"` // By default context_budget_tokens.
	MaxFacts    int    `alcove:"default=20,min=1,max=50"`
}

//alcove:camel
type packed struct {
	Facts      []packedFact
	UsedTokens int
	Budget     int // Of the profile.
	Strategy   string
	Dropped    int // Facts that were found and are not shown.
}

//alcove:camel
type packedFact struct {
	FactID         alcove.ID
	Content        string
	FactType       string
	Importance     float64
	Tokens         int
	Summarized     bool `json:"summarized,omitzero"` // The content is the fact's summary.
	BudgetOverflow bool `json:"budget_overflow,omitzero"`
}

// mostHits is how many facts one search finds.
const mostHits = 50

// Call packs it.
func (in PackContext) Call(c *alcove.Call, cfg Config) (out packed, err error) {
	if in.TokenBudget == 0 {
		in.TokenBudget = cfg.Budget
	}
	found, err := in.find(c, cfg)
	if err != nil {
		return out, err
	}
	texts := make([]string, 0, 2*len(found))
	for i := range found {
		summary, _ := found[i].Metadata[fact.Summary].Text()
		texts = append(texts, found[i].Text(), summary)
	}
	counts, err := count(c, texts)
	if err != nil {
		return out, err
	}
	list := make([]sized, len(found))
	for i := range found {
		list[i] = sized{importance(cfg, &found[i]), counts[2*i], counts[2*i+1]}
	}
	var shown []chosen
	out.Budget = budgetOf(in.Profile, in.TokenBudget)
	out.Strategy, shown, out.UsedTokens = packing(list, out.Budget, cfg.CompactRatio, cfg.OffloadRatio)
	out.Dropped = len(list) - len(shown)
	for _, it := range shown {
		m := &found[it.index]
		f := packedFact{m.ID(), texts[2*it.index], m.Type, list[it.index].importance, it.tokens, it.summary, it.overflow}
		if it.summary {
			f.Content = texts[2*it.index+1]
		}
		out.Facts = append(out.Facts, f)
	}
	return out, nil
}

// find finds the facts about the topic that the profile admits, the best first.
func (in PackContext) find(c *alcove.Call, cfg Config) (list []alcove.Memory, err error) {
	r := alcove.MemorySearchRequest{Query: in.Topic, K: in.MaxFacts}
	switch in.Profile {
	case handoffReader:
		r.Types = []string{"session_summary", "decision"}
	case incident:
		r.K = mostHits // some are dropped
	}
	found, err := c.MemorySearch(r)
	if err != nil {
		return nil, err
	}
	for i := range found.Hits {
		m := &found.Hits[i].Memory
		if len(list) == in.MaxFacts {
			break
		}
		if in.Profile != incident || !isBackground(cfg, m) {
			list = append(list, *m)
		}
	}
	return list, nil
}

// isBackground reports whether a fact is of no importance in an incident: by its tier, or without one by its importance.
func isBackground(cfg Config, m *alcove.Memory) bool {
	if noted, ok := m.Metadata[fact.ObservationTier].Text(); ok {
		return noted == "background"
	}
	return tierOf(m.Type, importance(cfg, m)) == background
}

// mostTokenized bounds the texts of one request of counting, in bytes.
const mostTokenized = 1 << 20

// count counts the tokens of texts. One that is too long for a request is counted in parts.
func count(c *alcove.Call, texts []string) ([]int, error) {
	counts := make([]int, len(texts))
	var part []string
	var of []int
	size := 0
	ask := func() error {
		if len(part) == 0 {
			return nil
		}
		out, err := c.TextTokens(alcove.TextTokensRequest{Texts: part})
		for i, n := range out.Counts {
			counts[of[i]] += n
		}
		part, of, size = part[:0], of[:0], 0
		return err
	}
	for i, text := range texts {
		for text != "" {
			piece := words.Cut(text, mostTokenized)
			text = text[len(piece):]
			if size+len(piece) > mostTokenized || len(part) == 256 {
				if err := ask(); err != nil {
					return nil, err
				}
			}
			part, of, size = append(part, piece), append(of, i), size+len(piece)
		}
	}
	return counts, ask()
}
