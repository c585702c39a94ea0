package sessions

import (
	"cmp"
	"slices"
)

// tier is how much a fact counts when work is resumed.
type tier int

const (
	background tier = iota
	potential
	structural
)

// The importance from which a fact has a tier.
const (
	structuralFrom = .75
	potentialFrom  = .5
)

// tierOf is the tier of a fact of a type.
func tierOf(kind string, importance float64) tier {
	switch {
	case importance >= structuralFrom, kind == "decision", kind == "steering_rule":
		return structural
	case importance >= potentialFrom:
		return potential
	}
	return background
}

// candidate is a fact that may be shown.
type candidate struct {
	tier       tier
	importance float64
	version    uint64
	key        string
}

// before orders candidates: structural facts come first, then the important ones, then the newest.
func (a candidate) compare(b candidate) int {
	return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.importance, a.importance), cmp.Compare(b.version, a.version), cmp.Compare(a.key, b.key))
}

// What is shown of a checkpoint of some age in days.
const (
	freshPotential = 5 // after a day, beside the structural facts
	oldStructural  = 3 // after four days, and ever after: fewer would be none
)

// waking is what is shown of a checkpoint: the older it is, the less.
func waking(list []candidate, days int) (shown []candidate) {
	list = slices.SortedFunc(slices.Values(list), candidate.compare)
	count := map[tier]int{}
	for _, f := range list {
		count[f.tier]++
		switch {
		case f.tier == background, f.tier == potential && (days > 1 || days == 1 && count[potential] > freshPotential),
			days >= 4 && count[structural] > oldStructural:
			continue
		}
		shown = append(shown, f)
	}
	return shown
}

// The profiles of contexts.
const (
	planning      = "planning"
	incident      = "incident"
	handoffReader = "handoff"
)

// The strategies by which facts fit a budget.
const (
	full    = "full"    // as they are
	compact = "compact" // summaries stand for unimportant facts
	offload = "offload" // unimportant facts come last, too
)

const (
	compactBelow = .5 // importance of facts for which a summary may stand
	offloadBelow = .4 // importance of facts that come last
	summaryShare = .6 // of a fact's tokens that its summary has at most
)

// budgetOf is the budget of a profile.
func budgetOf(profile string, tokens int) int {
	switch profile {
	case planning:
		return tokens * 11 / 10
	case incident:
		return tokens * 8 / 10
	}
	return tokens
}

// sized is a fact with its tokens; the best comes first.
type sized struct {
	importance float64
	tokens     int
	summary    int // tokens of the summary; 0: there is none
}

// chosen is a fact of a context.
type chosen struct {
	index    int // in the list that was packed
	tokens   int
	summary  bool // its summary is shown
	overflow bool // it alone exceeds the budget
}

// packing chooses the facts of a context. The best one is always chosen.
func packing(list []sized, budget int, compactRatio, offloadRatio float64) (strategy string, shown []chosen, used int) {
	total := 0
	for _, f := range list {
		total += f.tokens
	}
	switch {
	case float64(total) < compactRatio*float64(budget):
		strategy = full
	case float64(total) < offloadRatio*float64(budget):
		strategy = compact
	default:
		strategy = offload
	}
	var rest []chosen // unimportant ones, for the room that others leave
	for i, f := range list {
		it := chosen{index: i, tokens: f.tokens}
		if strategy != full && f.importance < compactBelow && f.summary > 0 && float64(f.summary) < summaryShare*float64(f.tokens) {
			it.tokens, it.summary = f.summary, true
		}
		switch fits := used+it.tokens <= budget; {
		case i > 0 && strategy == offload && f.importance < offloadBelow:
			rest = append(rest, it)
		case fits || i == 0:
			it.overflow = !fits
			shown, used = append(shown, it), used+it.tokens
		}
	}
	for _, it := range rest {
		if used+it.tokens <= budget {
			shown, used = append(shown, it), used+it.tokens
		}
	}
	return strategy, shown, used
}
