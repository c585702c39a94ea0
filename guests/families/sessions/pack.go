package sessions

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// PackContext fills a budget of tokens with facts about a topic.
//
// The tokens are those of the answer, the JSON as a model gets it, counted by cl100k_base. planning has a tenth more than the budget; incident
// a fifth less, and no background facts; handoff takes summaries of sessions and decisions. Pinned steering rules come first, whatever the
// topic, and those about a topic that asks for rules; then come the facts about the topic, by words and by meaning, as many as fit. Facts with less than compact_ratio of the budget are
// shown in full. Beyond that, summaries stand for facts with an importance below 0.5, and from offload_ratio of the budget on, facts with an
// importance below 0.4 come only where others leave room. The best fact is always shown, with budget_overflow if it alone exceeds the budget.
//
//alcove:camel
//alcove:title Pack a context
//alcove:description The most important facts in so many tokens: fill a token budget.
//alcove:tool read-only
type PackContext struct {
	Topic       string `alcove:"required,min=1,alias=query"`
	Profile     string `alcove:"default=default,enum=default|planning|incident|handoff"`
	TokenBudget int    `alcove:"min=0,max=32000"` // By default context_budget_tokens.
	MaxFacts    int    `alcove:"default=100,min=1,max=200"`
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
//alcove:json
type packedFact struct {
	FactID         alcove.ID
	Content        string
	FactType       string
	Importance     float64
	Tokens         int  // Of all that is said of it here.
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
	forms := make([]packedFact, 0, 2*len(found)) // of each fact in full, and by its summary
	for i := range found {
		m := &found[i]
		summary, _ := m.Metadata[fact.Summary].Text()
		whole := packedFact{m.ID(), m.Text(), m.Type, importance(cfg, m), 0, false, false}
		short := whole
		short.Content, short.Summarized = summary, true
		forms = append(forms, whole, short)
	}
	list, err := sizes(c, forms)
	if err != nil {
		return out, err
	}
	out.Budget = budgetOf(in.Profile, in.TokenBudget)
	strategy, shown, used := packing(list, max(out.Budget-frame, 0), cfg.CompactRatio, cfg.OffloadRatio)
	out.Strategy, out.UsedTokens, out.Dropped = strategy, used+frame, len(list)-len(shown)
	for _, it := range shown {
		f := forms[2*it.index]
		if it.summary {
			f = forms[2*it.index+1]
		}
		if f.Tokens, f.BudgetOverflow = it.tokens, it.overflow; it.overflow {
			f.Tokens, out.UsedTokens = f.Tokens+overflow, out.UsedTokens+overflow
		}
		out.Facts = append(out.Facts, f)
	}
	return out, nil
}

// Tokens of the answer around the facts, of what says of a fact how many it has, and of what says that it exceeds the budget.
const (
	frame    = 36
	counts   = 4
	overflow = 6
)

// sizes are the facts of which each has two forms, with their tokens. A fact without a summary has none of the second form.
func sizes(c *alcove.Call, forms []packedFact) ([]sized, error) {
	texts := make([]string, len(forms))
	for i := range forms {
		if !forms[i].Summarized || forms[i].Content != "" {
			texts[i] = string(alcove.JSON(&forms[i]))
		}
	}
	tokens, err := count(c, texts)
	if err != nil {
		return nil, err
	}
	list := make([]sized, len(forms)/2)
	for i := range list {
		if list[i] = (sized{forms[2*i].Importance, tokens[2*i] + counts, tokens[2*i+1]}); list[i].summary > 0 {
			list[i].summary += counts
		}
	}
	return list, nil
}

// find finds the rules that are pinned, and the facts about the topic that the profile admits, the best first.
func (in PackContext) find(c *alcove.Call, cfg Config) (list []alcove.Memory, err error) {
	r := alcove.MemorySearchRequest{Query: in.Topic}
	if in.Profile == handoffReader {
		r.Types = []string{"session_summary", "decision"}
	}
	seen := map[alcove.ID]bool{}
	add := func(m *alcove.Memory) {
		if !seen[m.ID()] && len(list) < in.MaxFacts {
			seen[m.ID()], list = true, append(list, *m)
		}
	}
	rules, err := rulesOf(c, true)
	for i := range rules {
		add(&rules[i])
	}
	if err != nil {
		return nil, err
	}
	if asksForRules(in.Topic) && r.Types == nil {
		of := alcove.MemorySearchRequest{Query: in.Topic, Types: []string{"steering_rule"}, Mode: "hybrid"}
		if err := in.search(c, of, add); err != nil {
			return nil, err
		}
	}
	for r.Mode = range strings.FieldsSeq("hybrid semantic") { // by words first, as far as the budget needs more, too
		if err := in.search(c, r, func(m *alcove.Memory) {
			if in.Profile != incident || !isBackground(cfg, m) {
				add(m)
			}
		}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// asksForRules reports whether a topic is what has to be done: its rules come before what else is said of it.
func asksForRules(topic string) bool {
	for _, w := range words.Split(topic) {
		switch w.Lower {
		case "rule", "rules", "policy", "policies", "guideline", "guidelines", "convention", "conventions", "allowed", "permitted", "forbidden", "prohibited":
			return true
		}
	}
	return false
}

// search passes what a search finds, page by page, as far as it may be shown. Without an embedder nothing is found by meaning.
func (in PackContext) search(c *alcove.Call, r alcove.MemorySearchRequest, add func(*alcove.Memory)) error {
	for r.Offset = 0; r.Offset < in.MaxFacts; r.Offset += mostHits {
		r.K = mostHits
		found, err := c.MemorySearch(r)
		if code := alcove.CodeOf(err); r.Mode == "semantic" && (code == alcove.Unavailable || code == alcove.InvalidArgument) {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range found.Hits {
			add(&found.Hits[i].Memory)
		}
		if len(found.Hits) < mostHits {
			return nil
		}
	}
	return nil
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
