package lifecycle

import (
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

const (
	fewCompared  = 20    // memories below which nothing is compared
	mostCompared = 2_000 // memories that are compared, the oldest
	idleShare    = .5    // least share of memories that were used later than one that is stale by comparison
	richShare    = .75   // least share of those that are as important or more
	leastIdle    = 60    // days for which it was not used
	fewUses      = 3     // most accesses of it
	passed       = 14    // days after which today or this week has passed
	lasting      = .4    // importance above which a memory is stale neither by comparison nor by its words
)

// spread is how long the memories of a namespace were not used, and how important they are; both sorted.
type spread struct{ idle, importance []float64 }

// spread looks at the active memories of the namespace.
func (j *judge) spread(c *alcove.Call) (s spread, err error) {
	r := alcove.MemoryListRequest{Filter: &alcove.MemoryFilter{States: []string{active}}, Order: "oldest", Limit: page, Counters: true, Created: true}
	for m, err := range c.Memories(r) {
		if err != nil {
			return s, err
		}
		v := j.of(m)
		s.idle, s.importance = append(s.idle, v.Idle), append(s.importance, v.Importance)
		if len(s.idle) == mostCompared {
			break
		}
	}
	slices.Sort(s.idle)
	slices.Sort(s.importance)
	return s, nil
}

// reasons tells by what a memory is stale among the others; nothing if it is not.
func (s *spread) reasons(m *alcove.Memory, v *verdict) (list []string) {
	if v.Accesses > fewUses || v.Importance > lasting {
		return nil
	}
	if v.Days > passed && v.Idle > passed && passes(words.Text(m.Value, mostShown)) {
		list = append(list, "its day or week has passed")
	}
	if len(s.idle) < fewCompared || v.Idle < leastIdle {
		return list
	}
	idle, rich := below(s.idle, v.Idle), 1-below(s.importance, v.Importance)
	if idle >= idleShare && rich >= richShare {
		list = append(list, "idle for longer than "+percent(idle)+" of the memories here", "no more important than "+percent(rich)+" of them")
	}
	return list
}

// below is the share of a sorted list that is less than a value.
func below(sorted []float64, value float64) float64 {
	n, _ := slices.BinarySearch(sorted, value)
	return float64(n) / float64(max(1, len(sorted)))
}

func percent(share float64) string { return strconv.Itoa(int(100*share)) + " %" }

// passing are words of what holds for a day or a week.
const passing = ` today | tonight | tomorrow | this week | this weekend | this morning | this afternoon | this evening | next week | next weekend |
	until noon | until monday | until tuesday | until wednesday | until thursday | until friday | at the moment | right now | heute | morgen | diese woche `

// passes reports whether a text is about a day or a week that passes.
func passes(text string) bool {
	var spoken strings.Builder
	for _, w := range words.Split(text) {
		spoken.WriteString(" " + w.Lower)
	}
	spoken.WriteString(" ")
	for phrase := range strings.SplitSeq(passing, "|") {
		if strings.Contains(spoken.String(), " "+strings.TrimSpace(phrase)+" ") {
			return true
		}
	}
	return false
}
